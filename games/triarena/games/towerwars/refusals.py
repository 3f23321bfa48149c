"""Why a move is illegal: one code per rule, and a sentence that names the fields.

==================  =====================================================================
code                rule
==================  =====================================================================
game_over           nothing can be played after the end
off_board           start and target are fields of the board
no_piece            a piece stands on the start
not_your_piece      it is of the side to move
base_never_moves    it is not a base
tower_blocked       it is not a blocked tower
same_field          the target is another field than the start
tower_too_far       a tower's top stone goes to a neighbouring field
out_of_range        a stone goes at most one field plus the heights of the own free towers beside it
own_base            no piece goes onto its own base
tower_full          no tower grows above a third of the board's size
tower_captures      a tower's top stone captures nothing
already_blocked     a blocked tower is not blocked again
==================  =====================================================================
"""

from __future__ import annotations

from triarena.games.core import IllegalMove, MalformedMove, shown

from .board import Board, distance
from .moves import Step
from .pieces import BASE, BLOCKED, EMPTY, HEIGHT
from .rules import SideRules


def no_step(move: object) -> MalformedMove:
    """What was to be played is no move, but for instance the text of one."""
    hint = ": game.parse makes a move of its text" if isinstance(move, str) else ""
    return MalformedMove(f"{shown(move)} is no move of TowerWars{hint}")


def game_over(move: Step) -> IllegalMove:
    """Nothing can be played after the end."""
    return IllegalMove("game_over", f"{move} is illegal: the game is over")


def off_board(board: Board, move: Step) -> IllegalMove:
    """Start or target is no field of this board."""
    missing = move.target if move.start in board.index else move.start
    return IllegalMove("off_board", f"{move} is illegal: {missing} is no field of this board, A1 to {board.fields[-1]}")


def refusal(rules: SideRules, move: Step, piece: int, content: int, reach: int) -> IllegalMove:
    """The first rule that an illegal move between two fields of the board breaks.

    ``piece`` and ``content`` are what stands on start and target; ``reach`` is how far a stone on the start gets.
    """
    code, why = (
        _start_fault(rules, move, piece) or _way_fault(move, piece, reach) or _target_fault(rules, move, piece, content)
    )
    return IllegalMove(code, f"{move} is illegal: {why}")


def _start_fault(rules: SideRules, move: Step, piece: int) -> tuple[str, str] | None:
    if piece == EMPTY:
        return "no_piece", f"{move.start} is empty"
    if not piece & rules.own:
        return "not_your_piece", f"the piece on {move.start} is the opponent's"
    if piece & BASE:
        return "base_never_moves", f"on {move.start} stands the base, which never moves"
    if piece & BLOCKED:
        return "tower_blocked", f"the tower on {move.start} is blocked"
    return None


def _way_fault(move: Step, piece: int, reach: int) -> tuple[str, str] | None:
    away = distance(move.start, move.target)
    if away == 0:
        return "same_field", "a move ends on another field than it starts from"
    if piece & HEIGHT and away > 1:
        why = f"a tower's top stone goes to a neighbouring field, but {move.target} is {away} away from {move.start}"
        return "tower_too_far", why
    if away > reach:
        why = f"the stone on {move.start} reaches {reach} far (1 and the heights of the own free towers beside it)"
        return "out_of_range", f"{why}, but {move.target} is {away} away"
    return None


def _target_fault(rules: SideRules, move: Step, piece: int, content: int) -> tuple[str, str]:
    if content & rules.own and content & BASE:
        return "own_base", f"on {move.target} stands the own base"
    if content & rules.own:
        return "tower_full", f"the tower on {move.target} has the greatest height allowed, {content & HEIGHT}"
    if piece & HEIGHT:
        return "tower_captures", f"a tower's top stone captures nothing, but on {move.target} stands the opponent"
    return "already_blocked", f"the tower on {move.target} is blocked already, and from afar it is not captured"
