"""Every transition of the protocol, in three tables. None of them knows which end we are.

* ``CONNECTION``: from the greeting to the farewell.
* ``ROOM``: one seat or one observer's place; a connection has one such state per room.
* ``ANSWERS``: which message answers which request. Requests are answered in the order they were made.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeAlias

from .from_client import (
    Authenticate,
    Cancel,
    Dismiss,
    Enlist,
    Enrol,
    Hello,
    Invite,
    Join,
    JoinReserved,
    JoinRoom,
    Kick,
    Leave,
    ListPlayers,
    ListRooms,
    Move,
    Observe,
    Pause,
    Ping,
    Pong,
    Prepare,
    Ready,
    Rejoin,
    Resume,
    Step,
    Surrender,
)
from .from_server import (
    Authenticated,
    Done,
    Enlisted,
    Error,
    Goodbye,
    Invitation,
    Joined,
    Left,
    MatchOver,
    MatchStarted,
    Moved,
    Notice,
    Observing,
    PlayerEvent,
    PlayerList,
    Prepared,
    Refused,
    RoomEvent,
    Rooms,
    Snapshot,
    Welcome,
    YourTurn,
)


class _Name(Enum):
    """A word in the tables, which are looked into for every message."""

    __hash__ = object.__hash__  # each value exists once; Enum's own hash is computed in Python


class Role(_Name):
    """An end of a connection."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def peer(self) -> Role:
        """The other end."""
        return Role.SERVER if self is Role.CLIENT else Role.CLIENT


class Phase(_Name):
    """Of a connection."""

    NEW = "new"
    """Nobody has spoken."""
    GREETED = "greeted"
    """The client has said `hello`."""
    OPEN = "open"
    """The server has said `welcome`: everything else may be said."""
    CLOSED = "closed"
    """Nothing more may be said."""


class Place(_Name):
    """Of a connection in one room."""

    OUTSIDE = "outside"
    """Has nothing to do with the room."""
    SEATED = "seated"
    """Has a seat; the match has not started."""
    STARTING = "starting"
    """The client owes `ready`."""
    WAITING = "waiting"
    """In the match, and owes nothing."""
    THINKING = "thinking"
    """In the match; the client owes a `move`."""
    LEAVING = "leaving"
    """The client has said `leave`; the server has not answered yet."""
    WATCHING = "watching"
    """An observer."""
    OVER = "over"
    """Nothing more will come of it; what crosses on the wire is dropped."""


MessageType: TypeAlias = type[Any]
C, S = Role.CLIENT, Role.SERVER

ANSWERS: Final[dict[MessageType, MessageType]] = {
    Join: Joined,
    JoinRoom: Joined,
    JoinReserved: Joined,
    Rejoin: Joined,
    Observe: Observing,
    ListRooms: Rooms,
    Enlist: Enlisted,
    Authenticate: Authenticated,
    Prepare: Prepared,
    Pause: Done,
    Resume: Done,
    Step: Done,
    Cancel: Done,
    Kick: Done,
    Enrol: Done,
    Invite: Done,
    ListPlayers: PlayerList,
    Dismiss: Done,
}
"""The answer to each request; ``Error`` (naming the request) is the other one."""

REQUEST_TYPES: Final[dict[str, MessageType]] = {r.model_fields["type"].default: r for r in ANSWERS}

_ANY_TIME: Final[dict[tuple[Role, MessageType], Phase]] = {
    **dict.fromkeys(((C, request) for request in ANSWERS), Phase.OPEN),
    **dict.fromkeys(((S, answer) for answer in ANSWERS.values()), Phase.OPEN),
    **dict.fromkeys([(C, Ping), (C, Pong), (S, Ping), (S, Pong), (S, Error), (S, Notice)], Phase.OPEN),
    **dict.fromkeys([(S, RoomEvent), (S, PlayerEvent), (S, Invitation)], Phase.OPEN),
}

CONNECTION: Final[dict[Phase, dict[tuple[Role, MessageType], Phase]]] = {
    Phase.NEW: {(C, Hello): Phase.GREETED, (S, Refused): Phase.CLOSED},
    Phase.GREETED: {(S, Welcome): Phase.OPEN, (S, Refused): Phase.CLOSED},
    Phase.OPEN: {**_ANY_TIME, (S, Goodbye): Phase.CLOSED},
    Phase.CLOSED: {},
}
"""Messages that are not about one room. The messages of ``ROOM`` are allowed while OPEN."""

CROSSING: Final[frozenset[MessageType]] = frozenset([Ready, Move, Surrender, Leave])
"""What an honest client may have sent before it learned that its match was over: dropped on arrival there."""

ROOM: Final[dict[Place, dict[tuple[Role, MessageType], Place]]] = {
    Place.OUTSIDE: {(S, Joined): Place.SEATED, (S, Observing): Place.WATCHING},
    Place.SEATED: {
        (C, Leave): Place.LEAVING,
        (S, MatchStarted): Place.STARTING,
        (S, MatchOver): Place.OVER,
    },
    Place.STARTING: {
        (C, Ready): Place.WAITING,
        (S, Moved): Place.STARTING,  # only after a rejoin: the match went on meanwhile
        (C, Surrender): Place.STARTING,
        (C, Leave): Place.LEAVING,
        (S, MatchOver): Place.OVER,
    },
    Place.WAITING: {
        (C, Surrender): Place.WAITING,
        (C, Leave): Place.LEAVING,
        (S, YourTurn): Place.THINKING,
        (S, Moved): Place.WAITING,
        (S, MatchOver): Place.OVER,
    },
    Place.THINKING: {
        (C, Move): Place.WAITING,
        (C, Surrender): Place.THINKING,
        (C, Leave): Place.LEAVING,
        (S, MatchOver): Place.OVER,
    },
    Place.LEAVING: {
        (S, MatchStarted): Place.LEAVING,  # these three were under way when the client left
        (S, YourTurn): Place.LEAVING,
        (S, Moved): Place.LEAVING,
        (S, Left): Place.OUTSIDE,
        (S, MatchOver): Place.OVER,
    },
    Place.WATCHING: {
        (S, Observing): Place.WATCHING,
        (S, Snapshot): Place.WATCHING,
        (S, Moved): Place.WATCHING,
        (S, MatchOver): Place.OVER,
        **{(C, kind): Place.WATCHING for kind in CROSSING},  # it had a seat when it said so, now it watches
    },
    Place.OVER: {
        (S, Observing): Place.WATCHING,
        **{(C, kind): Place.OVER for kind in CROSSING},
    },
}

IN_ROOM: Final[frozenset[MessageType]] = frozenset(kind for row in ROOM.values() for _, kind in row)
