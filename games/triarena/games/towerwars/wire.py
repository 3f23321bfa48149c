"""The wire form of moves and positions: plain maps, and the checks that what arrives makes sense.

A move is ``{"type": "step", "start": "A1", "target": "B2"}``. A position is ``{"game": "towerwars", "size": 4,
"to_move": "red", "board": "Rrr./rr.b/r.bb/.bbB R", "outcome": None}``: the board is the position text of
``notation``, the other keys say again what a reader would have to take from it.
"""

from __future__ import annotations

from triarena.games.core import BadPosition, MalformedMove, Outcome, Plain, shown, write_outcome

from .board import ALL_FIELDS
from .moves import Step
from .position import TowerWarsPosition

NAME = "towerwars"


def write_move(move: Step) -> Plain:
    """The canonical wire form of a move."""
    return {"type": "step", "start": move.start, "target": move.target}


def read_move(wire: Plain) -> Step:
    """The move of a wire form; further keys are ignored. Raises MalformedMove."""
    if not isinstance(wire, dict):
        raise MalformedMove(f"a move is a map with type, start and target, not {_named(wire)}")
    if wire.get("type") != "step":
        raise MalformedMove(f"{NAME} has moves of type 'step' only, not {_named(wire.get('type'))}")
    return Step(_read_field(wire, "start"), _read_field(wire, "target"))


def _read_field(wire: dict[object, object], key: str) -> str:
    name = wire.get(key)
    if isinstance(name, str) and name in ALL_FIELDS:
        return name
    raise MalformedMove(f"{key} must be a field, a letter and a number like 'A1', not {_named(name)}")


def write_position(position: TowerWarsPosition) -> Plain:
    """The canonical wire form of a position."""
    return {
        "game": NAME,
        "size": position.size,
        "to_move": position.to_move.value,
        "board": position.to_text(),
        "outcome": write_outcome(position.outcome),
    }


def read_position(wire: Plain) -> TowerWarsPosition:
    """The position of a wire form; further keys are ignored. Raises BadPosition."""
    if not isinstance(wire, dict):
        raise BadPosition(f"a position is a map, not {_named(wire)}")
    board = wire.get("board")
    if not isinstance(board, str):
        raise BadPosition(f"board must be a position text, not {_named(board)}")
    position = TowerWarsPosition.from_text(board)
    for key, expected in (("game", NAME), ("size", position.size), ("to_move", position.to_move.value)):
        given = wire.get(key)
        if type(given) is not type(expected) or given != expected:
            raise BadPosition(f"{key} must be {expected!r} as in the board, not {_named(given)}")
    if not _is_outcome(wire.get("outcome"), position.outcome):
        raise BadPosition(f"the outcome must be {_told(position.outcome)}: so says the board")
    return position


def _is_outcome(wire: Plain, outcome: Outcome | None) -> bool:
    """Whether a wire form says what the board says."""
    if outcome is None or not isinstance(wire, dict):
        return outcome is None and wire is None
    scores = wire.get("scores")
    return (
        wire.get("winner") == outcome.winner
        and wire.get("reason") == outcome.reason
        and isinstance(scores, dict)
        and all(type(points) is int for points in scores.values())
        and scores == write_outcome(outcome)["scores"]
    )


def _told(outcome: Outcome | None) -> str:
    return "null (the game goes on)" if outcome is None else f"a win of {outcome.winner} by {outcome.reason!r}"


def _named(value: object) -> str:
    """``value`` as a sentence may name it, whatever it is: nested or huge values by their type alone."""
    return shown(value) if value is None or isinstance(value, str) else f"a value of type {type(value).__name__}"
