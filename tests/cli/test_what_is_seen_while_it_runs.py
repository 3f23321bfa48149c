"""What an organiser reads above the table and in a pipe while a tournament runs."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from triarena.cli.tournament.screen import Lines, Painted
from triarena.organiser.attempt import Attempt, Failed, Outcome, Sporting
from triarena.organiser.records import Contents
from triarena.tournament.values import Fixture, Played

LEFT = "blue left the match"


def no_contents() -> Contents:
    raise AssertionError("nobody asks")


def fixture(number: int) -> Fixture:
    return Fixture(1, 1, number, "Ann", "Bob", 7, "1.1.1")


def forfeited(number: int, message: str = LEFT, plies: int = 1) -> tuple[Attempt, Outcome]:
    played = Played(fixture(number), "red", "left", ("blue",), 0, 0, plies)
    return Attempt(played.fixture, 1, 0.0), Sporting(played, message, "m1")


def regular(number: int) -> tuple[Attempt, Outcome]:
    played = Played(fixture(number), None, "points", (), 3, 3, 20)
    return Attempt(played.fixture, 1, 0.0), Sporting(played, "both have 3", "m2")


def failed(number: int) -> tuple[Attempt, Outcome]:
    return Attempt(fixture(number), 1, 0.0), Failed("server_lost", "the server was stopped")


@pytest.fixture
def said() -> list[str]:
    return []


def test_a_line_tells_who_forfeited_in_people_s_words(said: list[str]) -> None:
    lines = Lines(no_contents, said.append)
    for each in (forfeited(1), regular(2), failed(3)):
        lines.ended(*each)
    assert said == [
        f"   1.1.1  Ann - Bob  1-0  left: Bob, 1 ply: {LEFT}",
        "   1.1.2  Ann - Bob  ½-½  points, 20 plies",
        "   1.1.3  Ann - Bob  is to be played again: the server was stopped",
    ]


def test_above_the_table_the_same_fault_of_the_same_bot_is_told_once(said: list[str]) -> None:
    console = Console(file=io.StringIO(), width=200)
    painting: Any = SimpleNamespace(console=console)
    painted = Painted(no_contents, painting)
    for each in (forfeited(1), forfeited(2), regular(3), forfeited(4, "blue raised an error"), failed(5), failed(5)):
        painted.ended(*each)
    out = console.file
    assert isinstance(out, io.StringIO)
    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["1.1.1", "1.1.4", "1.1.5", "1.1.5"]
