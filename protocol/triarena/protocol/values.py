"""The values that several messages share: names, sides, options, clocks, results."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

PROTOCOL: int = 1
"""The protocol's version. Changes only when an old client would misread something."""


class Value(BaseModel):
    """Base of all that travels: immutable, strictly typed, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)


SideName: TypeAlias = Literal["red", "blue"]
Name = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[\w.+-]([\w .+-]*[\w.+-])?$")]
"""A player's name: letters, digits, ``_ . + -`` and blanks inside; at most 40 characters."""
GameName = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z][a-z0-9_]*$")]
"""E.g. ``towerwars``."""
RoomId = Annotated[str, Field(min_length=1, max_length=40)]
"""Which room it is about."""
Secret = Annotated[str, Field(min_length=1, max_length=128)]
"""A reservation code, rejoin token or administrator secret."""
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""Of a bot's token: ``sha256:`` and the 64 digits of the token's SHA-256, as ``triarena token`` prints it."""
Sentence = Annotated[str, Field(max_length=2000)]
"""For people."""
Code = Annotated[str, Field(max_length=60)]
"""Stable, for programs."""
RequestId = Annotated[int, Field(ge=0, le=2**53)]
Ply = Annotated[int, Field(ge=0, le=10**6)]
"""Counted from 0, over both sides."""
Milliseconds = Annotated[float, Field(ge=0)]
MAX_OPTIONS = 16


def _few(value: Any) -> Any:
    # The bound of the field is checked last: thousands of bad entries would each cost an error message first.
    if isinstance(value, dict) and len(value) > MAX_OPTIONS:
        raise PydanticCustomError("too_many", f"there may be at most {MAX_OPTIONS} options")
    return value


Options = Annotated[
    dict[Annotated[str, Field(max_length=40)], int | str], Field(max_length=MAX_OPTIONS), BeforeValidator(_few)
]
"""A game's options by name, e.g. ``{"size": 8}``."""
Seed = Annotated[int, Field(ge=0, lt=2**53)]
"""Of the game's randomness: same seed, same board."""
Updates = Literal["positions", "moves"]
"""``positions``: ``your_turn`` carries the position. ``moves``: the client keeps its own."""


class OptionRange(Value):
    """An option of a game: a whole number within bounds, or one of some words."""

    name: str
    minimum: int | None = None
    maximum: int | None = None
    """Both present for a whole number."""
    choices: Annotated[list[str], Field(max_length=100)] | None = None
    """Present for a word."""
    default: int | str
    description: str
    """For people."""


class GameInfo(Value):
    """A game that the server offers."""

    name: GameName
    title: str
    rules_version: int
    options: Annotated[list[OptionRange], Field(max_length=MAX_OPTIONS)]


class Limits(Value):
    """What the server accepts and how long it waits."""

    frame_to_server: int
    """The most bytes that a frame may announce."""
    frame_to_client: int
    """The same, for the other direction."""
    bad_frames: int
    """How many bad frames a connection may send before it is closed."""
    rooms_per_connection: int
    """How many seats a connection may have at once."""
    observed_rooms_per_connection: int | None = None
    """How many rooms it may watch at once."""
    greeting_seconds: float
    """How long ``hello`` is waited for."""


Allowance = Annotated[float, Field(gt=0, le=24 * 3_600_000)]
"""Milliseconds of a clock, at most a day."""
Increment = Annotated[float, Field(ge=0, le=24 * 3_600_000)]
"""Milliseconds, at most a day."""


class PerMove(Value):
    """A fixed time for every move."""

    type: Literal["per_move"] = "per_move"
    move_ms: Allowance
    """The limit of one move."""
    margin_ms: Annotated[float, Field(ge=0, le=60_000)] = 0
    """Granted beyond the limit, for the network."""
    hard_ms: Allowance | None = None
    """How long an overrun is waited for while strikes are left."""
    strikes: Annotated[int, Field(ge=0, le=1000)] = 0
    """How many overruns (up to ``hard_ms``) each side is forgiven in a match."""


class Budget(Value):
    """A budget for the whole match, to which every move adds an increment after it was made."""

    type: Literal["budget"] = "budget"
    budget_ms: Allowance
    increment_ms: Increment = 0
    margin_ms: Annotated[float, Field(ge=0, le=60_000)] = 0
    """Granted beyond what is left, for the network; every move anew."""


class Unlimited(Value):
    """No clock, for debugging."""

    type: Literal["unlimited"] = "unlimited"


TimeControl: TypeAlias = Annotated[PerMove | Budget | Unlimited, Field(discriminator="type")]


class Clock(Value):
    """The clock of the side to move, as ``your_turn`` tells it. Absent values mean no limit."""

    limit_ms: Milliseconds | None = None
    """For this move."""
    remaining_ms: Milliseconds | None = None
    """What is left of it, when this message is sent."""
    last_used_ms: Milliseconds | None = None
    """What the side's previous move was charged."""
    server_overhead_ms: Milliseconds | None = None
    """How long the server took from the opponent's move to this message; absent after a return."""


class Players(Value):
    """The names of both sides."""

    red: str
    blue: str


class SideScore(Value):
    """What one side has at the end."""

    score: int
    extras: dict[str, int] = {}
    """Further counts of the game, e.g. ``{"passengers": 2}``."""


class Scores(Value):
    """Both sides' scores."""

    red: SideScore
    blue: SideScore


class Detail(Value):
    """Why a match ended as it did; fields that do not apply are absent."""

    message: Sentence
    """A sentence for people."""
    offenders: Annotated[list[SideName], Field(max_length=2)] = []
    """The side or sides that forfeited."""
    ply: Ply | None = None
    code: Code | None = None
    """The broken rule's code, e.g. ``ditch_end_taken``."""
    move: str | None = None
    """The offending move in the game's notation (or, if it has none, as it came)."""
    limit_ms: Milliseconds | None = None
    """Of a timeout: what the move could have taken."""
    used_ms: Milliseconds | None = None
    """Of a timeout: what it took, or how long it was waited for."""
    overrun_ms: Milliseconds | None = None


ForfeitReason = Literal[
    "illegal_move", "timeout", "disconnected", "stalled", "protocol_violation", "left", "surrender", "no_show"
]
AbortReason = Literal["cancelled", "ply_limit", "not_resumed", "storage_lost", "internal_error"]


class Result(Value):
    """How a match ended: by the rules (``outcome``), by the referee (``forfeit``), or not at all (``aborted``)."""

    kind: Literal["outcome", "forfeit", "aborted"]
    winner: SideName | None = None
    """Absent for a draw, an abort, or when both sides forfeit at once."""
    reason: Code
    """Of an outcome: the game's own word. Else one of the documented reasons."""
    sides: Scores
    detail: Detail

    def overran_ms(self, side: str) -> float:
        """What the turn took in which a side ran out of time, and so lost; 0 for whoever did not."""
        return (self.detail.used_ms or 0.0) if side in self.detail.offenders else 0.0
