"""Why a move is refused: a stable code and a sentence that names the fields. Only wrong moves pay for this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triarena.games.core import IllegalMove, MalformedMove, MoveError, Side, shown

from .board import GARDEN, bits
from .moves import Dig, Ditch, End, Flower, Move, Plant, Point
from .notation import format_points

if TYPE_CHECKING:
    from .position import FlowerWarsPosition


def refusal(position: FlowerWarsPosition, move: Move) -> MoveError:
    """The error to raise for a move that is not legal in ``position``."""
    if not isinstance(move, Plant | Dig | End):
        return MalformedMove(f"{shown(move)} is no move of FlowerWars")
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
    board, name = position.board, format_points(flower.points)
    if not board.has(flower):
        return IllegalMove("flower_off_board", f"the flower {name} lies outside the board of size {board.size}")
    one = 1 << board.field(flower)
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
    broken = _broken(position, first) or _broken(position, second)
    if broken:
        return IllegalMove(*broken)
    jointly = _broken(position, first, second)
    assert jointly, "two flowers that break no rule were refused"
    code, sentence = jointly
    return IllegalMove(f"joint_{code}", f"{sentence}, though each of the two flowers alone would be legal")


def _broken(position: FlowerWarsPosition, *flowers: Flower) -> tuple[str, str] | None:
    """Code and sentence of the rule that planting just these flowers would break."""
    board, plot, side = position.board, position.plot(position.to_move), position.to_move
    fields = [board.field(flower) for flower in flowers]
    planted = plot.flowers
    for one in fields:
        planted |= 1 << one

    def named(some: int) -> str:
        return " ".join(format_points(board.flowers[one].points) for one in bits(some))

    for one in fields:
        flower = named(1 << one)
        if board.beside[one] & plot.gardens:
            return "garden_full", f"{flower} would be a fifth flower of a garden of {side}"
        bed = board.bed(planted, one)
        size = bed.bit_count()
        if size > GARDEN:
            return "bed_too_large", f"with {flower} a bed of {side} would have {size} flowers, more than {GARDEN}"
        touched = board.around_all(bed) & planted & ~bed
        if size == GARDEN and touched:
            gardens = any(board.bed(planted, other).bit_count() == GARDEN for other in bits(touched))
            return (
                "new_garden_touches_garden" if gardens else "new_garden_touches_bed",
                f"the new garden {named(bed)} would share a corner with {side}'s {named(touched)}",
            )
        if touched & plot.gardens:
            return (
                "touches_own_garden",
                f"{flower} would share a corner with {named(touched & plot.gardens)} in a garden of {side}",
            )
    return None


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
    for side in Side:
        for other in bits(position.plot(side).ditches):
            if other == edge:
                return IllegalMove("ditch_exists", f"{side} has dug the ditch {name} already")
            if board.edge_ends[other] & board.edge_ends[edge]:
                taken = format_points(board.digs[other].ditch)
                return IllegalMove("ditch_end_taken", f"an end of {name} is an end of {side}'s ditch {taken} already")
    for side in Side:
        beside = board.edge_fields[edge] & position.plot(side).flowers
        for one in bits(beside):
            flower = format_points(board.flowers[one].points)
            return IllegalMove("ditch_beside_flower", f"{side}'s flower {flower} grows beside {name}")
    bare = [_point(point) for point in ditch if not plot.corners >> board.point(point) & 1]
    return IllegalMove("ditch_without_flower", f"{position.to_move} has no flower at {' and '.join(bare)}")


def _point(point: Point) -> str:
    return f"({point[0]},{point[1]})"
