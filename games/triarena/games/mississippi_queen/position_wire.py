"""Positions as plain values (dict, list, str, int, None): read with every doubt and written canonically.

Whatever is read, the only error is BadPosition. Unknown keys are ignored, so that old readers survive new
writers. Who fetched which passenger stands on the board: the mark of a fetched one is a letter.
"""

from __future__ import annotations

from collections.abc import Mapping

from triarena.games.core import BadPosition, Plain, Side, agrees, write_outcome

from .ending import ROUND_LIMIT
from .geometry import COLUMNS, ROWS, SEGMENTS, Coordinates, Direction, cell_at, field_of, next_center, next_directions
from .position import REVEALED_AT_START, MississippiQueenPosition, settled
from .profiles import PROFILES, Profile
from .river import (
    GOAL_MARK,
    ISLAND_MARK,
    PASSABLE,
    SANDBANK,
    SANDBANK_MARK,
    TAKEN_MARKS,
    WAITING_MARKS,
    WATER_MARK,
    River,
    Segment,
    split_taken,
)
from .ship import MAX_SPEED, MIN_SPEED, START_COAL, Ship, points
from .wire import DIRECTION_BY_WORD, quoted

NAME = "mississippi_queen"
MAX_SANDBANKS = 2
MAX_PASSENGERS = 99
MAX_FREE_TURNS = 7
"""One, and three pushes in each of the two moves that the other side can make in a row."""

_MARKS = frozenset(WATER_MARK + ISLAND_MARK + GOAL_MARK + SANDBANK_MARK + WAITING_MARKS + TAKEN_MARKS)


def write_position(position: MississippiQueenPosition) -> Plain:
    """The wire form of what is revealed of a position."""
    river = position.river
    return {
        "game": NAME,
        "rules": position.profile.name,
        "sandbanks": position.sandbanks,
        "segments": _write_segments(river, position.taken),
        "next_direction": None if river.next_direction is None else river.next_direction.word,
        "turn": position.turn,
        "to_move": position.to_move.value,
        "red": _write_ship(river, position.red),
        "blue": _write_ship(river, position.blue),
        "outcome": write_outcome(position.outcome),
    }


def read_position(wire: Plain) -> MississippiQueenPosition:
    """The position of a wire form. Raises BadPosition.

    The outcome follows from the rest: one that is given must agree, a missing one or null says nothing.
    """
    if not isinstance(wire, dict) or wire.get("game") != NAME:
        raise BadPosition(f"a position of this game is a map with the game {NAME!r}, not {quoted(wire)}")
    profile = _read_profile(wire)
    sandbanks = _read_int(wire, "sandbanks", 0, MAX_SANDBANKS)
    segments, taken = split_taken(_read_segments(wire.get("segments"), sandbanks))
    river = River(segments, _read_next_direction(wire, segments))
    turn = _read_int(wire, "turn", 0, 2 * ROUND_LIMIT)
    to_move = wire.get("to_move")
    if not isinstance(to_move, str) or to_move not in (Side.RED, Side.BLUE):
        raise BadPosition(f"to_move must be red or blue, not {quoted(to_move)}")
    red, blue = _read_ship(wire, Side.RED, river), _read_ship(wire, Side.BLUE, river)
    if red.cell == blue.cell:
        raise BadPosition(f"both ships are on {field_of(red.cell)}; between two moves that cannot be")
    position = settled(river, (), profile, sandbanks, turn, Side(to_move), red, blue, taken)
    outcome = wire.get("outcome")
    if outcome is not None and not agrees(outcome, write_outcome(position.outcome)):
        raise BadPosition(f"the outcome {quoted(outcome)} does not follow from the position")
    return position


def _read_segments(wire: Plain, sandbanks: int) -> list[Segment]:
    """The segments with the marks of the wire."""
    if not isinstance(wire, list) or not REVEALED_AT_START <= len(wire) <= SEGMENTS:
        raise BadPosition(f"segments must be a list of {REVEALED_AT_START} to {SEGMENTS}, not {quoted(wire)}")
    segments: list[Segment] = []
    for index, one in enumerate(wire):
        where = f"segment {index}"
        if not isinstance(one, dict):
            raise BadPosition(f"{where} must be a map, not {quoted(one)}")
        direction = _read_direction(one, "direction", where)
        if direction not in next_directions([s.direction for s in segments]):
            raise BadPosition(f"{where} cannot point {direction.word}: the river would bend too far")
        center = next_center([s.center for s in segments], direction)
        if _read_coordinates(one, "center", where) != center:
            raise BadPosition(f"the center of {where} must be {list(center)}, not {quoted(one['center'])}")
        columns = _read_columns(one, where)
        marks = "".join(columns)
        if GOAL_MARK in marks and index < SEGMENTS - 1:
            raise BadPosition(f"{where} has a goal field; only the last segment of the river has")
        if marks.count(SANDBANK_MARK) > sandbanks:
            raise BadPosition(f"{where} has more than {sandbanks} sandbanks")
        segments.append(Segment(direction, center, columns))
    return segments


def _write_segments(river: River, taken: int) -> Plain:
    columns = [list(segment.columns) for segment in river.segments]
    if taken:
        for index, passenger in enumerate(river.passengers):
            if taken >> index & 1:
                number, column = divmod(river.progress[passenger.cell], 5)
                row = river.segments[number].cells().index(passenger.cell) % ROWS
                marks = columns[number][column]
                columns[number][column] = marks[:row] + TAKEN_MARKS[int(marks[row])] + marks[row + 1 :]
    return [
        {"direction": segment.direction.word, "center": list(segment.center), "columns": written}
        for segment, written in zip(river.segments, columns, strict=True)
    ]


def _write_ship(river: River, ship: Ship) -> Plain:
    return {
        "position": list(field_of(ship.cell)),
        "direction": ship.direction.word,
        "speed": ship.speed,
        "coal": ship.coal,
        "passengers": ship.passengers,
        "free_turns": ship.free_turns,
        "points": points(river, ship),
    }


def _read_ship(wire: Mapping[str, Plain], side: Side, river: River) -> Ship:
    what = f"the {side} ship"
    one = wire.get(side.value)
    if not isinstance(one, dict):
        raise BadPosition(f"{what} must be a map, not {quoted(one)}")
    coordinates = _read_coordinates(one, "position", what)
    try:
        cell = cell_at(coordinates)
    except ValueError as error:
        raise BadPosition(f"{what} is nowhere: {error}") from None
    if not river.kinds[cell] & PASSABLE:
        raise BadPosition(f"{what} cannot be on {river.describe(cell)}")
    ship = Ship(
        cell,
        _read_direction(one, "direction", what),
        _read_int(one, "speed", MIN_SPEED, MAX_SPEED, what),
        _read_int(one, "coal", 0, START_COAL, what),
        _read_int(one, "passengers", 0, MAX_PASSENGERS, what),
        _read_int(one, "free_turns", 1, MAX_FREE_TURNS, what),
    )
    if river.kinds[cell] & SANDBANK and ship.speed != MIN_SPEED:
        raise BadPosition(f"{what} is on a sandbank and must have speed {MIN_SPEED}, not {ship.speed}")
    if one.get("points") != points(river, ship) or type(one["points"]) is not int:
        raise BadPosition(f"{what} has {points(river, ship)} points there, not {quoted(one.get('points'))}")
    return ship


def _read_profile(wire: Mapping[str, Plain]) -> Profile:
    name = wire.get("rules")
    if not isinstance(name, str) or name not in PROFILES:
        raise BadPosition(f"rules must be one of {', '.join(PROFILES)}, not {quoted(name)}")
    return PROFILES[name]


def _read_next_direction(wire: Mapping[str, Plain], segments: tuple[Segment, ...]) -> Direction | None:
    if len(segments) == SEGMENTS:
        if wire.get("next_direction") is not None:
            raise BadPosition("next_direction must be null: all segments are revealed")
        return None
    direction = _read_direction(wire, "next_direction", "the position")
    if direction not in next_directions([segment.direction for segment in segments]):
        raise BadPosition(f"next_direction cannot be {direction.word}: the river would bend too far")
    return direction


def _read_columns(wire: Mapping[str, Plain], where: str) -> tuple[str, ...]:
    columns = wire.get("columns")
    if not isinstance(columns, list) or len(columns) != COLUMNS:
        raise BadPosition(f"{where} must have a list of {COLUMNS} columns, not {quoted(columns)}")
    for column in columns:
        if not isinstance(column, str) or len(column) != ROWS or not _MARKS.issuperset(column):
            raise BadPosition(f"a column of {where} must be {ROWS} marks of WIGS, 0-5 and a-f, not {quoted(column)}")
    return tuple(columns)


def _read_int(wire: Mapping[str, Plain], key: str, low: int, high: int, what: str = "the position") -> int:
    value = wire.get(key)
    if type(value) is not int or not low <= value <= high:
        raise BadPosition(f"{key} of {what} must be a whole number from {low} to {high}, not {quoted(value)}")
    return value


def _read_direction(wire: Mapping[str, Plain], key: str, what: str) -> Direction:
    word = wire.get(key)
    if not isinstance(word, str) or word not in DIRECTION_BY_WORD:
        raise BadPosition(f"{key} of {what} must be one of {', '.join(DIRECTION_BY_WORD)}, not {quoted(word)}")
    return DIRECTION_BY_WORD[word]


def _read_coordinates(wire: Mapping[str, Plain], key: str, what: str) -> Coordinates:
    value = wire.get(key)
    if not isinstance(value, list) or len(value) != 3 or any(type(part) is not int for part in value):
        raise BadPosition(f"{key} of {what} must be a list [q, r, s] of whole numbers, not {quoted(value)}")
    q, r, s = value
    return (q, r, s)
