"""Questions about a game's rules as lines of JSON: the door to the engines for other languages.

One request per line, one answer per line, nothing kept between them:

    {"moves": ["A5->A6"], "ask": ["count", {"check": "A1->B1"}]}

A request may hold ``id`` (echoed), ``options`` and ``seed`` or a ``position`` to start from, ``moves``
(texts or wire forms) to play from there, and ``ask``, a list of

* ``"count"``, ``"legal"``, ``"digest"``: of the legal moves the number, the canonical texts in the
  engine's order, and the lower-case hex SHA-256 over the texts sorted by bytes, each followed by ``\\n``;
* ``"moves"``: the wire forms of the legal moves, in the same order as ``"legal"``;
* ``"position"``, ``"outcome"``: their wire forms (the outcome is null while the game goes on);
* ``{"check": move}``: whether the move is legal here, and if not the rules' code and sentence;
* ``{"read": move}``: a text or wire form, legal here or not, in both canonical forms: ``{"text", "wire"}``;
* ``{"perft": n}``: how many sequences of n moves there are (a finished game has no continuation).

The answer is a map with one key per kind in the order asked; a kind asked several times has the list
of its answers. What cannot be answered gets ``{"error": {"code", "message", ...}}``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NoReturn

from .core import AnyGame, AnyPosition, BadOptions, BadPosition, MoveError, Plain, shown, write_outcome

KEYS = ("id", "options", "seed", "position", "moves", "ask")
MAX_NESTING = 32
MAX_PERFT_DEPTH = 8
MAX_PERFT_COUNT = 100_000_000
"""After so many counted sequences a perft is given up, so that no request runs for days."""
SEEDS = range(-(2**63), 2**63)


class Refused(ValueError):
    """A request that cannot be answered: a stable code, a sentence, and what else helps to find the fault."""

    def __init__(self, code: str, message: str, **details: Plain) -> None:
        super().__init__(message)
        self.error: dict[str, Plain] = {"code": code, "message": message, **details}


def answer(game: AnyGame, line: bytes) -> str:
    """The answer to one request, as one line of ASCII JSON without its end. Never raises for a bad request."""
    identity: dict[str, Plain] = {}
    try:
        request = _read_request(line)
        identity = _read_id(request)
        reply = _answer_request(game, request)
    except Refused as refused:
        reply = {"error": refused.error}
    return json.dumps({**identity, **reply}, separators=(",", ":"))


def refusal(code: str, message: str) -> str:
    """The answer that refuses a whole line, for the shell that reads the lines."""
    return json.dumps({"error": Refused(code, message).error}, separators=(",", ":"))


def digest(texts: list[str]) -> str:
    """The lower-case hex SHA-256 of ``texts`` sorted by bytes, each followed by one ``\\n``."""
    return sha256(b"".join(text + b"\n" for text in sorted(t.encode() for t in texts))).hexdigest()


def perft(position: AnyPosition, depth: int) -> int:
    """The number of sequences of ``depth`` moves. Raises Refused after MAX_PERFT_COUNT of them."""
    count = 0
    for leaves in _perft_parts(position, depth):
        count += leaves
        if count > MAX_PERFT_COUNT:
            raise Refused("perft_too_large", f"perft gave up after {MAX_PERFT_COUNT:,} sequences; ask a smaller depth")
    return count


def _perft_parts(position: AnyPosition, depth: int) -> Iterator[int]:
    """Numbers that add up to the perft; the last move of a sequence is counted, not played."""
    if depth == 0:
        yield 1
    elif depth == 1:
        yield sum(1 for _ in position.legal_moves())
    else:
        for move in position.legal_moves():
            yield from _perft_parts(position.play(move), depth - 1)


# Reading a request


def _read_request(line: bytes) -> dict[str, Plain]:
    """The request's map. Raises Refused unless it is strict JSON of bounded depth with known keys only."""
    try:
        request = json.loads(
            line.decode(),
            parse_constant=_refuse_constant,
            parse_float=_read_float,
            object_pairs_hook=_read_pairs,
        )
    except UnicodeDecodeError as error:
        raise Refused("bad_json", f"the line is not UTF-8: byte {error.start} is {line[error.start]:#04x}") from None
    except RecursionError:
        _refuse_nesting()
    except json.JSONDecodeError as error:
        raise Refused("bad_json", f"the line is not JSON: {error.msg} at character {error.pos}") from None
    except ValueError as error:  # Refused passes through; the rest is a number of too many digits
        raise error if isinstance(error, Refused) else Refused("bad_json", "a number has too many digits") from None
    if not isinstance(request, dict):
        _refuse(f"a request is a JSON map, not {shown(request)}")
    for key in request:
        if key not in KEYS:
            _refuse(f"a request has no key {shown(key)}; it may have {', '.join(KEYS)}")
    _check_nesting(request)
    if b"\\ud" in line.lower():
        _check_surrogates(request)
    return request


def _read_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Refused("bad_json", f"the number {text[:40]} is too large")
    return number


def _refuse_constant(text: str) -> NoReturn:
    raise Refused("bad_json", f"{text} is not JSON")


def _read_pairs(pairs: list[tuple[str, Plain]]) -> dict[str, Plain]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        _refuse(f"the key {shown(next(n for n in names if names.count(n) > 1))} stands twice in one map")
    return values


def _check_nesting(value: Plain) -> None:
    level = [value]
    for _ in range(MAX_NESTING):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    _refuse_nesting()


def _check_surrogates(value: Plain) -> None:
    """Half of a surrogate pair is no text: neither we nor the reader of an answer could write it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("bad_json", "a string holds half of a surrogate pair") from None


def _refuse_nesting() -> NoReturn:
    raise Refused("bad_json", f"the line nests lists and maps more than {MAX_NESTING} deep")


def _refuse(message: str) -> NoReturn:
    raise Refused("bad_request", message)


def _read_id(request: dict[str, Plain]) -> dict[str, Plain]:
    """The ``id`` to echo, if there is one."""
    if "id" not in request:
        return {}
    if type(request["id"]) not in (int, str):
        _refuse(f"id must be a whole number or a string, not {shown(request['id'])}")
    return {"id": request["id"]}


# Answering it


def _answer_request(game: AnyGame, request: dict[str, Plain]) -> dict[str, Plain]:
    """The answers by kind, in the order asked."""
    asked = request.get("ask", [])
    if not isinstance(asked, list):
        _refuse(f"ask must be a list, not {shown(asked)}")
    questions = [_read_question(item) for item in asked]
    spot = _Spot(game, _play_moves(game, _start(game, request), request.get("moves", [])))
    answers: dict[str, list[Plain]] = {}
    for kind, argument in questions:
        answers.setdefault(kind, []).append(QUESTIONS[kind](spot, argument))
    return {kind: values[0] if len(values) == 1 else values for kind, values in answers.items()}


def _read_question(item: Plain) -> tuple[str, Plain]:
    """A question's kind and argument (None for the kinds that have none)."""
    if isinstance(item, str) and item in QUESTIONS and item not in WITH_ARGUMENT:
        return item, None
    if isinstance(item, dict) and len(item) == 1:
        kind, argument = next(iter(item.items()))
        if kind == "perft" and (type(argument) is not int or not 0 <= argument <= MAX_PERFT_DEPTH):
            _refuse(f"the depth of a perft must be a whole number from 0 to {MAX_PERFT_DEPTH}, not {shown(argument)}")
        if kind in WITH_ARGUMENT:
            return kind, argument
    plain = ", ".join(f'"{kind}"' for kind in QUESTIONS if kind not in WITH_ARGUMENT)
    arguments = '{"check": move}, {"read": move} or {"perft": depth}'
    _refuse(f"nothing answers {shown(item)}; ask {plain}, {arguments}")


def _start(game: AnyGame, request: dict[str, Plain]) -> AnyPosition:
    """The position that the request starts from."""
    if "position" in request:
        for key in ("options", "seed"):
            if key in request:
                _refuse(f"a request with a position can have no {key}: the position says it all")
        try:
            position: AnyPosition = game.read_position(request["position"])
            return position
        except BadPosition as error:
            raise Refused("bad_position", str(error)) from None
    options, seed = request.get("options", {}), request.get("seed", 0)
    if not isinstance(options, dict):
        raise Refused("bad_options", f"options must be a map from name to value, not {shown(options)}")
    if type(seed) is not int or seed not in SEEDS:
        _refuse(f"seed must be a whole number of at most 64 bits, not {shown(seed)}")
    try:
        first: AnyPosition = game.start(options, seed)
        return first
    except BadOptions as error:
        raise Refused("bad_options", str(error)) from None


def _play_moves(game: AnyGame, position: AnyPosition, moves: Plain) -> AnyPosition:
    """The position after ``moves``. Raises Refused with the index of the first that cannot be played."""
    if not isinstance(moves, list):
        _refuse(f"moves must be a list of texts or wire forms, not {shown(moves)}")
    for index, given in enumerate(moves):
        text = given
        try:
            move = _read_move(game, given)
            text = game.format(move)
            position = position.play(move)
        except MoveError as error:
            raise Refused(error.code, f"move {index}, {shown(text)}: {error.message}", index=index, move=text) from None
    return position


def _read_move(game: AnyGame, given: Plain) -> Any:
    """The move of a text or a wire form. Raises MalformedMove."""
    return game.parse(given) if isinstance(given, str) else game.read_move(given)


@dataclass(slots=True)
class _Spot:
    """The position that is asked about, with the texts of its legal moves once they are needed."""

    game: AnyGame
    position: AnyPosition
    _texts: list[str] | None = field(default=None, init=False)

    @property
    def texts(self) -> list[str]:
        if self._texts is None:
            self._texts = [self.game.format(move) for move in self.position.legal_moves()]
        return self._texts

    def check(self, given: Plain) -> Plain:
        """Whether a move is legal here; if not, the rules' code and sentence."""
        try:
            self.position.check(_read_move(self.game, given))
        except MoveError as error:
            return {"legal": False, "code": error.code, "message": error.message}
        return {"legal": True}

    def read(self, given: Plain) -> Plain:
        """Both canonical forms of a move, or the code and sentence of why it is none."""
        try:
            move = _read_move(self.game, given)
        except MoveError as error:
            return {"code": error.code, "message": error.message}
        return {"text": self.game.format(move), "wire": self.game.write_move(move)}


QUESTIONS: dict[str, Callable[[_Spot, Plain], Plain]] = {
    "count": lambda spot, _: sum(1 for _ in spot.position.legal_moves()),
    "legal": lambda spot, _: spot.texts,
    "moves": lambda spot, _: [spot.game.write_move(move) for move in spot.position.legal_moves()],
    "digest": lambda spot, _: digest(spot.texts),
    "position": lambda spot, _: spot.game.write_position(spot.position),
    "outcome": lambda spot, _: write_outcome(spot.position.outcome),
    "check": lambda spot, move: spot.check(move),
    "read": lambda spot, move: spot.read(move),
    "perft": lambda spot, depth: perft(spot.position, depth),
}
WITH_ARGUMENT = ("check", "read", "perft")
