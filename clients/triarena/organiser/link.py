"""The link to the server: a desk that is opened again whenever it is lost, and what is known of rooms and bots there.

All that the server tells is noted here; who waits for something waits for ``bell``, and looks again. After the server
was away, rooms and bots are asked for anew, so that nothing that happened meanwhile is missed.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import trio

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.from_client import ENROLMENTS
from triarena.protocol.identity import token_digest
from triarena.protocol.room_views import RoomInfo
from triarena.protocol.values import Result

from .bell import Bell
from .desk import Desk, DeskError, DeskLost, DeskRefused, News, open_desk

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""Seconds between two attempts to reach the server."""
FATAL: Final = frozenset(["wrong_secret", "protocol_version", "name_taken", "too_many_players"])
"""Codes of refusals that will be the same the next time."""


@dataclass(slots=True, eq=False)
class Watch:
    """What is known of a room."""

    room: str
    info: RoomInfo | None = None
    result: Result | None = None
    gone: bool = False
    """Whether the server closed it, or knows it no more."""

    @property
    def over(self) -> bool:
        """Whether nothing more will happen in it."""
        return self.gone or self.result is not None

    def sits(self, side: str) -> bool:
        """Whether somebody has taken that seat."""
        return self.info is not None and (self.info.red if side == "red" else self.info.blue).connected

    @property
    def started(self) -> bool:
        """Whether its match has begun."""
        return self.info is not None and self.info.match is not None


@dataclass(frozen=True, slots=True)
class Access:
    """How to get to a server as its administrator."""

    host: str
    port: int
    secret: str
    tls: ssl.SSLContext | None = None


def enrolments(tokens: Mapping[str, str]) -> list[c.Enrolment]:
    """Players with the digests of their tokens, by name."""
    return [c.Enrolment(name=name, digest=token_digest(token)) for name, token in tokens.items()]


async def enrol(desk: Desk, players: Sequence[c.Enrolment]) -> None:
    """Make the names of players theirs. Raises DeskError."""
    for chunk in range(0, len(players), ENROLMENTS):
        await desk.request(c.Enrol(players=list(players[chunk : chunk + ENROLMENTS])))


class Link:
    """Run ``keep`` in a nursery; ask through ``request``."""

    def __init__(self, access: Callable[[], Access | None], enrolled: Sequence[c.Enrolment], bell: Bell) -> None:
        self._access = access
        self._enrolled = list(enrolled)
        self._desk: Desk | None = None
        self._watches: dict[str, Watch] = {}
        self._doomed: dict[str, str] = {}
        """Rooms that are to be closed as soon as there is a server, and why."""
        self.bell = bell
        self._closed_since: float | None = bell.now()
        self.losses = 0
        """How often the server was lost so far."""
        self.waiting: dict[str, str] = {}
        """Who waits in the server's lobby: the connection by the player's name."""
        self.awaited_since: dict[str, float] = {}
        """Since when absent players are waited for; not counted while nobody could come, as there was no server."""
        self.trouble: DeskError | None = None
        """Why the server was not reached the last time; None while it is."""
        self.fatal: DeskRefused | None = None
        """Why it makes no sense to try again: a wrong secret, another protocol."""

    @property
    def open(self) -> bool:
        """Whether the server can be asked now."""
        return self._desk is not None

    async def keep(self) -> None:
        """Keep the desk open until cancelled, or until it makes no sense any more."""
        pause = FIRST_PAUSE
        while self.fatal is None:
            try:
                access = self._access()
                if access is None:
                    raise DeskLost("no_server", "the server is not there yet")
                async with open_desk(access.host, access.port, access.secret, self._news, tls=access.tls) as desk:
                    await self._catch_up(desk)
                    self._desk, self.trouble, pause = desk, None, FIRST_PAUSE
                    self._is_back()
                    self.bell.ring()
                    await desk.ended.wait()
                    raise desk.lost or DeskLost("connection_lost", "the connection to the server is over")
            except DeskRefused as error:
                self.trouble = error
                if error.code in FATAL:
                    self.fatal = error
            except DeskLost as error:
                self.trouble = error
            finally:
                self._is_away()
            self.bell.ring()
            await trio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)

    async def request(self, message: c.Request, *, within: float) -> Any:
        """The answer to a request; the server is waited for, at most ``within`` seconds.

        Raises DeskRefused, or DeskLost if there is no server in time, or it was lost before it answered.
        """
        deadline = self.bell.now() + within
        if not await self.bell.until(lambda: self._desk is not None or self.fatal is not None, deadline):
            raise DeskLost("no_server", f"no server for {within:g} s: {self.trouble}")
        if self._desk is None:
            assert self.fatal is not None, "the bell rang for one of the two"
            raise self.fatal
        return await self._desk.request(message)

    def awaits(self, name: str) -> float:
        """Wait for an absent player, once per absence; since when that is so."""
        return self.awaited_since.setdefault(name, self.bell.now())

    def watch(self, room: str) -> Watch:
        """Note what happens in a room from now on, until ``forget``."""
        return self._watches.setdefault(room, Watch(room))

    def forget(self, watch: Watch) -> None:
        """It is of no interest any more."""
        self._watches.pop(watch.room, None)

    async def look(self, watch: Watch) -> None:
        """Ask how it stands in a room, whose news may still be under way. Raises DeskError."""
        desk = self._desk
        if desk is None:
            raise self.trouble or DeskLost("no_server", "there is no server now")
        await self._look(desk, watch)

    async def still_owns(self, name: str) -> bool:
        """Whether a player of ours still has its name on the server, with the token that we have given it."""
        ours = [player for player in self._enrolled if player.name == name]
        try:
            await self.request(c.Enrol(players=ours), within=0)
        except DeskError as error:
            return error.code != "name_taken"
        return True

    async def close(self, room: str, reason: str) -> None:
        """Have a room closed, and a match in it ended: now, or as soon as there is a server."""
        self._doomed[room] = reason
        if self._desk is not None:
            with suppress(DeskLost):  # it is closed when the server is back
                await self._close_doomed(self._desk)

    async def _close_doomed(self, desk: Desk) -> None:
        for room, reason in list(self._doomed.items()):
            with suppress(DeskRefused):  # it is over, or the server knows it no more
                await desk.request(c.Cancel(room=room, reason=reason))
            self._doomed.pop(room, None)

    def _is_back(self) -> None:
        if self._closed_since is not None:
            away = self.bell.now() - self._closed_since
            for name, since in self.awaited_since.items():
                self.awaited_since[name] = min(self.bell.now(), since + away)
        self._closed_since = None

    def _is_away(self) -> None:
        self._desk = None
        if self._closed_since is None:
            self._closed_since = self.bell.now()
            self.losses += 1

    async def _catch_up(self, desk: Desk) -> None:
        """Ask for all that may have changed while there was no connection."""
        await self._close_doomed(desk)
        await enrol(desk, self._enrolled)
        players: s.PlayerList = await desk.request(c.ListPlayers())
        present = {player.name: player.connection for player in players.players}
        for name in [name for name in self.waiting if name not in present]:
            self._went(name)
        for name, connection in present.items():
            self._came(name, connection)
        for watch in list(self._watches.values()):
            await self._look(desk, watch)

    async def _look(self, desk: Desk, watch: Watch) -> None:
        try:
            seen: s.Observing = await desk.request(c.Observe(room=watch.room))
        except DeskRefused as error:
            watch.gone = watch.gone or error.code == "unknown_room"
        else:
            watch.info, watch.result = seen.view.info, seen.view.result or watch.result

    def _news(self, news: News) -> None:
        match news:
            case s.PlayerEvent(event="came"):
                self._came(news.name, news.connection)
            case s.PlayerEvent(event="went"):
                if self.waiting.get(news.name) == news.connection:
                    self._went(news.name)
            case s.RoomEvent() if (watch := self._watches.get(news.info.room)) is not None:
                watch.info = news.info
                watch.result = news.result or watch.result
                watch.gone = watch.gone or news.event == "closed"
            case s.MatchOver() if (watch := self._watches.get(news.room)) is not None:
                watch.result = news.result
            case _:
                return
        self.bell.ring()

    def _came(self, name: str, connection: str) -> None:
        self.waiting[name] = connection
        self.awaited_since.pop(name, None)

    def _went(self, name: str) -> None:
        self.waiting.pop(name, None)
