"""The revealed part of the river: what lies on each field, the stream, the docks, and how far a ship gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from .geometry import CELLS, ROWS, STEPS, Coordinates, Direction, Hex, cell_at, field_of, middle_cells, segment_cells

PASSABLE, STREAM, GOAL, SANDBANK, BLOCKED = 1, 2, 4, 8, 16
"""Bits of ``River.kinds``; a cell outside the river has none."""

WATER_MARK, ISLAND_MARK, GOAL_MARK, SANDBANK_MARK = "W", "I", "G", "S"
WAITING_MARKS, TAKEN_MARKS = "012345", "abcdef"
"""A passenger who waits, or waited, at the dock in that direction, clockwise from right."""

_KINDS = {WATER_MARK: PASSABLE, ISLAND_MARK: BLOCKED, GOAL_MARK: PASSABLE | GOAL, SANDBANK_MARK: PASSABLE | SANDBANK}
_KINDS.update(dict.fromkeys(WAITING_MARKS, BLOCKED))

FieldKind: TypeAlias = Literal["water", "island", "passenger", "goal", "sandbank"]

MAX_DISTANCE = 6
Ray: TypeAlias = tuple[tuple[int, int, int, bool], ...]
"""The fields straight ahead of a ship, nearest first: cell, distance, movement points, whether it is a sandbank."""


class Rays(dict[int, tuple[Ray, ...]]):
    """By cell and direction: the fields ahead up to the first blocked one, a sandbank or the greatest distance.

    A field costs one point, and the first one on the stream another (rules: one surcharge per advance; the field
    on which the ship starts does not count). The other ship is left out. A cell is looked at when it is asked for.
    """

    def __init__(self, kinds: bytes) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, cell: int) -> tuple[Ray, ...]:
        rays = self[cell] = tuple(self._look_ahead(cell, step) for step in STEPS)
        return rays

    def _look_ahead(self, cell: int, step: int) -> Ray:
        ray = []
        surcharge = 0
        for distance in range(1, MAX_DISTANCE + 1):
            cell += step
            kind = self._kinds[cell]
            if not kind & PASSABLE:
                break
            if kind & STREAM:
                surcharge = 1
            aground = bool(kind & SANDBANK)
            ray.append((cell, distance, distance + surcharge, aground))
            if aground:
                break
        return tuple(ray)


@dataclass(frozen=True, slots=True)
class Segment:
    """Twenty fields of the river: 4 columns from the back to the front, each of 5 marks (see ``WATER_MARK`` ...).

    A passenger's mark never changes here; who was fetched is part of the position.
    """

    direction: Direction
    center: Coordinates
    columns: tuple[str, ...]

    def cells(self) -> tuple[int, ...]:
        """The cells, in the order of the marks."""
        return segment_cells(self.direction, self.center)

    def fields(self) -> tuple[Hex, ...]:
        """The fields, in the order of the marks: column by column from the back."""
        return tuple(map(field_of, self.cells()))


@dataclass(frozen=True, slots=True)
class Passenger:
    """A passenger field; ``direction`` leads from it to its dock."""

    cell: int
    direction: Direction

    @property
    def dock_cell(self) -> int:
        """The cell on which a ship must stand to fetch the passenger."""
        return self.cell + STEPS[self.direction]

    @property
    def field(self) -> Hex:
        """Where the passenger waits; like an island, no ship can go there."""
        return field_of(self.cell)

    @property
    def dock(self) -> Hex:
        """The field on which a ship must stand to fetch the passenger."""
        return field_of(self.dock_cell)


@dataclass(frozen=True, slots=True)
class River:
    """The first segments of a river, and tables of them for the rules.

    Two rivers are equal if the segments and the direction of the next one are.
    """

    segments: tuple[Segment, ...]
    next_direction: Direction | None
    """Where the first hidden segment lies, towards which the stream bends; None if nothing is hidden."""
    kinds: bytes = field(init=False, repr=False, compare=False)
    """What is on each cell: the bits ``PASSABLE`` ... ``BLOCKED``."""
    progress: bytes = field(init=False, repr=False, compare=False)
    """5 * segment + column of each cell: its points, and who is ahead."""
    passengers: tuple[Passenger, ...] = field(init=False, repr=False, compare=False)
    """All passenger fields in river order; bit k of a position's ``taken`` is passenger k."""
    docks: dict[int, tuple[int, ...]] = field(init=False, repr=False, compare=False)
    """By dock: the bits of its passengers, in the order in which they are fetched."""
    rays: Rays = field(init=False, repr=False, compare=False)
    """How far a ship gets; filled as it is used, so no part of the value."""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kinds, progress = bytearray(CELLS), bytearray(CELLS)
        passengers = []
        for index, segment in enumerate(self.segments):
            for place, (cell, mark) in enumerate(zip(segment.cells(), "".join(segment.columns), strict=True)):
                kinds[cell] = _KINDS[mark]
                progress[cell] = 5 * index + place // ROWS
                if mark in WAITING_MARKS:
                    passengers.append(Passenger(cell, Direction(int(mark))))
            for cell in middle_cells(segment.direction, segment.center, self._onward(index)):
                if kinds[cell] & PASSABLE:
                    kinds[cell] |= STREAM
        known = bytes(kinds)
        derived = {
            "kinds": known,
            "progress": bytes(progress),
            "passengers": tuple(passengers),
            "docks": _docks(passengers),
            "rays": Rays(known),  # one value for both: there are seven rivers to a match, of some kilobytes each
            "_hash": hash((self.segments, self.next_direction)),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[River], tuple[tuple[Segment, ...], Direction | None]]:
        return River, (self.segments, self.next_direction)  # hashes of strings differ between processes

    def _onward(self, index: int) -> Direction:
        """The direction of the segment behind that one; the last keeps its own."""
        if index + 1 < len(self.segments):
            return self.segments[index + 1].direction
        return self.segments[index].direction if self.next_direction is None else self.next_direction

    def fields(self) -> Iterator[Hex]:
        """All revealed fields, segment by segment."""
        for segment in self.segments:
            yield from segment.fields()

    def kind(self, field: Coordinates) -> FieldKind | None:
        """What is on a field, whoever was fetched; None outside the revealed river.

        Raises ValueError if q + r + s is not 0.
        """
        q, r, s = field
        if q + r + s == 0 and max(abs(q), abs(r)) > _FARTHEST:
            return None
        return self._kind(cell_at(field))

    def is_stream(self, field: Coordinates) -> bool:
        """Whether a field lies on the stream. Raises ValueError if q + r + s is not 0."""
        return self.kind(field) is not None and bool(self.kinds[cell_at(field)] & STREAM)

    def points(self, field: Coordinates) -> int:
        """What standing there counts: 5 per segment passed, and the column, 0 to 3. 0 outside the revealed river."""
        return 0 if self.kind(field) is None else self.progress[cell_at(field)]

    def describe(self, cell: int) -> str:
        """A cell as an error sentence names it, e.g. ``(3, -1, -2), an island``."""
        return f"{field_of(cell)}, {_WORDS[self._kind(cell)]}"

    def _kind(self, cell: int) -> FieldKind | None:
        bits = self.kinds[cell]
        if bits & BLOCKED:
            return "passenger" if any(p.cell == cell for p in self.passengers) else "island"
        return "sandbank" if bits & SANDBANK else "goal" if bits & GOAL else "water" if bits & PASSABLE else None


_FARTHEST = 31
"""No part of a coordinate of a river's field is greater, either way."""

_WORDS: dict[FieldKind | None, str] = {
    "water": "water",
    "island": "an island",
    "passenger": "a passenger field",
    "goal": "a goal field",
    "sandbank": "a sandbank",
    None: "outside the revealed river",
}


def _docks(passengers: Sequence[Passenger]) -> dict[int, tuple[int, ...]]:
    """The bits of the passengers by dock, sorted by the direction from the ship to the passenger."""
    by_dock: dict[int, list[tuple[int, int]]] = {}
    for index, passenger in enumerate(passengers):
        by_dock.setdefault(passenger.dock_cell, []).append((passenger.direction.opposite, 1 << index))
    return {dock: tuple(bit for _, bit in sorted(found)) for dock, found in by_dock.items()}


def rivers(segments: Sequence[Segment], revealed: int) -> tuple[River, ...]:
    """The river with ``revealed`` segments, and behind it those with one more each, up to all that are given."""
    return tuple(
        River(tuple(segments[:count]), segments[count].direction if count < len(segments) else None)
        for count in range(revealed, len(segments) + 1)
    )


def split_taken(segments: Iterable[Segment]) -> tuple[tuple[Segment, ...], int]:
    """Segments whose marks also tell who was taken, as those without, and the bits of the passengers taken."""
    segments = tuple(segments)
    passengers = [mark for s in segments for mark in "".join(s.columns) if mark in WAITING_MARKS + TAKEN_MARKS]
    taken = sum(1 << index for index, mark in enumerate(passengers) if mark in TAKEN_MARKS)
    return tuple(replace(s, columns=tuple(column.translate(_WAITING) for column in s.columns)) for s in segments), taken


_WAITING = str.maketrans(TAKEN_MARKS, WAITING_MARKS)
