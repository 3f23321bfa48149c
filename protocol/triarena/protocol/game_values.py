"""Moves and positions of the games on the wire, as typed structures.

The games themselves read and write these forms as plain values (``Game.read_move`` ...); the models here check
shape and bounds, and the documentation is made from them. A game of another distribution travels as
``OtherMove`` and ``OtherPosition``, whose contents only that game knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from .values import GameName, SideName, Value

Coordinate = Annotated[int, Field(ge=-1000, le=1000)]
Point = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
"""FlowerWars: ``[column, row]``, from ``[1, 1]``."""
Ditch = Annotated[list[Point], Field(min_length=2, max_length=2)]
"""FlowerWars: the two ends, each ``[column, row]``."""
Flower = Annotated[list[Point], Field(min_length=3, max_length=3)]
"""FlowerWars: the three corners, each ``[column, row]``."""
Hex = Annotated[list[Coordinate], Field(min_length=3, max_length=3)]
"""Mississippi Queen: ``[q, r, s]`` with q + r + s = 0."""
Direction = Literal["right", "down_right", "down_left", "left", "up_left", "up_right"]
"""Clockwise, from ``right``."""
FieldName = Annotated[str, Field(max_length=8)]
"""TowerWars: letter, then number, e.g. ``A1``."""


class Plant(Value):
    """FlowerWars: plant two flowers, each given by its three corners in any order."""

    type: Literal["plant"] = "plant"
    flowers: Annotated[list[Flower], Field(min_length=2, max_length=2)]


class Dig(Value):
    """FlowerWars: dig a ditch between two neighbouring points."""

    type: Literal["dig"] = "dig"
    ditch: Ditch


class End(Value):
    """FlowerWars: end the game, when no two flowers can be planted."""

    type: Literal["end"] = "end"


class Step(Value):
    """TowerWars: move a stone, or the top stone of a tower."""

    type: Literal["step"] = "step"
    start: FieldName
    target: FieldName


class Accelerate(Value):
    """Change the speed by ``by`` (negative to brake)."""

    type: Literal["accelerate"] = "accelerate"
    by: Annotated[int, Field(ge=-1000, le=1000)]


class Turn(Value):
    """Turn the ship to a direction."""

    type: Literal["turn"] = "turn"
    to: Direction


class Advance(Value):
    """Go straight on."""

    type: Literal["advance"] = "advance"
    distance: Annotated[int, Field(ge=-1000, le=1000)]


class Push(Value):
    """Push the other ship, which is on the same field, in a direction."""

    type: Literal["push"] = "push"
    to: Direction


Action: TypeAlias = Annotated[Accelerate | Turn | Advance | Push, Field(discriminator="type")]


class Actions(Value):
    """Mississippi Queen: the actions of one move, in order."""

    type: Literal["actions"] = "actions"
    actions: Annotated[list[Action], Field(max_length=64)]


MOVE_TYPES = ("plant", "dig", "end", "step", "actions")
POSITION_GAMES = ("flowerwars", "towerwars", "mississippi_queen")
NESTING = 32
"""How deep the contents of another game's move or position may be nested."""


class Foreign(Value):
    """Base of what only another distribution's game understands: any fields, but not without end.

    Everybody who shows or copies such contents does it recursively; here it is made sure that they can.
    """

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        level = list((self.model_extra or {}).values())
        for _ in range(NESTING + 1):
            level = [inner for outer in level for inner in _contents(outer)]
            if not level:
                return self
        raise PydanticCustomError("too_deep", f"maps and lists may be nested {NESTING} deep")


def _contents(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


class OtherMove(Foreign):
    """A move of a game that is not one of the three; ``type`` and whatever the game defines."""

    type: Annotated[str, Field(min_length=1, max_length=40, json_schema_extra={"not": {"enum": list(MOVE_TYPES)}})]


class Points(Value):
    """A count for each side."""

    red: int
    blue: int


class WireOutcome(Value):
    """What the rules say at the end: also further counts of the game, each a map of both sides."""

    model_config = ConfigDict(extra="allow")
    winner: SideName | None = None
    reason: str
    scores: Points


class FlowerWarsPosition(Value):
    """A position of FlowerWars."""

    game: Literal["flowerwars"] = "flowerwars"
    size: Annotated[int, Field(ge=3, le=30)]
    to_move: SideName
    fields: Annotated[str, Field(max_length=1000)]
    """Rows 1 to n joined by ``/``; in a row the fields U(1,r), D(1,r), U(2,r), ...: ``.`` empty, ``r``, ``b``."""
    red_ditches: Annotated[list[Ditch], Field(max_length=300)]
    blue_ditches: Annotated[list[Ditch], Field(max_length=300)]
    points: Points
    outcome: WireOutcome | None = None


class TowerWarsPosition(Value):
    """A position of TowerWars."""

    game: Literal["towerwars"] = "towerwars"
    size: Annotated[int, Field(ge=4, le=26)]
    to_move: SideName
    board: Annotated[str, Field(max_length=3000)]
    """Rows joined by ``/``, then a blank and the side to move: ``Rrr./rr.b/r.bb/.bbB R``; ``r2`` is a tower,
    ``r2x`` a blocked one."""
    outcome: WireOutcome | None = None


class Segment(Value):
    """A piece of the river: 4 columns of 5 fields each, column 0 first."""

    direction: Direction
    center: Hex
    columns: Annotated[list[Annotated[str, Field(min_length=5, max_length=5)]], Field(min_length=4, max_length=4)]
    """``W`` water, ``I`` island, ``G`` goal, ``S`` sandbank, ``0``..``5`` a passenger whose dock lies in that
    direction (clockwise from right), ``a``..``f`` the same after it was taken."""


class Ship(Value):
    """A side's ship."""

    position: Hex
    direction: Direction
    speed: int
    coal: int
    passengers: int
    free_turns: int
    """How many turns by 60 degrees the next move has for nothing."""
    points: int


class MississippiQueenPosition(Value):
    """A position of Mississippi Queen, as far as it is revealed."""

    game: Literal["mississippi_queen"] = "mississippi_queen"
    rules: Literal["seed", "server-24.2.5"]
    sandbanks: Annotated[int, Field(ge=0, le=2)]
    segments: Annotated[list[Segment], Field(min_length=2, max_length=8)]
    next_direction: Direction | None = None
    """Of the first hidden segment; absent when all are revealed."""
    turn: Annotated[int, Field(ge=0, le=1000)]
    to_move: SideName
    red: Ship
    blue: Ship
    outcome: WireOutcome | None = None


class OtherPosition(Foreign):
    """A position of a game that is not one of the three; ``game`` and whatever the game defines."""

    game: Annotated[GameName, Field(json_schema_extra={"not": {"enum": list(POSITION_GAMES)}})]


def _tag(field: str, known: tuple[str, ...]) -> Any:
    def discriminate(value: Any) -> str:
        tag = value.get(field) if isinstance(value, dict) else getattr(value, field, None)
        return tag if isinstance(tag, str) and tag in known else "other"

    return discriminate


WireMove: TypeAlias = Annotated[
    Annotated[Plant, Tag("plant")]
    | Annotated[Dig, Tag("dig")]
    | Annotated[End, Tag("end")]
    | Annotated[Step, Tag("step")]
    | Annotated[Actions, Tag("actions")]
    | Annotated[OtherMove, Tag("other")],
    Discriminator(_tag("type", MOVE_TYPES)),
]
WirePosition: TypeAlias = Annotated[
    Annotated[FlowerWarsPosition, Tag("flowerwars")]
    | Annotated[TowerWarsPosition, Tag("towerwars")]
    | Annotated[MississippiQueenPosition, Tag("mississippi_queen")]
    | Annotated[OtherPosition, Tag("other")],
    Discriminator(_tag("game", POSITION_GAMES)),
]
