"""What an organiser reads above the table and in a pipe while a tournament runs."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio
import trio.testing
from rich.console import Console
from tests.organiser.staged_tournament import event_of, file_of, play

from triarena.cli.tournament.screen import NUMBERS, Lines, Painted, who_waits
from triarena.organiser.attempt import Attempt, Failed, Outcome, Sporting
from triarena.organiser.desk import DeskLost
from triarena.organiser.pairing import format_of
from triarena.organiser.records import Contents, StoredEvent, StoredPlayer
from triarena.organiser.spec import Event
from triarena.organiser.store import Store, create_store
from triarena.organiser.waiting import Waiting
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
        f"   1.1.1  Ann - Bob  1-0  crashed: Bob, 1 ply: {LEFT}",
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


def absent(
    number: int, waited: int, reason: str = "no_show", why: str = "it was waited for"
) -> tuple[Attempt, Outcome]:
    played = Played(fixture(number), "red", reason, ("blue",), 0, 0, 0)
    return Attempt(played.fixture, 1, 0.0), Sporting(played, f"Bob did not come to its match: {why}, {waited} s", None)


def test_an_absence_is_said_once_in_its_line(said: list[str]) -> None:
    Lines(no_contents, said.append).ended(*absent(1, 34))
    assert said == ["   1.1.1  Ann - Bob  1-0  Bob did not come to its match: it was waited for, 34 s"]


def test_above_the_table_an_absence_is_told_once_however_long_it_lasts() -> None:
    console = Console(file=io.StringIO(), width=200)
    painting: Any = SimpleNamespace(console=console)
    painted = Painted(no_contents, painting)
    for number in range(1, 5):
        painted.ended(*absent(number, 30 + number))
    assert console.file.getvalue().count("\n") == 1  # type: ignore[attr-defined]


def test_a_long_reason_keeps_its_beginning_and_its_end_in_a_line(said: list[str]) -> None:
    why = f"it was started 3 times; it said: {'/ at some place ' * 40} TypeError: no such thing"
    Lines(no_contents, said.append).ended(*absent(1, 3, "start_failed", why))
    assert len(said[0]) < 240
    assert "Bob did not come to its match: it was started 3 times" in said[0]
    assert said[0].endswith("TypeError: no such thing, 3 s")


def run_of(store: Store, event: Event, present: tuple[str, ...] = (), **changes: Any) -> Any:
    """What a view is shown of a running tournament."""
    pairing = format_of(event)
    played = store.played(event.slug)
    table = SimpleNamespace(event=event, present=lambda: frozenset(present))
    usual = {
        "table": table, "format": pairing, "store": store, "concurrency": 2, "running": {}, "given_up": {},
        "played": played, "plan": pairing.plan(played), "waiting": Waiting(),
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **changes})


def link_of(*, is_open: bool = True, losses: int = 0, code: str = "no_server") -> Any:
    trouble = None if is_open else DeskLost(code, "nobody answers")
    return SimpleNamespace(open=is_open, losses=losses, trouble=trouble)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Store, tuple[Event, ...]]:
    events = (event_of("Meadow"), event_of("Towers"))
    file = file_of(tmp_path, *events)
    source = tmp_path / "two.toml"
    source.write_text("", "utf-8")
    stored = [StoredEvent(event.slug, event.seed) for event in events]
    players = [StoredPlayer(player.name) for player in file.players]
    return create_store(tmp_path, source, stored, players, datetime.now(UTC)), events


VIEWS: list[Callable[[Callable[[], Contents], list[str]], Lines]] = [
    lambda contents, said: Lines(contents, said.append),
    lambda contents, said: Painted(
        contents,
        SimpleNamespace(console=SimpleNamespace(print=lambda text, **_: said.append(text))),  # type: ignore[arg-type]
    ),
]


@pytest.mark.parametrize("view", VIEWS)
async def test_the_numbers_of_games_are_explained_first_and_each_winner_is_told_before_the_next_event(
    two: tuple[Store, tuple[Event, ...]], said: list[str], view: Callable[..., Lines]
) -> None:
    await trio.lowlevel.checkpoint()  # what is shown looks at trio's clock
    store, (meadow, towers) = two
    lines = view(store.contents, said)
    lines.shows(run_of(store, meadow), link_of())
    play(store, meadow)
    lines.shows(run_of(store, towers), link_of())
    told = [line for line in said if not line.startswith("===")]
    assert told[0] == NUMBERS
    assert told[1].startswith("Meadow: ")
    assert " wins, then " in told[1]
    if not isinstance(lines, Painted):
        assert said[1:] == [
            "=== Meadow: TowerWars, 8 bots, 56 games ===", told[1], "=== Towers: TowerWars, 8 bots, 56 games ==="
        ]  # fmt: skip


def test_those_who_wait_for_the_same_stand_in_one_line(two: tuple[Store, tuple[Event, ...]]) -> None:
    store, (meadow, _) = two
    *others, last = meadow.names
    run = run_of(store, meadow, present=tuple(others[:2]))
    run.running = {}
    run.played = {each.id: None for each in run.plan.fixtures() if {each.red, each.blue} == set(others[:2])}
    assert list(who_waits(run, link_of()).values()) == [
        "Ann and Bob wait for Cleo, Dmitri, Faruk and 3 more",
    ]
    assert last not in who_waits(run, link_of())


def test_a_server_that_starts_is_told_from_one_that_is_lost(two: tuple[Store, tuple[Event, ...]]) -> None:
    store, (meadow, _) = two
    run = run_of(store, meadow)
    assert who_waits(run, link_of(is_open=False)) == {"the server": "starting the server"}
    lost = who_waits(run, link_of(is_open=False, losses=1, code="connection_lost"))
    assert lost == {"the server": "waiting for the server: nobody answers"}


async def test_in_a_pipe_each_wait_is_told_once(
    two: tuple[Store, tuple[Event, ...]], said: list[str], autojump_clock: trio.testing.MockClock
) -> None:
    store, (meadow, _) = two
    lines = Lines(no_contents, said.append)
    run = run_of(store, meadow, present=("Ann",))
    lines.run, lines.link = run, link_of()
    with trio.move_on_after(45):
        await lines.keep()
    assert len(said) == 1
    assert said[0].startswith("Ann waits for ")


def test_absences_stand_together_and_short() -> None:
    waiting, now = Waiting(), datetime.now(UTC)
    waiting.news({"Remo": 30.0, "Rosa": 30.0, "Rex": -1.0}, ("Remo", "Rosa", "Rex"), 0.0, now)
    first, second = waiting.brief()
    assert first.startswith("Remo and Rosa are not here, waited for until ")
    assert second == "Rex is not here, and loses the games that are due"
    assert max(map(len, (first, second))) < 80
