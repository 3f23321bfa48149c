"""The answers of triarena.games.service, on the small game of docs/add-a-game.md."""

from __future__ import annotations

import json
from hashlib import sha256
from types import ModuleType
from typing import Any

import pytest

from triarena.games.service import MAX_PERFT_COUNT, Refused, answer, digest, perft


@pytest.fixture
def ask(nim: ModuleType) -> Any:
    """Ask Nim; a request is a value, or the bytes of a line."""

    def ask(request: object) -> Any:
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        text = answer(nim.GAME, line)
        assert "\n" not in text
        assert text.isascii()
        return json.loads(text)

    return ask


def test_each_kind_of_question_has_its_key_in_the_order_asked(ask: Any) -> None:
    request = {"options": {"heaps": 2}, "ask": ["outcome", "legal", "position", "count", {"perft": 2}]}
    assert list(ask(request).items()) == [
        ("outcome", None),
        ("legal", ["1-1", "2-1", "2-2"]),
        ("position", {"game": "nim", "heaps": [1, 2], "to_move": "red"}),
        ("count", 3),
        ("perft", 5),
    ]


def test_the_digest_hashes_the_sorted_texts_each_with_a_newline(ask: Any) -> None:
    expected = sha256(b"1-1\n2-1\n2-2\n").hexdigest()
    assert ask({"options": {"heaps": 2}, "ask": ["digest"]}) == {"digest": expected}
    assert digest(["2-2", "1-1", "2-1"]) == expected


def test_a_digest_sorts_by_bytes() -> None:
    assert digest(["é", "z", "Z"]) == sha256("Z\nz\né\n".encode()).hexdigest()


def test_a_kind_asked_several_times_has_the_list_of_its_answers(ask: Any) -> None:
    assert ask({"ask": [{"perft": 0}, "count", {"perft": 1}]}) == {"perft": [1, 6], "count": 6}


def test_legal_moves_in_wire_form_come_in_the_order_of_their_texts(ask: Any) -> None:
    answers = ask({"options": {"heaps": 2}, "ask": ["legal", "moves"]})
    assert answers["legal"] == ["1-1", "2-1", "2-2"]
    assert answers["moves"] == [
        {"type": "take", "heap": 1, "matches": 1},
        {"type": "take", "heap": 2, "matches": 1},
        {"type": "take", "heap": 2, "matches": 2},
    ]


def test_a_move_is_read_in_either_form_and_answered_in_both(ask: Any) -> None:
    wire = {"type": "take", "heap": 2, "matches": 1}
    assert ask({"ask": [{"read": "2-1"}, {"read": wire}]})["read"] == [{"text": "2-1", "wire": wire}] * 2


def test_a_move_is_read_whether_or_not_it_is_legal(ask: Any) -> None:
    assert ask({"ask": [{"read": "1-9"}]})["read"]["wire"] == {"type": "take", "heap": 1, "matches": 9}


def test_what_is_no_move_is_read_as_code_and_sentence(ask: Any) -> None:
    first, second = ask({"ask": [{"read": "one"}, {"read": 7}]})["read"]
    assert first["code"] == second["code"] == "malformed_move"
    assert first["message"]


def test_moves_may_be_texts_or_wire_forms(ask: Any) -> None:
    request = {"moves": ["3-3", {"type": "take", "heap": 2, "matches": 2}], "ask": ["legal"]}
    assert ask(request) == {"legal": ["1-1"]}


def test_a_position_that_was_answered_can_be_asked_about(ask: Any) -> None:
    position = ask({"moves": ["3-3"], "ask": ["position"]})["position"]
    assert ask({"position": position, "moves": ["2-2"], "ask": ["legal"]}) == {"legal": ["1-1"]}


def test_the_id_is_echoed_also_with_an_error(ask: Any) -> None:
    assert ask({"id": "a", "ask": ["count"]}) == {"id": "a", "count": 6}
    assert ask({"id": 7, "ask": ["no such thing"]})["id"] == 7


def test_a_finished_game_has_an_outcome_and_no_continuation(ask: Any) -> None:
    request = {"options": {"heaps": 1}, "moves": ["1-1"], "ask": ["outcome", "legal", {"perft": 1}, {"perft": 0}]}
    outcome = {"winner": "red", "reason": "last_match", "scores": {"red": 1, "blue": 0}}
    assert ask(request) == {"outcome": outcome, "legal": [], "perft": [0, 1]}


def test_check_says_why_a_move_is_illegal(ask: Any) -> None:
    answers = ask({"ask": [{"check": "1-1"}, {"check": "1-2"}, {"check": "one"}, {"check": None}]})["check"]
    assert [a.get("code") for a in answers] == [None, "too_many", "malformed_move", "malformed_move"]
    assert answers[1]["message"] == "heap 1 has 1 matches left"


def test_a_move_that_cannot_be_played_is_named_with_index_text_and_code(ask: Any) -> None:
    wire = {"type": "take", "heap": 3, "matches": 9}
    assert ask({"moves": ["1-1", wire]}) == {
        "error": {
            "code": "too_many",
            "message": "move 1, '3-9': heap 3 has 3 matches left",
            "index": 1,
            "move": "3-9",
        }
    }


def test_a_perft_that_is_too_large_is_given_up(nim: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triarena.games.service.MAX_PERFT_COUNT", 1000)
    with pytest.raises(Refused, match="gave up after 1,000 sequences") as caught:
        perft(nim.GAME.start({"heaps": 9}), 8)
    assert caught.value.error["code"] == "perft_too_large"
    assert MAX_PERFT_COUNT > 1000


BAD_LINES = {
    b"": "bad_json",
    b"\n": "bad_json",
    b"{": "bad_json",
    b"\xff{}": "bad_json",
    b"\xef\xbb\xbf{}": "bad_json",
    b'{"seed": NaN}': "bad_json",
    b'{"seed": -Infinity}': "bad_json",
    b'{"moves": [1e999]}': "bad_json",
    b'{"seed": ' + b"9" * 5000 + b"}": "bad_json",
    b"[" * 100_000: "bad_json",
    b'{"moves": ' + b"[" * 40 + b"]" * 40 + b"}": "bad_json",
    b'{"id": "\\ud800"}': "bad_json",
    b'{"moves": [{"\\uDFFF": 1}]}': "bad_json",
    b"[]": "bad_request",
    b"null": "bad_request",
    b'"count"': "bad_request",
    b'{"id": 1, "id": 1}': "bad_request",
    b'{"id": true}': "bad_request",
    b'{"id": [1]}': "bad_request",
    b'{"move": ["1-1"]}': "bad_request",
    b'{"ask": "count"}': "bad_request",
    b'{"ask": [1]}': "bad_request",
    b'{"ask": [["count"]]}': "bad_request",
    b'{"ask": ["perft"]}': "bad_request",
    b'{"ask": [{"count": 1}]}': "bad_request",
    b'{"ask": [{"perft": 9}]}': "bad_request",
    b'{"ask": [{"perft": true}]}': "bad_request",
    b'{"ask": [{"perft": -1}]}': "bad_request",
    b'{"ask": [{"perft": 1, "check": "1-1"}]}': "bad_request",
    b'{"ask": [{}]}': "bad_request",
    b'{"moves": "1-1"}': "bad_request",
    b'{"moves": null}': "bad_request",
    b'{"seed": 1.0}': "bad_request",
    b'{"seed": true}': "bad_request",
    b'{"seed": 9223372036854775808}': "bad_request",
    b'{"position": {}, "seed": 1}': "bad_request",
    b'{"position": {}, "options": {}}': "bad_request",
    b'{"position": {}}': "bad_position",
    b'{"position": null}': "bad_position",
    b'{"options": []}': "bad_options",
    b'{"options": {"heaps": 99}}': "bad_options",
    b'{"options": {"size": 3}}': "bad_options",
    b'{"moves": [1.5]}': "malformed_move",
    b'{"moves": ["\\u0663-1"]}': "malformed_move",
}


@pytest.mark.parametrize(("line", "code"), BAD_LINES.items(), ids=lambda value: str(value)[:40])
def test_a_bad_line_is_answered_with_its_code_and_a_sentence(ask: Any, line: bytes, code: str) -> None:
    error = ask(line)["error"]
    assert error["code"] == code
    assert 10 < len(error["message"]) < 300


def test_an_unknown_key_is_refused_with_the_known_ones(ask: Any) -> None:
    message = ask({"mvoes": []})["error"]["message"]
    assert message == "a request has no key 'mvoes'; it may have id, options, seed, position, moves, ask"
