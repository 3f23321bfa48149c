"""What a server may say. The documentation is generated from this file."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import FailFast, Field, TypeAdapter

from .from_client import Ping, Pong
from .game_values import WireMove, WirePosition
from .room_views import Plies, RoomInfo, RoomView
from .values import (
    Clock,
    Code,
    GameInfo,
    GameName,
    Limits,
    Milliseconds,
    Options,
    Players,
    Ply,
    RequestId,
    Result,
    RoomId,
    Secret,
    Seed,
    Sentence,
    SideName,
    TimeControl,
    Value,
)


class Answer(Value):
    """A message that answers a request and carries its ``id``."""

    id: RequestId | None = None
    """That of the request, if it had one."""


class Welcome(Value):
    """The answer to ``hello``: who serves, what is played, and within which limits."""

    type: Literal["welcome"] = "welcome"
    protocol: int
    """The version that the server speaks."""
    software: str
    """Name and version of the server's program."""
    connection: Code
    """The number of this connection, by which administrators know it."""
    games: Annotated[list[GameInfo], Field(max_length=100)]
    limits: Limits
    heartbeat_seconds: float
    """A connection that was silent this long is pinged; without an answer for as long again it is gone."""
    storage_lost: bool = False
    """Whether the server's database is lost at the moment: matches wait until it is back."""


class Refused(Value):
    """The answer to ``hello`` that ends the connection."""

    type: Literal["refused"] = "refused"
    code: Code
    message: Sentence


class Joined(Answer):
    """A seat was taken."""

    type: Literal["joined"] = "joined"
    room: RoomId
    side: SideName
    """Yours."""
    name: str
    """Under which the seat plays."""
    game: GameName
    options: Options
    """All options with their effective values."""
    time_control: TimeControl
    token: Secret
    """For ``rejoin``. Keep it to yourself."""


class Left(Answer):
    """A seat was given back before the match started."""

    type: Literal["left"] = "left"
    room: RoomId


class MatchStarted(Value):
    """Both seats are taken. Answer ``ready`` within the start-up time."""

    type: Literal["match_started"] = "match_started"
    room: RoomId
    match: Code
    """Under which the server keeps the match."""
    game: GameName
    rules_version: int
    options: Options
    """All options with their effective values."""
    players: Players
    side: SideName
    """Yours."""
    to_move: SideName
    """Who is asked first."""
    position: WirePosition
    """The first one; after a ``rejoin``, the present one."""
    time_control: TimeControl
    """Yours."""
    startup_ms: Milliseconds
    """Within which ``ready`` is to be answered; who came back before may have less left."""
    plies: Plies = []
    """What was played so far; empty at the start."""


class YourTurn(Value):
    """Answer ``move`` with the same ``ply``. The clock runs since this message was handed to the network."""

    type: Literal["your_turn"] = "your_turn"
    room: RoomId
    ply: Ply
    clock: Clock
    position: WirePosition | None = None
    """Complete, unless the seat asked for ``updates: "moves"``."""


class Moved(Value):
    """A ply was played; goes to both sides and, with the new position, to observers."""

    type: Literal["moved"] = "moved"
    room: RoomId
    ply: Ply
    side: SideName
    """Whose ply it was."""
    move: WireMove
    """In the game's canonical form."""
    text: str
    """The move in the game's notation."""
    used_ms: Milliseconds
    """What the ply was charged."""
    position: WirePosition | None = None
    """The new one; only for observers."""


class MatchOver(Value):
    """The match has ended; nothing follows in this room."""

    type: Literal["match_over"] = "match_over"
    room: RoomId
    match: Code | None = None
    """Absent if the match never started."""
    result: Result
    position: WirePosition | None = None
    """The last position."""


class Observing(Answer):
    """The answer to ``observe``; ``snapshot``, ``moved`` and ``match_over`` follow."""

    type: Literal["observing"] = "observing"
    room: RoomId
    view: RoomView


class Snapshot(Value):
    """To an observer: the present state, when the match starts, is paused or goes on, or instead of what it was too
    slow to take.
    """

    type: Literal["snapshot"] = "snapshot"
    room: RoomId
    view: RoomView


class Rooms(Answer):
    """The answer to ``list_rooms``."""

    type: Literal["rooms"] = "rooms"
    rooms: Annotated[list[RoomInfo], FailFast()]
    """The newest first; as many as fit into a frame."""
    omitted: int = 0
    """How many older ones were left out."""


class Enlisted(Answer):
    """You will be invited to matches over this connection."""

    type: Literal["enlisted"] = "enlisted"
    name: str
    """Under which."""


class Invitation(Value):
    """To who has enlisted: a match awaits you. Answer ``join_reserved`` with the code."""

    type: Literal["invitation"] = "invitation"
    room: RoomId
    game: GameName
    options: Options
    """All options with their effective values."""
    reservation: Secret
    """The code of your seat."""
    seed: Seed | None = None
    """For your own randomness, if you want to play the same again; it is not the board's."""


class Authenticated(Answer):
    """The connection is an administrator's now; ``room_event`` follows whenever something happens."""

    type: Literal["authenticated"] = "authenticated"


class Prepared(Answer):
    """A room was made."""

    type: Literal["prepared"] = "prepared"
    room: RoomId
    reservations: Annotated[list[Secret | None], Field(max_length=2)]
    """One per slot, in the order of the slots: red, blue. Absent (nil) where the slot is not reserved."""
    time_controls: Annotated[list[TimeControl], Field(max_length=2)] = []
    """Likewise: by which clock each side will play. Older servers do not tell."""
    socha_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """At which port bots of the Software-Challenge take these seats, if the server lets them in and they know the game.
    Older servers do not tell.
    """
    reservation_seconds: Annotated[float, Field(ge=0)] | None = None
    """For how long the reservations are good, and the room waits, if nobody comes. Older servers do not tell."""


class Done(Answer):
    """An administrator's request was carried out."""

    type: Literal["done"] = "done"
    message: Sentence


RoomEventKind = Literal["opened", "joined", "left", "started", "over", "closed", "paused", "resumed"]


class RoomEvent(Value):
    """To administrators: something happened in a room."""

    type: Literal["room_event"] = "room_event"
    event: RoomEventKind
    info: RoomInfo
    """The room after it."""
    result: Result | None = None
    """Of ``over``."""


class PlayerInfo(Value):
    """An enlisted player."""

    name: str
    connection: Code
    """The number of its connection, as ``kick`` takes it."""
    software: str
    """As its ``hello`` told."""
    playing: bool
    """Whether it has a seat in a match that is not over, or has not answered an invitation: others find it busy."""


class PlayerList(Answer):
    """The answer to ``list_players``."""

    type: Literal["player_list"] = "player_list"
    players: Annotated[list[PlayerInfo], FailFast()]
    """In the order in which they came; as many as fit into a frame."""
    omitted: int = 0
    """How many later ones were left out."""


class PlayerEvent(Value):
    """To administrators: a player has enlisted, or its place is gone with its connection."""

    type: Literal["player_event"] = "player_event"
    event: Literal["came", "went"]
    name: str
    connection: Code
    """The number of its connection."""


class Notice(Value):
    """Something the client should know; needs no answer."""

    type: Literal["notice"] = "notice"
    code: Code
    message: Sentence
    room: RoomId | None = None
    """If it is about one."""


class Error(Answer):
    """A request was refused, or a frame was not understood."""

    type: Literal["error"] = "error"
    code: Code
    message: Sentence
    request: Code | None = None
    """The type of the request that this answers; absent if it answers none."""
    room: RoomId | None = None
    """If it is about one."""


class Goodbye(Value):
    """The server closes the connection, and why."""

    type: Literal["goodbye"] = "goodbye"
    code: Code
    message: Sentence


FromServer: TypeAlias = (
    Welcome
    | Refused
    | Joined
    | Left
    | MatchStarted
    | YourTurn
    | Moved
    | MatchOver
    | Observing
    | Snapshot
    | Rooms
    | Enlisted
    | Invitation
    | Authenticated
    | Prepared
    | Done
    | RoomEvent
    | PlayerList
    | PlayerEvent
    | Notice
    | Error
    | Goodbye
    | Ping
    | Pong
)
FROM_SERVER: TypeAdapter[FromServer] = TypeAdapter(Annotated[FromServer, Field(discriminator="type")])
