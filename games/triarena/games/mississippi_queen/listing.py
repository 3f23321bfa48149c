"""All legal moves of a ship, and whether it has any.

Moves are listed in the normal form: no two turns and no two advances in a row, and no turn to the present
direction. So a move is an acceleration, then advances, each after a turn or not, then a last turn; and pushes
where the other ship is met.

Both searches go over *legs*: what can still follow when some movement points are left. Many beginnings of a
move lead to the same leg, so its endings are found only once, and those of the last advance stand in a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from .geometry import STEPS, TURN_STEPS
from .moves import ACCELERATES, ADVANCES, BACKWARDS, PUSHES, TURNS, Actions
from .river import PASSABLE, SANDBANK, River
from .ship import MAX_SPEED, MIN_SPEED, Ship

_Leg: TypeAlias = tuple[int, int, int, int, int, bool]
"""Cell, direction, movement points left (at least 1), steps of turning left (free or for coal), the other ship's
cell, and whether the ship can go straight on: not just after an advance, which would be the same advance."""

_MOST_STEPS = 3
_LAST_TURNS: tuple[tuple[tuple[Actions, ...], ...], ...] = tuple(
    tuple(
        ((), *((TURNS[to],) for to in range(6) if to != of and TURN_STEPS[of][to] <= steps))
        for steps in range(_MOST_STEPS + 1)
    )
    for of in range(6)
)
"""By direction and steps of turning left: what can follow when the movement points are used up."""


class _Way(NamedTuple):
    """One way to go on: straight, or after a turn."""

    to: int
    steps: int
    """What the turn takes."""
    heads: tuple[Actions, ...]
    """By distance: the turn, if any, and the advance."""
    finishes: tuple[tuple[tuple[Actions, ...], ...], ...]
    """By distance and steps of turning left: the head with each last turn."""


def _way(of: int, to: int) -> _Way:
    turn: Actions = () if of == to else (TURNS[to],)
    heads = tuple((*turn, advance) for advance in ADVANCES)
    finishes = tuple(tuple(tuple(head + last for last in turns) for turns in _LAST_TURNS[to]) for head in heads)
    return _Way(to, TURN_STEPS[of][to], heads, finishes)


_WAYS = tuple(tuple(sorted((_way(of, to) for to in range(6)), key=lambda way: way.steps)) for of in range(6))
"""By direction: the ways to go on, straight first, then by the steps that the turn takes."""

_LIKELY_FIRST = (0, -1, 1, -2, -3, -4, -5, 2, 3, 4, 5)


def legal_actions(river: River, mover: Ship, other: Ship) -> Iterator[Actions]:
    """All legal moves in normal form, without duplicates, the slowest first."""
    if river.kinds[mover.cell] & SANDBANK:
        yield from _ways_off_sandbank(river, mover, other)
        return
    known: dict[_Leg, list[Actions]] = {}
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
    return mover.cell, int(mover.direction), speed, coal + mover.free_turns, other.cell, True


def _endings(river: River, known: dict[_Leg, list[Actions]], leg: _Leg) -> list[Actions]:
    """Everything that completes a move from there; empty if nothing does."""
    cell, direction, movement, turning, their_cell, straight = leg
    if cell == their_cell:
        found = known[leg] = _push_endings(river, known, leg)
        return found
    found = known[leg] = []
    rays = river.rays[cell]
    for to, steps, heads, finishes in _WAYS[direction]:
        if steps > turning:
            break
        if not steps and not straight:
            continue
        for reached, distance, cost, aground in rays[to]:
            if cost > movement or (reached == their_cell and (cost == movement or aground)):
                break
            if aground:
                found.append(heads[distance])
            elif cost == movement:
                found += finishes[distance][min(turning - steps, _MOST_STEPS)]
                break
            else:
                after = (reached, to, movement - cost, turning - steps, their_cell, False)
                endings = known.get(after)
                if endings is None:
                    endings = _endings(river, known, after)
                if endings:
                    head = heads[distance]
                    found += [head + ending for ending in endings]
            if reached == their_cell:
                break
    return found


def _push_endings(river: River, known: dict[_Leg, list[Actions]], leg: _Leg) -> list[Actions]:
    """Everything that completes a move when the other ship, on the same field, must be pushed."""
    cell, direction, movement, turning, _, _ = leg
    found: list[Actions] = []
    for to in _push_directions(river, cell, direction):
        if movement > 1:
            endings = _endings(river, known, (cell, direction, movement - 1, turning, cell + STEPS[to], True))
            found += [(PUSHES[to], *ending) for ending in endings]
        else:
            found += [(PUSHES[to], *last) for last in _LAST_TURNS[direction][min(turning, _MOST_STEPS)]]
    return found


def _can_end(river: River, dead_ends: set[_Leg], leg: _Leg) -> bool:
    """Whether anything completes a move from there."""
    if leg in dead_ends:
        return False
    cell, direction, movement, turning, their_cell, straight = leg
    if cell == their_cell:
        for to in _push_directions(river, cell, direction):
            after = (cell, direction, movement - 1, turning, cell + STEPS[to], True)
            if movement == 1 or _can_end(river, dead_ends, after):
                return True
        dead_ends.add(leg)
        return False
    rays = river.rays[cell]
    for to, steps, _, _ in _WAYS[direction]:
        if steps > turning:
            break
        if not steps and not straight:
            continue
        for reached, _, cost, aground in rays[to]:
            if cost > movement or (reached == their_cell and (cost == movement or aground)):
                break
            after = (reached, to, movement - cost, turning - steps, their_cell, False)
            if aground or cost == movement or _can_end(river, dead_ends, after):
                return True
            if reached == their_cell:
                break
    dead_ends.add(leg)
    return False


def _push_directions(river: River, cell: int, direction: int) -> list[int]:
    """Where a ship that points to ``direction`` can push the other one from their common field."""
    back = (direction + 3) % 6
    return [to for to in range(6) if to != back and river.kinds[cell + STEPS[to]] & PASSABLE]


def _ways_off_sandbank(river: River, mover: Ship, other: Ship) -> Iterator[Actions]:
    """The at most two moves of a ship that stands on a sandbank."""
    for action in (ADVANCES[1], BACKWARDS):
        target = mover.cell + STEPS[mover.direction] * action.distance
        if river.kinds[target] & PASSABLE and target != other.cell and mover.coal >= (action.distance < 0):
            yield (action,)
