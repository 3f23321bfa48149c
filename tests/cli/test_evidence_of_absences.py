"""What is kept of games that were lost by absence: one folder for each absence, not for each game."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.organiser.staged_tournament import event_of

from triarena.cli.tournament.evidence import Evidence
from triarena.organiser.attempt import SIDES, Attempt, Outcome, Sporting
from triarena.organiser.folder import Folder
from triarena.organiser.pairing import format_of
from triarena.organiser.runner import Keeper
from triarena.organiser.spec import Event, Player
from triarena.tournament.values import Fixture, Played, SideName

WHY = "Ann did not come to its match: it was waited for, and has not been in the lobby for 34 s"


def evening(folder: Path) -> tuple[Event, Keeper]:
    event = event_of("Meadow")
    players = tuple(replace(each, kind="remote", source="") if each.name == "Ann" else each for each in event.players)
    assert isinstance(players[0], Player)
    event = replace(event, players=players)
    return event, Evidence(Folder(folder), None).keeper(event)


def games_of(event: Event, *names: str) -> list[Fixture]:
    return [each for each in format_of(event).plan({}).fixtures() if set(names) <= {each.red, each.blue}]


def lost(fixture: Fixture, *names: str, room: str | None = None) -> tuple[Attempt, Outcome]:
    """A game that these have not come to."""
    sides = tuple(side for side in SIDES if getattr(fixture, side) in names)
    winner: SideName | None = None if len(sides) == 2 else "blue" if sides == ("red",) else "red"
    played = Played(fixture, winner, "no_show", sides, 0, 0, 0)
    return Attempt(fixture, 1, 0.0, room=room), Sporting(played, WHY, None)


def played(fixture: Fixture) -> tuple[Attempt, Outcome]:
    return Attempt(fixture, 1, 0.0, room="r1"), Sporting(Played(fixture, "red", "points", (), 3, 1, 9), "so", "m1")


def test_all_games_of_one_absence_share_a_folder_that_names_them(tmp_path: Path) -> None:
    event, keep = evening(tmp_path)
    games = games_of(event, "Ann")
    assert {keep(*lost(each, "Ann")) for each in games} == {"irregular/meadow-absent-Ann-1"}
    (folder,) = (tmp_path / "irregular").iterdir()
    notes = (folder / "README.txt").read_text("utf-8")
    assert notes.startswith(f"Meadow: Ann did not come\n{WHY}\n")
    assert all(f"\n{each.id}  {each.red} (red) against {each.blue} (blue)\n" in notes for each in games)
    assert [path.name for path in folder.iterdir()] == ["README.txt"]


def test_who_was_there_in_between_has_another_folder_for_the_next_absence(tmp_path: Path) -> None:
    event, keep = evening(tmp_path)
    first, second, third, *_ = games_of(event, "Ann")
    assert keep(*lost(first, "Ann")) == "irregular/meadow-absent-Ann-1"
    assert keep(*played(second)) == ""
    assert keep(*lost(third, "Ann")) == "irregular/meadow-absent-Ann-2"


def test_a_resumed_tournament_adds_folders_and_overwrites_none(tmp_path: Path) -> None:
    event, keep = evening(tmp_path)
    first, second, *_ = games_of(event, "Ann")
    assert keep(*lost(first, "Ann")) != evening(tmp_path)[1](*lost(second, "Ann"))


def test_of_two_that_are_away_each_has_its_folder(tmp_path: Path) -> None:
    event, keep = evening(tmp_path)
    (game, *_) = games_of(event, "Ann", "Bob")
    keep(*lost(game, "Ann", "Bob"))
    assert sorted(path.name for path in (tmp_path / "irregular").iterdir()) == [
        "meadow-absent-Ann-1",
        "meadow-absent-Bob-1",
    ]


def test_who_was_asked_to_play_and_did_not_come_has_a_folder_for_that_game(tmp_path: Path) -> None:
    event, keep = evening(tmp_path)
    (game, *_) = games_of(event, "Ann")
    assert keep(*lost(game, "Ann", room="r7")) == f"irregular/meadow-{game.id}-1"
    assert (tmp_path / "irregular" / f"meadow-{game.id}-1" / "result.json").exists()
