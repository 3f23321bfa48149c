"""Checks the engine of Mississippi Queen against what the original program of 2024 did, record by record.

    python tests/golden/mississippi_queen_golden.py FOLDER

prints one line per file, ``name records disagreements``, what disagrees on the error output, and exits with 1 if
anything does. FOLDER holds the data files, the full ones or a selection. ONE is red, TWO is blue; everything is
played under the profile ``server-24.2.5``. Where our rules decide against the original, and nowhere else, the
expectation is ours:

* only revealed fields exist: a *blind* move (onto a hidden field) is refused and ends the comparison of its game,
  and a side that has only such moves has none;
* after a game ended by "no move", the original passes the turn once more;
* every single distance of an advance must be at least 1;
* sandbanks follow our rules (``SANDBANK_CODES``);
* points always follow from field and passengers, whatever the hand-made start of a scenario says.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from triarena.games import IllegalMove, Outcome, Side
from triarena.games.mississippi_queen import GAME, Actions, Advance, MississippiQueenPosition, Segment, Ship
from triarena.games.mississippi_queen.boards import is_playable
from triarena.games.mississippi_queen.geometry import DIRECTIONS, ROWS, cell_at, field_of, next_center, next_directions
from triarena.games.mississippi_queen.position import settled
from triarena.games.mississippi_queen.profiles import SERVER_24_2_5
from triarena.games.mississippi_queen.river import GOAL, PASSABLE, SANDBANK, STREAM, River, rivers, split_taken
from triarena.games.mississippi_queen.ship import points

Record: TypeAlias = dict[str, Any]

CODES = {
    "MoveMistake.NO_ACTIONS": "no_actions",
    "MoveMistake.PUSH_ACTION_REQUIRED": "push_action_required",
    "MoveMistake.FIRST_ACTION_ACCELERATE": "first_action_accelerate",
    "MoveMistake.MOVEMENT_POINTS_LEFT": "movement_points_left",
    "AccelerationProblem.ZERO_ACC": "zero_acc",
    "AccelerationProblem.ABOVE_MAX_SPEED": "above_max_speed",
    "AccelerationProblem.BELOW_MIN_SPEED": "below_min_speed",
    "AccelerationProblem.INSUFFICIENT_COAL": "insufficient_coal",
    "TurnProblem.NOT_ENOUGH_COAL_FOR_ROTATION": "not_enough_coal_for_rotation",
    "AdvanceProblem.INVALID_DISTANCE": "invalid_distance",
    "AdvanceProblem.MOVEMENT_POINTS_MISSING": "advance_movement_points_missing",
    "AdvanceProblem.FIELD_IS_BLOCKED": "field_is_blocked",
    "AdvanceProblem.INSUFFICIENT_PUSH": "insufficient_push",
    "AdvanceProblem.SHIP_ALREADY_IN_TARGET": "ship_already_in_target",
    "PushProblem.MOVEMENT_POINTS_MISSING": "push_movement_points_missing",
    "PushProblem.INVALID_FIELD_PUSH": "invalid_field_push",
    "PushProblem.BLOCKED_FIELD_PUSH": "blocked_field_push",
    "PushProblem.SAME_FIELD_PUSH": "same_field_push",
    "PushProblem.BACKWARD_PUSHING_RESTRICTED": "backward_pushing_restricted",
    "OK": None,
}
"""Our code of each reason of the original; None where the move is legal."""

SANDBANK_CODES = {
    (source, move): code
    for source, code, moves in (
        ("on sandbank", "on_sandbank", "A1 M1, A2 M1"),
        ("on sandbank", "rotation_on_sandbank_not_allowed", "TUR M1, TL, TUL M1 TR"),
        ("on sandbank", "sandbank_push", "PUR"),
        ("on sandbank", "invalid_distance", "M-2, M2"),
        ("on sandbank", "sand_bank_end", "M1 TUR, M1 M-1"),
        ("on sandbank", None, "M-1"),
        ("sandbank ahead", "move_end_on_sandbank", "A3 M4, A2 M2 TUR M1"),
        ("sandbank ahead", None, "M1"),
        # Two ships on one field exist only within a move; ours refuses to leave the sandbank first.
        ("both on sandbank", "sand_bank_end", "M1 PUR"),
        ("both on sandbank", "sandbank_push", "PUR, PR, PL M1, PL"),
        ("push onto sandbank", None, "A1 M1 PUR"),
    )
    for move in moves.split(", ")
}
"""Our code for each move on a board with sandbanks, which the original has but cannot play."""

REASONS = {"GOAL": "goal", "STUCK": "no_move", "SEGMENT_DISTANCE": "segment_distance"}
CONDITIONS = {"goal": "goal", "rounds": "round_limit"}
"""Our reason where the original names only how the winner was found: what ended the game."""

_DIRECTIONS = {direction.code: direction for direction in DIRECTIONS}


def run(folder: Path) -> dict[str, tuple[int, int]]:
    """By file of the folder: the records checked, and those that disagree."""
    return {name: (count, len(wrong)) for name, (count, wrong) in findings(folder).items()}


def findings(folder: Path) -> dict[str, tuple[int, list[str]]]:
    """By file of the folder: the records checked, and a sentence about each that disagrees."""
    found: dict[str, tuple[int, list[str]]] = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        check, count, wrong = CHECKS[path.name], 0, []
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                count += 1
                try:
                    check(json.loads(line))
                except Disagreement as disagreement:
                    wrong.append(f"{path.name}, record {count}: {disagreement}")
        found[path.name] = (count, wrong)
    return found


class Disagreement(Exception):
    """The engine and a record differ."""


def agree(what: str, ours: object, theirs: object) -> None:
    """Raise Disagreement unless the two are equal."""
    if ours != theirs:
        raise Disagreement(f"{what}: ours is {ours!r}, the record has {theirs!r}")


def board_of(wire: list[Record]) -> tuple[Segment, ...]:
    """A board of the data; checks that our geometry puts its segments where they are."""
    segments: list[Segment] = []
    for one in wire:
        direction = _DIRECTIONS[one["dir"]]
        agree("direction allowed", direction in next_directions([s.direction for s in segments]), True)
        center = next_center([s.center for s in segments], direction)
        agree("center", list(center), one["center"])
        segments.append(Segment(direction, center, tuple(one["cols"])))
    return tuple(segments)


def ship_of(wire: Record) -> Ship:
    """A ship of the data."""
    direction = _DIRECTIONS[wire["dir"]]
    return Ship(cell_at(_triple(wire["pos"])), direction, wire["speed"], wire["coal"], wire["pax"], wire["freeTurns"])


def position_of(board: list[Record], state: Record) -> MississippiQueenPosition:
    """The whole position of a state of the data, whether or not the rules can reach it."""
    segments, taken = split_taken(board_of(board))
    river, *beyond = rivers(segments, state["vis"])
    for index, passenger in enumerate(river.passengers):
        taken |= (_segment(river, passenger.cell) not in state["wait"]) << index
    sandbanks = max("".join(segment.columns).count("S") for segment in segments)
    to_move = Side.RED if state["team"] == "ONE" else Side.BLUE
    red, blue = ship_of(state["ONE"]), ship_of(state["TWO"])
    return settled(river, tuple(beyond), SERVER_24_2_5, sandbanks, state["turn"], to_move, red, blue, taken)


def state_of(position: MississippiQueenPosition) -> Record:
    """A position in the form of the data."""
    river = position.river
    whole = position.beyond[-1] if position.beyond else river
    following = river.segments[-1].direction if river.next_direction is None else river.next_direction
    return {
        "turn": position.turn,
        "round": (position.turn + 1) // 2,
        "team": "ONE" if position.to_move is Side.RED else "TWO",
        "vis": len(river.segments),
        "nextDir": following.code,
        "wait": sorted(
            {_segment(whole, p.cell) for index, p in enumerate(whole.passengers) if not position.taken >> index & 1}
        ),
        "ONE": _ship_form(river, position.red),
        "TWO": _ship_form(river, position.blue),
    }


def _ship_form(river: River, ship: Ship) -> Record:
    return {
        "pos": list(field_of(ship.cell)),
        "dir": ship.direction.code,
        "speed": ship.speed,
        "coal": ship.coal,
        "pax": ship.passengers,
        "freeTurns": ship.free_turns,
        "points": points(river, ship),
        "mov": ship.speed,
    }


def move_of(text: str) -> Actions:
    """A move of the data, also the empty one, which no notation has."""
    return GAME.parse(text) if text else ()


def _segment(river: River, cell: int) -> int:
    return next(index for index, segment in enumerate(river.segments) if cell in segment.cells())


def _triple(wire: list[int]) -> tuple[int, int, int]:
    q, r, s = wire
    return (q, r, s)


def compare_legal_moves(position: MississippiQueenPosition, count: int, digest: str | None = None) -> list[str]:
    """The texts of our list, which must have that number and digest."""
    texts = [GAME.format(move) for move in position.legal_moves()]
    agree("number of legal moves", len(texts), count)
    if digest is not None:
        agree("digest of the legal moves", sha256("\n".join(sorted(texts)).encode()).hexdigest(), digest)
    return texts


def compare_state(position: MississippiQueenPosition, state: Record) -> None:
    """The position must be that state; after a "no move" end the original has passed the turn once more."""
    ours, theirs = state_of(position), json.loads(json.dumps(state))
    theirs["wait"].sort()
    stuck = [team for team in ("ONE", "TWO") if theirs[team].pop("stuck", False)]
    for team in stuck:
        agree("the stuck side", [ours["team"]], stuck)
        for form in (ours, theirs):
            for key in ("turn", "round", "team"):
                form.pop(key)
            form[team].pop("freeTurns")
    for key in theirs:
        agree(key, ours[key], theirs[key])


def compare_result(position: MississippiQueenPosition, result: Record) -> None:
    """The end of the game, or that there is none, and the scores."""
    for side, team in ((Side.RED, "ONE"), (Side.BLUE, "TWO")):
        score = position.score(side)
        agree(f"score of {team}", [score.points, dict(score.extras)["passengers"]], result["scores"][team][1:])
    outcome = position.outcome
    agree("over", outcome is not None, result["over"])
    if outcome is not None:
        agree("winner", _team(outcome.winner), result["winner"])
        reason = REASONS.get(result["reason"]) or CONDITIONS[result["conds"][0]]
        agree("reason", outcome.reason, reason)


def compare_no_visible_move(position: MississippiQueenPosition) -> None:
    """The side to move has only blind moves: for us that is none, and the other side wins."""
    agree("legal moves", list(position.legal_moves()), [])
    outcome = position.outcome
    if not isinstance(outcome, Outcome):
        raise Disagreement("a side without a visible move is not stuck")
    agree("end", (outcome.reason, outcome.winner), ("no_move", position.to_move.other))


def code_of(position: MississippiQueenPosition, move: Actions) -> str | None:
    """The code with which a move is refused, the same by check and play; None if it is legal."""
    codes: list[str | None] = []
    for call in (position.check, position.play):
        try:
            call(move)
        except IllegalMove as error:
            codes.append(error.code)
        else:
            codes.append(None)
    agree("code of play", codes[1], codes[0])
    return codes[0]


def _team(side: Side | None) -> str | None:
    return None if side is None else "ONE" if side is Side.RED else "TWO"


def check_board(record: Record) -> None:
    """Coordinates, directions, contents and stream of all 160 fields."""
    wire = [
        {"dir": one["dir"], "center": one["center"], "cols": list(_columns(one["fields"]))}
        for one in record["segments"]
    ]
    river = River(board_of(wire), None)
    for index, (segment, one) in enumerate(zip(river.segments, record["segments"], strict=True)):
        for place, (cell, field) in enumerate(zip(segment.cells(), one["fields"], strict=True)):
            kind, mark = river.kinds[cell], field["t"]
            agree("field", [field_of(cell), *divmod(place, ROWS)], [_triple(field["c"]), *field["xy"]])
            agree("stream", bool(kind & STREAM), field["stream"] is not None)
            agree("passable", bool(kind & PASSABLE), mark in "WGS")
            agree("goal", bool(kind & GOAL), mark == "G")
            agree("sandbank", bool(kind & SANDBANK), mark == "S")
            agree("points", river.progress[cell], 5 * index + place // ROWS)


def _columns(fields: list[Record]) -> Iterator[str]:
    marks = [str(int(_DIRECTIONS[one["dir"]])) if one["t"] == "P" else one["t"] for one in fields]
    for start in range(0, len(marks), ROWS):
        yield "".join(marks[start : start + ROWS])


def check_special_board(record: Record) -> None:
    """A board on which a dock or the river is blocked is never drawn under the profile ``seed``."""
    board = board_of(record["board"])
    agree("playable", is_playable(board), False)
    if "dock" in record:
        river = River(board, None)
        passenger = next(p for p in river.passengers if p.cell == cell_at(_triple(record["passenger"])))
        agree("dock", passenger.dock, _triple(record["dock"]))
        agree("dock in the water", bool(river.kinds[passenger.dock_cell] & PASSABLE), False)


def check_game(record: Record) -> None:
    """A whole game: every state, every list of legal moves, the end."""
    position = position_of(record["board"], record["plies"][0]["state"])
    for ply in record["plies"]:
        compare_state(position, ply["state"])
        if ply["n"] == 0:
            compare_no_visible_move(position)
            return
        texts = compare_legal_moves(position, ply["n"], ply["sha"])
        if "moves" in ply:
            agree("legal moves", sorted(texts), sorted(ply["moves"]))
        move = move_of(ply["move"])
        if ply["move"] not in texts:
            agree("blind move", code_of(position, move) in ("field_is_blocked", "invalid_field_push"), True)
            agree("hidden fields matter", ply["nServer"] > ply["n"], True)
            return
        position.check(move)
        position = position.play(move)
    compare_state(position, record["final"])
    if record["result"].get("abort") == "NO_VISIBLE_MOVE":
        compare_no_visible_move(position)
    else:
        compare_result(position, record["result"])


def check_illegal(record: Record) -> None:
    """A move in a state, and the one rule that it breaks."""
    position = position_of(record["board"], record["state"])
    move = move_of(record["move"])
    if any("S" in column for segment in record["board"] for column in segment["cols"]):
        expected = SANDBANK_CODES[record["src"].removeprefix("hand:"), record["move"]]
    else:
        expected = _expected_code(position, move, CODES[record["kindRevealedOnly"]])
    agree(f"code of {record['move']!r}", code_of(position, move), expected)
    listed = record["move"] in map(GAME.format, position.legal_moves())
    agree(f"{record['move']!r} is listed, but refused", listed and expected is not None, False)


def _expected_code(position: MississippiQueenPosition, move: Actions, theirs: str | None) -> str | None:
    """Their code, unless a distance below 1 comes first: before that our rules are theirs."""
    low = next((i for i, action in enumerate(move) if isinstance(action, Advance) and action.distance < 1), None)
    if low is None:
        return theirs
    while low and isinstance(move[low - 1], Advance):
        low -= 1
    before = code_of(position, move[:low])
    breaks_before = before not in (None, "no_actions", "movement_points_left")
    return theirs if breaks_before or theirs == "push_action_required" else "invalid_distance"


def check_scenario(record: Record) -> None:
    """A few moves made to show one rule each."""
    position = position_of(record["board"], record["start"])
    agree("over at the start", position.outcome is not None, record["startResult"]["over"])
    for step in record["steps"]:
        if step["overBefore"]:
            return
        if step["n"] == 0:
            compare_no_visible_move(position)
            return
        texts = compare_legal_moves(position, step["n"])
        move = move_of(step["move"])
        expected = _expected_code(position, move, CODES[step["outcome"]])
        code = code_of(position, move)
        if expected is None and code is not None and step["nServer"] > step["n"]:
            agree(
                "blind move", (code in ("field_is_blocked", "invalid_field_push"), step["move"] in texts), (True, False)
            )
            return
        agree(f"code of {step['move']!r}", code, expected)
        if code is not None:
            continue
        position = position.play(move)
        compare_state(position, step["after"])
        compare_result(position, step["result"])


CHECKS: dict[str, Callable[[Record], None]] = {
    "boards.jsonl.gz": check_board,
    "boards-special.jsonl.gz": check_special_board,
    "games.jsonl.gz": check_game,
    "illegal.jsonl.gz": check_illegal,
    "scenarios.jsonl.gz": check_scenario,
}


def main(arguments: list[str]) -> int:
    """The command line."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: mississippi_queen_golden.py FOLDER", file=sys.stderr)
        return 2
    found = findings(Path(arguments[0]))
    for name, (count, wrong) in found.items():
        print(name, count, len(wrong))
        for sentence in wrong:
            print(sentence, file=sys.stderr)
    return 1 if not found or any(wrong for _, wrong in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
