"""Compares the rules of FlowerWars with recorded data, record by record: ``python flowerwars_golden.py FOLDER``.

The data was played out by the game's original program. Where its rules for the end of the game differ from the
published ones, the records carry both answers, and ours must be the published one. Surrender is a move there and a
message to the referee here: it is added to our list of moves before that is compared.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from triarena.games.core import BadPosition, MoveError, Side
from triarena.games.flowerwars import GAME, Dig, End, Flower, FlowerWarsPosition, Move, Plant

Record: TypeAlias = dict[str, Any]

SURRENDER = "{Surrender}"
SIDES = {"Red": Side.RED, "Blue": Side.BLUE}

CODES = {
    "after_automatic_end": "game_over",
    "after_end_move": "game_over",
    "after_illegal_move": "end_too_early",  # what was illegal is always an End there
    "after_surrender": "surrender_is_no_move",
    "bed_fusion_too_large": "bed_too_large",
    "ditch_already_built_by_opponent": "ditch_exists",
    "ditch_already_built_by_self": "ditch_exists",
    "ditch_endpoint_used_by_opponent_ditch": "ditch_end_taken",
    "ditch_endpoint_used_by_own_ditch": "ditch_end_taken",
    "ditch_longer_than_one_step": "ditch_too_long",
    "ditch_next_to_opponent_flower": "ditch_beside_flower",
    "ditch_next_to_own_flower": "ditch_beside_flower",
    "ditch_no_own_flower_at_both_ends": "ditch_without_flower",
    "ditch_no_own_flower_at_both_ends_opponent_flower_there": "ditch_without_flower",
    "ditch_no_own_flower_at_one_end": "ditch_without_flower",
    "ditch_no_own_flower_at_one_end_opponent_flower_there": "ditch_without_flower",
    "ditch_outside_board": "ditch_off_board",
    "ditch_same_start_and_end": "ditch_ends_equal",
    "ditch_two_points_close_but_no_edge": "ditch_too_long",
    "end_while_two_flowers_can_be_planted": "end_too_early",
    "extended_bed_corner_touches_own_garden": "touches_own_garden",
    "extends_own_garden_by_side": "garden_full",
    "flower_half_outside_board_down": "flower_off_board",
    "flower_outside_board_up": "flower_off_board",
    "infertile_opponent_ditch": "field_infertile",
    "infertile_own_ditch": "field_infertile",
    "joint_bed_too_large": "joint_bed_too_large",
    "joint_new_garden_corner_touches_bed_of_second_flower": "joint_new_garden_touches_bed",
    "joint_new_garden_corner_touches_bed_of_second_flower_single": "joint_new_garden_touches_bed",
    "joint_new_garden_corner_touches_own_bed": "joint_new_garden_touches_bed",
    "joint_two_new_gardens_touch": "joint_new_garden_touches_garden",
    "malformed_flower_collinear": "flower_collinear",
    "malformed_flower_not_a_triangle": "flower_not_a_triangle",
    "malformed_flower_repeated_point": "flower_point_repeated",
    "new_garden_corner_touches_own_bed": "new_garden_touches_bed",
    "new_garden_corner_touches_own_garden": "new_garden_touches_garden",
    "occupied_by_opponent": "field_taken",
    "occupied_by_own": "field_taken",
    "same_flower_twice": "same_flower_twice",
    "single_flower_corner_touches_own_garden": "touches_own_garden",
}
"""The data's reason for a refusal (without a size at its end) -> our code."""


class Disagreement(Exception):
    """The data says something else than the rules."""


def agree(what: str, ours: object, data: object) -> None:
    """Raises Disagreement unless both are equal."""
    if ours != data:
        raise Disagreement(f"{what}: {str(ours)[:200]}, the data says {str(data)[:200]}")


def played(size: int, moves: Iterable[str]) -> FlowerWarsPosition:
    """The position after ``moves``."""
    position = GAME.start({"size": size})
    for move in moves:
        position = position.play(GAME.parse(move))
    return position


def refused_as(position: FlowerWarsPosition, move: str) -> str | None:
    """The code with which a move is refused, None if it is legal."""
    try:
        position.check(GAME.parse(move))
    except MoveError as error:
        return error.code
    return None


def status(position: FlowerWarsPosition) -> str:
    """How the data calls the state of the game."""
    if position.outcome is None:
        return "Ok"
    winner = position.outcome.winner
    return "Draw" if winner is None else f"{winner.value.title()}Win"


def points(position: FlowerWarsPosition) -> list[int]:
    """The points of red and blue."""
    return [position.score(side).points for side in Side]


def compare_state(position: FlowerWarsPosition, data: Record) -> None:
    """Status, points and, while the game goes on, the side to move."""
    agree("status", status(position), data["status"])
    agree("points", points(position), data["points"])
    if position.outcome is None:  # after the end nobody is to move, whoever is named
        agree("turn", position.to_move, SIDES[data["turn"]])


text_of = cache(GAME.format)
"""The text of a move; the data asks for the same ones a hundred million times."""


def texts(moves: Iterable[Move]) -> list[str]:
    """The data's list of moves, from ours."""
    return sorted([SURRENDER, *map(text_of, moves)])


def digest(moves: Iterable[Move]) -> str:
    """The data's digest of a list of moves."""
    return hashlib.sha256("".join(f"{text}\n" for text in texts(moves)).encode()).hexdigest()


def compare_moves(position: FlowerWarsPosition, legal: Record, sha256: str) -> None:
    """How many moves of each kind are legal, and that they are the same ones."""
    moves = list(position.legal_moves())
    kinds = Counter(map(type, moves))
    agree("flower moves", kinds[Plant], legal["flower"])
    agree("ditch moves", kinds[Dig], legal["ditch"])
    agree("End", kinds[End] == 1, legal["end"])
    agree("digest of the moves", digest(moves), sha256)


def check_game(record: Record) -> None:
    """A game ply by ply."""
    position = GAME.start({"size": record["size"]})
    for ply in record["plies"]:
        ours = ply.get("seed", {})
        agree("over before this ply", position.outcome is not None, ours.get("game_over_before_this_ply", False))
        if position.outcome:
            return
        agree("player", position.to_move, SIDES[ply["player"]])
        if "legal" in ply:  # the small copy of the data leaves most of them out on large boards
            legal = ply["legal"] | ({"end": ours["end"]} if "end" in ours else {})
            compare_moves(position, legal, ours.get("sha256", ply["sha256"]))
        if "moves" in ply:
            agree("moves", texts(position.legal_moves()), ply["moves"])
        if ply["move"] == SURRENDER:
            agree("surrender", refused_as(position, SURRENDER), "surrender_is_no_move")
            return
        position = position.play(GAME.parse(ply["move"]))
        compare_state(position, ply | {"status": ours.get("status_after", ply["status"])})


def check_position(record: Record) -> None:
    """A position reached by moves, and what is legal there."""
    position = played(record["size"], record["moves"])
    compare_state(position, record)
    if position.outcome is None:
        compare_moves(position, record["legal"], record["sha256"])


def check_end_rule(record: Record) -> None:
    """A position at the end of a game; ours is what the published rules say about it."""
    position, published = played(record["size"], record["moves"]), record["seed"]
    compare_state(position, published)
    if position.outcome is None:
        agree("moves", texts(position.legal_moves()), published["legal_moves"])


def check_scoring(record: Record) -> None:
    """Points of gardens that ditches connect or not."""
    position = played(record["size"], record["moves"])
    compare_state(position, record | {"status": "Ok"})
    agree("digest of the moves", digest(position.legal_moves()), record["sha256"])


def check_illegal(record: Record) -> None:
    """A move that breaks one rule, which our code names."""
    reason = re.sub(r"_\d+$", "", record["reason"])
    moves, illegal = record["moves"], record["illegal"]
    if reason in ("after_illegal_move", "after_surrender"):
        moves, illegal = moves[:-1], moves[-1]
    code = "surrender_is_no_move" if illegal == SURRENDER else CODES[reason]
    agree(f"{illegal} ({reason})", refused_as(played(record["size"], moves), illegal), code)


def check_figure(record: Record) -> None:
    """A figure of the rules, set up on the board, with the claims of its caption."""
    position = GAME.read_position(figure_wire(record))
    compare_state(position, record | {"status": "Ok"})
    compare_moves(position, record["legal"] | {"end": record["legal"]["end_seed"]}, record["sha256"])
    for claim in record["checks"]:
        kind, value = claim["kind"], claim["value"]
        if kind == "single_flower":
            flower = flower_of(value)
            legal = bool(position.pairs().fields >> position.board.field(flower) & 1)
        else:
            legal = refused_as(position, value if value.startswith("{{") else f"{{{value}}}") is None
        agree(f"{kind} {value}", legal, claim["legal"])


def flower_of(text: str) -> Flower:
    """The flower of a text such as ``{(1,1),(2,1),(1,2)}``."""
    move = GAME.parse(f"{{{text},{text}}}")
    assert isinstance(move, Plant)
    return move.first


def figure_wire(record: Record) -> Record:
    """The wire form of a figure's position."""
    size = record["size"]
    marks = {flower_of(text): side[0] for side in ("red", "blue") for text in record[side]}
    rows = (
        "".join(marks.get(Flower(place // 2 + 1, row, up=place % 2 == 0), ".") for place in range(2 * (size - row) + 1))
        for row in range(1, size + 1)
    )
    ditches = {
        f"{side}_ditches": [GAME.write_move(GAME.parse(f"{{{text}}}"))["ditch"] for text in record[f"{side}_ditches"]]
        for side in ("red", "blue")
    }
    return {
        "game": GAME.name,
        "size": size,
        "to_move": SIDES[record["turn"]].value,
        "fields": "/".join(rows),
        **ditches,
        "points": dict(zip(("red", "blue"), record["points"], strict=True)),
        "outcome": None,
    }


def check_tester(record: Record) -> None:
    """A case of the original's own test: what is asked after so many moves."""
    position, told = GAME.start({"size": record["size"]}), "Ok"
    for number in range(len(record["moves"]) + 1):
        for question in record["checks"]:
            if question["after_moves"] == number:
                agree(question["check"], answer(position, told, question), question["expected"])
        if number < len(record["moves"]):
            move = record["moves"][number]
            code = refused_as(position, move)
            if code is None:
                position = position.play(GAME.parse(move))
                told = status(position)
            elif code == "surrender_is_no_move":  # here the referee's affair: the other side wins
                told = f"{position.to_move.other.value.title()}Win"
            else:
                told = "Illegal"


def answer(position: FlowerWarsPosition, told: str, question: Record) -> Any:
    """What we say to a question of the original's test."""
    side = SIDES.get(question.get("player", ""), Side.RED)
    match question["check"]:
        case "created":
            return True
        case "status":
            return told
        case "size":
            return position.size
        case "turn":
            return position.to_move.value.title()
        case "points":
            return position.score(side).points
        case "flower_count":
            return len(position.flowers(side))
        case "ditch_count":
            return len(position.ditches(side))
        case "has_flower":
            flower = flower_of(question["expected"])
            return question["expected"] if flower in position.flowers(side) else None
        case "possible_moves":
            return texts(position.legal_moves())
        case other:
            raise Disagreement(f"the data asks for {other}, which this test does not know")


CHECKS: dict[str, Callable[[Record], None]] = {
    "all-positions-size-3": check_position,
    "end-rule-cases": check_end_rule,
    "figures": check_figure,
    "games": check_game,
    "games-large": check_game,
    "illegal": check_illegal,
    "scoring-cases": check_scoring,
    "tester-cases": check_tester,
}


def complaints(path: Path) -> Iterator[str | None]:
    """Per record of a file what disagrees, None if nothing does."""
    check = CHECKS[path.name.removesuffix(".jsonl.gz")]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                check(json.loads(line))
            except (Disagreement, MoveError, BadPosition) as error:
                yield f"{path.name}, record {number}: {error}"
            else:
                yield None


def run(folder: Path) -> dict[str, tuple[int, int]]:
    """Per file of a data folder: how many records were checked, and how many of them disagree."""
    results = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        found = list(complaints(path))
        wrong = [complaint for complaint in found if complaint]
        for complaint in wrong[:5]:
            print(complaint, file=sys.stderr)
        results[path.name] = (len(found), len(wrong))
    return results


def main(arguments: list[str]) -> int:
    """Print a line per file; 1 if anything disagrees or there is nothing to compare."""
    if len(arguments) != 1:
        print("usage: python flowerwars_golden.py FOLDER", file=sys.stderr)
        return 2
    results = run(Path(arguments[0]))
    for name, (records, disagreements) in results.items():
        print(name, records, disagreements)
    return 0 if results and not any(wrong for _, wrong in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
