"""A server as a tournament's organiser sees it, over streams in memory, and bots without processes.

It speaks through ``server_session``, so whoever breaks the protocol against it fails as loudly as against a real one.
What it does with rooms and players is what the real one does, in few lines; a test changes what it likes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from triarena.organiser import desk as desks
from triarena.organiser.bell import Bell
from triarena.organiser.crew import Bot, Crew, Place
from triarena.organiser.desk import DeskLost
from triarena.organiser.endings import Ended
from triarena.organiser.link import Access, Link
from triarena.organiser.spec import BotLimits, Event, Player
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.room_views import RoomInfo, RoomView, Seat
from triarena.protocol.session import Fault, server_session
from triarena.protocol.values import Detail, Limits, PerMove, Result, Scores, SideScore
from triarena.tournament.points import STANDARD

ACCESS = Access("nowhere", 1, "the secret")
PLACE = Place("nowhere", 1)
LIMITS = Limits(frame_to_server=16384, frame_to_client=2**20, bad_frames=3, rooms_per_connection=8, greeting_seconds=5)
EXITED = Ended("exited", 1, None, "it ended by itself (exit code 1)")


def event_of(*players: Player, **changes: Any) -> Event:
    """A round robin of TowerWars."""
    usual = Event(
        name="Towers", slug="towers", game="towerwars", options={"size": 4}, players=players, format="round_robin",
        seed=1, time_control=PerMove(move_ms=1000), points=STANDARD, tie_breaks=(), games_per_pairing=2,
    )  # fmt: skip
    return replace(usual, **changes)


def kept(name: str) -> Player:
    """A local bot that plays match after match."""
    return Player(name, "shipped", "random", Path("/"))


def once(name: str) -> Player:
    """A local program that plays one match."""
    return Player(name, "command", ("program",), Path("/"))


def remote(name: str) -> Player:
    """A bot that its owner starts."""
    return Player(name, "remote", "", Path("/"))


def ended(winner: Any = "red", kind: Any = "outcome", reason: str = "base", offenders: Any = ()) -> Result:
    """An end of a match."""
    scores = Scores(red=SideScore(score=int(winner == "red")), blue=SideScore(score=int(winner == "blue")))
    detail = Detail(message="so it ended", offenders=list(offenders))
    return Result(kind=kind, winner=winner, reason=reason, sides=scores, detail=detail)


@dataclass(eq=False)
class Visit:
    """A connection of the organiser."""

    stream: Any
    session: Any = field(default_factory=server_session)
    sending: trio.Lock = field(default_factory=trio.Lock)

    async def send(self, *messages: Any) -> None:
        async with self.sending:
            await self.stream.send_all(b"".join(self.session.send(message) for message in messages))


@dataclass(eq=False)
class ScriptedLobby:
    """The server. ``nursery`` is where it works."""

    nursery: trio.Nursery
    secret: str = "the secret"
    there: bool = True
    """Whether it takes connections."""
    deaf: set[type] = field(default_factory=set)
    """Requests that it does not answer."""
    refuses: dict[type, str] = field(default_factory=dict)
    """Requests that it refuses, and with which code."""
    slow: dict[type, float] = field(default_factory=dict)
    """Requests that it takes so many seconds to answer; the later ones wait for their turn."""
    rooms: dict[str, RoomInfo] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    heard: list[Any] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    on_invite: Callable[[str, str, str], Awaitable[None]] | None = None
    """Called with player, room and side."""
    closed: list[str] = field(default_factory=list)
    greets: bool = True

    async def connect(self, host: str, port: int, tls: object) -> trio.abc.Stream:
        """What the organiser does instead of opening a socket."""
        await trio.lowlevel.checkpoint()
        if not self.there:
            raise DeskLost("cannot_connect", "there is no server")
        ours, theirs = trio.testing.memory_stream_pair()
        visit = Visit(ours)
        self.visits.append(visit)
        self.nursery.start_soon(self._serve, visit)
        return theirs

    async def lose(self) -> None:
        """Every connection breaks."""
        visits, self.visits = self.visits, []
        for visit in visits:
            await visit.stream.aclose()

    async def tell(self, message: Any) -> None:
        """News for everybody."""
        for visit in list(self.visits):
            await visit.send(message)

    async def comes(self, name: str, connection: str = "c7") -> None:
        """A player waits in the lobby."""
        self.waiting[name] = connection
        await self.tell(s.PlayerEvent(event="came", name=name, connection=connection))

    async def goes(self, name: str) -> None:
        """A player does so no more."""
        connection = self.waiting.pop(name)
        await self.tell(s.PlayerEvent(event="went", name=name, connection=connection))

    async def sits(self, room: str, side: str, connected: bool = True) -> None:
        """A player takes its seat; the match starts when both have."""
        info = self.rooms[room]
        seat = getattr(info, side).model_copy(update={"connected": connected})
        info = self.rooms[room] = info.model_copy(update={side: seat})
        await self.tell(s.RoomEvent(event="joined", info=info))
        if info.red.connected and info.blue.connected and info.match is None:
            self.rooms[room] = info.model_copy(update={"match": f"match-{room}", "state": "running", "to_move": "red"})
            await self.tell(s.RoomEvent(event="started", info=self.rooms[room]))

    async def ends(self, room: str, result: Result, ply: int = 9) -> None:
        """The match is over."""
        info = self.rooms[room].model_copy(update={"ply": ply, "state": "over", "to_move": None})
        self.rooms[room], self.results[room] = info, result
        await self.tell(s.RoomEvent(event="over", info=info, result=result))

    async def closes(self, room: str) -> None:
        """The room is no more."""
        info = self.rooms.pop(room)
        self.closed.append(room)
        await self.tell(s.RoomEvent(event="closed", info=info))

    async def _serve(self, visit: Visit) -> None:
        try:
            while data := await visit.stream.receive_some(65536):
                for message in visit.session.receive(bytes(data)):
                    assert not isinstance(message, Fault), message
                    self.heard.append(message)
                    await self._answer(visit, message)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            if visit in self.visits:
                self.visits.remove(visit)
            await visit.stream.aclose()

    async def _answer(self, visit: Visit, message: Any) -> None:
        if type(message) in self.deaf:
            return
        await trio.sleep(self.slow.get(type(message), 0))
        if type(message) in self.refuses:
            code = self.refuses[type(message)]
            refused = s.Error(code=code, message=f"the server says {code}", request=message.type, id=message.id)
            await visit.send(refused)
            return
        match message:
            case c.Hello():
                if self.greets:
                    await visit.send(
                        s.Welcome(
                            protocol=1, software="scripted", connection="c1", games=[], limits=LIMITS,
                            heartbeat_seconds=20,
                        )
                    )  # fmt: skip
            case c.Authenticate():
                await self._authenticate(visit, message)
            case c.ListPlayers():
                present = [
                    s.PlayerInfo(name=name, connection=connection, software="bot", playing=False)
                    for name, connection in self.waiting.items()
                ]
                await visit.send(s.PlayerList(id=message.id, players=present))
            case c.Observe():
                await self._observe(visit, message)
            case c.Prepare():
                await self._prepare(visit, message)
            case c.Invite():
                room, side = message.reservation.split("/")
                await visit.send(s.Done(id=message.id, message="invited"))
                if self.on_invite is not None:
                    self.nursery.start_soon(self.on_invite, message.player, room, side)
            case c.Cancel():
                known = message.room in self.rooms
                if known:
                    await visit.send(s.Done(id=message.id, message="cancelled"))
                    await self.closes(message.room)
                else:
                    await visit.send(s.Error(id=message.id, code="unknown_room", message="no", request="cancel"))
            case c.Pong():
                pass
            case c.Ping():
                await visit.send(c.Pong(number=message.number))
            case c.Enrol() | c.Dismiss():
                await visit.send(s.Done(id=message.id, message="done"))
            case _:
                raise AssertionError(f"{message} is nothing that an organiser says")

    async def _authenticate(self, visit: Visit, message: c.Authenticate) -> None:
        if message.secret == self.secret:
            await visit.send(s.Authenticated(id=message.id))
        else:
            await visit.send(s.Error(id=message.id, code="wrong_secret", message="no", request="authenticate"))

    async def _observe(self, visit: Visit, message: c.Observe) -> None:
        info = self.rooms.get(message.room)
        if info is None:
            await visit.send(s.Error(id=message.id, code="unknown_room", message="no", request="observe"))
            return
        view = RoomView(info=info, result=self.results.get(message.room))
        await visit.send(s.Observing(id=message.id, room=message.room, view=view))

    async def _prepare(self, visit: Visit, message: c.Prepare) -> None:
        room = f"r{sum(isinstance(each, c.Prepare) for each in self.heard)}"
        red, blue = (Seat(name=slot.name, connected=False, reserved=True, used_ms=0) for slot in message.slots)
        self.rooms[room] = RoomInfo(
            room=room, game=message.game, options=dict(message.options), state="waiting", paused=False, ply=0,
            red=red, blue=blue, observers=0,
        )  # fmt: skip
        await visit.send(s.Prepared(id=message.id, room=room, reservations=[f"{room}/red", f"{room}/blue"]))

    def asked(self, kind: type) -> list[Any]:
        """The requests of a kind that were heard."""
        return [message for message in self.heard if isinstance(message, kind)]


Program = Callable[[Bot, list[str], dict[str, str]], Awaitable[Ended]]


class ScriptedCrew(Crew):
    """Bots that are functions: what they do from start to end."""

    def __init__(self, nursery: trio.Nursery, bell: Bell, logs: Path, programs: dict[str, Program]) -> None:
        super().__init__(nursery, bell, BotLimits(), logs, dict.fromkeys(programs, "token"))
        self.programs = programs
        self.started: list[str] = []
        self.killed: list[str] = []
        self.silent: set[str] = set()
        """Players whose guards do not answer."""
        self.rung = bell

    async def dismiss(self, bot: Bot, patience: float = 5.0) -> None:
        """As by the guard: it ends."""
        if not await self.rung.until(lambda: not bot.running, trio.current_time() + patience):
            self.killed.append(bot.player.name)
            bot.ended = Ended("killed", None, 15, "it was told to end, and did (SIGTERM)")
            self.rung.ring()

    async def knows(self, bot: Bot) -> bool:
        """As a guard would answer."""
        await trio.lowlevel.checkpoint()
        return not bot.running or bot.player.name not in self.silent

    async def _run(self, bot: Bot, words: list[str], env: dict[str, str]) -> None:
        self.started.append(bot.player.name)
        how = await self.programs[bot.player.name](bot, words, env)
        bot.ended = bot.ended or how
        self.rung.ring()


async def without_threads(sync_fn: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
    """In the place of ``trio.to_thread.run_sync``: while a thread works, a mocked clock would run away."""
    await trio.lowlevel.checkpoint()
    return sync_fn(*arguments)


@asynccontextmanager
async def open_lobby(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedLobby]:
    """A server to which every desk that is opened leads."""
    async with trio.open_nursery() as nursery:
        lobby = ScriptedLobby(nursery)
        monkeypatch.setattr(desks, "_connect", lobby.connect)
        yield lobby
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_link(lobby: ScriptedLobby, *names: str, secret: str = "the secret") -> AsyncIterator[Link]:
    """A link that is kept meanwhile."""
    enrolled = [c.Enrolment(name=name, digest="sha256:" + "0" * 64) for name in names]
    link = Link(lambda: replace(ACCESS, secret=secret), enrolled, Bell())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.keep)
        yield link
        nursery.cancel_scope.cancel()
