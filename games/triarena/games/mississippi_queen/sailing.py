"""Carrying out a move: every rule that a move can break, action by action.

``sail`` is the only place that decides whether a move is legal. The order of its tests is that of the
original program, so that a move which breaks several rules gets the same code.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from triarena.games.core import IllegalMove

from .geometry import STEPS, TURN_STEPS, Direction, field_of
from .moves import Accelerate, Actions, Advance, Push, Turn
from .river import BLOCKED, MAX_DISTANCE, PASSABLE, SANDBANK, River
from .ship import MAX_SPEED, MIN_SPEED, Ship


class Voyage(NamedTuple):
    """How a legal move leaves the two ships, before passengers are fetched."""

    cell: int
    direction: Direction
    speed: int
    coal: int
    their_cell: int
    pushes: int


def sail(river: River, mover: Ship, other: Ship, actions: Actions) -> Voyage:
    """The voyage of ``mover`` by those actions. Raises IllegalMove for the first rule that is broken."""
    if not actions:
        raise IllegalMove("no_actions", "a move needs at least one action")
    kinds = river.kinds
    cell, direction, speed, coal, free_turns = mover.cell, mover.direction, mover.speed, mover.coal, mover.free_turns
    if kinds[cell] & SANDBANK:
        return _leave_sandbank(river, mover, other, actions)
    movement = speed
    their_cell = other.cell
    pushes = 0
    index, count = 0, len(actions)
    while index < count:
        action = actions[index]
        if cell == their_cell and type(action) is not Push:
            _refuse("push_action_required", f"the other ship is on {field_of(cell)} too: the next action must push it")
        if isinstance(action, Advance):
            distance, index = _whole_distance(actions, index)
            cell, cost = _advance(river, cell, direction, distance, movement, their_cell)
            movement -= cost
            if kinds[cell] & SANDBANK:
                if index < count:
                    _refuse("sand_bank_end", f"the move ends on the sandbank at {field_of(cell)}: nothing may follow")
                movement, speed = 0, MIN_SPEED
            continue
        if isinstance(action, Turn):
            steps = TURN_STEPS[direction][action.to]
            paid = steps - free_turns
            if paid > coal:
                _refuse("not_enough_coal_for_rotation", f"turning to {action.to.word} costs {paid} coal of {coal} left")
            if paid > 0:
                coal -= paid
                free_turns = 0
            else:
                free_turns = -paid
            direction = action.to
        elif isinstance(action, Push):
            _check_push(river, cell, direction, movement, their_cell, action.to)
            movement -= 1
            pushes += 1
            their_cell += STEPS[action.to]
        else:
            if index:
                _refuse("first_action_accelerate", "a ship can accelerate in the first action only")
            coal -= _coal_for(action, speed, coal)
            speed += action.by
            movement = speed
        index += 1
    if movement:
        _refuse("movement_points_left", f"{movement} of {speed} movement points are left; all must be used up")
    return Voyage(cell, direction, speed, coal, their_cell, pushes)


def _refuse(code: str, message: str) -> NoReturn:
    raise IllegalMove(code, message)


def _whole_distance(actions: Actions, index: int) -> tuple[int, int]:
    """The distance of the run of advances that begins there, which count as one, and the index behind it."""
    distance = 0
    while index < len(actions):
        action = actions[index]
        if not isinstance(action, Advance):
            break
        if action.distance < 1:
            _refuse("invalid_distance", f"an advance goes at least 1 field forward, not {action.distance}")
        distance += action.distance
        index += 1
    if distance > MAX_DISTANCE:
        _refuse("invalid_distance", f"an advance goes at most {MAX_DISTANCE} fields, not {distance}")
    return distance, index


def _advance(
    river: River, cell: int, direction: Direction, distance: int, movement: int, their_cell: int
) -> tuple[int, int]:
    """The cell that an advance reaches, and its cost in movement points."""
    ray = river.rays[cell][direction]
    if distance <= len(ray):
        reached, _, cost, aground = ray[distance - 1]
        if reached == their_cell:
            if cost < movement and not aground:
                return reached, cost
        elif cost <= movement:
            for passed, *_ in ray[: distance - 1]:
                if passed == their_cell:
                    break
            else:
                return reached, cost
    return _refuse_advance(river, cell, direction, distance, movement, their_cell)


def _refuse_advance(
    river: River, cell: int, direction: Direction, distance: int, movement: int, their_cell: int
) -> NoReturn:
    """Walk the way of an impossible advance and say where it ends."""
    spent, start = 0, cell
    for reached, passed, cost, aground in river.rays[cell][direction][:distance]:
        if distance > movement or cost > movement:
            break
        where = field_of(reached)
        if reached == their_cell:
            if cost == movement:
                _refuse("insufficient_push", f"no movement point would be left to push the other ship off {where}")
            if passed < distance:
                _refuse("ship_already_in_target", f"the other ship on {where} bars the way")
            _refuse("sandbank_push", f"the other ship cannot be pushed off the sandbank at {where}")
        if aground:
            _refuse("move_end_on_sandbank", f"an advance must end on the sandbank at {where}, not go through it")
        spent, cell = cost, reached
    else:
        if distance <= movement and spent < movement:
            ahead = river.describe(cell + STEPS[direction])
            _refuse("field_is_blocked", f"advancing {distance} to {direction.word} is barred by {ahead}")
    _refuse(
        "advance_movement_points_missing",
        f"advancing {distance} from {field_of(start)} needs more than the {movement} movement points that are left",
    )


def _check_push(river: River, cell: int, direction: Direction, movement: int, their_cell: int, to: Direction) -> None:
    """Raise IllegalMove if the ship on ``cell`` cannot push the other one to that direction."""
    if not movement:
        _refuse("push_movement_points_missing", "a push costs a movement point, and none is left")
    target = cell + STEPS[to]
    if not river.kinds[target] & PASSABLE:
        if river.kinds[target] & BLOCKED:
            _refuse("blocked_field_push", f"no ship can be pushed onto {river.describe(target)}")
        _refuse("invalid_field_push", f"no ship can be pushed to {river.describe(target)}")
    if cell != their_cell:
        _refuse("same_field_push", f"only a ship on one's own field can be pushed; it is on {field_of(their_cell)}")
    if to is direction.opposite:
        _refuse("backward_pushing_restricted", f"a ship that points {direction.word} cannot push to {to.word}")


def _coal_for(action: Accelerate, speed: int, coal: int) -> int:
    """What an acceleration costs. Raises IllegalMove."""
    by = action.by
    if by == 0:
        _refuse("zero_acc", "an acceleration by 0 is no action")
    if speed + by > MAX_SPEED:
        _refuse("above_max_speed", f"accelerating {speed} by {by} exceeds the maximum speed {MAX_SPEED}")
    if speed + by < MIN_SPEED:
        _refuse("below_min_speed", f"accelerating {speed} by {by} falls below the minimum speed {MIN_SPEED}")
    cost = abs(by) - 1
    if cost > coal:
        _refuse("insufficient_coal", f"accelerating by {by} costs {cost} coal of {coal} left")
    return cost


def _leave_sandbank(river: River, mover: Ship, other: Ship, actions: Actions) -> Voyage:
    """The only moves from a sandbank: one field forward, or one back for a coal (rules: option ``sandbanks``).

    The single movement point is enough, also onto the stream.
    """
    action, here = actions[0], field_of(mover.cell)
    if isinstance(action, Accelerate):
        _refuse("on_sandbank", f"on the sandbank at {here} a ship cannot accelerate")
    if isinstance(action, Turn):
        _refuse("rotation_on_sandbank_not_allowed", f"on the sandbank at {here} a ship cannot turn")
    if isinstance(action, Push):
        _refuse("sandbank_push", f"on the sandbank at {here} a ship cannot push")
    if len(actions) > 1:
        _refuse("sand_bank_end", f"a move from the sandbank at {here} is one advance and nothing else")
    if action.distance not in (1, -1):
        _refuse("invalid_distance", f"from the sandbank at {here} a ship advances 1 or -1, not {action.distance}")
    coal = mover.coal - (action.distance < 0)
    if coal < 0:
        _refuse("no_coal_for_reverse", f"going back from the sandbank at {here} costs 1 coal, and none is left")
    target = mover.cell + STEPS[mover.direction] * action.distance
    if not river.kinds[target] & PASSABLE:
        _refuse("field_is_blocked", f"advancing {action.distance} is barred by {river.describe(target)}")
    if target == other.cell:
        _refuse("insufficient_push", f"no movement point would be left to push the other ship off {field_of(target)}")
    return Voyage(target, mover.direction, mover.speed, coal, other.cell, 0)
