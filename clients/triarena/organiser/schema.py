"""The keys of a tournament's file: their types, bounds and defaults. ``docs/tournament-file.md`` explains each.

Only what can be said of a value by itself is said here; what doesn't go together is found by ``contradictions``, and
``entrants`` looks for the bots.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from triarena.protocol.values import Seed
from triarena.tournament.formats import Seeding

from .spec import FormatName

MAX_BOTS: Final = 256
MAX_TOURNAMENTS: Final = 100
HOURS_24: Final = 86_400
Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
UNSEEN: Final = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Control characters, and those that turn the direction of writing: a terminal or a page would obey them."""
Title: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=80, pattern=rf"^[^\s{UNSEEN}]([^{UNSEEN}]*[^\s{UNSEEN}])?$")
]
"""One line, without blanks at its ends."""
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=HOURS_24, allow_inf_nan=False)]
Points: TypeAlias = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Setting: TypeAlias = StrictBool | StrictInt | StrictFloat | StrictStr


class Table(BaseModel):
    """A table of the file: strict, closed and frozen."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class ClockTable(Table):
    """One of ``move_seconds``, ``budget_seconds`` and ``unlimited``, with what belongs to it."""

    move_seconds: Seconds | None = None
    strikes: Annotated[int, Field(ge=0, le=1000)] | None = None
    hard_seconds: Seconds | None = None
    budget_seconds: Seconds | None = None
    increment_seconds: Annotated[float, Field(ge=0, le=HOURS_24, allow_inf_nan=False)] | None = None
    unlimited: Literal[True] | None = None
    game_minutes: Annotated[float, Field(gt=0, le=1440, allow_inf_nan=False)] | None = None
    margin_ms: Annotated[float, Field(ge=0, le=60_000, allow_inf_nan=False)] | None = None


class PointsTable(Table):
    """What a game is worth for the standings."""

    win: Points = 1.0
    draw: Points = 0.5
    loss: Points = 0.0
    bye: Points | None = None
    """None: 1, in a Swiss tournament as much as a whole meeting that was won."""
    forfeit_loss: Points = 0.0
    both_failed: Points = 0.0


class SprtTable(Table):
    """A sequential test of two bots."""

    elo0: Annotated[float, Field(ge=-2000, le=2000, allow_inf_nan=False)] = 0.0
    elo1: Annotated[float, Field(ge=-2000, le=2000, allow_inf_nan=False)] = 20.0
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.05


class StopTable(Table):
    """What ends a tournament early."""

    max_games: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    max_minutes: Annotated[float, Field(gt=0, le=525_600, allow_inf_nan=False)] | None = None
    sprt: SprtTable | None = None


class LimitsTable(Table):
    """What the processes of one local bot may use."""

    memory_mb: Annotated[int, Field(ge=0, le=16_777_216)] = 2048
    cpu_seconds: Annotated[float, Field(ge=0, le=HOURS_24, allow_inf_nan=False)] = 0.0
    processes: Annotated[int, Field(ge=0, le=100_000)] = 64


class BotTable(Table):
    """One bot: exactly one of ``file``, ``shipped``, ``command`` and ``remote`` says of which kind."""

    name: str
    file: Word | None = None
    shipped: Word | None = None
    command: Word | Annotated[list[Word], Field(min_length=1, max_length=1000)] | None = None
    remote: Literal[True] | None = None
    seed: Seed | None = None
    folder: Word | None = None
    env: Annotated[dict[str, str], Field(max_length=1000)] = {}


class EventTable(Table):
    """What one tournament is; at the top of the file, what all of them are."""

    game: str | None = None
    options: dict[str, Setting] = {}
    format: FormatName = "round_robin"
    rounds: Annotated[int, Field(ge=1, le=100_000)] | None = None
    games_per_pairing: Annotated[int, Field(ge=1, le=1_000_000)] = 2
    seed: Seed | None = None
    seeds: Annotated[list[Seed], Field(min_length=1, max_length=100_000)] = []
    clock: ClockTable = ClockTable()
    points: PointsTable = PointsTable()
    tie_breaks: Annotated[list[str], Field(max_length=20)] | None = None
    challengers: Annotated[list[str], Field(max_length=MAX_BOTS)] | None = None
    challengers_meet: bool | None = None
    seeding: Seeding | None = None
    tie_pairs: Annotated[int, Field(ge=0, le=100)] | None = None
    stop: StopTable = StopTable()


class TournamentTable(EventTable):
    """One of several tournaments of a file."""

    name: Title | None = None
    bots: Annotated[list[str], Field(min_length=1, max_length=MAX_BOTS)] | None = None


class FileTable(EventTable):
    """The top of the file, without ``bots`` and ``tournaments``, which are read one by one."""

    name: Title | None = None
    concurrency: Annotated[int, Field(ge=1, le=1000)] | None = None
    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    patience_seconds: Annotated[float, Field(ge=0, le=HOURS_24, allow_inf_nan=False)] = 600.0
    start_seconds: Seconds = 30.0
    limits: LimitsTable = LimitsTable()
    server: dict[str, dict[str, Setting]] = {}


EVENT_KEYS: Final = tuple(EventTable.model_fields)
"""What a tournament takes over from the top of the file, unless it says it itself."""
WITH_GAME: Final = ("options",)
"""Taken over only along with the game."""
WITH_FORMAT: Final = ("rounds", "challengers", "challengers_meet", "seeding", "tie_pairs")
"""Taken over only along with the format."""
