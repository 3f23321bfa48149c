"""A position of Mississippi Queen as the ``<state>`` that clients of the Software-Challenge know."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from triarena.protocol.game_values import Actions, MississippiQueenPosition, Ship
from triarena.protocol.values import SideName

from .markup import attributes, element
from .moves import write_actions

TEAMS: Final[dict[SideName, str]] = {"red": "ONE", "blue": "TWO"}
_PASSENGER_DIRECTIONS: Final = ("RIGHT", "DOWN_RIGHT", "DOWN_LEFT", "LEFT", "UP_LEFT", "UP_RIGHT")


def _fields() -> Iterator[tuple[str, str]]:
    yield from {"W": "<water/>", "I": "<island/>", "G": "<goal/>", "S": "<sandbank/>"}.items()
    for waiting, taken, direction in zip("012345", "abcdef", _PASSENGER_DIRECTIONS, strict=True):
        yield waiting, element("passenger", attributes(direction=direction, passenger=1))
        yield taken, element("passenger", attributes(direction=direction, passenger=0))


_FIELDS: Final = dict(_fields())


def write_state(position: MississippiQueenPosition, last: Actions | None) -> str:
    """The ``<state>`` of what is revealed of a position; ``last`` is the move that led to it.

    A side that is stuck has, in the original, passed its turn: the state counts one more, and shows no last move.
    ``startTeam`` is whoever began the game.
    """
    stuck = position.to_move if position.outcome is not None and position.outcome.reason == "no_move" else None
    turn, mover = position.turn, position.to_move
    if stuck is not None:
        turn += 1
        mover = _ahead(position) if turn % 2 == 0 else _other(stuck)
    children = [
        _board(position),
        _ship("red", position.red, stuck=stuck == "red"),
        _ship("blue", position.blue, stuck=stuck == "blue"),
    ]
    if last is not None and stuck is None:
        children.append(element("lastMove", "", [write_actions(last.actions)]))
    # Not by keywords: ``class`` is one of Python's own.
    head = ' class="state"' + attributes(startTeam="ONE", turn=turn, currentTeam=TEAMS[mover])
    return element("state", head, children)


def _board(position: MississippiQueenPosition) -> str:
    # When nothing is hidden any more, the original goes on to tell a direction: that of the last segment.
    onward = position.next_direction or position.segments[-1].direction
    segments = [_segment(one.direction, tuple(one.center), tuple(one.columns)) for one in position.segments]
    return element("board", attributes(nextDirection=onward.upper()), segments)


@lru_cache(maxsize=2048)
def _segment(direction: str, center: tuple[int, ...], columns: tuple[str, ...]) -> str:
    """The same for all who are told of it, and at most plies the same as before."""
    arrays = [element("field-array", "", [_FIELDS[mark] for mark in column]) for column in columns]
    return element("segment", attributes(direction=direction.upper()), [_point("center", center), *arrays])


def _ship(side: SideName, ship: Ship, *, stuck: bool) -> str:
    head = attributes(
        team=TEAMS[side],
        direction=ship.direction.upper(),
        speed=ship.speed,
        coal=ship.coal,
        passengers=ship.passengers,
        freeTurns=ship.free_turns,
        points=ship.points,
        stuck=stuck,
    )
    return element("ship", head, [_point("position", ship.position)])


def _point(name: str, point: tuple[int, ...] | list[int]) -> str:
    q, r, s = point
    return element(name, attributes(q=q, r=r, s=s))


def _other(side: SideName) -> SideName:
    return "blue" if side == "red" else "red"


def _ahead(position: MississippiQueenPosition) -> SideName:
    """Who begins a round: the ship ahead, then the faster, then the one with more coal, then red."""

    def rank(ship: Ship) -> tuple[int, int, int]:
        return ship.points - 5 * ship.passengers, ship.speed, ship.coal

    return "blue" if rank(position.blue) > rank(position.red) else "red"
