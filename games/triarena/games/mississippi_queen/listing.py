"""All legal moves of a ship, and whether it has any.

Moves are listed in the normal form: no two turns and no two advances in a row, and no turn to the present
direction. Both searches go over *legs*: what can still follow when some movement points are left. Many
beginnings of a move lead to the same leg, so its endings are found only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from .geometry import DIRECTIONS, STEPS, TURN_STEPS
from .moves import ACCELERATES, ADVANCES, BACKWARDS, PUSHES, TURNS, Actions
from .river import PASSABLE, SANDBANK, River
from .ship import MAX_SPEED, MIN_SPEED, Ship

_Leg: TypeAlias = tuple[int, int, int, int, int, int]
"""Cell, direction, movement points left, steps of turning left (free or for coal), the other's cell, last action."""

_FRESH, _TURNED, _ADVANCED = range(3)
"""What the last action was, as far as the normal form asks; aground, nothing can follow as if it had been a turn."""

_OTHER_DIRECTIONS = tuple(tuple((to, TURN_STEPS[of][to]) for to in DIRECTIONS if to != of) for of in DIRECTIONS)
"""By direction: the other ones, with the steps that turning there takes."""

_MAX_STEPS = 3
_NOTHING: tuple[Actions, ...] = ((),)
_LAST_TURNS: tuple[tuple[tuple[Actions, ...], ...], ...] = tuple(
    tuple(_NOTHING + tuple((TURNS[to],) for to, steps in others if steps <= left) for left in range(_MAX_STEPS + 1))
    for others in _OTHER_DIRECTIONS
)
"""By direction and steps of turning left: what can follow when the movement points are used up."""

_LIKELY_FIRST = (0, -1, 1, -2, -3, -4, -5, 2, 3, 4, 5)


def legal_actions(river: River, mover: Ship, other: Ship) -> Iterator[Actions]:
    """All legal moves in normal form, without duplicates, the slowest first."""
    if river.kinds[mover.cell] & SANDBANK:
        yield from _ways_off_sandbank(river, mover, other)
        return
    known: dict[_Leg, Sequence[Actions]] = {}
    for by in range(MIN_SPEED - mover.speed, MAX_SPEED - mover.speed + 1):
        leg = _first_leg(mover, other, by)
        if leg is not None:
            head = (ACCELERATES[by],) if by else ()
            for ending in _endings(river, known, leg):
                yield head + ending


def can_move(river: River, mover: Ship, other: Ship) -> bool:
    """Whether there is any legal move; nothing is listed."""
    if river.kinds[mover.cell] & SANDBANK:
        return any(True for _ in _ways_off_sandbank(river, mover, other))
    dead_ends: set[_Leg] = set()
    for by in _LIKELY_FIRST:
        leg = _first_leg(mover, other, by)
        if leg is not None and _can_end(river, dead_ends, leg):
            return True
    return False


def _first_leg(mover: Ship, other: Ship, by: int) -> _Leg | None:
    """The leg after an acceleration by that many units, 0 for none; None if it is not allowed."""
    speed = mover.speed + by
    coal = mover.coal - max(0, abs(by) - 1)
    if coal < 0 or not MIN_SPEED <= speed <= MAX_SPEED:
        return None
    return mover.cell, mover.direction, speed, coal + mover.free_turns, other.cell, _FRESH


def _endings(river: River, known: dict[_Leg, Sequence[Actions]], leg: _Leg) -> Sequence[Actions]:
    """Everything that completes a move from there; empty if nothing does."""
    cell, direction, movement, turning, their_cell, last = leg
    if not movement:
        return _NOTHING if last == _TURNED else _LAST_TURNS[direction][min(turning, _MAX_STEPS)]
    if leg in known:
        return known[leg]
    found: list[Actions] = []
    head: Actions
    if cell == their_cell:
        for to in _push_directions(river, cell, direction):
            head = (PUSHES[to],)
            after = (cell, direction, movement - 1, turning, cell + STEPS[to], _FRESH)
            found += [head + ending for ending in _endings(river, known, after)]
        known[leg] = found
        return found
    if last != _ADVANCED:
        for distance, (reached, left, now) in enumerate(_stops(river, leg), start=1):
            head = (ADVANCES[distance],)
            after = (reached, direction, left, turning, their_cell, now)
            found += [head + ending for ending in _endings(river, known, after)]
    if last != _TURNED:
        for to, steps in _OTHER_DIRECTIONS[direction]:
            if steps <= turning:
                head = (TURNS[to],)
                after = (cell, to, movement, turning - steps, their_cell, _TURNED)
                found += [head + ending for ending in _endings(river, known, after)]
    known[leg] = found
    return found


def _can_end(river: River, dead_ends: set[_Leg], leg: _Leg) -> bool:
    """Whether anything completes a move from there."""
    cell, direction, movement, turning, their_cell, last = leg
    if not movement:
        return True
    if leg in dead_ends:
        return False
    if cell == their_cell:
        for to in _push_directions(river, cell, direction):
            if _can_end(river, dead_ends, (cell, direction, movement - 1, turning, cell + STEPS[to], _FRESH)):
                return True
    else:
        if last != _ADVANCED:
            for reached, left, now in reversed(_stops(river, leg)):
                if _can_end(river, dead_ends, (reached, direction, left, turning, their_cell, now)):
                    return True
        if last != _TURNED:
            for to, steps in _OTHER_DIRECTIONS[direction]:
                if steps <= turning and _can_end(
                    river, dead_ends, (cell, to, movement, turning - steps, their_cell, _TURNED)
                ):
                    return True
    dead_ends.add(leg)
    return False


def _stops(river: River, leg: _Leg) -> list[tuple[int, int, int]]:
    """Where an advance by 1, 2, ... fields can end: the cell, the movement points left, the last action."""
    cell, direction, movement, _, their_cell, _ = leg
    stops = []
    for reached, cost in river.ray(cell, direction):
        left = movement - cost
        if reached == their_cell:
            if left > 0 and not river.kinds[reached] & SANDBANK:
                stops.append((reached, left, _ADVANCED))
            break
        if left < 0:
            break
        if river.kinds[reached] & SANDBANK:
            stops.append((reached, 0, _TURNED))
        else:
            stops.append((reached, left, _ADVANCED))
    return stops


def _push_directions(river: River, cell: int, direction: int) -> list[int]:
    """Where a ship that points to ``direction`` can push the other one from their common field."""
    back = (direction + 3) % 6
    return [to for to in DIRECTIONS if to != back and river.kinds[cell + STEPS[to]] & PASSABLE]


def _ways_off_sandbank(river: River, mover: Ship, other: Ship) -> Iterator[Actions]:
    """The at most two moves of a ship that stands on a sandbank."""
    for action in (ADVANCES[1], BACKWARDS):
        target = mover.cell + STEPS[mover.direction] * action.distance
        if river.kinds[target] & PASSABLE and target != other.cell and mover.coal >= (action.distance < 0):
            yield (action,)
