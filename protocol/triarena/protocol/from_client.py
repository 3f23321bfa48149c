"""What a client may say. The documentation is generated from this file."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import FailFast, Field, TypeAdapter

from .game_values import WireMove
from .values import (
    Allowance,
    Code,
    Digest,
    GameName,
    Increment,
    Name,
    Options,
    Ply,
    RequestId,
    RoomId,
    Secret,
    Seed,
    Sentence,
    TimeControl,
    Updates,
    Value,
)

ENROLMENTS = 64
"""How many players one ``enrol`` may name: so many fit into a frame, whatever their names."""


class Request(Value):
    """A message that is answered: by the message named in the session's table, or by ``error``."""

    id: RequestId | None = None
    """Chosen by the client; the answer carries the same."""


class Hello(Value):
    """The first message: which protocol the client speaks, and who it is."""

    type: Literal["hello"] = "hello"
    protocol: Annotated[int, Field(ge=0, le=10**6)]
    """The version that the client speaks."""
    software: Annotated[str, Field(max_length=100)]
    """Name and version of the program, for the evidence of a match."""
    name: Name | None = None
    """The player's name, unless a reservation gives one."""
    token: Secret | None = None
    """A bot's own, which proves its ``name`` on servers where that name belongs to it; see `wrong_token`."""


class Join(Request):
    """Take a seat: the first open, unreserved one of this game with these options, else in a new room."""

    type: Literal["join"] = "join"
    game: GameName
    options: Options = {}
    updates: Updates = "positions"


class JoinRoom(Request):
    """Take an open, unreserved seat of a certain room."""

    type: Literal["join_room"] = "join_room"
    room: RoomId
    updates: Updates = "positions"


class JoinReserved(Request):
    """Take the seat for which a reservation code was made. A code works for one client at a time.

    If its seat is given back, or its connection lost, before the match starts, it works again. In the match it does
    what ``rejoin`` does, if the seat's connection is lost: the answer to the first use may never have arrived, and a
    program that died may remember nothing else.
    """

    type: Literal["join_reserved"] = "join_reserved"
    reservation: Secret
    """The code."""
    updates: Updates = "positions"


class Rejoin(Request):
    """Take back the seat of a connection that was lost during a match, or whose server died.

    ``match_started`` follows, with all that was played; answer ``ready``. If it is your turn, ``your_turn`` follows,
    and the clock has run on. An older connection that still holds the seat is closed (``displaced``).
    """

    type: Literal["rejoin"] = "rejoin"
    token: Secret
    """As ``joined`` gave it."""
    updates: Updates = "positions"


class Leave(Value):
    """Give up a seat: before the match starts it is answered ``left``; during a match it is a forfeit."""

    type: Literal["leave"] = "leave"
    id: RequestId | None = None
    """As with a request: ``left`` carries the same."""
    room: RoomId
    reason: Annotated[str, Field(max_length=200)] = ""
    """Why, e.g. ``bot_failed: ZeroDivisionError: division by zero``, for the organiser to read in the match's report.
    The opponent is told only that you left.
    """


class Ready(Value):
    """The answer to ``match_started``, within the start-up time: the client is loaded and can play."""

    type: Literal["ready"] = "ready"
    room: RoomId


class Move(Value):
    """The answer to ``your_turn``; ``ply`` echoes its number."""

    type: Literal["move"] = "move"
    room: RoomId
    ply: Ply
    move: WireMove


class Surrender(Value):
    """Give up the match, at any time, also in the other side's turn."""

    type: Literal["surrender"] = "surrender"
    room: RoomId


class Observe(Request):
    """Watch a room."""

    type: Literal["observe"] = "observe"
    room: RoomId


class ListRooms(Request):
    """Ask which rooms there are."""

    type: Literal["list_rooms"] = "list_rooms"


class Enlist(Request):
    """A bot in a tournament: invite me to matches. ``invitation`` follows, one for each match.

    Takes a ``hello`` with a name and the token that proves it. There is one such place for each name: a newer one
    displaces the older. It ends with the connection, so enlist again after coming back; in a match it is kept.
    """

    type: Literal["enlist"] = "enlist"


class Authenticate(Request):
    """Become an administrator."""

    type: Literal["authenticate"] = "authenticate"
    secret: Secret
    """The server's, as printed when it was first started."""


class Slot(Value):
    """A seat of a prepared room; the first slot is red."""

    name: Name | None = None
    """The name under which this seat plays, whatever the client calls itself."""
    reserved: bool = True
    """Whether only a reservation code opens this seat."""
    timed: bool = True
    """False: no clock for this seat, for debugging."""


class Prepare(Request):
    """Administrator: make a room with its two seats."""

    type: Literal["prepare"] = "prepare"
    game: GameName
    options: Options = {}
    seed: Seed | None = None
    time_control: TimeControl | None = None
    """Absent: the server's own."""
    move_ms: Allowance | None = None
    """In place of ``time_control``: this time for a move; margin, strikes and hard limit are the server's own."""
    budget_ms: Allowance | None = None
    """In place of both: this budget for the match, and the margin of the server's own."""
    increment_ms: Increment | None = None
    """With ``budget_ms``: what every move adds. Absent: nothing."""
    slots: Annotated[list[Slot], Field(min_length=2, max_length=2)]
    """Red, then blue."""
    paused: bool = False
    """True: the match waits before its first ply for ``resume`` or ``step``."""


class Pause(Request):
    """Administrator: no further ply until ``resume`` or ``step``."""

    type: Literal["pause"] = "pause"
    room: RoomId


class Resume(Request):
    """Administrator: let a paused room go on."""

    type: Literal["resume"] = "resume"
    room: RoomId


class Step(Request):
    """Administrator: let a paused room play one ply."""

    type: Literal["step"] = "step"
    room: RoomId


class Cancel(Request):
    """Administrator: end a room's match as ``aborted``, or close the room if none has started."""

    type: Literal["cancel"] = "cancel"
    room: RoomId
    reason: Annotated[str, Field(max_length=200)] = ""
    """For the players to read."""


class Kick(Request):
    """Administrator: close a connection."""

    type: Literal["kick"] = "kick"
    connection: Code
    """Its number, as ``welcome`` told its client."""


class Enrolment(Value):
    """A player of a tournament, and by which token it proves its name."""

    name: Name
    digest: Digest


class Enrol(Request):
    """Administrator: make these names belong to the holders of these tokens, until they are dismissed or the server
    ends. Those who were enrolled before may be so again, with the same token, or by whoever enrolled them, or when that
    one has gone, with another one. All of them, or none.
    """

    type: Literal["enrol"] = "enrol"
    players: Annotated[list[Enrolment], Field(max_length=ENROLMENTS), FailFast()]


class Invite(Request):
    """Administrator: send an enlisted player to the seat for which a reservation code was made."""

    type: Literal["invite"] = "invite"
    player: Name
    reservation: Secret
    """The code."""
    seed: Seed | None = None
    """For the bot's own randomness."""


class ListPlayers(Request):
    """Administrator: ask who is enlisted."""

    type: Literal["list_players"] = "list_players"


class Dismiss(Request):
    """Administrator: the tournament is over for a player. Its enrolment ends, and it is told ``goodbye``
    (``dismissed``), at once or when it comes back.
    """

    type: Literal["dismiss"] = "dismiss"
    name: Name
    message: Sentence = ""
    """For the player's owner to read."""


class Ping(Value):
    """Either end: are you there? Answer ``pong`` with the same number."""

    type: Literal["ping"] = "ping"
    number: RequestId = 0
    """Freely chosen."""


class Pong(Value):
    """Either end: the answer to ``ping``."""

    type: Literal["pong"] = "pong"
    number: RequestId = 0
    """The same as in ``ping``."""


FromClient: TypeAlias = (
    Hello
    | Join
    | JoinRoom
    | JoinReserved
    | Rejoin
    | Leave
    | Ready
    | Move
    | Surrender
    | Observe
    | ListRooms
    | Enlist
    | Authenticate
    | Prepare
    | Pause
    | Resume
    | Step
    | Cancel
    | Kick
    | Enrol
    | Invite
    | ListPlayers
    | Dismiss
    | Ping
    | Pong
)
FROM_CLIENT: TypeAdapter[FromClient] = TypeAdapter(Annotated[FromClient, Field(discriminator="type")])
