"""Two simple players of Mississippi Queen: one draws lots, the other races and looks one move of its own ahead."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from triarena.games.core import Side
from triarena.games.mississippi_queen import Actions, MississippiQueenPosition, River, Ship
from triarena.games.mississippi_queen.boards import PASSENGERS
from triarena.games.mississippi_queen.ending import PASSENGERS_NEEDED, ROUND_LIMIT, in_goal
from triarena.games.mississippi_queen.geometry import COLUMNS, ROWS, SEGMENTS, STEPS
from triarena.games.mississippi_queen.listing import can_move
from triarena.games.mississippi_queen.river import GOAL, PASSABLE
from triarena.games.mississippi_queen.ship import effective_speed, points, segment_of

MOST_ACTIONS, MOST_ACTIONS_NEXT = 5, 3
"""The greedy player looks at moves of at most so many actions, now and in its next turn, if there are any."""
SHORTLIST = 6
"""For so many of the places that look best, it looks at what can follow."""
REPLIES = 100
"""So many of the opponent's replies, drawn by lot, tell how dangerous a place is."""

WON, DRAWN = 10_000, -1_000
"""A draw is better than a loss, but any game that goes on is better than a draw."""
STUCK = 1_000
"""What it costs to have no move left, or to leave the opponent none while points do not decide against it.

Who leads by points could win by getting stuck; this player wants to race.
"""
NO_WAY_ON = 500
"""What it costs to be where the own next move is impossible as things stand; the opponent may still clear the way."""
DANGER = 5_000
"""What it would cost if all replies of the opponent ended the game and did not lose it."""
ARRIVED = 500
"""Being in the goal before the round is over."""
FAR = 60
"""The distance to what cannot be reached."""
COAL = (0, 14, 24, 32, 38, 43, 47)
"""What so much coal is worth: the last pieces save a ship from getting stuck."""
HIDDEN_PASSENGER = 6
"""A passenger who is not revealed yet is thought to wait so many steps beyond the end of what is."""
TOO_FAST_TO_LAST = 3
"""An opponent with so much more speed than coal may be stuck soon, and then points decide."""
LAST_PLIES = 2 * ROUND_LIMIT - 8
"""From here on the round limit is near, and points will decide."""


def random_move(position: MississippiQueenPosition, rng: random.Random) -> Actions:
    """Any legal move, all equally likely."""
    return rng.choice(list(position.legal_moves()))


def greedy_move(position: MississippiQueenPosition, rng: random.Random) -> Actions:
    """The move that leads to the best place, with what can follow: its next move, and replies that end the game.

    A place is good near the next dock, or with two passengers near the goal, slow enough to stop there, and with coal
    left; bad if there is no way on. Of moves that lead to the same place one is looked at; ties are broken by lot.
    """
    position = position.visible()
    plan = _Plan.of(position)
    places = {(after.red, after.blue): (after, move) for move, after in _tries(position, MOST_ACTIONS)}
    rated = [(plan.rate(after), rng.random(), after, move) for after, move in places.values()]
    rated.sort(key=lambda one: one[:2], reverse=True)
    best = [(rating + plan.outlook(after, rng), lot, move) for rating, lot, after, move in rated[:SHORTLIST]]
    return max(best, key=lambda one: one[:2])[2]


def _tries(position: MississippiQueenPosition, most: int) -> Iterator[tuple[Actions, MississippiQueenPosition]]:
    """The moves of at most so many actions, all if there are none, and where they lead."""
    moves = list(position.legal_moves())
    for move in [move for move in moves if len(move) <= most] or moves:
        yield move, position.play(move)


@dataclass(frozen=True, slots=True)
class _Aim:
    """A place to go to."""

    distances: Mapping[int, int]
    """The steps to it from each cell."""
    beyond: int = 0
    """How many more are thought to follow."""
    stop: bool = True
    """Whether the ship must be slow when it arrives."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one side wants in its present move."""

    side: Side
    onward: _Aim
    """The goal, or the end of what is revealed."""
    docks: tuple[_Aim, ...]
    """Where passengers wait; ``onward`` among them while some may be hidden there."""

    @classmethod
    def of(cls, position: MississippiQueenPosition) -> _Plan:
        """The plan of the side to move."""
        river = position.river
        last = river.segments[-1].cells()
        goal = [cell for cell in last if river.kinds[cell] & GOAL]
        onward = _distances(river, goal or last[(COLUMNS - 1) * ROWS :])
        docks = [_Aim(_distances(river, [passenger.dock_cell])) for passenger in position.waiting()]
        if not docks or (len(river.passengers) < PASSENGERS and len(river.segments) < SEGMENTS):
            docks.append(_Aim(onward, HIDDEN_PASSENGER, stop=False))
        return cls(position.to_move, _Aim(onward, stop=bool(goal)), tuple(docks))

    def rate(self, position: MississippiQueenPosition) -> float:
        """How good it is to have moved to that position."""
        outcome = position.outcome
        if outcome is None:
            return self._rate_place(position)
        if outcome.reason == "no_move":
            if _reveals(position.river, position.ship(self.side)):
                return self._rate_place(position)  # what lies ahead is not known yet
            if position.to_move is self.side or outcome.winner is not self.side:
                return self._rate_place(position) - STUCK
        return DRAWN if outcome.winner is None else WON if outcome.winner is self.side else -WON

    def outlook(self, position: MississippiQueenPosition, rng: random.Random) -> float:
        """What can follow: the best place after the own next move, and how dangerous the replies are."""
        if position.outcome is not None:
            return 0
        own_turn = replace(position, to_move=self.side)
        best = max((self._rate_place(after) for _, after in _tries(own_turn, MOST_ACTIONS_NEXT)), default=-STUCK)
        return best - DANGER * self._danger(position, rng)

    def _danger(self, position: MississippiQueenPosition, rng: random.Random) -> float:
        """The share of the opponent's replies that end the game and do not lose it."""
        if position.to_move is self.side:
            return 0
        replies = list(position.legal_moves())
        tried = rng.sample(replies, min(len(replies), REPLIES))
        ends = [position.play(move).outcome for move in tried]
        return sum(end is not None and end.winner is not self.side for end in ends) / len(ends)

    def _rate_place(self, position: MississippiQueenPosition) -> float:
        """The rating of where the ships are, whatever ended."""
        river, mine, theirs = position.river, position.ship(self.side), position.ship(self.side.other)
        if in_goal(river, mine):
            return ARRIVED
        lead = points(river, mine) - points(river, theirs)
        behind = segment_of(river, theirs) - segment_of(river, mine)
        rating = 60 * min(mine.passengers, PASSENGERS_NEEDED) + 5 * mine.passengers + COAL[mine.coal]
        soon = position.turn >= LAST_PLIES or theirs.speed - theirs.coal >= TOO_FAST_TO_LAST
        rating += max(-15, min(10, lead)) * (8 if soon else 1)
        rating -= 60 * max(0, behind - 1)  # more than three segments behind may end the game
        if not _reveals(river, mine) and not can_move(river, mine, theirs):
            rating -= NO_WAY_ON
        return rating + self._approach(river, mine)

    def _approach(self, river: River, mine: Ship) -> int:
        """Less the further it is to the next aim, from the ship and from the best field straight ahead."""
        aims = (self.onward,) if mine.passengers >= PASSENGERS_NEEDED else self.docks
        ahead = [cell for cell, _, cost, _ in river.rays[mine.cell][mine.direction] if cost <= mine.speed]
        speed = effective_speed(river, mine.cell, mine.speed)
        ratings = []
        for aim in aims:
            here = aim.distances.get(mine.cell, FAR)
            closest = min((aim.distances.get(cell, FAR) for cell in ahead), default=here + 1)
            excess = max(0, speed - max(2, here)) if aim.stop else 0
            ratings.append(-3 * here - 2 * closest - 5 * aim.beyond - 8 * excess)
        return max(ratings)


def _reveals(river: River, ship: Ship) -> bool:
    """Whether a ship that moved to where it is reveals more of the river: what lies ahead is not known yet."""
    return len(river.segments) < SEGMENTS and segment_of(river, ship) == len(river.segments) - 1


def _distances(river: River, starts: Iterable[int]) -> dict[int, int]:
    """The steps to each cell by water from the nearest of ``starts``."""
    found = {cell: 0 for cell in starts if river.kinds[cell] & PASSABLE}
    todo = list(found)
    for cell in todo:  # grows while it is walked through
        for step in STEPS:
            if river.kinds[cell + step] & PASSABLE and cell + step not in found:
                found[cell + step] = found[cell] + 1
                todo.append(cell + step)
    return found
