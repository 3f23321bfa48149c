"""A server for tests: a thread that plays a script against one client after another, and a small referee.

It speaks through ``server_session``, so a script that breaks the protocol fails as loudly as a client that does.
"""

from __future__ import annotations

import random
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

from triarena.games import AnyGame, MoveError, Side, find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.room_views import RoomInfo, Seat
from triarena.protocol.session import Fault, server_session
from triarena.protocol.values import (
    Clock,
    Detail,
    GameInfo,
    Limits,
    OptionRange,
    PerMove,
    Players,
    Result,
    Scores,
    SideScore,
)

T = TypeVar("T")
Script: TypeAlias = Callable[["Peer"], None]

LIMITS = Limits(frame_to_server=16384, frame_to_client=2**20, bad_frames=3, rooms_per_connection=8, greeting_seconds=5)
GAMES = [
    GameInfo(
        name="towerwars",
        title="TowerWars",
        rules_version=1,
        options=[OptionRange(name="size", minimum=4, maximum=26, default=8, description="the board's rows")],
    )
]
SEAT = Seat(name="Ann", connected=True, reserved=False, used_ms=0)
INFO = RoomInfo(
    room="r1",
    game="towerwars",
    options={"size": 4},
    state="running",
    paused=False,
    match="m1",
    ply=0,
    to_move="red",
    red=SEAT,
    blue=Seat(name="Bob", connected=True, reserved=False, used_ms=0),
    observers=1,
)


def welcome(**changes: Any) -> s.Welcome:
    """An ordinary greeting, changed at will."""
    usual = s.Welcome(
        protocol=1, software="scripted 1", connection="c1", games=GAMES, limits=LIMITS, heartbeat_seconds=20
    )
    return usual.model_copy(update=changes)


def joined(**changes: Any) -> s.Joined:
    """A seat of room r1."""
    usual = s.Joined(
        room="r1",
        side="red",
        name="Ann",
        game="towerwars",
        options={"size": 4},
        time_control=PerMove(move_ms=2000),
        token="t",
    )
    return usual.model_copy(update=changes)


def result(kind: Any = "outcome", reason: str = "base", winner: Any = "red", **detail: Any) -> Result:
    """An end of a match."""
    points = Scores(red=SideScore(score=int(winner == "red")), blue=SideScore(score=int(winner == "blue")))
    return Result(kind=kind, winner=winner, reason=reason, sides=points, detail=Detail(message="so it ended", **detail))


def over(**changes: Any) -> s.MatchOver:
    """An end of the match of room r1."""
    return s.MatchOver(room="r1", match="m1", result=result(**changes))


class Peer:
    """The client, as a script sees it."""

    def __init__(self, stream: socket.socket, heard: list[Any]) -> None:
        self.stream = stream
        self._heard = heard
        self.session = server_session()
        self._arrived: deque[Any] = deque()

    def send(self, *messages: Any) -> None:
        """All in one write."""
        self.stream.sendall(b"".join(self.session.send(message) for message in messages))

    def receive(self) -> Any:
        """The next message, a Fault, or None at the end of the stream."""
        while not self._arrived:
            try:
                data = self.stream.recv(65536)
            except ConnectionError:
                return None
            if not data:
                return None
            self._arrived += self.session.receive(data)
        self._heard.append(self._arrived[0])
        return self._arrived.popleft()

    def expect(self, kind: type[T]) -> T:
        """The next message, which is of this kind."""
        message = self.receive()
        assert isinstance(message, kind), f"expected {kind.__name__}, got {message!r}"
        return message

    def greet(self, **changes: Any) -> c.Hello:
        """Take the hello, send the welcome."""
        hello = self.expect(c.Hello)
        self.send(welcome(**changes))
        return hello

    def answer(self, kind: type[T], answer: Any) -> T:
        """Take a request, send the answer with its number."""
        request = self.expect(kind)
        self.send(answer.model_copy(update={"id": getattr(request, "id", None)}))
        return request


class ScriptedServer:
    """Listens on a port of its own; what a script asserts in vain is raised when the server closes."""

    def __init__(self, script: Script, host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, port), family=family)
        self.host, self.port = host, int(self.listener.getsockname()[1])
        self.heard: list[Any] = []
        """Every message that a script took, of all clients."""
        self._script = script
        self._failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:  # closed: the test is over
                return
            stream.settimeout(20)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with stream:
                try:
                    self._script(Peer(stream, self.heard))
                except BaseException as error:
                    self._failures.append(error)

    def stop_listening(self) -> None:
        """Take nobody any more; may be called by a script, and twice."""
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def close(self) -> None:
        """Stop, and raise what went wrong in the script."""
        self.stop_listening()
        self._thread.join(20)
        assert not self._thread.is_alive(), "the script still waits for the client"
        if self._failures:
            raise self._failures[0]


@contextmanager
def serving(script: Script, host: str = "127.0.0.1", port: int = 0) -> Iterator[ScriptedServer]:
    """A scripted server for a ``with`` block."""
    server = ScriptedServer(script, host, port)
    try:
        yield server
    finally:
        server.close()


def one_after_another(*scripts: Script) -> Script:
    """A script for a client that comes back: the first for its first connection, and so on."""
    left = deque(scripts)

    def script(peer: Peer) -> None:
        left.popleft()(peer)

    return script


def referee(
    game_name: str = "towerwars",
    options: dict[str, int | str] | None = None,
    *,
    client: Side = Side.RED,
    seed: int = 0,
    move_ms: float = 2000,
) -> Script:
    """A script: one match of the client against random moves, judged by the rules."""
    game: AnyGame = find_game(game_name)

    def script(peer: Peer) -> None:
        peer.greet()
        while (request := peer.receive()) is not None:
            seat = joined(game=game_name, side=client.value, options=dict(options or {}))
            peer.send(seat.model_copy(update={"id": request.id}))
            _match(peer, game, game.start(options or {}, seed), client, random.Random(seed), move_ms)

    return script


def _match(peer: Peer, game: AnyGame, position: Any, client: Side, rng: random.Random, move_ms: float) -> None:
    wire = game.write_position(position)
    players = Players(red="Ann", blue="Bob")
    peer.send(
        s.MatchStarted(
            room="r1",
            match="m1",
            game=game.name,
            rules_version=game.rules_version,
            options={},
            players=players,
            side=client.value,
            to_move=position.to_move.value,
            position=wire,
            time_control=PerMove(move_ms=2000),
            startup_ms=10_000,
        )
    )
    if not isinstance(peer.receive(), c.Ready):
        peer.send(over(kind="forfeit", reason="left", winner=client.other.value, offenders=[client.value]))
        return
    ply = 0
    while position.outcome is None:
        side = position.to_move
        if side is client:
            clock = Clock(limit_ms=move_ms, remaining_ms=move_ms)
            peer.send(s.YourTurn(room="r1", ply=ply, clock=clock, position=game.write_position(position)))
            answer = peer.receive()
            ending = _forfeit(game, position, answer, client, ply)
            if ending is not None:
                peer.send(ending)
                return
            move = game.read_move(answer.move.model_dump(exclude_none=True))
        else:
            move = rng.choice(list(position.legal_moves()))
        position = position.play(move)
        moved = s.Moved(
            room="r1", ply=ply, side=side.value, move=game.write_move(move), text=game.format(move), used_ms=1.5
        )
        peer.send(moved)
        ply += 1
    winner = position.outcome.winner
    peer.send(over(winner=winner and winner.value, reason=position.outcome.reason))


def _forfeit(game: AnyGame, position: Any, answer: Any, client: Side, ply: int) -> s.MatchOver | None:
    """The end of the match, if the client's answer is no legal move."""
    forfeit: dict[str, Any] = {"kind": "forfeit", "winner": client.other.value, "offenders": [client.value], "ply": ply}
    if isinstance(answer, c.Move):
        move = game.read_move(answer.move.model_dump(exclude_none=True))
        try:
            position.check(move)
        except MoveError as error:
            return over(**forfeit, reason="illegal_move", code=error.code, move=game.format(move))
        return None
    reason = (
        "surrender" if isinstance(answer, c.Surrender) else "left" if isinstance(answer, c.Leave) else "disconnected"
    )
    assert not isinstance(answer, Fault), answer
    return over(**forfeit, reason=reason)
