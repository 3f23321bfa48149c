"""A position of TowerWars: what stands where, whose turn it is, and what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, compress

from triarena.games.core import Outcome, Score, Side

from . import refusals
from .board import Board, board_of, distance, ring
from .moves import Step
from .notation import read_board, write_board
from .pieces import BASE, EMPTY, PIECES, Piece
from .rules import FORBIDDEN, SideRules, side_rules


@dataclass(frozen=True, slots=True, repr=False)
class TowerWarsPosition:
    """An immutable value; make one by ``GAME.start``, ``from_text`` or ``play``.

    After a win the loser is the side to move.
    """

    size: int
    cells: bytes
    """The content of every field, row by row from A1, as bytes of ``pieces``."""
    to_move: Side
    outcome: Outcome | None = field(init=False, compare=False)
    """None while the game goes on; follows from the rest."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "outcome", self._outcome())

    def __repr__(self) -> str:
        return f"TowerWarsPosition.from_text({self.to_text()!r})"

    @classmethod
    def start(cls, size: int) -> TowerWarsPosition:
        """The position before the first move on a board of that size."""
        return cls(size, board_of(size).start(), Side.RED)

    @classmethod
    def from_text(cls, text: str) -> TowerWarsPosition:
        """The position of a position text. Raises BadPosition."""
        return cls(*read_board(text))

    def to_text(self) -> str:
        """The position text, e.g. ``Rrr./rr.b/r.bb/.bbB R``; see ``notation``."""
        return write_board(self.size, self.cells, self.to_move)

    def piece(self, field: str) -> Piece | None:
        """What stands on a field; None if it is empty. Raises ValueError for a field that the board has not."""
        return PIECES.get(self.cells[board_of(self.size).number(field)])

    def pieces(self) -> Iterator[tuple[str, Piece]]:
        """The fields that are not empty and what stands there, row by row."""
        for name, content in zip(board_of(self.size).fields, self.cells, strict=True):
            if content != EMPTY:
                yield name, PIECES[content]

    def legal_moves(self) -> Iterator[Step]:
        """All legal moves: those of the stones row by row, near ones first, then those of the towers."""
        return chain.from_iterable(self._moves_by_piece()) if self.outcome is None else iter(())

    def check(self, move: Step, /) -> None:
        """Raises IllegalMove if the rules forbid ``move`` here; see ``refusals`` for the codes. Else like ``play``."""
        self._landing(move)

    def play(self, move: Step, /) -> TowerWarsPosition:
        """The position after ``move``. Raises IllegalMove, and MalformedMove for what is no Step, e.g. its text."""
        start, target, landed = self._landing(move)
        cells = bytearray(self.cells)
        left = cells[start]
        # A stone is a tower of height 0: the top stone leaves the next lower tower, or nothing.
        cells[start] = EMPTY if left == side_rules(self.size, self.to_move).own else left - 1
        cells[target] = landed
        return TowerWarsPosition(self.size, bytes(cells), Side.BLUE if self.to_move is Side.RED else Side.RED)

    def score(self, side: Side, /) -> Score:
        """1 point for the winner; before the end nobody has any."""
        return Score(0) if self.outcome is None else self.outcome.score(side)

    def visible(self) -> TowerWarsPosition:
        """The position itself: nothing is hidden."""
        return self

    def reach(self, start: str) -> int:
        """How far a stone of the side to move on ``start`` gets. Raises ValueError if there is no such field."""
        board = board_of(self.size)
        return _reach(board, side_rules(self.size, self.to_move), self.cells, board.number(start))

    def _landing(self, move: Step) -> tuple[int, int, int]:
        """Start and target of a legal move as numbers, and what stands on the target then. Raises IllegalMove."""
        board, rules, cells = board_of(self.size), side_rules(self.size, self.to_move), self.cells
        if self.outcome is not None:
            raise refusals.game_over(move)
        try:
            start, target = board.index.get(move.start), board.index.get(move.target)
        except AttributeError:
            raise refusals.no_step(move) from None
        if start is None or target is None:
            raise refusals.off_board(board, move)
        landed, reach = FORBIDDEN, 1
        if cells[start] == rules.own:
            if target in board.near[start].targets:
                landed = rules.near[cells[target]]
            elif 1 < distance(move.start, move.target) <= (reach := _reach(board, rules, cells, start)):
                landed = rules.far[cells[target]]
        elif rules.heights[cells[start]] and target in board.near[start].targets:
            landed = rules.dismantled[cells[target]]
        if landed == FORBIDDEN:
            raise refusals.refusal(rules, move, cells[start], cells[target], reach)
        return start, target, landed

    def _moves_by_piece(self) -> Iterator[Iterable[Step]]:
        """Per own piece (and per distance) its legal moves."""
        size, cells = self.size, self.cells
        board, rules = board_of(size), side_rules(size, self.to_move)
        near, fields = board.near, range(len(cells))
        heights = cells.translate(rules.heights)
        towers = list(compress(fields, heights))
        reaches: dict[int, int] = {}  # only of fields beside a tower
        for tower in towers:
            for beside in near[tower].targets:
                reaches[beside] = reaches.get(beside, 1) + heights[tower]
        may_land, may_land_far = cells.translate(rules.near), cells.translate(rules.far)
        for stone in compress(fields, cells.translate(rules.stones)):
            around = near[stone]
            yield compress(around.steps, around.pick(may_land))
            for radius in range(2, reaches.get(stone, 1) + 1):
                around = ring(size, stone, radius)
                yield compress(around.steps, around.pick(may_land_far))
        may_land = cells.translate(rules.dismantled)
        for tower in towers:
            yield compress(near[tower].steps, near[tower].pick(may_land))

    def _outcome(self) -> Outcome | None:
        """Whether the side to move has lost: by its base, or because it has no move (seed: Ende des Spiels)."""
        rules = side_rules(self.size, self.to_move)
        if self.cells[rules.base] != rules.own | BASE:
            return _won(self.to_move.other, "base")
        return None if self._can_move(rules) else _won(self.to_move.other, "no_move")

    def _can_move(self, rules: SideRules) -> bool:
        """Whether the side to move has a legal move while the bases stand; does not list them.

        A side with a stone has one: the stone lands on a neighbouring field unless an own tower of full height
        stands there, and then that tower can be dismantled onto the stone (one neighbour at most is the base).
        """
        return rules.own in self.cells or next(chain.from_iterable(self._moves_by_piece()), None) is not None


def _reach(board: Board, rules: SideRules, cells: bytes, start: int) -> int:
    """One step, and the heights of all own towers beside ``start`` that are not blocked (seed: Türme).

    Pieces never stand in the way.
    """
    return 1 + sum(bytes(board.near[start].pick(cells)).translate(rules.heights))


@cache
def _won(winner: Side, reason: str) -> Outcome:
    red = winner is Side.RED
    return Outcome(winner, reason, red=Score(int(red)), blue=Score(int(not red)))
