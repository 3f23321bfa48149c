"""Replays: their stored form, and what a replay that was tampered with is told."""

from __future__ import annotations

import json
import random
from itertools import islice
from typing import Any

import pytest

from triarena.games import AnyPosition, Side, find_game
from triarena.protocol.replay import FORMAT, BadReplay, Replay, from_json, to_json, verify

GAMES: dict[str, dict[str, int | str]] = {
    "flowerwars": {"size": 4},
    "towerwars": {"size": 4, "max_plies": 1000},
    "mississippi_queen": {"rules": "seed", "sandbanks": 0},
}


def played(name: str, seed: int, plies: int = 1000) -> dict[str, Any]:
    """A match by chance, recorded as the server does it."""
    game, rng = find_game(name), random.Random(seed)
    position: AnyPosition = game.start(GAMES[name], seed)
    turns: list[dict[str, Any]] = []
    while position.outcome is None and len(turns) < plies:
        move = rng.choice(list(islice(position.legal_moves(), 200)))
        side = position.to_move.value
        turns.append(
            {"ply": len(turns), "side": side, "move": game.write_move(move), "text": game.format(move), "used_ms": 1.5}
        )
        position = position.play(move)
    recorded: dict[str, Any] = {
        "format": FORMAT,
        "software": "triarena 0.1.0",
        "match": "m1",
        "room": "r1",
        "game": name,
        "rules_version": game.rules_version,
        "options": GAMES[name],
        "seed": seed,
        "time_control": {"red": {"type": "per_move", "move_ms": 2000.0}, "blue": {"type": "unlimited"}},
        "red": "Ada",
        "blue": "Blaise",
        "started_at": "2025-03-14T10:00:00+00:00",
        "ended_at": "2025-03-14T10:02:00+00:00",
        "plies": turns,
    }
    if position.outcome is not None:
        scores = {side: position.outcome.score(side) for side in Side}
        recorded["result"] = {
            "kind": "outcome",
            "winner": position.outcome.winner,
            "reason": position.outcome.reason,
            "sides": {side: {"score": has.points, "extras": dict(has.extras)} for side, has in scores.items()},
            "detail": {"message": "over"},
        }
    return recorded


def replay_of(recorded: dict[str, Any]) -> Replay:
    return from_json(json.dumps(recorded))


def complaints(recorded: dict[str, Any]) -> list[tuple[int | None, str]]:
    return [(d.ply, d.message) for d in verify(replay_of(recorded)).disagreements]


def forfeit(reason: str, **detail: Any) -> dict[str, Any]:
    zero = {"score": 0, "extras": {}}
    return {
        "kind": "forfeit",
        "winner": "blue",
        "reason": reason,
        "sides": {"red": zero, "blue": zero},
        "detail": {"message": "", "offenders": ["red"], **detail},
    }


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(5))
def test_a_match_by_the_rules_is_verified(name: str, seed: int) -> None:
    recorded = played(name, seed)
    verified = verify(replay_of(recorded))
    assert verified.disagreements == ()
    assert len(verified.positions) == len(recorded["plies"]) + 1
    assert verified.positions[-1].outcome is not None


@pytest.mark.parametrize("name", GAMES)
def test_a_replay_survives_its_stored_form(name: str) -> None:
    replay = replay_of(played(name, 1))
    assert from_json(to_json(replay)) == replay
    assert from_json(to_json(replay).encode()) == replay


def test_unknown_fields_of_a_replay_are_ignored() -> None:
    recorded = played("towerwars", 1)
    assert replay_of({**recorded, "weather": "fair"}) == replay_of(recorded)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("{", "not_json", "not even JSON"),
        ("[" * 100_000, "not_json", "not even JSON"),
        (b"\xff", "not_json", "not even JSON"),
        ("[]", "invalid_replay", "JSON object"),
        ("{}", "invalid_replay", "'format'"),
        ('{"format": 2}', "newer_format", "update the program"),
        ('{"format": "1"}', "invalid_replay", "format"),
        ('{"format": 1}', "invalid_replay", "software"),
    ],
)
def test_what_is_no_replay_is_refused_in_a_sentence(text: str | bytes, code: str, says: str) -> None:
    with pytest.raises(BadReplay, match=says) as caught:
        from_json(text)
    assert caught.value.code == code


def test_a_wrong_text_is_found_at_its_ply() -> None:
    recorded = played("towerwars", 1)
    true = recorded["plies"][3]["text"]
    recorded["plies"][3]["text"] = "A1->B2"
    assert complaints(recorded) == [(3, f"the move is {true}, but its text says A1->B2")]


def test_a_wrong_side_is_found_at_its_ply() -> None:
    recorded = played("towerwars", 1)
    recorded["plies"][2]["side"] = "blue"
    assert complaints(recorded) == [(2, "blue moved, but it was the turn of red")]


def test_a_wrong_number_is_found_at_its_ply() -> None:
    recorded = played("towerwars", 1)
    recorded["plies"][2]["ply"] = 7
    assert complaints(recorded) == [(2, "the ply is numbered 7")]


def test_an_illegal_ply_ends_the_verification_there() -> None:
    recorded = played("towerwars", 1)
    recorded["plies"][4] |= {"move": {"type": "step", "start": "A1", "target": "A2"}, "text": "A1->A2"}
    verified = verify(replay_of(recorded))
    assert [d.ply for d in verified.disagreements] == [4]
    assert len(verified.positions) == 5


def test_a_move_of_another_game_is_a_disagreement() -> None:
    recorded = played("towerwars", 1)
    recorded["plies"][0]["move"] = {"type": "end"}
    assert [ply for ply, _ in complaints(recorded)] == [0]


def test_a_ply_after_the_end_is_a_disagreement() -> None:
    recorded = played("towerwars", 1)
    recorded["plies"].append({**recorded["plies"][-1], "ply": len(recorded["plies"])})
    assert complaints(recorded)[0][0] == len(recorded["plies"]) - 1


@pytest.mark.parametrize("change", [{"winner": None}, {"reason": "points"}])
def test_another_winner_or_reason_than_the_rules_say_is_found(change: dict[str, Any]) -> None:
    recorded = played("towerwars", 1)
    recorded["result"] |= change
    ((ply, message),) = complaints(recorded)
    assert ply is None
    assert "winner" in message


@pytest.mark.parametrize("name", GAMES)
def test_other_scores_than_the_rules_say_are_found(name: str) -> None:
    recorded = played(name, 2)
    recorded["result"]["sides"]["blue"]["score"] += 1
    ((_, message),) = complaints(recorded)
    assert message.startswith("blue has")


def test_an_outcome_of_a_game_that_goes_on_is_found() -> None:
    whole, part = played("towerwars", 1), played("towerwars", 1, plies=5)
    ((_, message),) = complaints({**part, "result": whole["result"]})
    assert "the game goes on" in message


def test_a_forfeit_of_a_game_that_was_decided_is_found() -> None:
    ((_, message),) = complaints({**played("towerwars", 1), "result": forfeit("timeout")})
    assert "the rules had decided" in message


def test_a_match_without_a_result_is_no_disagreement() -> None:
    assert complaints(played("towerwars", 1, plies=5)) == []


@pytest.mark.parametrize("reason", ["timeout", "disconnected", "surrender", "no_show"])
def test_a_forfeit_of_a_game_that_went_on_is_verified(reason: str) -> None:
    assert complaints({**played("towerwars", 1, plies=5), "result": forfeit(reason)}) == []


def test_the_offender_of_a_forfeit_does_not_win() -> None:
    result = {**forfeit("timeout"), "winner": "red"}
    ((_, message),) = complaints({**played("towerwars", 1, plies=5), "result": result})
    assert "the winner is blue" in message


def test_nobody_wins_when_both_forfeit() -> None:
    result = {**forfeit("no_show", offenders=["red", "blue"]), "winner": None}
    assert complaints({**played("towerwars", 1, plies=0), "result": result}) == []


def illegal(**detail: Any) -> dict[str, Any]:
    """Red's base moves at ply 4, which no rule allows."""
    result = forfeit("illegal_move", **({"ply": 4, "move": "A1->A2", "code": "base_never_moves"} | detail))
    return {**played("towerwars", 1, plies=4), "result": result}


def test_a_forfeit_by_illegal_move_is_verified() -> None:
    assert complaints(illegal()) == []


def test_a_forfeit_by_what_is_no_move_at_all_is_verified() -> None:
    assert complaints(illegal(move="{'type': 'end'}", code="malformed_move")) == []


@pytest.mark.parametrize(
    ("detail", "says"),
    [
        ({"code": "own_base"}, "breaks the rule base_never_moves"),
        ({"ply": 3}, "ply 4, not 3"),
        ({"offenders": ["blue"]}, "only be that of red"),
    ],
)
def test_a_wrong_account_of_an_illegal_move_is_found(detail: dict[str, Any], says: str) -> None:
    assert any(says in message for _, message in complaints(illegal(**detail)))


def test_a_legal_move_is_no_reason_to_forfeit() -> None:
    position = verify(replay_of(played("towerwars", 1, plies=4))).positions[-1]
    text = find_game("towerwars").format(next(iter(position.legal_moves())))
    ((_, message),) = complaints(illegal(move=text))
    assert f"{text} is legal" in message


def aborted(reason: str, **changes: Any) -> dict[str, Any]:
    return {**forfeit(reason, offenders=[]), "kind": "aborted", "winner": None, **changes}


def test_an_aborted_match_is_verified() -> None:
    assert complaints({**played("towerwars", 1, plies=5), "result": aborted("cancelled")}) == []


def test_an_aborted_match_has_no_winner() -> None:
    ((_, message),) = complaints({**played("towerwars", 1, plies=5), "result": aborted("cancelled", winner="red")})
    assert "no winner" in message


def test_the_ply_limit_is_reached_after_exactly_so_many_plies() -> None:
    recorded = {**played("towerwars", 1, plies=6), "result": aborted("ply_limit")}
    assert len(complaints(recorded)) == 1
    assert complaints({**recorded, "options": {"size": 4, "max_plies": 6}}) == []


def test_a_game_that_is_not_installed_is_said_to_be_so() -> None:
    ((_, message),) = complaints({**played("towerwars", 1), "game": "chess"})
    assert "no game 'chess'" in message


def test_options_that_the_game_does_not_have_are_said_to_be_so() -> None:
    assert len(complaints({**played("towerwars", 1), "options": {"size": 99}})) == 1


def test_another_version_of_the_rules_is_mentioned() -> None:
    ((_, message),) = complaints({**played("towerwars", 1), "rules_version": 99})
    assert "version 99" in message
