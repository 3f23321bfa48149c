"""The campaign: one tournament after the other, and an orderly end whatever happens."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock as Clock

from triarena.organiser import campaign as campaigns
from triarena.organiser.attempt import Attempt, Table
from triarena.organiser.bell import Bell
from triarena.organiser.campaign import DRAIN_SECONDS, Campaign, Hooks
from triarena.organiser.crew import Bot
from triarena.organiser.endings import Ended
from triarena.organiser.pairing import format_of
from triarena.organiser.records import StoredEvent, StoredPlayer, StoreError
from triarena.organiser.runner import Ending
from triarena.organiser.spec import TournamentFile
from triarena.organiser.stopping import why_stop
from triarena.organiser.store import create_store
from triarena.organiser.store_file import STORE_NAME
from triarena.protocol import from_client as c

from .scripted_lobby import (
    ACCESS,
    PLACE,
    ScriptedCrew,
    ScriptedLobby,
    ended,
    event_of,
    kept,
    open_lobby,
    without_threads,
)

AT = datetime(2031, 5, 4, tzinfo=UTC)
PLAYERS = (kept("Ann"), kept("Bob"), kept("Cleo"))


@dataclass
class Seen:
    """A view that remembers."""

    troubles: list[str] = field(default_factory=list)
    ends: int = 0
    fails: bool = False

    def shows(self, run: Any, link: Any) -> None:
        pass

    def began(self, attempt: Any) -> None:
        pass

    def ended(self, attempt: Any, outcome: Any) -> None:
        self.ends += 1

    def trouble(self, sentence: str) -> None:
        self.troubles.append(sentence)

    async def keep(self) -> None:
        if self.fails:
            raise RuntimeError("no terminal")
        await trio.sleep_forever()


@dataclass
class Stage:
    """A campaign with its server."""

    campaign: Campaign
    lobby: ScriptedLobby
    view: Seen
    exports: list[float]
    game_seconds: float = 2.0

    @property
    def store(self) -> Any:
        return self.campaign.store


Open = Callable[..., Any]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Open:
    """Opens a campaign of round robins in which red always wins."""

    @asynccontextmanager
    async def open_stage(*slugs: str, attempts: int = 3) -> AsyncIterator[Stage]:
        source = tmp_path / "t.toml"
        source.write_text("")
        events = tuple(replace(event_of(*PLAYERS), slug=slug, name=slug) for slug in slugs)
        stored = [StoredEvent(event.slug, 1) for event in events]
        players = [StoredPlayer(player.name, f"token of {player.name}") for player in PLAYERS]
        file = TournamentFile("All", tmp_path, events, PLAYERS, concurrency=1, attempts=attempts)
        view, exports = Seen(), list[float]()
        async with open_lobby(monkeypatch) as lobby:

            def crew(nursery: trio.Nursery, bell: Bell, limits: Any, logs: Path, tokens: Any) -> ScriptedCrew:
                return ScriptedCrew(nursery, bell, logs, dict.fromkeys(tokens, obedient(lobby)))

            monkeypatch.setattr(campaigns, "Crew", crew)
            monkeypatch.setattr(trio.to_thread, "run_sync", without_threads)
            with create_store(tmp_path, source, stored, players, AT) as store:
                hooks = Hooks(
                    format=format_of, stops=why_stop, farewell=lambda store, name: f"goodbye, {name}",
                    export=lambda: exports.append(1.0), keeper=lambda event: lambda attempt, outcome: "",
                    now=lambda: AT,
                )  # fmt: skip
                campaign = Campaign(
                    file=file, folder=tmp_path, store=store, hooks=hooks, view=view, server=None,
                    access=lambda: ACCESS, place=lambda: PLACE, bell=Bell(),
                )  # fmt: skip
                it = Stage(campaign, lobby, view, exports)

                async def invited(player: str, room: str, side: str) -> None:
                    await lobby.sits(room, side)
                    if room in lobby.rooms and lobby.rooms[room].match is not None:
                        await trio.sleep(it.game_seconds)
                        if room in lobby.rooms:
                            await lobby.ends(room, ended())

                lobby.on_invite = invited
                yield it

    return open_stage


def obedient(lobby: ScriptedLobby) -> Callable[[Bot, list[str], dict[str, str]], Awaitable[Ended]]:
    async def wait(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
        await lobby.comes(bot.player.name)
        await trio.sleep_forever()
        raise AssertionError

    return wait


async def test_all_tournaments_are_played_and_everybody_is_sent_home(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one", "two") as it:
        assert (await it.campaign.run()).how == "finished"
        contents = it.store.contents()
        assert [event.state for event in contents.events] == ["finished", "finished"]
        assert contents.state == "finished"
        assert len(contents.results) == 12
        assert [(each.name, each.message) for each in it.lobby.asked(c.Dismiss)] == [
            (name, f"goodbye, {name}") for name in ("Ann", "Bob", "Cleo")
        ]
        assert it.exports


async def test_one_who_is_not_there_does_not_keep_the_others_from_their_farewell(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage("one") as it:
        it.lobby.refuses[c.Dismiss] = "not_enrolled"
        await it.campaign.run()
        assert len(it.lobby.asked(c.Dismiss)) == 3


async def test_an_interrupt_lets_the_running_game_end(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one", "two") as it, trio.open_nursery() as nursery:

        async def interrupt() -> None:
            await it.campaign.bell.until(lambda: it.lobby.rooms.get("r3") is not None)
            it.campaign.interrupt()

        nursery.start_soon(interrupt)
        assert (await it.campaign.run()).how == "interrupted"
        contents = it.store.contents()
        assert contents.state == "interrupted"
        assert len(contents.results) == 3
        assert it.lobby.asked(c.Dismiss) == []


@pytest.mark.parametrize("twice", [True, False])
async def test_a_game_that_lasts_is_broken_off_and_its_room_closed(
    stage: Open, autojump_clock: Clock, twice: bool
) -> None:
    async with stage("one") as it, trio.open_nursery() as nursery:
        it.game_seconds = 1000

        async def interrupt() -> None:
            await trio.sleep(10)
            it.campaign.interrupt()
            if twice:
                await trio.sleep(1)
                it.campaign.break_off()

        nursery.start_soon(interrupt)
        assert await it.campaign.run() == Ending("interrupted", "it was interrupted")
        assert trio.current_time() < (10 if not twice else 1) + DRAIN_SECONDS + 15
        assert it.lobby.closed == ["r1"]
        (attempt,) = it.store.attempts("one", "1.1.1")
        assert attempt.state == "failed"


async def test_a_process_that_does_not_end_after_its_game_holds_up_no_second_interrupt_and_the_result_counts(
    stage: Open, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(table: Table, attempt: Attempt, failed: object) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(Table, "_send_home", never)
    async with stage("one") as it, trio.open_nursery() as nursery:

        async def interrupt() -> None:
            await trio.sleep(100)
            it.campaign.interrupt()
            await trio.sleep(1)
            it.campaign.break_off()

        nursery.start_soon(interrupt)
        assert await it.campaign.run() == Ending("interrupted", "it was interrupted")
        assert trio.current_time() < 110
        assert list(it.store.played("one")) == ["1.1.1"]


async def test_a_cancellation_from_elsewhere_ends_it_for_good(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one", "two") as it, trio.open_nursery() as nursery:
        it.game_seconds = 1000

        async def cancel() -> None:
            await trio.sleep(10)
            await trio.to_thread.run_sync(it.store.set_state, "cancelled", "it was cancelled")

        nursery.start_soon(cancel)
        assert (await it.campaign.run()).how == "cancelled"
        assert it.store.state() == "cancelled"
        assert it.lobby.closed == ["r1"]
        assert len(it.lobby.asked(c.Dismiss)) == 3


@pytest.mark.parametrize("deed", ["renamed", "deleted", "replaced"])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody move a file that is open")
async def test_a_folder_that_does_not_lie_there_any_more_ends_it_at_once_with_a_sentence_and_without_exports(
    stage: Open, autojump_clock: Clock, tmp_path: Path, deed: str
) -> None:
    async with stage("one", "two") as it, trio.open_nursery() as nursery:
        it.game_seconds = 1000
        exports: list[float] = []

        async def move() -> None:
            await trio.sleep(10)
            store = tmp_path / STORE_NAME
            store.rename(tmp_path / "elsewhere")
            if deed == "deleted":
                (tmp_path / "elsewhere").unlink()
            if deed == "replaced":
                store.write_bytes((tmp_path / "elsewhere").read_bytes())
            exports.extend(it.exports)

        nursery.start_soon(move)
        ending = await it.campaign.run()
        assert ending.how == "interrupted"
        assert "was renamed, moved or deleted while the tournament was played in it" in ending.why
        assert trio.current_time() < 10 + 5
        assert it.exports == exports
        assert it.store.state() == "interrupted"


async def test_a_server_that_does_not_let_us_in_any_more_ends_it_at_once(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one") as it, trio.open_nursery() as nursery:
        it.game_seconds = 1000

        async def change_secret() -> None:
            await trio.sleep(10)
            it.lobby.secret = "another"
            await it.lobby.lose()

        nursery.start_soon(change_secret)
        ending = await it.campaign.run()
        assert ending.how == "interrupted"
        assert trio.current_time() < 10 + 20


@pytest.mark.parametrize("there_is_room_again", [True, False])
async def test_how_a_tournament_ended_waits_for_room_on_the_disk_until_somebody_interrupts(
    stage: Open, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch, there_is_room_again: bool
) -> None:
    async with stage("one") as it, trio.open_nursery() as nursery:
        set_event_state, full = it.store.set_event_state, [True]

        def write(event: str, state: Any, why: str = "") -> None:
            if state == "finished" and full:
                raise StoreError("store_failed", "the disk is full")
            set_event_state(event, state, why)

        async def change() -> None:
            await trio.sleep(1000)
            if there_is_room_again:
                full.clear()
            else:
                it.campaign.interrupt()

        monkeypatch.setattr(it.store, "set_event_state", write)
        nursery.start_soon(change)
        ending = await it.campaign.run()
        assert ending.how == ("finished" if there_is_room_again else "interrupted")
        assert 1000 <= trio.current_time() < 1010
        told = ["how a tournament ended waits to be stored: the disk is full", "how a tournament ended is stored now"]
        assert it.view.troubles == told[: 2 if there_is_room_again else 1]


async def test_a_cancellation_while_the_last_games_run_out_is_heeded_at_once(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage("one") as it, trio.open_nursery() as nursery:
        it.game_seconds = 1000

        async def cancel() -> None:
            await trio.sleep(10)
            it.campaign.interrupt()
            await trio.sleep(3)
            await trio.to_thread.run_sync(it.store.set_state, "cancelled", "it was cancelled")

        nursery.start_soon(cancel)
        assert (await it.campaign.run()).how == "cancelled"
        assert trio.current_time() < 10 + 3 + 5
        assert it.lobby.closed == ["r1"]


@pytest.mark.parametrize("how", ["cancelled", "broken off"])
async def test_a_room_that_was_just_being_prepared_is_closed(stage: Open, autojump_clock: Clock, how: str) -> None:
    async with stage("one") as it, trio.open_nursery() as nursery:
        it.lobby.slow[c.Prepare] = 4

        async def end() -> None:
            await it.campaign.bell.until(lambda: bool(it.campaign._run and it.campaign._run.running))
            await trio.sleep(1)
            if how == "cancelled":
                it.store.set_state("cancelled", "it was cancelled")
            else:
                it.campaign.break_off()

        nursery.start_soon(end)
        await it.campaign.run()
        assert it.lobby.closed == ["r1"]


@pytest.mark.parametrize("how", ["cancelled", "broken off"])
async def test_what_the_referee_has_decided_counts_although_it_is_ended_at_that_moment(
    stage: Open, autojump_clock: Clock, how: str
) -> None:
    kept_of: list[tuple[str, bool]] = []
    async with stage("one") as it, trio.open_nursery() as nursery:

        def keep(attempt: Any, outcome: Any) -> str:
            kept_of.append((attempt.fixture.id, attempt.fixture.id in it.store.played("one")))
            return "irregular/it"

        async def forfeits(player: str, room: str, side: str) -> None:
            await it.lobby.sits(room, side)
            if it.lobby.rooms[room].match is not None:
                await it.lobby.ends(room, ended("blue", "forfeit", "illegal_move", ["red"]))
                if how == "cancelled":
                    it.store.set_state("cancelled", "it was cancelled")
                else:
                    it.campaign.break_off()

        it.lobby.on_invite = forfeits
        it.campaign.hooks = replace(it.campaign.hooks, keeper=lambda event: keep)
        await it.campaign.run()
        nursery.cancel_scope.cancel()
        contents = it.store.contents()
        assert [result.played.winner for result in contents.results] == ["blue"]
        assert [(attempt.state, attempt.folder) for attempt in contents.attempts] == [("played", "irregular/it")]
        assert kept_of == [("1.1.1", True)]


async def test_a_tournament_that_is_resumed_is_running_again(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one") as it, trio.open_nursery() as nursery:
        it.store.set_state("interrupted", "it was interrupted")
        seen: list[Any] = []

        async def look() -> None:
            await trio.sleep(5)
            seen.append((it.store.contents().state, it.store.contents().why))

        nursery.start_soon(look)
        await it.campaign.run()
        assert seen == [("running", "")]


@pytest.mark.parametrize("state", ["finished", "cancelled"])
async def test_a_tournament_that_is_over_is_not_begun_again(stage: Open, autojump_clock: Clock, state: Any) -> None:
    async with stage("one") as it:
        it.store.set_state(state, "so it is")
        assert (await it.campaign.run()).how == state
        assert it.store.contents().why == "so it is"
        assert it.lobby.heard == []


async def test_a_cancellation_in_the_last_moment_is_not_overwritten(
    stage: Open, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage("one") as it:
        give_up = it.store.give_up_running
        calls: list[str] = []

        def cancelled_just_then(why: str, at: datetime) -> Any:
            calls.append(why)
            if len(calls) == 2:  # when all games have been played
                it.store.set_state("cancelled", "it was cancelled", unless=("finished", "cancelled"))
            return give_up(why, at)

        monkeypatch.setattr(it.store, "give_up_running", cancelled_just_then)
        assert (await it.campaign.run()).how == "cancelled"
        assert it.store.state() == "cancelled"


async def test_what_is_finished_can_no_more_be_cancelled(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one") as it:
        await it.campaign.run()
        assert it.store.set_state("cancelled", "it was cancelled", unless=("finished", "cancelled")) == "finished"
        assert it.store.state() == "finished"


async def test_what_is_merely_seen_may_fail(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one") as it:

        def export() -> None:
            raise OSError("the disk is full")

        it.view.fails = True
        it.campaign.hooks = replace(it.campaign.hooks, export=export)
        assert (await it.campaign.run()).how == "finished"
        assert any("the games go on" in each for each in it.view.troubles)
        assert any("the disk is full" in each for each in it.view.troubles)


async def test_why_exports_cannot_be_written_is_told_once_per_cause_and_at_the_end(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage("one", "two") as it:
        it.game_seconds = 20.0
        causes = [*["no room"] * 3, "no right", "no room", "", "", *["no room"] * 1000]
        tried = iter(causes)

        def export() -> None:
            if cause := next(tried):
                raise OSError(cause)

        it.campaign.hooks = replace(it.campaign.hooks, export=export)
        ending = await it.campaign.run()
        assert ending.how == "finished"
        assert ending.unwritten == "no room"
        assert [each for each in it.view.troubles if "up to date" in each] == [
            "the exports are not up to date: no room",
            "the exports are not up to date: no right",
            "the exports are up to date again",
            "the exports are not up to date: no room",
        ]


async def test_after_an_incomplete_tournament_the_next_is_played(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one", "two", attempts=1) as it:
        prepared: list[str] = []
        on_invite = it.lobby.on_invite

        async def first_room_is_closed(player: str, room: str, side: str) -> None:
            if room == "r1":
                if room in it.lobby.rooms and not prepared:
                    prepared.append(room)
                    await it.lobby.closes(room)
                return
            await on_invite(player, room, side)

        it.lobby.on_invite = first_room_is_closed
        assert (await it.campaign.run()).how == "incomplete"
        contents = it.store.contents()
        assert contents.state == "interrupted"
        assert len(contents.results) == 11
        assert [note.kind for note in contents.notes] == ["incomplete"]


async def test_a_broken_store_ends_in_a_sentence(
    stage: Open, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage("one") as it:

        def refuse(*arguments: object, **more: object) -> None:
            raise StoreError("damaged", "the store is damaged")

        for method in ("record_result", "set_state", "state", "set_playing_seconds"):
            monkeypatch.setattr(it.store, method, refuse)
        assert await it.campaign.run() == Ending("interrupted", "the store is damaged")


@pytest.mark.parametrize("method", ["players", "give_up_running", "events", "set_event_state"])
async def test_a_store_that_cannot_even_be_read_ends_in_a_sentence(
    stage: Open, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    async with stage("one") as it:

        def refuse(*arguments: object, **more: object) -> None:
            raise StoreError("store_failed", "the disk is gone")

        monkeypatch.setattr(it.store, method, refuse)
        assert await it.campaign.run() == Ending("interrupted", "the disk is gone")


async def test_rooms_that_a_killed_tool_left_are_closed_before_anything_is_played(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage("one") as it:
        left = it.store.begin_attempt("one", "1.1.1", AT)
        it.store.place_attempt(left, room="r77")
        assert (await it.campaign.run()).how == "finished"
        requests = [each for each in it.lobby.heard if isinstance(each, c.Cancel | c.Prepare)]
        assert isinstance(requests[0], c.Cancel)
        assert requests[0].room == "r77"
        assert [each.state for each in it.store.attempts("one", "1.1.1")] == ["failed", "played"]


async def test_a_server_that_is_never_there_lets_itself_be_interrupted(stage: Open, autojump_clock: Clock) -> None:
    async with stage("one") as it, trio.open_nursery() as nursery:
        it.lobby.there = False

        async def interrupt() -> None:
            await trio.sleep(100)
            it.campaign.interrupt()

        nursery.start_soon(interrupt)
        assert (await it.campaign.run()).how == "interrupted"
        assert trio.current_time() < 130
