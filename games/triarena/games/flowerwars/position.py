"""A position of FlowerWars and what may be played in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from triarena.games.core import Outcome, Score, Side

from .board import Board, bits
from .moves import Dig, Ditch, End, Flower, Move, Plant
from .planting import Pairs, Plot, can_plant, fits, pairs
from .refusals import refusal
from .scoring import points

END_MOVE = "end_move"
"""The outcome's reason when a side has played End."""
NO_MOVE = "no_move"
"""The outcome's reason when the side to move can neither plant nor dig."""


@dataclass(frozen=True, slots=True)
class FlowerWarsPosition:
    """What stands on the board and whose turn it is; get one from ``GAME`` or with ``of``.

    After the end ``to_move`` is the side that played End, or that could no longer move.
    """

    board: Board
    to_move: Side
    red: Plot
    blue: Plot
    outcome: Outcome | None = None
    # What follows from the above, carried along so that a move costs microseconds:
    free: int = field(default=0, compare=False, repr=False)
    """Fields without a flower and without a ditch at a side: all that either side might plant."""
    banks: int = field(default=0, compare=False, repr=False)
    """Edges at the side of a flower: no ditch can be dug there."""
    ends: int = field(default=0, compare=False, repr=False)
    """Points with the end of a ditch."""
    can_plant: bool = field(default=False, compare=False, repr=False)
    """Whether the side to move has a legal pair of flowers; if not, it may end the game."""

    @staticmethod
    def of(board: Board, to_move: Side, red: Plot, blue: Plot) -> FlowerWarsPosition:
        """The position with this on the board, ended by NO_MOVE if ``to_move`` has none.

        That the plots obey the rules is the caller's affair.
        """
        free, banks, ends = board.fields, 0, 0
        for one in bits(red.flowers | blue.flowers):
            free &= ~(1 << one)
            banks |= board.sides[one]
        for edge in bits(red.ditches | blue.ditches):
            free &= ~board.edge_fields[edge]
            ends |= board.edge_ends[edge]
        return _reached(board, to_move, red, blue, free, banks, ends)

    @property
    def size(self) -> int:
        """The length of the board's sides."""
        return self.board.size

    def plot(self, side: Side) -> Plot:
        """What ``side`` has on the board."""
        return self.red if side is Side.RED else self.blue

    def flowers(self, side: Side) -> list[Flower]:
        """The flowers of a side, in the order of the fields."""
        return [self.board.flowers[one] for one in bits(self.plot(side).flowers)]

    def ditches(self, side: Side) -> list[Ditch]:
        """The ditches of a side."""
        return [self.board.digs[edge].ditch for edge in bits(self.plot(side).ditches)]

    def pairs(self) -> Pairs:
        """The flowers that the side to move may plant, without a list of all pairs; none after the end."""
        return pairs(self.board, self.plot(self.to_move), 0 if self.outcome else self.free)

    def diggable(self) -> int:
        """The edges on which the side to move may dig a ditch; none after the end."""
        if self.outcome:
            return 0
        return _diggable(self.board, self.plot(self.to_move), self.banks, self.ends)

    def legal_moves(self) -> Iterator[Move]:
        """All pairs in the order of their fields, then the ditches, then End."""
        if self.can_plant:
            yield from self.pairs().moves()
        for edge in bits(self.diggable()):
            yield self.board.digs[edge]
        if not (self.can_plant or self.outcome):
            yield End()

    def check(self, move: Move) -> None:
        """Raises IllegalMove if the rules forbid ``move`` here, MalformedMove if it is no move of FlowerWars."""
        if not self._allows(move):
            raise refusal(self, move)

    def play(self, move: Move) -> FlowerWarsPosition:
        """The position after ``move``. Raises as ``check`` does."""
        self.check(move)
        match move:
            case Plant(first, second):
                return self._planted(self.board.field(first), self.board.field(second))
            case Dig(ditch):
                return self._dug(self.board.edges[ditch])
            case End():
                return self.ended()

    def ended(self) -> FlowerWarsPosition:
        """The position after End, whether or not it is allowed here."""
        return replace(self, outcome=_outcome(self.board, self.red, self.blue, END_MOVE), can_plant=False)

    def score(self, side: Side) -> Score:
        """The side's points as they stand."""
        return Score(points(self.board, self.plot(side)))

    def visible(self) -> FlowerWarsPosition:
        """The position itself: nothing is hidden."""
        return self

    def _allows(self, move: Move) -> bool:
        board = self.board
        match move:
            case Plant(a, b):
                if not (self.can_plant and board.has(a) and board.has(b)):
                    return False
                first, second = board.field(a), board.field(b)
                pair = 1 << first | 1 << second
                free = first != second and pair & self.free == pair
                return free and fits(board, self.plot(self.to_move), first, second)
            case Dig(ditch):
                return ditch in board.edges and bool(self.diggable() >> board.edges[ditch] & 1)
            case End():
                return not (self.can_plant or self.outcome)
            case _:
                return False

    def _planted(self, first: int, second: int) -> FlowerWarsPosition:
        board = self.board
        return self._next(
            self.plot(self.to_move).planted(board, first, second),
            self.free & ~(1 << first | 1 << second),
            self.banks | board.sides[first] | board.sides[second],
            self.ends,
        )

    def _dug(self, edge: int) -> FlowerWarsPosition:
        board = self.board
        return self._next(
            self.plot(self.to_move).dug(edge),
            self.free & ~board.edge_fields[edge],
            self.banks,
            self.ends | board.edge_ends[edge],
        )

    def _next(self, plot: Plot, free: int, banks: int, ends: int) -> FlowerWarsPosition:
        if self.to_move is Side.RED:
            return _reached(self.board, Side.BLUE, plot, self.blue, free, banks, ends)
        return _reached(self.board, Side.RED, self.red, plot, free, banks, ends)


def _reached(
    board: Board, to_move: Side, red: Plot, blue: Plot, free: int, banks: int, ends: int
) -> FlowerWarsPosition:
    """The position with its end by NO_MOVE, which needs no list of moves."""
    plot = red if to_move is Side.RED else blue
    plantable = can_plant(board, plot, free)
    outcome = None if plantable or _diggable(board, plot, banks, ends) else _outcome(board, red, blue, NO_MOVE)
    return FlowerWarsPosition(board, to_move, red, blue, outcome, free, banks, ends, plantable)


def _diggable(board: Board, plot: Plot, banks: int, ends: int) -> int:
    """The edges where the side of ``plot`` may dig (seed: "Gräben").

    Both ends are corners of own flowers and end of no ditch yet, and on the one or two fields beside it grows nothing.
    """
    return board.edges_between(plot.corners & ~ends) & ~banks


def _outcome(board: Board, red: Plot, blue: Plot, reason: str) -> Outcome:
    scores = Score(points(board, red)), Score(points(board, blue))
    difference = scores[0].points - scores[1].points
    winner = Side.RED if difference > 0 else Side.BLUE if difference < 0 else None
    return Outcome(winner, reason, *scores)
