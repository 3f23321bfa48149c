"""The end of the game: when it is over, and who has won (seed, section 5)."""

from __future__ import annotations

from triarena.games.core import Outcome, Score, Side

from .listing import can_move
from .profiles import Profile
from .river import GOAL, River
from .ship import Ship, effective_speed, points

ROUND_LIMIT = 30
MAX_SEGMENTS_BEHIND = 3
PASSENGERS_NEEDED = 2


def in_goal(river: River, ship: Ship) -> bool:
    """Whether a ship is where it wants to be: on a goal field, slow enough, with two passengers (seed, section 2.4).

    A property of the position, not an event: a ship pushed off before the round ends is no longer in goal.
    """
    return (
        bool(river.kinds[ship.cell] & GOAL)
        and ship.passengers >= PASSENGERS_NEEDED
        and effective_speed(river, ship.cell, ship.speed) < 2
    )


def score_of(river: River, ship: Ship) -> Score:
    """Points and passengers of a ship."""
    return Score(points(river, ship), (("passengers", ship.passengers),))


def judge(river: River, profile: Profile, turn: int, to_move: Side, red: Ship, blue: Ship) -> Outcome | None:
    """The outcome, or None if the game goes on: a function of the position alone."""
    round_over = turn % 2 == 0
    red_in_goal, blue_in_goal = in_goal(river, red), in_goal(river, blue)
    red_segment, blue_segment = river.progress[red.cell] // 5, river.progress[blue.cell] // 5
    too_far = abs(red_segment - blue_segment) > MAX_SEGMENTS_BEHIND and (round_over or profile.distance_ends_at_once)
    over = too_far or turn >= 2 * ROUND_LIMIT or (round_over and (red_in_goal or blue_in_goal))
    stuck: Side | None = None
    if not over:
        mover, other = (red, blue) if to_move is Side.RED else (blue, red)
        if can_move(river, mover, other):
            return None
        stuck = to_move

    scores = {Side.RED: score_of(river, red), Side.BLUE: score_of(river, blue)}
    if stuck and profile.stuck_side_loses:
        scores[stuck] = Score(0, (("passengers", 0),))
    winner = _better(scores[Side.RED], scores[Side.BLUE])
    if red_in_goal != blue_in_goal:
        reason, winner = "goal", Side.RED if red_in_goal else Side.BLUE
    elif stuck:
        reason = "no_move"
        if profile.stuck_side_loses:
            winner = stuck.other
    elif red_in_goal and round_over:
        reason = "goal"
    elif too_far:
        reason = "segment_distance"
        if profile.distance_leader_wins:
            winner = Side.RED if red_segment > blue_segment else Side.BLUE
    else:
        reason = "round_limit"
    return Outcome(winner, reason, scores[Side.RED], scores[Side.BLUE])


def _better(red: Score, blue: Score) -> Side | None:
    """Who has more points, or with as many points more passengers; None if nobody."""
    ours, theirs = (red.points, red.extras), (blue.points, blue.extras)
    if ours == theirs:
        return None
    return Side.RED if ours > theirs else Side.BLUE
