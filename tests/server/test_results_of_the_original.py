"""Results and last states as the original program gave them: games that it played, and moves that it refused."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from triarena.games import IllegalMove, Outcome, Side
from triarena.games.mississippi_queen import GAME, Direction, MississippiQueenPosition, Segment
from triarena.games.mississippi_queen.position import start_position
from triarena.games.mississippi_queen.profiles import SERVER_24_2_5
from triarena.protocol.game_values import MississippiQueenPosition as WirePosition
from triarena.protocol.values import ForfeitReason
from triarena.server import results
from triarena.server.socha.conversation import NAMELESS
from triarena.server.socha.state import write_state
from triarena.server.socha.verdicts import MISTAKES, write_result
from triarena.server.socha.verdicts import reason as why

DATA = Path(__file__).parents[1] / "data" / "mississippi_queen"
BY_CODE = {direction.code: direction for direction in Direction}
OURS = {"MOVEMENT_POINTS_MISSING": ("advance_movement_points_missing", "push_movement_points_missing")}
"""Where the original has one name for mistakes that we tell apart."""


def records(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def played(game: dict[str, Any]) -> MississippiQueenPosition | None:
    """The end of a game; None if by our rules it had ended before, or has a move onto fields that are hidden."""
    board = [Segment(BY_CODE[one["dir"]], tuple(one["center"]), tuple(one["cols"])) for one in game["board"]]
    position = start_position(tuple(board), SERVER_24_2_5)
    for ply in game["plies"]:
        try:
            position = position.play(GAME.parse(ply["move"]))
        except IllegalMove:
            return None
    return position


def wire(position: MississippiQueenPosition) -> WirePosition:
    return WirePosition.model_validate(GAME.write_position(position))


def texts(data: Element) -> list[list[int]]:
    return [[int(part.text or "") for part in score] for score in data.iter("score")]


def test_the_result_of_every_game_is_that_of_the_original() -> None:
    seen: Counter[str] = Counter()
    for game in records("games"):
        end = played(game)
        due = game["result"]
        if end is None or "abort" in due:
            continue
        assert end.outcome is not None
        data = fromstring(write_result(results.by_the_rules(end.outcome), NAMELESS, wire(end)))
        winner = data.find("winner")
        assert winner is not None
        assert winner.attrib.get("team") == due["winner"]
        assert winner.attrib["regular"] == str(due["regular"]).lower()
        assert winner.attrib["reason"] == due["text"]
        assert texts(data) == [due["scores"]["ONE"], due["scores"]["TWO"]]
        seen[due["reason"]] += 1
    assert {"STUCK", "SEGMENT_DISTANCE", "GOAL", "DIFFERING_SCORES", "TIE"} <= set(seen)
    assert seen.total() > 50


def test_the_last_state_of_every_game_is_that_of_the_original() -> None:
    compared = 0
    for game in records("games"):
        end = played(game)
        if end is None or "abort" in game["result"]:
            continue
        due = game["final"]
        state = fromstring(write_state(wire(end), None))
        assert state.attrib["turn"] == str(due["turn"])
        if due["turn"] < 60:
            assert state.attrib["currentTeam"] == due["team"]
        board = state.find("board")
        assert board is not None
        assert board.attrib["nextDirection"] == BY_CODE[due["nextDir"]].name
        assert len(board.findall("segment")) == due["vis"]
        for ship in state.findall("ship"):
            theirs = due[ship.attrib["team"]]
            assert ship.attrib["direction"] == BY_CODE[theirs["dir"]].name
            assert ship.attrib["stuck"] == str(theirs.get("stuck", False)).lower()
            for ours, name in (("speed", "speed"), ("coal", "coal"), ("passengers", "pax"), ("points", "points")):
                assert ship.attrib[ours] == str(theirs[name])
            point = ship.find("position")
            assert point is not None
            assert [int(point.attrib[name]) for name in "qrs"] == theirs["pos"]
        compared += 1
    assert compared > 50


def test_a_refused_move_is_explained_in_the_words_of_the_original() -> None:
    due: dict[str, set[str]] = {}
    for record in records("illegal"):
        if record["kind"] == record["kindRevealedOnly"] and not record["kind"].startswith(("OK", "EXCEPTION")):
            due.setdefault(record["kind"].split(".")[1], set()).add(record["msg"])
    for name, messages in due.items():
        for code in OURS.get(name, (name.lower(),)):
            assert {MISTAKES[code]} == messages, code
    assert len(due) >= 17


@pytest.mark.parametrize(
    ("reason", "due"),
    [
        ("disconnected", "ONE und TWO haben das Spiel verlassen: LOST_CONNECTION"),
        ("no_show", "ONE und TWO haben sich nicht rechtzeitig bereit gemeldet."),
    ],
)
def test_two_who_fail_at_once_are_spoken_of_as_two(reason: ForfeitReason, due: str) -> None:
    start = GAME.start({"rules": "server-24.2.5"}, 1)
    assert why(results.forfeit(reason, list(Side), start, "both"), NAMELESS, None) == due


def test_points_are_said_to_decide_only_where_who_is_stuck_has_not_lost_by_that() -> None:
    said: dict[str, Counter[str]] = {}
    for rules in ("seed", "server-24.2.5"):
        told = said[rules] = Counter[str]()
        for seed in range(60):
            end = played_at_random(rules, seed)
            if end.reason == "no_move":
                told[results.by_the_rules(end).detail.message] += 1
    because = "the game is over because the side to move has no legal move"
    assert said["server-24.2.5"].keys() == {because}
    assert because + "; points decide" in said["seed"]


def played_at_random(rules: str, seed: int) -> Outcome:
    rng = random.Random(seed)
    position = GAME.start({"rules": rules}, seed)
    while position.outcome is None:
        position = position.play(rng.choice(list(position.legal_moves())))
    return position.outcome
