"""One attempt at a game: both come, or one does not, or the server is away; and whose fault that is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import trio
from trio.testing import MockClock as Clock

from triarena.organiser.arrivals import MOST_ABSENCES, MOST_STARTS, SERVER_SECONDS
from triarena.organiser.attempt import Attempt, Failed, Outcome, Sporting, Table
from triarena.organiser.crew import Bot
from triarena.organiser.endings import LOST, Ended
from triarena.organiser.spec import Event, Player
from triarena.protocol import from_client as c
from triarena.protocol.values import AbortReason, Result
from triarena.tournament.tally import UNFINISHED
from triarena.tournament.values import Fixture

from .scripted_lobby import (
    EXITED,
    PLACE,
    Program,
    ScriptedCrew,
    ScriptedLobby,
    ended,
    event_of,
    kept,
    once,
    open_link,
    open_lobby,
    remote,
)

FIXTURE = Fixture(round=1, table=1, number=1, red="Ann", blue="Bob", seed=3, pair="1.1")
FULL = Ended("cannot_start", None, None, "it could not be started: Resource temporarily unavailable", blameless=True)


class Stage:
    """A table, its server and its bots."""

    def __init__(self, lobby: ScriptedLobby, link: Any, crew: ScriptedCrew, event: Event) -> None:
        self.lobby, self.link, self.crew = lobby, link, crew
        self.table = Table(event, link, crew, lambda: PLACE, start_seconds=30, patience_seconds=600)

    async def play(self, *, last: bool = False) -> Outcome:
        return await self.table.play(Attempt(FIXTURE, 1, trio.current_time(), last=last), lambda: None)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Opens a stage for two players; ``result`` is how every match that begins ends."""

    @asynccontextmanager
    async def open_stage(
        *players: Player,
        result: Result | None = None,
        programs: dict[str, Program] | None = None,
        game_seconds: float | None = None,
    ) -> AsyncIterator[Stage]:
        async with open_lobby(monkeypatch) as lobby:
            good = {each.name: obedient(lobby) if each.kept else direct(lobby) for each in players}

            async def invited(player: str, room: str, side: str) -> None:
                await lobby.sits(room, side)
                await end_if_begun(lobby, room, result)

            lobby.on_invite = invited
            async with open_link(lobby, *good) as link, trio.open_nursery() as nursery:
                await link.bell.until(lambda: link.open)
                crew = ScriptedCrew(nursery, link.bell, tmp_path, {**good, **(programs or {})})
                yield Stage(lobby, link, crew, event_of(*players, game_seconds=game_seconds))
                nursery.cancel_scope.cancel()

    def obedient(lobby: ScriptedLobby) -> Program:
        async def wait_for_invitations(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
            await lobby.comes(bot.player.name)
            await trio.sleep_forever()
            raise AssertionError

        return wait_for_invitations

    def direct(lobby: ScriptedLobby) -> Program:
        async def play(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
            room, side = words[-1].split("/")
            await lobby.sits(room, side)
            await end_if_begun(lobby, room, ended())
            return replace(EXITED, exit_code=0)

        return play

    return open_stage


async def end_if_begun(lobby: ScriptedLobby, room: str, result: Result | None) -> None:
    if result is not None and lobby.rooms[room].match is not None:
        await trio.sleep(3)
        await lobby.ends(room, result)


async def dies(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
    await trio.sleep(1)
    return EXITED


async def hangs(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
    await trio.sleep_forever()
    raise AssertionError


async def finds_no_room(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:  # noqa: ASYNC124 - a stand-in
    return FULL


Open = Callable[..., Any]


async def test_two_kept_bots_are_started_invited_and_play(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=ended("blue")) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.winner, outcome.played.plies, outcome.match) == ("blue", 9, "match-r1")
        assert sorted(it.crew.started) == ["Ann", "Bob"]


async def test_a_kept_bot_is_started_once_for_many_games(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=ended()) as it:
        for _ in range(3):
            assert isinstance(await it.play(), Sporting)
        assert sorted(it.crew.started) == ["Ann", "Bob"]


async def test_a_program_is_started_for_each_game_with_its_reservation(stage: Open, autojump_clock: Clock) -> None:
    async with stage(once("Ann"), once("Bob")) as it:
        for _ in range(2):
            assert isinstance(await it.play(), Sporting)
        assert sorted(it.crew.started) == ["Ann", "Ann", "Bob", "Bob"]


async def test_two_remote_bots_play_when_they_are_there(stage: Open, autojump_clock: Clock) -> None:
    async with stage(remote("Ann"), remote("Bob"), result=ended()) as it:
        await it.lobby.comes("Ann", "c1")
        await it.lobby.comes("Bob", "c2")
        await it.link.bell.until(lambda: len(it.link.waiting) == 2)
        assert isinstance(await it.play(), Sporting)
        assert it.crew.started == []


@pytest.mark.parametrize(("program", "reason"), [(dies, "start_failed"), (hangs, "no_show")])
async def test_a_program_that_does_not_come_loses(
    stage: Open, autojump_clock: Clock, program: Program, reason: str
) -> None:
    async with stage(once("Ann"), kept("Bob"), programs={"Ann": program}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.reason, outcome.played.winner) == (reason, "blue")
        assert outcome.played.offenders == ("red",)
        assert it.lobby.closed == ["r1"]


async def test_a_program_that_hangs_is_ended(stage: Open, autojump_clock: Clock) -> None:
    async with stage(once("Ann"), kept("Bob"), programs={"Ann": hangs}) as it:
        await it.play()
        assert it.crew.killed == ["Ann"]


async def test_when_nobody_comes_both_lose(stage: Open, autojump_clock: Clock) -> None:
    async with stage(once("Ann"), once("Bob"), programs={"Ann": hangs, "Bob": hangs}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.winner, outcome.played.offenders) == (None, ("red", "blue"))


async def test_who_could_not_be_started_has_not_just_stayed_away_with_the_other(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage(once("Ann"), once("Bob"), programs={"Ann": dies, "Bob": hangs}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.played.offenders == ("red", "blue")
        assert [outcome.played.reason_of(side) for side in outcome.played.offenders] == ["start_failed", "no_show"]


async def test_a_kept_bot_that_dies_is_started_a_few_times_for_one_game(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), programs={"Ann": dies}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert "it was started 3 times" in outcome.message
        assert it.crew.started.count("Ann") == MOST_STARTS


async def test_a_kept_bot_that_dies_after_its_invitation_is_started_again(stage: Open, autojump_clock: Clock) -> None:
    lives: list[str] = []
    async with stage(kept("Ann"), kept("Bob"), result=ended()) as it:
        on_invite = it.lobby.on_invite

        async def first_dies(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
            connection = f"c{len(lives)}"
            lives.append(connection)
            await it.lobby.comes("Ann", connection)
            if len(lives) == 1:
                await it.link.bell.until(lambda: bool(it.lobby.asked(c.Invite)))
                await it.lobby.goes("Ann")
                return EXITED
            await trio.sleep_forever()
            raise AssertionError

        async def heeds(player: str, room: str, side: str) -> None:
            if player != "Ann" or len(lives) > 1:
                await on_invite(player, room, side)

        it.lobby.on_invite = heeds
        it.crew.programs["Ann"] = first_dies
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.played.offenders == ()
        assert len(lives) == 2


@pytest.mark.parametrize("make", [kept, once])
async def test_a_machine_without_room_for_a_process_costs_nobody_a_game(
    stage: Open, autojump_clock: Clock, make: Callable[[str], Player]
) -> None:
    async with stage(make("Ann"), kept("Bob"), programs={"Ann": finds_no_room}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert "Resource temporarily unavailable" in outcome.message
        assert it.table.bench.why("Ann") is None


async def test_a_forfeit_by_a_bot_whose_guard_was_lost_does_not_count(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it:
        on_invite = it.lobby.on_invite

        async def begins(player: str, room: str, side: str) -> None:
            await on_invite(player, room, side)
            if it.lobby.rooms[room].match is not None:
                it.crew.kept(kept("Ann")).ended = FULL
                await it.lobby.ends(room, ended("blue", "forfeit", "disconnected", ["red"]))

        it.lobby.on_invite = begins
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert outcome.code == "process_lost"


@pytest.mark.parametrize(
    ("result", "offenders"),
    [
        (ended("blue", "forfeit", "timeout", ["red"]), ("red",)),
        (ended("red", "forfeit", "illegal_move", ["blue"]), ("blue",)),
        (ended(None, "forfeit", "stalled", ["red", "blue"]), ("red", "blue")),
    ],
)
async def test_a_forfeit_is_a_result(
    stage: Open, autojump_clock: Clock, result: Result, offenders: tuple[str, ...]
) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=result) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.irregular
        assert outcome.played.offenders == offenders


async def test_a_match_that_reached_its_limit_of_plies_is_drawn_and_not_played_again(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=ended(None, "aborted", "ply_limit")) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.winner, outcome.played.reason) == (None, "ply_limit")
        assert not outcome.irregular


@pytest.mark.parametrize("reason", sorted(set(get_args(AbortReason)) - UNFINISHED))
async def test_an_aborted_match_is_no_result(stage: Open, autojump_clock: Clock, reason: str) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=ended(None, "aborted", reason)) as it:
        outcome = await it.play()
        assert outcome == Failed(reason, "so it ended", "match-r1")


async def test_a_closed_room_is_no_result(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it, trio.open_nursery() as nursery:

        async def close() -> None:
            await trio.sleep(5)
            await it.lobby.closes("r1")

        nursery.start_soon(close)
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert outcome.code == "room_closed"


async def test_a_server_that_comes_back_goes_on_with_the_match(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it, trio.open_nursery() as nursery:

        async def away() -> None:
            await trio.sleep(5)
            it.lobby.there = False
            await it.lobby.lose()
            await trio.sleep(60)
            await it.lobby.ends("r1", ended("blue"))
            it.lobby.there = True

        nursery.start_soon(away)
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.played.winner == "blue"


async def test_a_server_that_stays_away_is_no_result_and_its_room_is_closed_later(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it, trio.open_nursery() as nursery:

        async def away() -> None:
            await trio.sleep(5)
            it.lobby.there = False
            await it.lobby.lose()

        nursery.start_soon(away)
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert outcome.code == "server_lost"
        assert trio.current_time() == pytest.approx(5 + SERVER_SECONDS, abs=10)
        it.lobby.there = True
        await it.link.bell.until(lambda: it.link.open)
        assert it.lobby.closed == ["r1"]


async def test_who_does_not_come_while_the_server_is_away_has_not_lost(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), once("Bob"), programs={"Bob": hangs}) as it, trio.open_nursery() as nursery:

        async def away() -> None:
            await trio.sleep(5)
            it.lobby.there = False
            await it.lobby.lose()
            await trio.sleep(2)
            it.lobby.there = True

        nursery.start_soon(away)
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert outcome.code == "server_lost"


async def test_a_match_that_never_begins_is_no_result(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it:

        async def sits_without_start(player: str, room: str, side: str) -> None:
            info = it.lobby.rooms[room]
            seat = getattr(info, side).model_copy(update={"connected": True})
            it.lobby.rooms[room] = info.model_copy(update={side: seat, "state": "waiting"})
            from triarena.protocol import from_server as s

            await it.lobby.tell(s.RoomEvent(event="joined", info=it.lobby.rooms[room]))

        it.lobby.on_invite = sits_without_start
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert outcome.code == "not_started"
        assert it.lobby.closed == ["r1"]


async def test_a_refused_invitation_is_made_again(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=ended()) as it, trio.open_nursery() as nursery:
        it.lobby.refuses[c.Invite] = "not_waiting"

        async def relent() -> None:
            await trio.sleep(10)
            it.lobby.refuses.clear()

        nursery.start_soon(relent)
        assert isinstance(await it.play(), Sporting)


async def test_a_remote_bot_that_has_just_gone_is_waited_for_and_loses_only_in_the_end(
    stage: Open, autojump_clock: Clock
) -> None:
    async with stage(remote("Ann"), kept("Bob")) as it:
        first, final = await it.play(), await it.play(last=True)
        assert isinstance(first, Failed)
        assert first.code == "absent"
        assert isinstance(final, Sporting)
        assert final.played.offenders == ("red",)


async def test_a_remote_bot_that_was_absent_for_long_loses_at_once(stage: Open, autojump_clock: Clock) -> None:
    async with stage(remote("Ann"), kept("Bob")) as it:
        await trio.sleep(601)  # nobody needs it yet, so nobody waits for it
        assert it.table.absent() == {"Ann"}
        assert it.table.available() == {"Bob"}
        assert it.table.awaits("Ann") == trio.current_time() + 600
        await trio.sleep(601)
        assert it.table.available() == {"Ann", "Bob"}
        assert it.table.present() == {"Bob"}
        began = trio.current_time()
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert trio.current_time() == began
        assert it.lobby.asked(c.Prepare) == []


async def test_a_bot_that_never_starts_soon_costs_no_time_any_more(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), programs={"Ann": hangs}) as it:
        for _ in range(MOST_ABSENCES):
            await it.play()
        ((name, sentence),) = it.table.bench.news()
        assert name == "Ann"
        assert "until the tournament is resumed" in sentence
        began = trio.current_time()
        outcome = await it.play()
        assert trio.current_time() == began
        assert isinstance(outcome, Sporting)
        assert outcome.played.offenders == ("red",)
        assert it.table.bench.news() == []


async def test_a_match_that_was_played_clears_a_bots_record(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=ended(), programs={"Ann": hangs}) as it:
        good = it.crew.programs["Bob"]
        for program in (hangs, hangs, good, hangs, hangs):
            it.crew.programs["Ann"] = program
            await it.play()
            if program is good:
                await it.crew.dismiss(it.crew.kept(kept("Ann")), 0)
                await it.lobby.goes("Ann")
        assert it.table.bench.why("Ann") is None


async def test_a_server_that_prepares_no_room_is_no_result(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it:
        it.lobby.refuses[c.Prepare] = "too_many_rooms"
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert outcome.code == "too_many_rooms"


# -- what became of a process ------------------------------------------------------------------


def forfeits_with(it: Stage, reason: str, ann: Ended | None) -> None:
    """The match ends by a forfeit of Ann, whose process has ended so."""
    on_invite = it.lobby.on_invite
    assert on_invite is not None

    async def begins(player: str, room: str, side: str) -> None:
        await on_invite(player, room, side)
        bot = it.crew.kept(kept("Ann"))
        if it.lobby.rooms[room].match is not None and bot is not None:
            bot.ended = ann
            await it.lobby.ends(room, ended("blue", "forfeit", reason, ["red"]))

    it.lobby.on_invite = begins


@pytest.mark.parametrize("reason", ["disconnected", "left", "stalled"])
@pytest.mark.parametrize("known", [True, False])
async def test_a_connection_that_ended_counts_only_if_it_is_known_how_the_process_fares(
    stage: Open, autojump_clock: Clock, reason: str, known: bool
) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it:
        forfeits_with(it, reason, None)
        it.crew.silent = set() if known else {"Ann"}
        outcome = await it.play()
        if known:
            assert isinstance(outcome, Sporting)
            assert outcome.played.reason == reason
        else:
            assert isinstance(outcome, Failed)
            assert (outcome.code, outcome.culprit) == ("process_lost", "Ann")


@pytest.mark.parametrize("reason", ["timeout", "illegal_move", "surrender"])
async def test_a_fault_that_no_lost_process_makes_counts_whatever_became_of_it(
    stage: Open, autojump_clock: Clock, reason: str
) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it:
        forfeits_with(it, reason, None)
        it.crew.silent = {"Ann"}
        assert isinstance(await it.play(), Sporting)


@pytest.mark.parametrize("make", [kept, once])
async def test_who_loses_its_guard_before_the_match_is_named(
    stage: Open, autojump_clock: Clock, make: Callable[[str], Player]
) -> None:
    async def is_lost(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
        await trio.sleep(1)
        return LOST

    async with stage(make("Ann"), kept("Bob"), programs={"Ann": is_lost}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert (outcome.code, outcome.culprit) == ("process_lost", "Ann")


# -- games that would last for ever ------------------------------------------------------------


async def test_who_hangs_without_a_clock_has_lost_in_the_end(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), game_seconds=3600) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.reason, outcome.played.offenders) == ("timeout", ("red",))
        assert "Ann (red) did not move any more" in outcome.message
        assert it.lobby.closed == ["r1"]
        assert 3600 <= trio.current_time() <= 3700


async def test_a_game_that_goes_on_for_too_long_is_drawn(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), game_seconds=3600) as it, trio.open_nursery() as nursery:

        async def go_on() -> None:
            while True:
                await trio.sleep(7)
                for room, info in it.lobby.rooms.items():
                    it.lobby.rooms[room] = info.model_copy(update={"ply": info.ply + 1})

        nursery.start_soon(go_on)
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.winner, outcome.played.reason, outcome.played.offenders) == (None, "time_limit", ())
        nursery.cancel_scope.cancel()


async def test_a_game_that_ends_just_in_time_counts_as_it_ended(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), game_seconds=3600) as it, trio.open_nursery() as nursery:

        async def end() -> None:
            await trio.sleep(3650)
            await it.lobby.ends("r1", ended("blue"))

        nursery.start_soon(end)
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.winner, outcome.played.reason) == ("blue", "base")


# -- why a program left ------------------------------------------------------------------------


@pytest.mark.parametrize(("reason", "told"), [("ply 0: it raised ValueError: oops", True), ("", False)])
async def test_who_leaves_a_match_is_told_with_its_own_reason_if_it_gave_one(
    stage: Open, reason: str, told: bool
) -> None:
    async with stage(kept("Ann"), kept("Bob"), result=ended("blue", "forfeit", "left", ["red"])) as it:
        asked: list[str] = []

        def why_left(match: str) -> str:
            asked.append(match)
            return reason

        it.table = replace(it.table, why_left=why_left)
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert asked == [outcome.match]
        assert outcome.message == (reason if told else "so it ended")


# -- whose name, whose time --------------------------------------------------------------------


async def is_turned_away(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
    await trio.sleep(1)
    bot.process = Talker("Error: this is not the token of 'Ann' [wrong_token]")  # type: ignore[assignment]
    return EXITED


class Talker:
    """A process that has said something."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines

    def tail(self, count: int) -> tuple[str, ...]:
        return self.lines[-count:]

    async def reset_limits(self) -> None:
        await trio.lowlevel.checkpoint()


async def test_a_bot_whose_name_another_organiser_has_taken_has_not_lost(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), programs={"Ann": is_turned_away}) as it:
        it.lobby.refuses[c.Enrol] = "name_taken"
        outcome = await it.play()
        assert isinstance(outcome, Failed)
        assert (outcome.code, outcome.culprit) == ("name_taken", "")
        assert it.crew.started.count("Ann") == 1
        assert it.table.bench.why("Ann") is None


async def test_a_bot_that_only_says_that_its_token_is_wrong_loses(stage: Open, autojump_clock: Clock) -> None:
    async with stage(kept("Ann"), kept("Bob"), programs={"Ann": is_turned_away}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.played.offenders == ("red",)


@pytest.mark.parametrize("taken", [True, False])
async def test_who_is_thrown_out_of_a_match_for_its_name_has_not_lost(
    stage: Open, autojump_clock: Clock, taken: bool
) -> None:
    async with stage(kept("Ann"), kept("Bob")) as it:
        forfeits_with(it, "disconnected", EXITED)
        ends = it.lobby.on_invite

        async def thrown_out(player: str, room: str, side: str) -> None:
            it.crew.kept(kept(player)).process = Talker("it is over [wrong_token]")
            await ends(player, room, side)

        it.lobby.on_invite = thrown_out
        if taken:
            it.lobby.refuses[c.Enrol] = "name_taken"
        outcome = await it.play()
        if taken:
            assert isinstance(outcome, Failed)
            assert (outcome.code, outcome.match) == ("name_taken", "match-r1")
        else:
            assert isinstance(outcome, Sporting)


@pytest.mark.parametrize("seconds", [20.0, 100.0, 10_000.0])
@pytest.mark.parametrize("make", [kept, once])
async def test_time_in_which_the_tool_does_not_run_makes_nobody_late(
    stage: Open, autojump_clock: Clock, make: Callable[[str], Player], seconds: float
) -> None:
    async with stage(make("Ann"), kept("Bob"), result=ended("blue")) as it, trio.open_nursery() as nursery:
        good: Program = it.crew.programs["Ann"]

        async def slow(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
            await trio.sleep(29)  # of the 30 s that it has
            return await good(bot, words, env)

        async def stop() -> None:
            await trio.sleep(15.2)
            autojump_clock.jump(seconds)

        it.crew.programs["Ann"] = slow
        nursery.start_soon(it.link.bell.watch)
        nursery.start_soon(stop)
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.played.offenders == ()
        nursery.cancel_scope.cancel()


async def test_a_remote_bot_is_not_absent_while_the_tool_does_not_run(stage: Open, autojump_clock: Clock) -> None:
    async with stage(remote("Ann"), kept("Bob")) as it, trio.open_nursery() as nursery:
        nursery.start_soon(it.link.bell.watch)
        await trio.sleep(1)
        it.table.awaits("Ann")
        await trio.sleep(500)
        autojump_clock.jump(5000)
        await trio.sleep(90)
        assert it.table.available() == {"Bob"}
        await trio.sleep(20)
        assert it.table.available() == {"Ann", "Bob"}
        nursery.cancel_scope.cancel()


# -- both are judged, and nothing is left running ----------------------------------------------


@pytest.mark.parametrize("seconds", [0.5, 20.0])
@pytest.mark.parametrize("ann", [kept, once])
@pytest.mark.parametrize("bob", [kept, once])
async def test_if_neither_can_start_nobody_wins_whoever_is_the_first_to_fail(
    stage: Open, autojump_clock: Clock, ann: Callable[[str], Player], bob: Callable[[str], Player], seconds: float
) -> None:
    async def dies_later(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
        await trio.sleep(seconds)
        return EXITED

    async with stage(ann("Ann"), bob("Bob"), programs={"Ann": dies, "Bob": dies_later}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.played.winner is None
        assert outcome.played.offenders == ("red", "blue")
        assert trio.current_time() < 60


async def test_who_fails_loses_as_soon_as_the_other_one_sits(stage: Open, autojump_clock: Clock) -> None:
    async with stage(once("Ann"), kept("Bob"), programs={"Ann": dies}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.winner, outcome.played.offenders) == ("blue", ("red",))
        assert trio.current_time() < 10


async def test_a_program_whose_opponent_did_not_come_is_ended(stage: Open, autojump_clock: Clock) -> None:
    async def sits_and_stays(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
        room, side = words[-1].split("/")
        await it.lobby.sits(room, side)
        await trio.sleep_forever()
        raise AssertionError

    async with stage(once("Ann"), once("Bob"), programs={"Ann": dies}) as it:
        it.crew.programs["Bob"] = sits_and_stays
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert outcome.played.winner == "blue"
        assert it.crew.killed == ["Bob"]


# -- a second try ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "starts"),
    [
        ("Error: ann.py, line 3: invalid syntax [bot_syntax_error]", 1),
        ("Error: ann.py defines no function choose_move(position) [no_choose_move]", 1),
        ("Error: ann.py raised RuntimeError while it was loaded [bot_failed]", MOST_STARTS),
        ("killed", MOST_STARTS),
    ],
)
async def test_a_bot_is_started_again_only_where_that_can_help(
    stage: Open, autojump_clock: Clock, said: str, starts: int
) -> None:
    async def fails(bot: Bot, words: list[str], env: dict[str, str]) -> Ended:
        await trio.sleep(1)
        bot.process = Talker("some words", said)  # type: ignore[assignment]
        return EXITED

    async with stage(kept("Ann"), kept("Bob"), programs={"Ann": fails}) as it:
        outcome = await it.play()
        assert isinstance(outcome, Sporting)
        assert (outcome.played.reason, outcome.played.offenders) == ("start_failed", ("red",))
        assert it.crew.started.count("Ann") == starts
        assert ("once" if starts == 1 else "3 times") in outcome.message
