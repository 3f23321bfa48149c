"""What a bot of the 2024 season told of its games, beside the same games as our journal has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triarena.games import MoveError
from triarena.games.mississippi_queen import GAME, MississippiQueenPosition, Ship
from triarena.protocol.replay import Replay, verify

WORDS = {
    "Right": "right",
    "DownRight": "down_right",
    "DownLeft": "down_left",
    "Left": "left",
    "UpLeft": "up_left",
    "UpRight": "up_right",
}


@dataclass
class Comparison:
    """Counts, and the first sentences about what differs."""

    games: int = 0
    plies: int = 0
    states: int = 0
    """That a bot was shown, and that were found as they are in the journal."""
    predicted: int = 0
    """States that followed a bot's move, and were what its package had made of it."""
    listed: int = 0
    """Moves that the package listed and accepted, and that are legal by our rules."""
    refused: int = 0
    """Moves that it listed although its own rules refuse them, as ours do."""
    ends: dict[str, int] = field(default_factory=dict)
    """How the games ended."""
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        ends = ", ".join(f"{count} {reason}" for reason, count in sorted(self.ends.items()))
        return (
            f"{self.games} games ({ends}), {self.plies} plies: {self.states} states as in the journal, "
            f"{self.predicted} as the package had foretold, {self.listed} listed moves legal, {self.refused} "
            f"others refused by both; "
            f"{len(self.differences)} differences"
        )


def compare(logs: Iterable[Path], replays: Iterable[Replay]) -> Comparison:
    """Compare what bots have told with the games in the journal."""
    by_room = {replay.room: replay for replay in replays}
    found = Comparison()
    positions: dict[str, dict[int, MississippiQueenPosition]] = {}
    for replay in by_room.values():
        verified = verify(replay)
        found.differences += [f"{replay.match}: {one.message}" for one in verified.disagreements]
        found.games += 1
        found.plies += len(replay.plies)
        reason = "no end" if replay.result is None else f"{replay.result.kind} {replay.result.reason}"
        found.ends[reason] = found.ends.get(reason, 0) + 1
        positions[replay.room] = dict(_by_shown_turn(verified.positions))
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines():
            facts = json.loads(line)
            if facts["room"] in positions:
                _compare_facts(facts, positions[facts["room"]], found)
    return found


def _by_shown_turn(positions: Iterable[Any]) -> Iterator[tuple[int, MississippiQueenPosition]]:
    for position in positions:
        assert isinstance(position, MississippiQueenPosition)
        stuck = position.outcome is not None and position.outcome.reason == "no_move"
        yield position.turn + stuck, position


def _compare_facts(facts: dict[str, Any], positions: dict[int, MississippiQueenPosition], found: Comparison) -> None:
    if "error" in facts:
        found.differences.append(f"{facts['room']}: {facts['error'][:200]}")
    if "turn" not in facts:
        return
    where, position = f"{facts['room']}, turn {facts['turn']}", positions.get(facts["turn"])
    if position is None:
        found.differences.append(f"{where}: there is no such turn in the journal")
        return
    if "ships" in facts:
        ours = {"ONE": _ship(position.red), "TWO": _ship(position.blue)}
        _count(found, "states", facts["ships"] == ours, f"{where}: shown {facts['ships']}, stored {ours}")
        if facts["expected"] is not None:
            foretold = facts["expected"] == ours
            _count(found, "predicted", foretold, f"{where}: foretold {facts['expected']}, it is {ours}")
    for actions, accepted in facts.get("listed", ()):
        refusal = _refusal(position, actions)
        agreed = accepted is (refusal is None)
        theirs = "accepted" if accepted else "refused"
        _count(found, "listed" if accepted else "refused", agreed, f"{where}: {actions} was {theirs}; we say {refusal}")


def _refusal(position: MississippiQueenPosition, actions: list[str]) -> str | None:
    try:
        position.check(GAME.read_move({"type": "actions", "actions": [_action(one) for one in actions]}))
    except MoveError as error:
        return error.message
    return None


def _count(found: Comparison, what: str, same: bool, sentence: str) -> None:
    if same:
        setattr(found, what, getattr(found, what) + 1)
    else:
        found.differences.append(sentence)


def _ship(ship: Ship) -> list[Any]:
    words = {word: name for name, word in WORDS.items()}
    return [list(ship.position), words[ship.direction.word], ship.speed, ship.coal, ship.passengers]


def _action(text: str) -> dict[str, object]:
    kind, value = text.split(" ")
    if kind == "Accelerate":
        return {"type": "accelerate", "by": int(value)}
    if kind == "Advance":
        return {"type": "advance", "distance": int(value)}
    return {"type": kind.lower(), "to": WORDS[value]}
