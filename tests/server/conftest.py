"""A lobby without sockets: clients are scripted, time is a mock clock's, the journal is in memory."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import pytest
import trio
import trio.testing

from triarena.games import Side, find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.session import Fault, client_session
from triarena.protocol.values import PROTOCOL, PerMove, TimeControl
from triarena.server.connection import Connection
from triarena.server.handler import Patience
from triarena.server.house import House
from triarena.server.journal import EvidenceKept, Journal, JournalError, Record, RoomForgotten, RoomKept
from triarena.server.lag import LoopLag
from triarena.server.lobby import Lobby
from triarena.server.names import Names

M = TypeVar("M")
SECRET = "the-administrator-secret"


class MemoryJournal:
    """Keeps records in a list; fails when told to."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.left: list[Record] = []
        """What is to be tried again when the journal is closed."""
        self.evidence: dict[str, dict[str, Any]] = {}
        """What is kept of matches that go on."""
        self.broken = False
        """Every write fails."""
        self.forgetful = False
        """A write that fails was stored all the same, as when the answer of a database is lost."""
        self.silence: trio.Event | None = None
        """Writes get no answer before this is set."""

    @property
    def healthy(self) -> bool:
        return not self.broken

    async def write(self, record: Record, *, again: bool = False, patience: float = math.inf) -> None:
        await trio.lowlevel.checkpoint()
        if self.silence is not None:
            with trio.fail_after(patience):
                await self.silence.wait()
        if isinstance(record, EvidenceKept):
            if self.broken:
                raise JournalError("write_failed", "the disk is full")
            self.evidence[record.match] = record.evidence
            return
        known = record in self.records and not isinstance(record, RoomKept | RoomForgotten)
        assert again or not known, "the same record was written twice"
        if not known and (self.forgetful or not self.broken):
            self.records.append(record)
        if self.broken:
            raise JournalError("write_failed", "the disk is full")

    def leave(self, record: Record) -> None:
        self.left.append(record)

    def kinds(self) -> list[str]:
        return [type(record).__name__ for record in self.records]


class Client:
    """The client's end of a connection, for tests that read like a play."""

    def __init__(self, stream: trio.abc.HalfCloseableStream) -> None:
        self.stream = stream
        self.session = client_session()
        self.inbox: deque[Any] = deque()

    async def say(self, message: c.FromClient) -> None:
        await self.stream.send_all(self.session.send(message))

    async def hear(self, kind: type[M]) -> M:
        """The next message, which must be of this kind."""
        message = await self._next()
        assert isinstance(message, kind), message
        return message

    async def wait_for(self, kind: type[M]) -> M:
        """The next message of this kind; others before it are skipped."""
        while True:
            message = await self._next()
            if isinstance(message, kind):
                return message

    async def _next(self) -> Any:
        while not self.inbox:
            data = await self.stream.receive_some()
            if not data:
                raise EOFError("the server hung up")
            for item in self.session.receive(bytes(data)):
                assert not isinstance(item, Fault), item
                if isinstance(item, c.Ping):
                    await self.say(c.Pong(number=item.number))
                else:
                    self.inbox.append(item)
        return self.inbox.popleft()

    async def greet(self, name: str | None = None) -> Client:
        await self.say(c.Hello(protocol=PROTOCOL, software="test 1", name=name))
        await self.hear(s.Welcome)
        return self

    async def join(self, game: str = "towerwars", **options: int | str) -> s.Joined:
        await self.say(c.Join(game=game, options=options))
        return await self.hear(s.Joined)

    async def start(self) -> s.MatchStarted:
        started = await self.wait_for(s.MatchStarted)
        await self.say(c.Ready(room=started.room))
        return started

    async def tell(self, message: c.FromClient) -> None:
        """Say what is answered by ``done``."""
        await self.say(message)
        await self.wait_for(s.Done)

    async def administer(self) -> Client:
        await self.say(c.Authenticate(secret=SECRET))
        await self.hear(s.Authenticated)
        return self

    async def play_on(self, plies: int = 10**6) -> s.MatchOver | None:
        """Answer turns with the first legal move (of the wire form) until the match is over."""
        played = 0
        while played < plies:
            message = await self._next()
            if isinstance(message, s.MatchOver):
                return message
            if isinstance(message, s.YourTurn):
                await self.move(message)
                played += 1
        return None

    async def move(self, turn: s.YourTurn, index: int = 0) -> None:
        assert turn.position is not None
        game = find_game(turn.position.game)
        position = game.read_position(turn.position.model_dump())
        moves = list(position.legal_moves())
        wire = game.write_move(moves[index % len(moves)])
        await self.say(c.Move.model_validate({"room": turn.room, "ply": turn.ply, "move": wire}))


class World:
    """A lobby and a way in."""

    def __init__(self, nursery: trio.Nursery, house: House, patience: Patience) -> None:
        self.journal = MemoryJournal()
        draws = iter(range(10**9))
        names = Names(lambda n: (next(draws) * 7919 + 13) % n)
        self.lobby = Lobby(
            house,
            cast(Journal, self.journal),
            nursery,
            names,
            SECRET.__eq__,
            lambda: datetime(2026, 1, 1, tzinfo=UTC),
            LoopLag(),
        )
        self._nursery = nursery
        self._patience = patience
        self._count = 0

    async def client(self, name: str | None = None, address: str = "127.0.0.1") -> Client:
        """A client that has been welcomed."""
        return await Client(self.raw(address)).greet(name)

    def raw(self, address: str = "127.0.0.1") -> trio.abc.HalfCloseableStream:
        """The client's end of a new connection."""
        self._count += 1
        ours, theirs = trio.testing.memory_stream_pair()
        connection = Connection(theirs, str(self._count), address, self._patience)
        self._nursery.start_soon(self.lobby.serve, connection)
        return ours

    async def pair(self, game: str = "towerwars", **options: int | str) -> tuple[Client, Client]:
        """Two clients in one room, before they are ready; red first."""
        red, blue = await self.client("ann"), await self.client("bob")
        await red.join(game, **options)
        await blue.join(game, **options)
        return red, blue

    async def begun(self) -> tuple[Client, Client, str, str]:
        """Two clients in a match that has begun, and their tokens; red is to move."""
        red, blue = await self.client("ann"), await self.client("bob")
        tokens = (await red.join(size=4)).token, (await blue.join(size=4)).token
        await red.start()
        await blue.start()
        return red, blue, *tokens

    async def back(self, token: str) -> Client:
        """A client that has come back into its match, and is ready."""
        client = await self.client()
        await client.say(c.Rejoin(token=token))
        await client.hear(s.Joined)
        await client.start()
        return client


def house(**changes: Any) -> House:
    clock: TimeControl = PerMove(move_ms=2000, margin_ms=0)
    values: dict[str, Any] = {
        "software": "triarena test",
        "clock": clock,
        "startup": 30.0,
        "rooms": 20,
        "rooms_per_address": 20,
        "rooms_per_connection": 2,
        "observers_per_room": 3,
        "observer_queue": 4,
        "bad_frames": 3,
        "greeting": 5.0,
        "heartbeat": 10.0,
        "idle": 60.0,
        "reservation": 120.0,
        "grace": 0.0,
        "resume": 60.0,
    }
    return House(**(values | changes))


PATIENCE = Patience(greeting=5.0, write=5.0, heartbeat=3600.0, bad_frames=3, queue_bytes=1 << 20)


class Stopped(LoopLag):
    """Of a loop under a mock clock, which can be stopped."""

    def __init__(self, clock: trio.testing.MockClock) -> None:
        super().__init__(clock.current_time)
        self._mock = clock

    def stand_still(self, seconds: float) -> None:
        self._mock.jump(seconds)
        self._note(seconds, self._clock())


class Log:
    """What the server has logged, whoever has configured logging before."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.text = ""

    def _note(self, event: str, **details: object) -> None:
        self.events.append(event)
        self.text += f"{event} {details}\n"

    debug = info = warning = error = exception = _note


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Log:
    """Takes the place of every module's logger."""
    log = Log()
    for name, module in list(sys.modules.items()):
        if name.startswith("triarena.server") and hasattr(module, "log"):
            monkeypatch.setattr(module, "log", log)
    return log


@pytest.fixture
async def world(autojump_clock: trio.testing.MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(), PATIENCE)
        nursery.cancel_scope.cancel()


__all__ = ["SECRET", "Client", "Log", "Side", "World", "house"]
