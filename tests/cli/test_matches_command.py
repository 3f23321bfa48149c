"""``triarena matches``: stored matches as a table, as lines of JSON, and for a spreadsheet."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from triarena.cli import main
from triarena.cli.times import local
from triarena.server.journal import MatchEnded, MatchOpened, open_journal

START = datetime(2031, 5, 4, 12, 30, 15, tzinfo=UTC)
RESULT = {
    "kind": "outcome",
    "winner": "red",
    "reason": "base",
    "sides": {"red": {"score": 1}, "blue": {"score": 0}},
    "detail": {"message": "so it ended"},
}


@pytest.fixture
def database(tmp_path: Path) -> str:
    """With a match of TowerWars that was won, and a later one of FlowerWars that goes on."""
    url = f"sqlite:///{tmp_path}/journal.sqlite3"

    async def write() -> None:
        async with open_journal(url) as journal:
            await journal.write(MatchOpened("m1", "r1", "towerwars", 1, {}, 7, {}, "Ann", "Bob, the second", {}, START))
            await journal.write(MatchEnded("m1", RESULT, "outcome", "red", "base", START + timedelta(seconds=9)))
            later = START + timedelta(hours=1)
            await journal.write(MatchOpened("m2", "r2", "flowerwars", 1, {}, 7, {}, "Ann", "Cid", {}, later))

    trio.run(write)
    return url


@pytest.fixture
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process cannot be chosen here")
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def matches(database: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["matches", "--database", database, *arguments])


@pytest.mark.usefixtures("_in_berlin")
def test_matches_are_listed_with_the_time_here_and_its_offset(database: str) -> None:
    done = matches(database)
    assert done.exit_code == 0, done.output
    _, second, first = done.stdout.splitlines()
    assert first.split()[-3:] == ["2031-05-04", "14:30:15", "+0200"]
    assert "red won (base)" in first
    assert "unfinished" in second


def test_a_spreadsheet_gets_the_same_fields_as_json(database: str) -> None:
    rows = list(csv.DictReader(matches(database, "--csv").stdout.splitlines()))
    records = [json.loads(line) for line in matches(database, "--json").stdout.splitlines()]
    assert [list(row) for row in rows] == [list(record) for record in records]
    assert [row["blue"] for row in rows] == ["Cid", "Bob, the second"]
    assert (rows[0]["ended_at"], records[0]["ended_at"]) == ("", None)


def test_json_and_a_spreadsheet_at_once_are_wrong_use(database: str) -> None:
    assert matches(database, "--csv", "--json").exit_code == 2


def test_a_game_that_does_not_exist_is_told_from_one_without_matches(database: str) -> None:
    assert [line.split()[0] for line in matches(database, "--game", "towerwars").stdout.splitlines()] == ["match", "m1"]
    assert matches(database, "--game", "mississippi_queen").stderr == "no such matches are stored\n"
    unknown = matches(database, "--game", "chess")
    assert unknown.exit_code == 2
    assert "there is no game 'chess'" in unknown.stderr


def test_a_text_that_is_no_time_is_shown_as_it_is() -> None:
    assert local("long ago") == "long ago"


def test_the_help_says_why_there_is_no_port() -> None:
    text = " ".join(CliRunner().invoke(main, ["matches", "--help"]).output.split())
    assert "so it takes no --host and no --port, but --data-dir or --database" in text
