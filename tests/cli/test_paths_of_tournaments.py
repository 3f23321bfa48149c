"""Whoever mistypes a tournament's file or folder, or takes one for the other, is told what to type instead."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.organiser.staged_tournament import event_of, stage

from triarena.cli import main

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
PLAYED = 'name = "Class"\ngame = "towerwars"\noptions.size = 4\nseed = 17\n'
BOTS = '[[bots]]\nname = "Ann"\nshipped = "random"\n[[bots]]\nname = "Bob"\nshipped = "greedy"\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class.toml").write_text(PLAYED + BOTS, encoding="utf-8")
    return tmp_path


def said(*words: str, code: int) -> str:
    done = CliRunner().invoke(main, ["tournament", *words])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_mistyped_file_is_told_the_one_that_is_meant(command: str) -> None:
    assert "there is no file clas.toml; did you mean class.toml?" in said(command, "clas.toml", code=2)
    assert "there is no file x; the TOML files there are class.toml" in said(command, "x", code=2)
    assert "there is no file sub/x.toml\n" in said(command, "sub/x.toml", code=2)


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_folder_in_the_place_of_a_file_is_told_how_to_go_on(here: Path, command: str) -> None:
    stage_in(here / "class.tournament")
    text = said(command, "class.tournament", code=2)
    assert "class.tournament is a directory, not a tournament's file; to go on with the tournament in it:" in text
    assert "tournament resume class.tournament" in text
    (here / "bots").mkdir()
    assert "resume" not in said(command, "bots", code=2)


@pytest.mark.parametrize("command", ["resume", "standings", "export", "cancel"])
def test_a_file_whose_tournament_has_not_begun_is_told_how_to_begin(command: str) -> None:
    text = said(command, "class.toml", code=1)
    assert "the tournament of class.toml has not begun here: there is no class.tournament; begin it with" in text
    assert "tournament run class.toml'" in text


@pytest.mark.parametrize("command", ["resume", "standings", "export", "cancel"])
def test_a_mistyped_folder_is_told_the_one_that_is_meant(here: Path, command: str) -> None:
    stage_in(here / "class.tournament")
    wrong = said(command, "clas.tournament", code=1)
    assert "there is no tournament in clas.tournament; did you mean class.tournament?" in wrong
    assert "; the tournaments there are class.tournament" in said(command, "x", code=1)


@pytest.mark.parametrize("command", ["resume", "standings", "export", "cancel"])
def test_a_folder_that_holds_no_tournament_is_not_suggested(here: Path, command: str) -> None:
    (here / "empty.tournament").mkdir()
    assert "did you mean" not in said(command, "empty.tournament", code=1)
    stage_in(here / "class.tournament")
    assert "empty.tournament; did you mean class.tournament?" in said(command, "empty.tournament", code=1)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
@pytest.mark.parametrize("command", ["check", "run"])
def test_what_has_no_end_is_no_file_of_a_tournament(here: Path, command: str) -> None:
    assert "it is a device or a pipe, not a file" in said(command, "/dev/zero", code=2)
    (here / "huge.toml").write_bytes(b"#" * (5 << 20))
    assert "it has more than 4 MiB" in said(command, "huge.toml", code=2)


@pytest.mark.parametrize("name", ["class.toml", "class", "class.tournament"])
def test_the_file_and_the_bare_name_stand_for_the_folder(here: Path, name: str) -> None:
    stage_in(here / "class.tournament")
    assert "2 games played" in said("standings", name, code=0)


def test_an_export_that_cannot_be_written_is_named(here: Path) -> None:
    stage_in(here / "class.tournament")
    (here / "class.tournament" / "games.csv").mkdir()
    text = said("export", "class", code=1)
    assert f"{here / 'class.tournament' / 'games.csv'} can't be written: " in text
    assert "cannot_write" in text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe\x00bin", "class.toml: the file cannot be read: it is no text in UTF-8"),
        (b"", "class.toml, line 1: which game?"),
        (b"name = \n", "class.toml, line 1: this is not TOML: Invalid value; texts stand in quotes [not_toml]"),
    ],
)
def test_a_file_that_is_none_is_told_in_a_line(here: Path, content: bytes, told: str) -> None:
    (here / "class.toml").write_bytes(content)
    assert told in said("check", "class.toml", code=2)


def test_the_code_of_many_faults_stands_in_the_headline_above_them(here: Path) -> None:
    (here / "class.toml").write_text("game = 'towers'\nrounds = 'two'\n" + BOTS, encoding="utf-8")
    head, *faults = said("check", "class.toml", code=2).splitlines()
    assert head == "Error: the tournament's file can't be used [bad_tournament]:"
    assert len(faults) >= 2
    assert all(line.startswith("class.toml, line ") for line in faults)


@pytest.mark.skipif(ROOT or sys.platform == "win32", reason="nothing is forbidden to root, or on Windows in this way")
def test_a_file_that_may_not_be_read_is_told_so(here: Path) -> None:
    (here / "class.toml").chmod(0)
    assert "class.toml: the file cannot be read: Permission denied" in said("check", "class.toml", code=2)


def stage_in(folder: Path) -> None:
    """A tournament that was played to its end, with a file that can be read again."""
    folder.mkdir()
    source = folder.parent / "class.toml"
    text = source.read_text(encoding="utf-8")
    staged = stage(folder, event_of("Class", names=("Ann", "Bob"), options={"size": 4, "max_plies": 1000}))
    (folder / "class.toml").unlink()
    with sqlite3.connect(staged.folder / "tournament.sqlite") as database:
        database.execute("UPDATE tournament SET file_text = ?", (text,))
    database.close()
