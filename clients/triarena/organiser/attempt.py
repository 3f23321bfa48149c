"""One attempt to play a game: prepare a room, bring both players to their seats, wait for the end.

An attempt ends as a *sporting* result (by the rules, by a forfeit, or since a player did not come), or it has *failed*
for reasons that are no player's; then the game is tried again. The two are different values, and only the first is
ever counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final, TypeAlias

import trio

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.values import Result, SideName
from triarena.tournament.tally import UNFINISHED
from triarena.tournament.values import Fixture, Played

from .arrivals import SERVER_SECONDS, Arrivals, Bench, Missing, turned_away
from .crew import FAREWELL_SECONDS, Bot, Crew, Place
from .desk import DeskError
from .link import Link, Watch
from .overlong import end_overlong
from .spec import Event, Player

LOG_SECONDS: Final = 1.5
"""Until what a process has printed is in its log, or a process that is ending has ended."""
LAST_WORDS_SECONDS: Final = 1.0
"""How long a program that has forfeited its match may take to end by itself."""
CONNECTION_ENDS: Final = frozenset(["disconnected", "left", "stalled"])
"""Forfeits that may come from the end of a process, of which more may be known here."""
SIDES: Final[tuple[SideName, SideName]] = ("red", "blue")


@dataclass(frozen=True, slots=True)
class Sporting:
    """What counts."""

    played: Played
    message: str
    """A sentence about how it ended."""
    match: str | None
    """Under which the server keeps it; None if it never started."""
    used_ms: tuple[float, float] = (0.0, 0.0)
    """What red and blue used of their time."""

    @property
    def irregular(self) -> bool:
        """Whether somebody forfeited."""
        return bool(self.played.offenders)


@dataclass(frozen=True, slots=True)
class Failed:
    """What does not count: the game is to be tried again."""

    code: str
    message: str
    match: str | None = None
    culprit: str = ""
    """The local player whose process was lost, if that is why."""


Outcome: TypeAlias = Sporting | Failed


@dataclass(slots=True, eq=False)
class Attempt:
    """A game that is being played, as the live table shows it."""

    fixture: Fixture
    number: int
    """From 1."""
    began: float
    """In trio's time."""
    last: bool = False
    """Whether there is no further one if this one fails."""
    room: str | None = None
    watch: Watch | None = None
    bots: dict[SideName, Bot] = field(default_factory=dict)
    """The processes of local players that play in it."""
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    """In which it is played; shielded from the moment when there is a result."""
    farewell: trio.CancelScope = field(default_factory=trio.CancelScope)
    """In which its processes are waited for when it is over: not shielded, for it may take long."""

    @property
    def ply(self) -> int:
        """How many plies were played."""
        return self.watch.info.ply if self.watch is not None and self.watch.info is not None else 0

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.watch is None:
            return "preparing"
        if not self.watch.started:
            missing = [getattr(self.fixture, side) for side in SIDES if not self.watch.sits(side)]
            return f"waiting for {' and '.join(missing)}" if missing else "starting"
        return f"ply {self.ply}"


@dataclass(frozen=True, slots=True)
class Table:
    """What an attempt needs besides its game: the server, the bots, and how long to wait."""

    event: Event
    link: Link
    crew: Crew
    place: Callable[[], Place | None]
    """Where local bots find the server."""
    start_seconds: float
    patience_seconds: float
    """Of remote players."""
    bench: Bench = field(default_factory=Bench)
    why_left: Callable[[str], str] | None = None
    """What the program that left a match gave as its reason, by the match's id; may be empty, may block."""

    def present(self) -> frozenset[str]:
        """Who can play now: local players, and those who wait in the lobby."""
        waiting = self.link.waiting
        return frozenset(each.name for each in self.event.players if each.local or each.name in waiting)

    def absent(self) -> frozenset[str]:
        """The remote players who do not wait in the lobby, nor play."""
        waiting = self.link.waiting
        return frozenset(each.name for each in self.event.players if not each.local and each.name not in waiting)

    def awaits(self, name: str) -> float:
        """Wait for an absent player from now on, if nobody did before; until when, in trio's time."""
        return self.link.awaits(name) + self.patience_seconds

    def available(self) -> frozenset[str]:
        """Who has to play now: those who can, and those who have been away for longer than anybody waits."""
        late = (each.name for each in self.event.players if not each.local and self._why_absent(each) is not None)
        return self.present().union(late)

    async def play(self, attempt: Attempt, opened: Callable[[], None]) -> Outcome:
        """Play the game of ``attempt``; ``opened`` is called when it has its room."""
        fixture = attempt.fixture
        absent = {side: why for side in SIDES if (why := self._why_absent(self._player(fixture, side))) is not None}
        if absent:
            for side in absent:  # what it printed last belongs to the evidence
                if (bot := self.crew.last(self._player(fixture, side))) is not None:
                    attempt.bots[side] = bot
            return self._no_show(fixture, absent)
        try:
            prepared = await self._prepare(fixture)
        except DeskError as error:
            return Failed(error.code, error.message)
        attempt.room = prepared.room
        attempt.watch = watch = self.link.watch(prepared.room)
        opened()
        try:
            return await self._in_room(attempt, watch, prepared)
        finally:
            self.link.forget(watch)

    async def _prepare(self, fixture: Fixture) -> s.Prepared:
        slots = [c.Slot(name=fixture.red), c.Slot(name=fixture.blue)]
        request = c.Prepare(
            game=self.event.game,
            options=dict(self.event.options),
            seed=fixture.seed,
            time_control=self.event.time_control,
            slots=slots,
        )
        answer: s.Prepared = await self.link.request(request, within=SERVER_SECONDS)
        return answer

    async def _in_room(self, attempt: Attempt, watch: Watch, prepared: s.Prepared) -> Outcome:
        arrivals = Arrivals(watch, self.link, self.crew, self.place, self.start_seconds, attempt.bots)
        async with trio.open_nursery() as nursery:
            for side, code in zip(SIDES, prepared.reservations, strict=True):
                assert code is not None, "both slots are reserved"
                player = self._player(attempt.fixture, side)
                seed = self.event.bot_seed(player.name, attempt.fixture.id)
                nursery.start_soon(arrivals.bring, side, player, code, seed)
        if arrivals.missing and not watch.started:
            await arrivals.refresh()
        if arrivals.missing and not (watch.started or watch.over):
            await self.link.close(watch.room, "a player did not come")
            await self._send_home(attempt, SIDES)
            return self._not_begun(attempt, arrivals)
        for side in SIDES:
            self.bench.came(self._player(attempt.fixture, side))
        trouble = await self._until_over(attempt, watch)
        if trouble is None:
            attempt.scope.shield = True  # what the referee has decided is not lost by an interrupt any more
        with attempt.farewell:
            await self._send_home(attempt, watch.result.detail.offenders if watch.result is not None else ())
        return trouble or await self._counted(attempt, watch)

    async def _send_home(self, attempt: Attempt, failed: Collection[SideName]) -> None:
        """End the programs that were started for this game alone."""
        for side, bot in attempt.bots.items():
            if not bot.player.kept:
                # One that has failed may hang: the evening need not wait for it.
                await self.crew.dismiss(bot, LAST_WORDS_SECONDS if side in failed else FAREWELL_SECONDS)

    async def hear_out(self, attempt: Attempt) -> None:
        """Wait until what the bots of a game have printed is in their logs, for a moment if they go on running."""
        bots = attempt.bots.values()
        await self.link.bell.until(lambda: not any(bot.running for bot in bots), self.link.bell.now() + LOG_SECONDS)

    def _not_begun(self, attempt: Attempt, arrivals: Arrivals) -> Outcome:
        """Whose fault it is that a player did not come: only a player's own one counts."""
        fixture, missing = attempt.fixture, arrivals.missing
        said = self._said(fixture, missing)
        if not arrivals.undisturbed:
            return Failed("server_lost", f"the server was lost while the players were coming: {said}")
        if any(each.blameless for each in missing.values()):
            if any(each.robbed for each in missing.values()):
                return Failed("name_taken", said)
            lost = [self._player(fixture, side).name for side, each in missing.items() if each.lost]
            return Failed("process_lost", said, culprit=lost[0]) if lost else Failed("cannot_start", said)
        players = [self._player(fixture, side) for side in missing]
        gone = [each for each in players if not each.local and each.name not in self.link.waiting]
        if gone and len(gone) == len(players) and not attempt.last:
            return Failed("absent", said)  # it is waited for like anybody who is not there
        for side, each in missing.items():
            self.bench.absent(self._player(fixture, side), each)
        return self._no_show(fixture, missing)

    def _player(self, fixture: Fixture, side: SideName) -> Player:
        return self.event.player(fixture.red if side == "red" else fixture.blue)

    def _why_absent(self, player: Player) -> Missing | None:
        """Why nobody waits for a player any more: the longest that anybody does has passed, or it never starts."""
        if player.local:
            return self.bench.why(player.name)
        waited = self.link.bell.now() - self.link.awaited_since.get(player.name, inf)
        late = waited > self.patience_seconds
        return Missing(f"it was waited for, and has not been in the lobby for {waited:.0f} s") if late else None

    async def _until_over(self, attempt: Attempt, watch: Watch) -> Outcome | None:
        """Wait for the end of a match; what came of it if it had none. If the server has gone, it is waited for."""
        end_by = self.link.bell.now() + (self.event.game_seconds or inf)
        start_by = self.link.bell.now() + SERVER_SECONDS
        while not watch.over:
            if self.link.open and not watch.started:
                if not await self.link.bell.until(lambda: watch.over or watch.started, start_by):
                    await self.link.close(watch.room, "it did not begin")
                    return Failed("not_started", "both players had their seats, but the match did not begin")
            elif self.link.open:
                if not await self.link.bell.until(lambda: watch.over or not self.link.open, end_by):
                    return await self._broken_off(attempt, watch)
            elif not await self.link.bell.until(
                lambda: watch.over or self.link.open, self.link.bell.now() + SERVER_SECONDS
            ):
                await self.link.close(watch.room, "its tournament begins it anew")
                return Failed("server_lost", f"the server has been away for {SERVER_SECONDS:g} s")
        return None

    async def _broken_off(self, attempt: Attempt, watch: Watch) -> Outcome | None:
        """End a match that has lasted as long as it may; None if it ended by itself meanwhile."""
        fixture, limit = attempt.fixture, self.event.game_seconds or 0.0
        end = await end_overlong(watch, self.link, limit)
        if end is None:
            return None
        said = f"the game has lasted for {limit / 60:g} minutes, the longest that it may"
        if end.hangs is None:
            played = Played(fixture, None, "time_limit", (), *end.scores, attempt.ply)
            return Sporting(played, f"{said}: drawn", end.match)
        winner: SideName = "blue" if end.hangs == "red" else "red"
        played = Played(fixture, winner, "timeout", (end.hangs,), *end.scores, attempt.ply)
        who = f"{self._player(fixture, end.hangs).name} ({end.hangs})"
        return Sporting(played, f"{said}, and {who} did not move any more", end.match)

    def _no_show(self, fixture: Fixture, missing: Mapping[SideName, Missing]) -> Sporting:
        sides = [side for side in SIDES if side in missing]
        winner: SideName | None = None if len(sides) == len(SIDES) else "blue" if sides == ["red"] else "red"
        reasons = tuple(missing[side].reason for side in sides)
        differ = len(set(reasons)) > 1
        played = Played(fixture, winner, "no_show" if differ else reasons[0], tuple(sides))
        return Sporting(replace(played, reasons=reasons if differ else ()), self._said(fixture, missing), None)

    def _said(self, fixture: Fixture, missing: Mapping[SideName, Missing]) -> str:
        what = {"no_show": "did not come to its match", "start_failed": "could not be started for its match"}
        return "; ".join(
            f"{self._player(fixture, side).name} {what[missing[side].reason]}: {missing[side].why}"
            for side in SIDES
            if side in missing
        )

    async def _counted(self, attempt: Attempt, watch: Watch) -> Outcome:
        fixture, result, info = attempt.fixture, watch.result, watch.info
        match = info.match if info is not None else None
        # A game that reached its limit of plies would do so again: as it is nobody's win, it is drawn.
        if result is None:
            return Failed("room_closed", "the server closed the room before its match was over", match)
        if result.kind == "aborted" and result.reason not in UNFINISHED:
            return Failed(result.reason, result.detail.message, match)
        message = result.detail.message
        if result.reason == "left" and match and self.why_left is not None:
            message = await trio.to_thread.run_sync(self.why_left, match) or message
        for side in result.detail.offenders:
            bot = attempt.bots.get(side)
            if bot is None:
                continue
            name = bot.player.name
            if bot.ended is None and result.reason in CONNECTION_ENDS and not await self.crew.knows(bot):
                sentence = f"{name} could not play on: nothing tells how its process fares"
                return Failed("process_lost", sentence, match, name)
            if bot.ended is None:
                continue
            if turned_away(bot) and not await self.link.still_owns(name):
                return Failed("name_taken", f"{name} was thrown out: its name belongs to somebody else by now", match)
            if bot.ended.blameless:
                return Failed("process_lost", f"{name} could not play on: {bot.ended.detail}", match, name)
            if bot.ended.why != "killed" and bot.ended.exit_code != 0:
                # The server saw a connection end; why it did is known here.
                message = f"{message}. About the process of {name}: {bot.ended.detail}"
        used = (info.red.used_ms, info.blue.used_ms) if info is not None else (0.0, 0.0)
        return Sporting(_played(fixture, result, info.ply if info is not None else 0), message, match, used)


def _played(fixture: Fixture, result: Result, plies: int) -> Played:
    return Played(
        fixture,
        result.winner,
        result.reason,
        tuple(result.detail.offenders),
        float(result.sides.red.score),
        float(result.sides.blue.score),
        plies,
    )
