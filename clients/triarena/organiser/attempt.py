"""One attempt to play a game: prepare a room, bring both players to their seats, wait for the end.

An attempt ends as a *sporting* result (by the rules, by a forfeit, or since a player did not come), or it has *failed*
for reasons that are no player's; then the game is tried again. The two are different values, and only the first is
ever counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Final, TypeAlias

import trio

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.values import Result, SideName
from triarena.tournament.values import Fixture, Played

from .crew import Bot, Crew, Place
from .desk import DeskError, DeskRefused
from .link import Link, Watch
from .spec import Event, Player

SERVER_SECONDS: Final = 120.0
"""How long a server that has gone is waited for."""
MOST_STARTS: Final = 3
"""How often a kept bot is started for one match."""
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


Outcome: TypeAlias = Sporting | Failed


@dataclass(slots=True, eq=False)
class Attempt:
    """A game that is being played, as the live table shows it."""

    fixture: Fixture
    number: int
    """From 1."""
    began: float
    """In trio's time."""
    room: str | None = None
    watch: Watch | None = None
    bots: dict[SideName, Bot] = field(default_factory=dict)
    """The processes of local players that play in it."""

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


@dataclass(slots=True, eq=False)
class Arrivals:
    """Both players of a room are awaited."""

    watch: Watch
    deadline: float
    missing: dict[SideName, str] = field(default_factory=dict)
    """Who will not come, and why."""

    @property
    def settled(self) -> bool:
        """Whether there is nobody to wait for any more: the match goes on without us, or can't begin."""
        return self.watch.started or self.watch.over or bool(self.missing)


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

    def available(self) -> frozenset[str]:
        """Who can play now: everybody but the remote players that are awaited."""
        return frozenset(
            player.name
            for player in self.event.players
            if player.local or player.name in self.link.waiting or self._is_absent(player.name)
        )

    async def play(self, attempt: Attempt, opened: Callable[[], None]) -> Outcome:
        """Play the game of ``attempt``; ``opened`` is called when it has its room."""
        fixture = attempt.fixture
        absent = [side for side in SIDES if self._is_absent(getattr(fixture, side))]
        if absent:
            return self._no_show(fixture, dict.fromkeys(absent, "it is not in the lobby"))
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
        arrivals = Arrivals(watch, trio.current_time() + self.start_seconds)
        async with trio.open_nursery() as nursery:
            for side, code in zip(SIDES, prepared.reservations, strict=True):
                assert code is not None, "both slots are reserved"
                nursery.start_soon(self._bring, attempt, arrivals, side, code)
        if arrivals.missing and not watch.started:
            await self._close(watch, "a player did not come")
            return self._no_show(attempt.fixture, arrivals.missing)
        trouble = await self._until_over(watch)
        for bot in attempt.bots.values():
            if not bot.player.kept:
                await self.crew.dismiss(bot)
        return trouble or self._counted(attempt.fixture, watch)

    async def _bring(self, attempt: Attempt, arrivals: Arrivals, side: SideName, code: str) -> None:
        """Bring a player to its seat, and see that it stays until the match starts."""
        player = self.event.player(getattr(attempt.fixture, side))
        seed = self.event.bot_seed(player.name, attempt.fixture.id)
        if player.kept:
            reason = await self._invite(attempt, arrivals, side, player, code, seed)
        else:
            reason = await self._launch(attempt, arrivals, side, player, code, seed)
        if reason is not None:
            arrivals.missing[side] = reason
        self.link.bell.ring()

    async def _launch(
        self, attempt: Attempt, arrivals: Arrivals, side: SideName, player: Player, code: str, seed: int
    ) -> str | None:
        place = self.place()
        if place is None:
            return None
        bot = attempt.bots[side] = self.crew.play_once(player, place, code, seed)
        await self.link.bell.until(lambda: arrivals.settled or not bot.running, arrivals.deadline)
        if arrivals.settled or (bot.running and arrivals.watch.sits(side)):
            return None
        if bot.ended is not None:
            return f"its program ended before the match began: {bot.ended.detail}"
        await self.crew.dismiss(bot, 0)
        return f"its program had not taken its seat after {self.start_seconds:g} s"

    async def _invite(
        self, attempt: Attempt, arrivals: Arrivals, side: SideName, player: Player, code: str, seed: int
    ) -> str | None:
        """Invite a player that waits in the lobby; a local one is started if it is not there."""
        starts, invited = 0, ""
        while not arrivals.settled:
            bot, here = self.crew.kept(player), self.link.waiting.get(player.name, "")
            if here and here != invited and not arrivals.watch.sits(side):
                if await self._send_invitation(player.name, code, seed):
                    invited = here
                    await self._plays(attempt, side, bot)
                    continue
            elif player.local and bot is None and (place := self.place()) is not None:
                if starts == MOST_STARTS:
                    return self._why_dead(player)
                starts += 1
                attempt.bots[side] = bot = self.crew.keep(player, place)

            def changed(bot: Bot | None = bot, here: str = here) -> bool:
                dead = bot is not None and not bot.running
                return arrivals.settled or dead or self.link.waiting.get(player.name, "") != here

            if not await self.link.bell.until(changed, arrivals.deadline):
                return None if arrivals.watch.sits(side) else await self._too_late(player, bot)
        return None

    async def _plays(self, attempt: Attempt, side: SideName, bot: Bot | None) -> None:
        """A kept process begins a match: what it may use is counted from here."""
        if bot is not None:
            attempt.bots[side] = bot
            if bot.process is not None:
                await bot.process.reset_limits()

    async def _send_invitation(self, name: str, code: str, seed: int) -> bool:
        try:
            await self.link.request(c.Invite(player=name, reservation=code, seed=seed), within=SERVER_SECONDS)
        except DeskRefused:
            return False  # it has just gone; the news of that is under way
        except DeskError:
            return False
        return True

    async def _too_late(self, player: Player, bot: Bot | None) -> str:
        if bot is not None:
            await self.crew.dismiss(bot, 0)  # it may hang: its next match gets a fresh process
            words = bot.last_words()
            return f"it had not taken its seat after {self.start_seconds:g} s" + (
                f"; it said: {words}" if words else ""
            )
        return "it did not take the seat that it was invited to" if player.kept else "it did not come"

    def _why_dead(self, player: Player) -> str:
        bot = self.crew.last(player)
        ended = bot.ended.detail if bot is not None and bot.ended is not None else "it ended"
        return f"it was started {MOST_STARTS} times, and {ended}"

    def _is_absent(self, name: str) -> bool:
        """Whether a remote player has been away for longer than anybody waits."""
        player = self.event.player(name)
        away = self.link.absent_since.get(name, inf)
        return not player.local and trio.current_time() - away > self.patience_seconds

    async def _until_over(self, watch: Watch) -> Failed | None:
        """Wait for the end of a match. The server's clocks see to it that there is one; if it has gone, it is waited
        for.
        """
        start_by = trio.current_time() + SERVER_SECONDS
        while not watch.over:
            if self.link.open and not watch.started:
                if not await self.link.bell.until(lambda: watch.over or watch.started, start_by):
                    await self._close(watch, "it did not begin")
                    return Failed("not_started", "both players had their seats, but the match did not begin")
            elif self.link.open:
                await self.link.bell.until(lambda: watch.over or not self.link.open)
            elif not await self.link.bell.until(
                lambda: watch.over or self.link.open, trio.current_time() + SERVER_SECONDS
            ):
                return Failed("server_lost", f"the server has been away for {SERVER_SECONDS:g} s")
        return None

    async def _close(self, watch: Watch, reason: str) -> None:
        with suppress(DeskError):  # closed already, or the server forgets it after a while
            await self.link.request(c.Cancel(room=watch.room, reason=reason), within=SERVER_SECONDS)

    def _no_show(self, fixture: Fixture, missing: Mapping[SideName, str]) -> Sporting:
        sides = [side for side in SIDES if side in missing]
        winner: SideName | None = None if len(sides) == len(SIDES) else "blue" if sides == ["red"] else "red"
        said = "; ".join(f"{getattr(fixture, side)} did not come to its match: {missing[side]}" for side in sides)
        return Sporting(Played(fixture, winner, "no_show", tuple(sides)), said, None)

    def _counted(self, fixture: Fixture, watch: Watch) -> Outcome:
        result, info = watch.result, watch.info
        match = info.match if info is not None else None
        if result is None:
            return Failed("room_closed", "the server closed the room before its match was over", match)
        if result.kind == "aborted":
            return Failed(result.reason, result.detail.message, match)
        used = (info.red.used_ms, info.blue.used_ms) if info is not None else (0.0, 0.0)
        return Sporting(
            _played(fixture, result, info.ply if info is not None else 0), result.detail.message, match, used
        )


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
