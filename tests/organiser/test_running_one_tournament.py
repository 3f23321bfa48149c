"""The runner: what is started when, what is counted, what is tried again, and how it all ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock as Clock

from triarena.organiser.arrivals import Bench, Missing
from triarena.organiser.attempt import Attempt, Failed, Outcome, Sporting
from triarena.organiser.bell import Bell
from triarena.organiser.desk import DeskRefused
from triarena.organiser.pairing import format_of
from triarena.organiser.records import StoredEvent, StoredPlayer, StoreError
from triarena.organiser.runner import Ending, EventRun
from triarena.organiser.spec import Event, Sprt, Stop
from triarena.organiser.stopping import why_stop
from triarena.organiser.store import Store, create_store
from triarena.tournament.values import Fixture, Played

from .scripted_lobby import event_of, kept, without_threads

AT = datetime(2031, 5, 4, tzinfo=UTC)
Play = Callable[[Attempt], Outcome]


@dataclass
class Reach:
    """What the runner wants to know of a link."""

    open: bool = True
    fatal: DeskRefused | None = None


@dataclass
class ScriptedTable:
    """Games last two seconds, and end as the test says."""

    event: Event
    outcome: Play
    link: Reach = field(default_factory=Reach)
    bench: Bench = field(default_factory=Bench)
    here: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    patience: float = 600.0
    remote: frozenset[str] = frozenset()
    awaited: dict[str, float] = field(default_factory=dict)
    now_playing: list[Fixture] = field(default_factory=list)
    most: int = 0
    begun: list[str] = field(default_factory=list)

    def present(self) -> frozenset[str]:
        return self.here

    def absent(self) -> frozenset[str]:
        return self.remote - self.here

    def awaits(self, name: str) -> float:
        return self.awaited.setdefault(name, trio.current_time()) + self.patience

    def available(self) -> frozenset[str]:
        return self.here | self.late

    async def hear_out(self, attempt: Attempt) -> None:
        await trio.lowlevel.checkpoint()

    async def play(self, attempt: Attempt, opened: Callable[[], None]) -> Outcome:
        fixture = attempt.fixture
        busy = {name for each in self.now_playing for name in each.players}
        assert not busy & set(fixture.players), "nobody plays twice at once"
        self.now_playing.append(fixture)
        self.begun.append(fixture.id)
        self.most = max(self.most, len(self.now_playing))
        attempt.room = f"room of {fixture.id}"
        opened()
        try:
            await trio.sleep(2)
            return self.outcome(attempt)
        finally:
            self.now_playing.remove(fixture)


@dataclass
class Heard:
    """A listener that remembers."""

    troubles: list[str] = field(default_factory=list)
    ends: list[Outcome] = field(default_factory=list)

    def began(self, attempt: Attempt) -> None:
        pass

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        self.ends.append(outcome)

    def trouble(self, sentence: str) -> None:
        self.troubles.append(sentence)


def won(attempt: Attempt, winner: Any = "red") -> Outcome:
    """By the rules."""
    return Sporting(Played(attempt.fixture, winner, "base", (), 1, 0, 20), "so it ended", "m1", (500.0, 400.0))


def won_by(name: str, attempt: Attempt) -> Outcome:
    """Always the same one wins."""
    return won(attempt, attempt.fixture.side_of(name))


by_the_first = partial(won_by, "Ann")


def heard_by(run: EventRun) -> list[str]:
    """What its organiser was told."""
    listener = run.listener
    assert isinstance(listener, Heard)
    return listener.troubles


def failing(attempt: Attempt) -> Outcome:
    return Failed("storage_lost", "the disk is full")


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., EventRun]]:
    """Makes the run of an event with its store."""
    monkeypatch.setattr(trio.to_thread, "run_sync", without_threads)
    stores: list[Store] = []

    def make(event: Event, outcome: Play = won, *, concurrency: int = 4, attempts: int = 3) -> EventRun:
        source = tmp_path / "t.toml"
        source.write_text("")
        players = [StoredPlayer(name) for name in event.names]
        store = create_store(tmp_path, source, [StoredEvent(event.slug, event.seed)], players, AT)
        stores.append(store)
        return run_of(event, store, outcome, concurrency=concurrency, attempts=attempts)

    yield make
    for store in stores:
        store.close()


def run_of(event: Event, store: Store, outcome: Play, *, concurrency: int = 4, attempts: int = 3) -> EventRun:
    table: Any = ScriptedTable(event, outcome, here=frozenset(event.names))
    return EventRun(
        table=table, format=format_of(event), store=store, bell=Bell(), concurrency=concurrency, attempts=attempts,
        now=lambda: AT, listener=Heard(), keeper=lambda attempt, outcome: "",
        stops=lambda plan, played: why_stop(event, plan, played, trio.current_time()),
    )  # fmt: skip


def players(count: int) -> list[Any]:
    return [kept(name) for name in ("Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal")[:count]]


Make = Callable[..., EventRun]


async def test_every_game_is_played_once_and_stored(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(6)))
    assert await run.run() == Ending("finished")
    assert run.played == run.store.played("towers")
    assert len(run.played) == 30
    (attempt,) = run.store.attempts("towers", "1.1.1")
    assert (attempt.state, attempt.room) == ("played", "room of 1.1.1")
    assert attempt.spent.red_ms == 500.0


async def test_no_more_games_run_at_once_than_wanted(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(8)), concurrency=3)
    await run.run()
    assert run.table.most == 3  # type: ignore[attr-defined]


async def test_one_at_a_time_they_are_played_in_the_plans_order(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(4)), concurrency=1)
    await run.run()
    assert run.table.begun == [fixture.id for fixture in run.plan.fixtures()]  # type: ignore[attr-defined]


async def test_a_game_that_failed_is_tried_again_after_a_while(running: Make, autojump_clock: Clock) -> None:
    tries: list[float] = []

    def third_time(attempt: Attempt) -> Outcome:
        tries.append(trio.current_time())
        return won(attempt) if len(tries) == 3 else failing(attempt)

    run = running(event_of(*players(2), games_per_pairing=1), third_time)
    assert (await run.run()).how == "finished"
    assert [attempt.state for attempt in run.store.attempts("towers", "1.1.1")] == ["failed", "failed", "played"]
    assert tries[1] - tries[0] >= 4
    assert tries[2] - tries[1] >= 6


async def test_only_the_last_attempt_knows_that_it_is_the_last(running: Make, autojump_clock: Clock) -> None:
    last: list[bool] = []

    def note(attempt: Attempt) -> Outcome:
        last.append(attempt.last)
        return failing(attempt)

    await running(event_of(*players(2), games_per_pairing=1), note).run()
    assert last == [False, False, True]


async def test_a_game_that_fails_too_often_is_given_up_and_the_others_are_played(
    running: Make, autojump_clock: Clock
) -> None:
    run = running(event_of(*players(3)), lambda a: failing(a) if a.fixture.id == "1.1.1" else won(a))
    ending = await run.run()
    assert ending.how == "incomplete"
    assert "the disk is full" in ending.why
    assert len(run.played) == 5
    assert any("given up after 3 attempts" in each for each in run.listener.troubles)  # type: ignore[attr-defined]


async def test_a_resumed_run_plays_what_is_left_and_counts_its_attempts_on(
    running: Make, autojump_clock: Clock
) -> None:
    event = event_of(*players(3))
    first = running(event, lambda a: failing(a) if a.fixture.id == "1.1.1" else won(a))
    await first.run()
    numbers: list[int] = []

    def note(attempt: Attempt) -> Outcome:
        numbers.append(attempt.number)
        return won(attempt)

    assert await run_of(event, first.store, note).run() == Ending("finished")
    assert numbers == [4]


async def test_who_is_away_loses_nothing_while_others_can_play(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(4)), concurrency=1)
    table: Any = run.table
    table.here, table.late = frozenset({"Bob", "Cleo", "Dan"}), frozenset({"Ann"})
    assert (await run.run()).how == "finished"
    with_ann = ["Ann" in run.played[id_].fixture.players for id_ in table.begun]
    assert with_ann == [False] * 6 + [True] * 6


async def test_a_run_waits_for_who_is_not_there_yet(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(2)))
    table: Any = run.table
    table.here = frozenset({"Bob"})
    async with trio.open_nursery() as nursery:

        async def come() -> None:
            await trio.sleep(300)
            assert table.begun == []
            table.here = frozenset({"Ann", "Bob"})

        nursery.start_soon(come)
        assert (await run.run()).how == "finished"


async def test_who_is_waited_for_is_told_with_the_end_of_patience_once_for_each_absence(
    running: Make, autojump_clock: Clock
) -> None:
    run = running(event_of(*players(2)))
    table: Any = run.table
    table.here, table.remote = frozenset({"Bob"}), frozenset({"Ann", "Bob"})
    until = (AT + timedelta(seconds=600)).astimezone()
    async with trio.open_nursery() as nursery:

        async def come() -> None:
            await trio.sleep(300)
            told = f"Ann is not here, and is waited for until {until:%H:%M:%S}; then it loses the games"
            assert [each.startswith(told) for each in heard_by(run)] == [True]
            assert len(run.waiting.sentences()) == 1
            table.here = frozenset({"Ann", "Bob"})

        nursery.start_soon(come)
        await run.run()
    assert heard_by(run)[1:] == ["Ann is here now"]
    assert run.waiting.sentences() == []


async def test_the_end_of_patience_is_told(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(2)))
    table: Any = run.table
    table.here, table.remote = frozenset({"Bob"}), frozenset({"Ann", "Bob"})
    with trio.move_on_after(700):
        await run.run()
    assert len(heard_by(run)) == 2
    assert heard_by(run)[1] == "Ann is not here, and loses the games that are due until it comes"
    assert run.waiting.sentences() == heard_by(run)[1:]


async def test_who_has_no_game_left_is_not_waited_for(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(3)))
    table: Any = run.table
    table.remote = frozenset({"Dan"})
    await run.run()
    assert heard_by(run) == []


def lost(name: str) -> Outcome:
    return Failed("process_lost", "its guard was killed", culprit=name)


@pytest.mark.parametrize("attempts", [1, 3, 5])
async def test_a_bot_whose_process_is_always_lost_loses_instead_of_playing_for_ever(
    running: Make, autojump_clock: Clock, attempts: int
) -> None:
    run = running(event_of(*players(3)), lost_with("Ann"), attempts=attempts)
    assert await run.run() == Ending("finished")
    with_ann = [each for each in run.played.values() if "Ann" in each.fixture.players]
    assert len(with_ann) == 4
    for each in with_ann:
        assert each.reason == "disconnected"
        assert each.offenders == (each.fixture.side_of("Ann"),)
    assert all(each.reason == "base" for each in run.played.values() if each not in with_ann)
    table: Any = run.table
    assert len([id_ for id_ in table.begun if "Ann" in run.played[id_].fixture.players]) <= 6


async def test_a_bot_whose_process_is_lost_in_one_game_only_loses_that_one(
    running: Make, autojump_clock: Clock
) -> None:
    def sometimes(attempt: Attempt) -> Outcome:
        return lost(attempt.fixture.red) if attempt.fixture.id == "1.1.1" else won(attempt)

    run = running(event_of(*players(3)), sometimes, concurrency=1, attempts=1)
    assert await run.run() == Ending("finished")
    assert {id_ for id_, each in run.played.items() if each.offenders} == {"1.1.1"}


async def test_processes_that_are_lost_twice_cost_nobody_a_game(running: Make, autojump_clock: Clock) -> None:
    def twice(attempt: Attempt) -> Outcome:
        return lost("Ann") if attempt.number <= 2 and attempt.fixture.id == "1.1.1" else won(attempt)

    run = running(event_of(*players(2)), twice, concurrency=1)
    assert await run.run() == Ending("finished")
    assert all(not each.offenders for each in run.played.values())


async def test_a_bot_that_lets_its_process_be_lost_now_and_then_buys_no_more_than_two_replays(
    running: Make, autojump_clock: Clock
) -> None:
    tries: list[str] = []

    def now_and_then(attempt: Attempt) -> Outcome:
        """Two losses, then a game that goes well, and so on."""
        if "Ann" not in attempt.fixture.players:
            return won(attempt)
        tries.append(attempt.fixture.id)
        return won(attempt) if len(tries) % 3 == 0 else lost("Ann")

    run = running(event_of(*players(4)), now_and_then, concurrency=1)
    assert await run.run() == Ending("finished")
    assert len(tries) == len({*tries}) + 2
    assert sum(bool(each.offenders) for each in run.played.values()) == 4


async def test_lost_processes_are_remembered_when_a_tournament_is_resumed(running: Make, autojump_clock: Clock) -> None:
    event = event_of(*players(2))

    def twice(attempt: Attempt) -> Outcome:
        return lost("Ann") if attempt.number == 1 else won(attempt)

    first = running(replace(event, stop=Stop(max_games=1)), twice, concurrency=1)
    assert (await first.run()).how == "stopped"
    resumed = run_of(event, first.store, lost_with("Ann"))
    assert await resumed.run() == Ending("finished")
    (last,) = resumed.table.begun  # type: ignore[attr-defined]
    assert resumed.played[last].reason == "disconnected"
    assert [(note.kind, note.player) for note in resumed.store.notes()] == [("process_lost", "Ann")] * 3


def lost_with(name: str) -> Play:
    def play(attempt: Attempt) -> Outcome:
        return lost(name) if name in attempt.fixture.players else won(attempt)

    return play


async def test_nothing_is_started_while_the_server_is_away(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(2)))
    table: Any = run.table
    table.link.open = False
    with trio.move_on_after(100):
        await run.run()
    assert table.begun == []


async def test_a_server_that_will_never_let_us_in_interrupts(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(2)))
    table: Any = run.table
    table.link.open, table.link.fatal = False, DeskRefused("wrong_secret", "that is not the secret")
    assert await run.run() == Ending("interrupted", "that is not the secret")


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_no_more_games_are_played_than_wanted(running: Make, autojump_clock: Clock, concurrency: int) -> None:
    run = running(event_of(*players(8), stop=Stop(max_games=10)), concurrency=concurrency)
    ending = await run.run()
    assert ending == Ending("stopped", "it was to end after 10 games")
    assert len(run.played) == 10


async def test_after_the_wanted_time_nothing_is_started(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(8), stop=Stop(max_minutes=0.5)), concurrency=1)
    assert (await run.run()).how == "stopped"
    assert 0 < len(run.played) <= 17


async def test_a_comparison_ends_when_it_is_decided(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(2), games_per_pairing=200, stop=Stop(sprt=Sprt(0, 100))), by_the_first)
    ending = await run.run()
    assert ending.how == "stopped"
    assert "Ann over Bob is 100 Elo rather than 0" in ending.why
    assert len(run.played) < 100


async def test_a_comparison_ends_as_well_if_the_lesser_difference_is_found(
    running: Make, autojump_clock: Clock
) -> None:
    lost = partial(won_by, "Bob")
    run = running(event_of(*players(2), games_per_pairing=200, stop=Stop(sprt=Sprt(0, 100))), lost)
    ending = await run.run()
    assert ending.how == "stopped"
    assert "Ann over Bob is 0 Elo rather than 100" in ending.why


async def test_a_comparison_without_a_decision_plays_all_games(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(2), games_per_pairing=20, stop=Stop(sprt=Sprt(0, 5))))
    assert await run.run() == Ending("finished")


async def test_an_interrupt_lets_running_games_end_and_starts_none(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(8)), concurrency=2)
    async with trio.open_nursery() as nursery:

        async def interrupt() -> None:
            await run.bell.until(lambda: len(run.played) >= 4)
            run.orders = Ending("interrupted", "it was interrupted")

        nursery.start_soon(interrupt)
        assert await run.run() == Ending("interrupted", "it was interrupted")
    assert run.running == {}
    assert 4 <= len(run.played) <= 6


async def test_a_full_disk_is_waited_for(running: Make, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    run = running(event_of(*players(2)))
    record, refusals = run.store.record_result, [StoreError("store_failed", "the disk is full")] * 3

    def full(*arguments: Any, **more: Any) -> None:
        if refusals:
            raise refusals.pop()
        record(*arguments, **more)

    monkeypatch.setattr(run.store, "record_result", full)
    assert (await run.run()).how == "finished"
    assert len(run.store.played("towers")) == 2
    assert heard_by(run) == [
        "a result waits to be stored: the disk is full",
        "what waited to be stored is stored: the tournament goes on",
    ]


async def test_a_result_that_could_not_be_stored_is_told_apart_in_the_end(
    running: Make, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = running(event_of(*players(2)))

    def full(*arguments: Any, **more: Any) -> None:
        run.hurried = True
        raise StoreError("store_failed", "the disk is full")

    monkeypatch.setattr(run.store, "record_result", full)
    assert (await run.run()).unstored


@pytest.mark.parametrize("method", ["begin_attempt", "place_attempt", "record_result", "played"])
async def test_a_store_that_refuses_interrupts_in_a_sentence(
    running: Make, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    run = running(event_of(*players(4)))

    def refuse(*arguments: Any, **more: Any) -> None:
        raise StoreError("damaged", "the store is damaged")

    monkeypatch.setattr(run.store, method, refuse)
    assert await run.run() == Ending("interrupted", "the store is damaged")
    assert run.running == {}


async def test_results_of_another_plan_interrupt_before_a_game(running: Make, autojump_clock: Clock) -> None:
    event = event_of(*players(3))
    run = running(event)
    await run.run()
    other = run_of(replace(event, seed=2), run.store, won)
    ending = await other.run()
    assert ending.how == "interrupted"
    assert "the tournament's file was changed after the start" in ending.why


async def test_evidence_that_cannot_be_kept_ends_nothing(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(2)))

    def keep(attempt: Attempt, outcome: Outcome) -> str:
        raise RuntimeError("no room for it")

    run.keeper = keep
    assert (await run.run()).how == "finished"
    assert "no room for it" in run.listener.troubles[0]  # type: ignore[attr-defined]


async def test_who_is_put_on_the_bench_is_told_and_noted(running: Make, autojump_clock: Clock) -> None:
    event = event_of(*players(2), games_per_pairing=4)
    run = running(event, concurrency=1)
    absent = partial(run.table.bench.absent, event.player("Ann"), Missing("it hangs"))

    def no_show(attempt: Attempt) -> Outcome:
        absent()
        return won(attempt, "blue")

    table: Any = run.table
    table.outcome = no_show
    await run.run()
    (note,) = run.store.contents().notes
    assert (note.kind, note.player, note.event) == ("cannot_start", "Ann", "towers")
    assert run.listener.troubles == [note.text]  # type: ignore[attr-defined]


async def test_the_schedule_is_made_once_for_each_result(running: Make, autojump_clock: Clock) -> None:
    run = running(event_of(*players(6)), concurrency=2)
    plan, calls = run.format.plan, [0]

    class Counting:
        def plan(self, played: Any) -> Any:
            calls[0] += 1
            return plan(played)

    counting: Any = Counting()
    run.format = counting
    await run.run()
    assert calls[0] <= 31
