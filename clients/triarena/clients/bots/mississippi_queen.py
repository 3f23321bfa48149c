"""Two simple players of Mississippi Queen: one draws lots, the other fetches passengers and keeps ahead."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from triarena.games.core import Side
from triarena.games.mississippi_queen import Actions, MississippiQueenPosition, River, Ship
from triarena.games.mississippi_queen.ending import PASSENGERS_NEEDED
from triarena.games.mississippi_queen.geometry import COLUMNS, ROWS, SEGMENTS, STEPS
from triarena.games.mississippi_queen.listing import can_move
from triarena.games.mississippi_queen.river import GOAL, PASSABLE
from triarena.games.mississippi_queen.ship import effective_speed, points, segment_of

MOST_ACTIONS, MOST_ACTIONS_NEXT = 5, 3
"""The greedy player looks at moves of at most so many actions, now and in its next turn, if there are any."""
SHORTLIST = 6
"""For so many of the places that look best, it looks at what can follow."""
REPLIES = 200
"""So many of the opponent's replies, drawn by lot, tell how dangerous a place is."""

WON, DRAWN = 10_000, -1_000
"""A draw is better than a loss, but any game that goes on is better than a draw."""
FAR = 60
"""The distance to what cannot be reached."""


def random_move(position: MississippiQueenPosition, rng: random.Random) -> Actions:
    """Any legal move, all equally likely."""
    return rng.choice(list(position.legal_moves()))


def greedy_move(position: MississippiQueenPosition, rng: random.Random) -> Actions:
    """The move that leads to the best place, with what can follow: its next move, and replies that win at once.

    A place is good near the next dock, or with two passengers near the goal, slow enough to stop there, ahead of the
    opponent, and with coal left. Of moves that lead to the same place one is looked at; ties are broken by lot.
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
class _Plan:
    """What one side wants in its present move."""

    side: Side
    docks: tuple[Mapping[int, int], ...]
    """For each waiting passenger the distances from its dock."""
    onward: Mapping[int, int]
    """The distances from the goal, or from the end of what is revealed."""

    @classmethod
    def of(cls, position: MississippiQueenPosition) -> _Plan:
        """The plan of the side to move."""
        river = position.river
        last = river.segments[-1].cells()
        ends = [cell for cell in last if river.kinds[cell] & GOAL] or last[(COLUMNS - 1) * ROWS :]
        docks = tuple(_distances(river, [passenger.dock]) for passenger in position.waiting())
        return cls(position.to_move, docks, _distances(river, ends))

    def rate(self, position: MississippiQueenPosition) -> float:
        """How good it is to have moved to that position."""
        outcome = position.outcome
        if outcome is None or _at_the_edge(position.river, position.ship(position.to_move)):
            return self._rate_place(position)
        return DRAWN if outcome.winner is None else WON if outcome.winner is self.side else -WON

    def outlook(self, position: MississippiQueenPosition, rng: random.Random) -> float:
        """What can follow: the best place after the own next move, and how dangerous the replies are."""
        if position.outcome is not None:
            return 0
        own_turn = replace(position, to_move=self.side)
        best = max((self._rate_place(after) for _, after in _tries(own_turn, MOST_ACTIONS_NEXT)), default=-WON)
        return best - 1500 * self._danger(position, rng)

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
        lead = points(river, mine) - points(river, theirs)
        behind = segment_of(river, theirs) - segment_of(river, mine)
        rating = 60 * min(mine.passengers, PASSENGERS_NEEDED) + 5 * mine.passengers + 5 * mine.coal
        rating += 4 * min(lead, 10) if lead > 0 else 8 * max(lead, -15)
        rating -= 60 * max(0, behind - 1)  # more than three segments behind may end the game
        if not _at_the_edge(river, mine) and not can_move(river, mine, theirs):
            rating -= 500
        return rating + self._approach(river, mine)

    def _approach(self, river: River, mine: Ship) -> int:
        """Less the further it is to the next aim, from the ship and from the best field straight ahead."""
        stop = mine.passengers >= PASSENGERS_NEEDED or bool(self.docks)
        aims = self.docks if self.docks and mine.passengers < PASSENGERS_NEEDED else (self.onward,)
        ahead = [cell for cell, _, cost, _ in river.rays[mine.cell][mine.direction] if cost <= mine.speed]
        speed = effective_speed(river, mine.cell, mine.speed)
        ratings = []
        for aim in aims:
            here = aim.get(mine.cell, FAR)
            closest = min((aim.get(cell, FAR) for cell in ahead), default=here + 1)
            ratings.append(-3 * here - 2 * closest - (8 * max(0, speed - max(2, here)) if stop else 0))
        return max(ratings)


def _at_the_edge(river: River, ship: Ship) -> bool:
    """Whether the ship is on the last revealed segment and more of the river will be revealed."""
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
