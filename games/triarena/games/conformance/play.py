"""The promises of positions and moves, checked along one game."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from triarena.games.core import AnyGame, AnyPosition, MalformedMove, Outcome, Plain, Side, write_outcome

from .promise import Choose, promise, promise_plain, refusal_code, refuses, sample
from .spoil import spoil_text

OLD_MOVES = 60
"""How many moves of other positions are kept to be tried where they may be illegal."""


@dataclass(slots=True)
class _Walk:
    """One game as it is played, and the moves that were legal somewhere on the way."""

    game: AnyGame
    choose: Choose
    thorough: int
    old_moves: list[Any] = field(default_factory=list)
    ply: int = 0

    def promise(self, kept: bool, broken: str) -> None:
        promise(kept, f"{self.game.name}, ply {self.ply}: {broken}")


def play_through(
    game: AnyGame, choose: Choose, position: AnyPosition, max_plies: int, thorough: int
) -> list[AnyPosition]:
    """Play from ``position`` by ``choose`` and return the positions passed. Raises AssertionError."""
    walk, passed = _Walk(game, choose, thorough), [position]
    for walk.ply in range(max_plies):
        _check_position(walk, position)
        if position.outcome is not None:
            _check_end(walk, position, position.outcome)
            break
        moves = _check_legal_moves(walk, position)
        for move in sample(choose, moves, thorough):
            _check_legal_move(walk, position, move)
        _check_other_moves(walk, position, moves)
        walk.old_moves = sample(choose, walk.old_moves + sample(choose, moves, thorough), OLD_MOVES)
        position = position.play(moves[choose(len(moves))])
        passed.append(position)
    return passed


def _check_position(walk: _Walk, position: AnyPosition) -> None:
    """Equality, wire form, and what is visible."""
    wire, seen = walk.game.write_position(position), position.visible()
    promise_plain(f"{walk.game.name}, ply {walk.ply}: the wire form of the position", wire)
    walk.promise(wire.get("game") == walk.game.name, "the wire form of the position does not name the game")
    walk.promise(json.loads(json.dumps(wire)) == wire, "the wire form of the position does not survive JSON")
    read = walk.game.read_position(json.loads(json.dumps(wire)))
    walk.promise(read == seen and hash(read) == hash(seen), "a position read back is not the visible position")
    walk.promise(walk.game.read_position(_without_nulls(wire)) == seen, "a position without its nulls is not read back")
    walk.promise(walk.game.write_position(seen) == wire, "the wire form tells what is not visible")
    walk.promise(seen.visible() == seen, "visible() of the visible position hides more")
    walk.promise(isinstance(position.to_move, Side), f"{position.to_move!r} is to move")
    for side in Side:
        walk.promise(type(position.score(side).points) is int, f"the points of {side} are no whole number")
        walk.promise(position.score(side) == seen.score(side), f"the visible position has another score for {side}")
    walk.promise(seen.to_move == position.to_move, "in the visible position another side is to move")
    walk.promise(seen.outcome == position.outcome, "the visible position has another outcome")


def _without_nulls(wire: Plain) -> Plain:
    """As messages have it, in which a field without a value is missing."""
    if isinstance(wire, dict):
        return {key: _without_nulls(value) for key, value in wire.items() if value is not None}
    return [_without_nulls(each) for each in wire] if isinstance(wire, list) else wire


def _check_legal_moves(walk: _Walk, position: AnyPosition) -> list[Any]:
    """The list of them: deterministic, complete from what is visible, without duplicates."""
    moves, texts = list(position.legal_moves()), _texts(walk, position)
    walk.promise(bool(moves), "the game goes on, but no move is legal")
    walk.promise([walk.game.format(m) for m in moves] == texts, "legal_moves() comes in another order each time")
    walk.promise(len(set(texts)) == len(texts), "legal_moves() has a move twice")
    walk.promise(_texts(walk, position.visible()) == texts, "legal_moves() differs in the visible position")
    return moves


def _texts(walk: _Walk, position: AnyPosition) -> list[str]:
    return [walk.game.format(move) for move in position.legal_moves()]


def _check_legal_move(walk: _Walk, position: AnyPosition, move: Any) -> None:
    """It passes check and play, leaves the position alone, and survives its text and its wire form."""
    game, text = walk.game, walk.game.format(move)
    before, wire = (hash(position), game.write_position(position)), game.write_move(move)
    walk.promise(refusal_code(f"check of the legal {text}", position.check, move) is None, f"check refuses {text}")
    walk.promise(refusal_code(f"check of {text}", position.visible().check, move) is None, f"{text} needs hidden facts")
    played, again = position.play(move), position.play(move)
    walk.promise(played == again and hash(played) == hash(again), f"{text} played twice gives two positions")
    walk.promise((hash(position), game.write_position(position)) == before, f"play of {text} changes the position")

    walk.promise(text.isprintable() and text == text.strip() != "", f"{text!r} is no text of one line")
    walk.promise(game.parse(text) == move, f"parse makes another move of {text}")
    promise_plain(f"{game.name}: the wire form of {text}", wire)
    walk.promise(isinstance(wire, dict) and isinstance(wire.get("type"), str), f"the wire form of {text} has no type")
    walk.promise(game.read_move(json.loads(json.dumps(wire))) == move, f"{text} does not survive its wire form")


def _check_other_moves(walk: _Walk, position: AnyPosition, legal: list[Any]) -> None:
    """Moves of other positions and near misses are legal here exactly if they are listed, or do what a listed one does.

    The latter is for games in which a move can be written in many ways and only one of them is listed.
    """
    texts = {walk.game.format(move) for move in legal}
    near = [move for known in sample(walk.choose, legal, 3) for move in _near_misses(walk.game, known)]
    for move in (*walk.old_moves, *near):
        text = walk.game.format(move)
        code = refusal_code(f"{walk.game.name}, ply {walk.ply}: check of {text}", position.check, move)
        played = refusal_code(f"{walk.game.name}, ply {walk.ply}: play of {text}", position.play, move)
        walk.promise(played == code, f"check of {text} gives the code {code}, but play {played}")
        if code is None:
            listed = text in texts or any(position.play(one) == position.play(move) for one in legal)
            walk.promise(listed, f"check allows {text}, but legal_moves() has no such move")
        else:
            walk.promise(text not in texts, f"legal_moves() has {text}, but check refuses it with {code}")


def _near_misses(game: AnyGame, move: Any) -> Iterator[Any]:
    """The moves among the spoilt texts of a move."""
    for text in spoil_text(game.format(move)):
        if refuses(MalformedMove, f"{game.name}: the text {text!r}", game.parse, text) is None:
            yield game.parse(text)


def _check_end(walk: _Walk, position: AnyPosition, outcome: Outcome) -> None:
    """Nothing can be played any more, and the outcome says what it must."""
    walk.promise(next(position.legal_moves(), None) is None, "the game is over, but a move is legal")
    for move in walk.old_moves:
        text = walk.game.format(move)
        for what, call in (("check", position.check), ("play", position.play)):
            code = refusal_code(f"{what} of {text} after the end", call, move)
            walk.promise(code is not None, f"{what} accepts {text} after the end")
    walk.promise(outcome.reason.isidentifier(), f"the outcome's reason {outcome.reason!r} is no identifier")
    walk.promise(outcome.winner is None or isinstance(outcome.winner, Side), f"{outcome.winner!r} is the winner")
    for side in Side:
        walk.promise(outcome.score(side) == position.score(side), f"outcome and position differ in the score of {side}")
    names = [[name for name, _ in outcome.score(side).extras] for side in Side]
    walk.promise(names[0] == names[1], f"the two scores count different things: {names}")
    promise_plain(f"{walk.game.name}: the wire form of the outcome", write_outcome(outcome))
