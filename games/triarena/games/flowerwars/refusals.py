"""Why a move is refused: a stable code and a sentence that names the fields. Only wrong moves pay for this."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from triarena.games.core import IllegalMove, MalformedMove, MoveError, Side, shown

from .board import GARDEN, Board, bits
from .moves import Dig, Ditch, End, Flower, Move, Plant, Point
from .notation import format_points

if TYPE_CHECKING:
    from .position import FlowerWarsPosition


def refusal(position: FlowerWarsPosition, move: Move) -> MoveError:
    """The error to raise for a move that is not legal in ``position``."""
    if not isinstance(move, Plant | Dig | End):
        hint = ": game.parse makes a move of its text" if isinstance(move, str) else ""
        return MalformedMove(f"{shown(move)} is no move of FlowerWars{hint}")
    if position.outcome:
        return IllegalMove("game_over", "the game is over, nothing can be played any more")
    match move:
        case Plant(first, second):
            return _occupied(position, first) or _occupied(position, second) or _unfit(position, first, second)
        case Dig(ditch):
            return _undiggable(position, ditch)
        case End():
            return IllegalMove(
                "end_too_early", f"{position.to_move} may not end the game while it can plant two flowers"
            )


def _occupied(position: FlowerWarsPosition, flower: Flower) -> IllegalMove | None:
    """Why nothing can be planted there, whatever grows around it."""
    board = position.board
    if not board.has(flower):
        name = format_points(flower.points)
        return IllegalMove("flower_off_board", f"the flower {name} lies outside the board of size {board.size}")
    one = 1 << board.field(flower)
    if position.free & one:
        return None
    name = _names(board, one)
    for side in Side:
        if position.plot(side).flowers & one:
            return IllegalMove("field_taken", f"on {name} grows a flower of {side} already")
    for side in Side:
        for edge in bits(position.plot(side).ditches):
            if board.edge_fields[edge] & one:
                ditch = format_points(board.digs[edge].ditch)
                return IllegalMove("field_infertile", f"{name} is infertile: {side}'s ditch {ditch} runs along it")
    return None


def _unfit(position: FlowerWarsPosition, first: Flower, second: Flower) -> IllegalMove:
    """Which rule of beds and gardens two flowers on empty, fertile fields break."""
    if first == second:
        return IllegalMove("same_flower_twice", f"the flower {format_points(first.points)} is named twice")
    one, other = position.board.field(first), position.board.field(second)
    broken = _broken(position, one) or _broken(position, other)
    if broken:
        return IllegalMove(*broken)
    jointly = _broken(position, one, other)
    assert jointly, "two flowers that break no rule were refused"
    code, sentence = jointly
    return IllegalMove(f"joint_{code}", f"{sentence}, though each of the two flowers alone would be legal")


def _broken(position: FlowerWarsPosition, *fields: int) -> tuple[str, str] | None:
    """Code and sentence of the rule that planting just these fields would break."""
    board, plot, side = position.board, position.plot(position.to_move), position.to_move
    new = 0
    for one in fields:
        new |= 1 << one
    planted = plot.flowers | new
    for one in fields:
        if board.beside[one] & plot.gardens:
            return "garden_full", f"{_names(board, 1 << one)} would be a fifth flower of a garden of {side}"
        bed = board.bed(planted, one)
        size = bed.bit_count()
        if size < GARDEN and not bed & plot.closed:
            continue
        flower = _names(board, 1 << one)
        if size > GARDEN:
            return "bed_too_large", f"with {flower} a bed of {side} would have {size} flowers, more than {GARDEN}"
        touched = board.around_all(bed) & planted & ~bed
        if size == GARDEN and touched:
            other = touched & new  # the second flower, if it is not in this bed
            garden = touched & plot.gardens or (
                other and board.bed(planted, other.bit_length() - 1).bit_count() == GARDEN
            )
            return (
                "new_garden_touches_garden" if garden else "new_garden_touches_bed",
                f"the new garden {_names(board, bed)} would share a corner with {side}'s {_names(board, touched)}",
            )
        if touched & plot.gardens:
            return (
                "touches_own_garden",
                f"{flower} would share a corner with {_names(board, touched & plot.gardens)} in a garden of {side}",
            )
    return None


def _names(board: Board, fields: int) -> str:
    """The flowers of those fields, as a sentence calls them."""
    names = _all_names(board)
    return " ".join([names[one] for one in bits(fields)])


@cache
def _all_names(board: Board) -> tuple[str, ...]:
    """By field of the board, of which there is one per size."""
    return tuple(format_points(flower.points) for flower in board.flowers)


def _undiggable(position: FlowerWarsPosition, ditch: Ditch) -> IllegalMove:
    board, plot, name = position.board, position.plot(position.to_move), format_points(ditch)
    start, end = ditch
    for point in ditch:
        if not board.has_point(point):
            return IllegalMove("ditch_off_board", f"{_point(point)} lies outside the board of size {board.size}")
    if start == end:
        return IllegalMove("ditch_ends_equal", f"a ditch needs two different ends, not twice {_point(start)}")
    edge = board.edges.get(ditch)
    if edge is None:
        return IllegalMove(
            "ditch_too_long", f"{_point(start)} and {_point(end)} are not neighbours, as a ditch's ends must be"
        )
    if position.ends & board.edge_ends[edge]:
        for side in Side:
            for other in bits(position.plot(side).ditches):
                if other == edge:
                    return IllegalMove("ditch_exists", f"{side} has dug the ditch {name} already")
                if board.edge_ends[other] & board.edge_ends[edge]:
                    taken = format_points(board.digs[other].ditch)
                    return IllegalMove(
                        "ditch_end_taken", f"an end of {name} is an end of {side}'s ditch {taken} already"
                    )
    for side in Side:
        if beside := board.edge_fields[edge] & position.plot(side).flowers:
            flower = _names(board, beside & -beside)
            return IllegalMove("ditch_beside_flower", f"{side}'s flower {flower} grows beside {name}")
    bare = [_point(point) for point in ditch if not plot.corners >> board.point(point) & 1]
    return IllegalMove("ditch_without_flower", f"{position.to_move} has no flower at {' and '.join(bare)}")


def _point(point: Point) -> str:
    return f"({point[0]},{point[1]})"
