"""A tournament's folder may be called as one likes: what is in it stays what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from triarena.organiser.folder import Folder, read_new
from triarena.organiser.problems import TournamentFileError
from triarena.organiser.report import report_tournament

from .staged_tournament import BEGIN

BOTS = '[[bots]]\nname = "Ann"\nshipped = "random"\n[[bots]]\nname = "Bob"\nshipped = "greedy"\n'
TWO = '[[tournaments]]\ngame = "towerwars"\n[[tournaments]]\ngame = "flowerwars"\n'


@pytest.mark.parametrize("name", ["evening.tournament", "chosen", "2031.finals.tournament"])
@pytest.mark.parametrize("head", ["", "seed = 7\n", 'name = "Evening of 2031"\n'])
def test_a_tournament_is_the_same_in_a_folder_of_any_name(tmp_path: Path, head: str, name: str) -> None:
    source = tmp_path / "evening.toml"
    source.write_text(f'{head}game = "towerwars"\n{BOTS}', encoding="utf-8")
    file = read_new(source, 2)
    Folder(tmp_path / "first").make(source, file, BEGIN).close()
    folder = Folder((tmp_path / "first").rename(tmp_path / name))
    contents = folder.contents()
    again = folder.file(contents, 2)
    assert [(event.slug, event.seed) for event in again.events] == [(event.slug, event.seed) for event in file.events]
    assert len(report_tournament(again, contents).events) == 1


def test_several_tournaments_have_names_of_their_own_anyway(tmp_path: Path) -> None:
    source = tmp_path / "evening.toml"
    source.write_text(TWO + BOTS, encoding="utf-8")
    file = read_new(source, 2)
    folder = Folder(tmp_path / "anything")
    folder.make(source, file, BEGIN).close()
    again = folder.file(folder.contents(), 2)
    assert [(event.slug, event.seed) for event in again.events] == [(event.slug, event.seed) for event in file.events]


@pytest.mark.parametrize("name", ["evening", "evening.of.2031"])
def test_what_has_become_wrong_with_the_file_of_a_tournament_is_told_of_a_file_with_its_ending(
    tmp_path: Path, name: str
) -> None:
    source, bot = tmp_path / f"{name}.toml", tmp_path / "bot.py"
    bot.write_text("def choose_move(position): ...\n", encoding="utf-8")
    source.write_text(f'game = "towerwars"\n{BOTS}[[bots]]\nname = "Cleo"\nfile = "bot.py"\n', encoding="utf-8")
    folder = Folder(tmp_path / f"{name}.tournament")
    folder.make(source, read_new(source, 2), BEGIN).close()
    bot.unlink()
    with pytest.raises(TournamentFileError, match=rf"^{name}\.toml, line 10: "):
        folder.file(folder.contents(), 2)
