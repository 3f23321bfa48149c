"""Compare the TowerWars engine with games, positions and refusals that the game's original program gave.

    python tests/golden/towerwars_golden.py FOLDER

prints per data file how many records were checked and how many disagree, tells the disagreements on standard
error, and exits with 1 if there are any. The data are JSON lines, described in ``tests/data/towerwars/README.md``.

Effects are not compared by name: the position after a move shows them.
Two things are read otherwise than they stand there, because the rules leave them to us: an empty move is a
surrender, which is the referee's affair and no move of the engine; and once a base has fallen nobody has a
move any more, where the original goes on counting replies.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from triarena.games.core import BadPosition, IllegalMove, MoveError, Side
from triarena.games.towerwars import GAME, Piece, TowerWarsPosition, distance
from triarena.games.towerwars.board import board_of

Record: TypeAlias = dict[str, Any]
Findings: TypeAlias = Iterator[str]
"""What disagrees, one sentence each."""

CODES = {
    "game_over": "game_over",
    "off_board_start": "off_board",
    "off_board_end": "off_board",
    "empty_start": "no_piece",
    "opponent_stone_moved": "not_your_piece",
    "opponent_tower_moved": "not_your_piece",
    "opponent_base_moved": "not_your_piece",
    "own_base_moved": "base_never_moves",
    "blocked_tower_moves": "tower_blocked",
    "start_equals_end_stone": "same_field",
    "start_equals_end_tower": "same_field",
    "tower_too_far": "tower_too_far",
    "tower_too_far_with_adjacent_tower": "tower_too_far",
    "out_of_range": "out_of_range",
    "out_of_range_by_one": "out_of_range",
    "out_of_range_by_one_with_bonus": "out_of_range",
    "out_of_range_opponent_tower_gives_no_bonus": "out_of_range",
    "out_of_range_own_blocked_tower_gives_no_bonus": "out_of_range",
    "stone_onto_own_base_near": "own_base",
    "stone_onto_own_base_far": "own_base",
    "tower_onto_own_base": "own_base",
    "stone_onto_max_tower_near": "tower_full",
    "stone_onto_max_tower_far": "tower_full",
    "tower_onto_max_tower": "tower_full",
    "tower_takes_stone": "tower_captures",
    "tower_takes_tower": "tower_captures",
    "tower_takes_blocked_tower": "tower_captures",
    "tower_takes_base": "tower_captures",
    "stone_blocks_blocked_tower": "already_blocked",
}
"""Our code for each reason of the data: theirs tell apart cases, ours the rules."""

REASONS = {
    "base": "base",
    "capture_all": "no_move",
    "no_pieces_self": "no_move",
    "immobile_blocked": "no_move",
    "immobile_surrounded": "no_move",
    "immobile_mixed": "no_move",
    "none": None,
    "capped": None,
    "truncated": None,
}
"""Our reason for each kind of end of the data; None where the rules don't end the game."""


def run(folder: Path) -> dict[str, tuple[int, int]]:
    """Per data file below ``folder``: records checked, records that disagree. Raises KeyError for a file of no kind."""
    return {name: (records, len(disagreements)) for name, records, disagreements in compare(folder)}


def compare(folder: Path) -> Iterator[tuple[str, int, list[str]]]:
    """Per data file: its name, how many records it has, and a sentence for each that disagrees."""
    for path in sorted(folder.rglob("*.jsonl.gz")):
        check = CHECKS[path.name.removesuffix(".jsonl.gz")]
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            verdicts = [_first_finding(check, number, json.loads(line)) for number, line in enumerate(lines, 1)]
        yield path.relative_to(folder).as_posix(), len(verdicts), [verdict for verdict in verdicts if verdict]


def _first_finding(check: Callable[[Record], Findings], number: int, record: Record) -> str | None:
    try:
        finding = next(check(record), None)
    except (MoveError, BadPosition) as error:
        finding = f"our engine refuses: {error}"
    return finding and f"record {number}: {finding}"


def check_start(record: Record) -> Findings:
    """The first position of a size."""
    position, board = GAME.start({"size": record["size"]}), board_of(record["size"])
    stones = {side: sorted(name for name, piece in position.pieces() if piece == Piece(side, "stone")) for side in Side}
    bases = {side: [name for name, piece in position.pieces() if piece == Piece(side, "base")] for side in Side}
    yield from differ("greatest height of a tower", board.max_height, record["hmax"])
    yield from differ("bases", bases, {Side.RED: [record["red_base"]], Side.BLUE: [record["blue_base"]]})
    yield from differ("distance of the bases", distance(board.fields[0], board.fields[-1]), record["base_distance"])
    yield from differ("stones", stones, {side: sorted(record[side]) for side in Side})
    yield from differ(
        "numbers of stones", [len(stones[side]) for side in Side], [record["red_count"], record["blue_count"]]
    )
    yield from check_moves(position, record["legal_count"], record["legal_sha256"])
    yield from check_position(position, record["pos_hash"], record["pos"])


def check_game(record: Record) -> Findings:
    """A game, ply by ply: all legal moves before it, position and status after it."""
    position = GAME.start({"size": record["size"]})
    yield from check_position(position, record["start"])
    status = "OK"
    for number, ply in enumerate(record["plies"]):
        yield from differ(f"side to move at ply {number}", letter(position.to_move), ply["p"])
        yield from check_moves(position, ply["n"], ply["ms"], ply.get("moves"))
        if ply["m"] == "":  # a surrender: the referee makes the other side the winner, the position stays
            status = "RED_WIN" if position.to_move is Side.BLUE else "BLUE_WIN"
        else:
            position = position.play(GAME.parse(ply["m"]))
            status = status_of(position)
        yield from check_position(position, ply["h"], ply.get("pos"))
        yield from differ(f"status after ply {number}", status, ply["s"])
    end = record["end"]
    yield from differ("number of plies", len(record["plies"]), end["plies"])
    yield from differ("status at the end", status, end["status"])
    if end["final"] is not None:
        yield from differ("last position", position.to_text(), end["final"])
    if end["kind"] == "surrender":
        yield from differ("outcome before the surrender", position.outcome, None)
    else:
        yield from differ("reason", reason_of(position), REASONS[end["kind"]])


def check_replies(record: Record) -> Findings:
    """A position, and what each of its legal moves leads to."""
    position = TowerWarsPosition.from_text(record["pos"])
    yield from differ("size", position.size, record["size"])
    yield from differ("number of moves", len(record["after"]), record["n"])
    yield from differ("legal moves", legal_texts(position), sorted(after[0] for after in record["after"]))
    for text, _effect, digest, status, kind, replies in record["after"]:
        next_position = position.play(GAME.parse(text))
        yield from check_position(next_position, digest)
        yield from check_end(next_position, status, kind, replies)


def check_edge(record: Record) -> Findings:
    """A position made for one rule: all legal moves, and some moves with what they lead to."""
    position = TowerWarsPosition.from_text(record["pos"])
    yield from differ("size", position.size, record["size"])
    yield from differ("number of moves", len(record["legal"]), record["n"])
    yield from differ("legal moves", legal_texts(position), sorted(record["legal"]))
    for case in record["cases"]:
        if not case["made"]:
            yield from differ(f"whether {case['m']} is refused", refusal(position, case["m"]) is None, False)
            continue
        next_position = position.play(GAME.parse(case["m"]))
        yield from differ(f"position after {case['m']}", next_position.to_text(), case["pos"])
        yield from check_end(next_position, case["status"], case["end"], case["n_next"])


def check_illegal(record: Record) -> Findings:
    """A game so far, and a move that one rule forbids."""
    position = GAME.start({"size": record["size"]})
    for text in record["moves"]:
        position = position.play(GAME.parse(text))
    yield from differ("position", position.to_text(), record["pos"])
    yield from differ("status before", status_of(position), record["status_before"])
    yield from differ(f"code of {record['illegal']}", refusal(position, record["illegal"]), CODES[record["reason"]])
    yield from differ(
        "status after", "ILLEGAL" if position.outcome is None else status_of(position), record["status_after"]
    )


CHECKS: dict[str, Callable[[Record], Findings]] = {
    "start": check_start,
    "games": check_game,
    "positions": check_replies,
    "edge": check_edge,
    "illegal": check_illegal,
}
"""By the name of the data file."""


def check_moves(position: TowerWarsPosition, count: int, digest: str, texts: list[str] | None = None) -> Findings:
    """Number and digest of all legal moves, and the moves themselves where they are given."""
    legal = legal_texts(position)
    yield from differ(f"number of moves of {position!r}", len(legal), count)
    yield from differ(f"digest of the moves of {position!r}", sha256(",".join(legal).encode()).hexdigest(), digest)
    if texts is not None:
        yield from differ(f"moves of {position!r}", legal, sorted(texts))


def check_position(position: TowerWarsPosition, digest: str, text: str | None = None) -> Findings:
    """The digest of the position text, and the text itself where it is given."""
    ours = position.to_text()
    yield from differ(f"digest of {ours}", sha256(ours.encode()).hexdigest()[:16], digest)
    if text is not None:
        yield from differ("position", ours, text)


def check_end(position: TowerWarsPosition, status: str, kind: str, replies: int) -> Findings:
    """Whether and how a move has ended the game, and how many replies there are."""
    yield from differ(f"status of {position!r}", status_of(position), status)
    yield from differ(f"reason of {position!r}", reason_of(position), REASONS[kind])
    expected = 0 if kind == "base" else replies
    yield from differ(f"number of replies in {position!r}", len(legal_texts(position)), expected)


def differ(what: str, ours: object, theirs: object) -> Findings:
    """A finding if the two are not equal."""
    if ours != theirs:
        yield f"{what}: ours {ours}, data {theirs}"


def legal_texts(position: TowerWarsPosition) -> list[str]:
    """All legal moves as sorted texts."""
    return sorted(GAME.format(move) for move in position.legal_moves())


def refusal(position: TowerWarsPosition, text: str) -> str | None:
    """The code with which a move is refused; None if it is not."""
    try:
        position.check(GAME.parse(text))
    except IllegalMove as error:
        return error.code
    return None


def letter(side: Side) -> str:
    """The side as the data name it."""
    return "R" if side is Side.RED else "B"


def status_of(position: TowerWarsPosition) -> str:
    """The status as the data name it."""
    if position.outcome is None:
        return "OK"
    return "RED_WIN" if position.outcome.winner is Side.RED else "BLUE_WIN"


def reason_of(position: TowerWarsPosition) -> str | None:
    """Why the game is over, or None."""
    return None if position.outcome is None else position.outcome.reason


def main(arguments: list[str]) -> int:
    """Print one line per data file; 1 if anything disagrees."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: towerwars_golden.py FOLDER", file=sys.stderr)
        return 2
    agreed = True
    for name, records, disagreements in compare(Path(arguments[0])):
        print(name, records, len(disagreements), flush=True)
        for disagreement in disagreements:
            print(f"{name}: {disagreement}", file=sys.stderr)
        agreed = agreed and not disagreements
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
