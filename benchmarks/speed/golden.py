"""Positions that the games' original programs reached, and moves that they refused, from the data of the tests."""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

from triarena.games import AnyPosition, MoveError, find_game
from triarena.games.towerwars import TowerWarsPosition

Refused: TypeAlias = tuple[AnyPosition, Any]
"""A position and a move that is illegal there."""

TESTS: Final = Path(__file__).parents[2] / "tests"


def golden_positions(name: str) -> list[AnyPosition]:
    """The positions of a game that are not over, in the order of the data."""
    return [position for position in READERS[name]() if position.outcome is None]


def golden_refusals(name: str) -> dict[str, list[Refused]]:
    """What is refused of the moves that the original refused, by our code; what is no move at all is left out."""
    by_code: defaultdict[str, list[Refused]] = defaultdict(list)
    for position, text in REFUSALS[name]():
        try:
            move = find_game(name).parse(text)
        except MoveError:
            continue
        try:
            position.check(move)
        except MoveError as error:
            by_code[error.code].append((position, move))
    return by_code


def _records(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(TESTS / "data" / path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _flowerwars() -> Iterator[AnyPosition]:
    game = find_game("flowerwars")
    for path in ("games", "games-large"):
        for record in _records(f"flowerwars/{path}.jsonl.gz"):
            position = game.start({"size": record["size"]})
            for ply in record["plies"]:
                yield position
                if position.outcome or ply["move"] == "{Surrender}":
                    break
                position = position.play(game.parse(ply["move"]))


def _towerwars() -> Iterator[AnyPosition]:
    for path in ("positions", "small/positions", "edge"):
        for record in _records(f"towerwars/{path}.jsonl.gz"):
            yield TowerWarsPosition.from_text(record["pos"])
    for record in _records("towerwars/small/games.jsonl.gz"):
        yield from (TowerWarsPosition.from_text(ply["pos"]) for ply in record["plies"] if "pos" in ply)


def _mississippi_queen() -> Iterator[AnyPosition]:
    position_of = _golden_module("mississippi_queen").position_of
    for record in _records("mississippi_queen/games.jsonl.gz"):
        for ply in record["plies"]:
            yield position_of(record["board"], ply["state"])


def _golden_module(name: str) -> ModuleType:
    """The module beside the tests that compares a game with its data; it can read their positions."""
    sys.path.append(str(TESTS / "golden"))
    try:
        return import_module(f"{name}_golden")
    finally:
        sys.path.pop()


def _flowerwars_refusals() -> Iterator[tuple[AnyPosition, str]]:
    game = find_game("flowerwars")
    for record in _records("flowerwars/illegal.jsonl.gz"):
        position = game.start({"size": record["size"]})
        try:
            for text in record["moves"]:
                position = position.play(game.parse(text))
        except MoveError:  # there the last of the moves is what is refused
            continue
        yield position, record["illegal"]


def _towerwars_refusals() -> Iterator[tuple[AnyPosition, str]]:
    for record in _records("towerwars/illegal.jsonl.gz"):
        yield TowerWarsPosition.from_text(record["pos"]), record["illegal"]


def _mississippi_queen_refusals() -> Iterator[tuple[AnyPosition, str]]:
    position_of = _golden_module("mississippi_queen").position_of
    for record in _records("mississippi_queen/illegal.jsonl.gz"):
        yield position_of(record["board"], record["state"]), record["move"]


READERS: Final[Mapping[str, Callable[[], Iterator[AnyPosition]]]] = {
    "flowerwars": _flowerwars,
    "towerwars": _towerwars,
    "mississippi_queen": _mississippi_queen,
}
REFUSALS: Final[Mapping[str, Callable[[], Iterator[tuple[AnyPosition, str]]]]] = {
    "flowerwars": _flowerwars_refusals,
    "towerwars": _towerwars_refusals,
    "mississippi_queen": _mississippi_queen_refusals,
}
"""Position, and the text of a move."""
