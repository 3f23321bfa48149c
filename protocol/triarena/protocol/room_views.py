"""What can be seen of a room and of its match; the messages to players, observers and administrators hold it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import FailFast

from .game_values import WireMove, WirePosition
from .values import Code, GameName, Milliseconds, Options, Ply, Result, RoomId, SideName, Value


class Turned(Value):
    """A ply that was played."""

    ply: Ply
    side: SideName
    """Whose ply it was."""
    move: WireMove
    """In the game's canonical form."""
    text: str
    """The move in the game's notation."""
    used_ms: Milliseconds
    """What the ply was charged."""


Plies = Annotated[list[Turned], FailFast()]

RoomState = Literal["waiting", "starting", "running", "paused", "over"]


class Seat(Value):
    """A side of a room, as everybody may see it."""

    name: str | None = None
    """Absent while the seat is open."""
    connected: bool
    reserved: bool
    """Whether only a code opens it."""
    used_ms: Milliseconds
    """Time used in the match so far. It includes the turn in which the side ran out of time."""
    connection: Code | None = None
    """The number of the connection that sits here, as ``kick`` takes it."""
    awaited_ms: Milliseconds | None = None
    """For how long its player is still waited for in a match, since it is away, or was not ready yet; absent otherwise,
    and while the match is paused.
    """


class RoomInfo(Value):
    """A room, as everybody may see it."""

    room: RoomId
    game: GameName
    options: Options
    state: RoomState
    paused: bool
    """Whether an administrator paused it: it waits, or will wait at the next ply."""
    storage_lost: bool = False
    """Whether it waits because the server's database is lost; its state is ``paused`` meanwhile."""
    match: Code | None = None
    """Under which the server keeps the match; absent before it starts."""
    ply: Ply
    """How many plies were played."""
    to_move: SideName | None = None
    """Absent while no match is being played."""
    red: Seat
    blue: Seat
    observers: int
    """How many watch."""


class RoomView(Value):
    """Everything an observer needs to follow a room from here on."""

    info: RoomInfo
    position: WirePosition | None = None
    """Absent while the match has not started."""
    plies: Plies = []
    """The latest plies, at most as many as fit a frame; ``info.ply`` tells how many there were in all."""
    result: Result | None = None
    """Once the match is over."""
