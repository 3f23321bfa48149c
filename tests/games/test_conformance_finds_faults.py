"""The conformance suite passes a sound game and finds each fault that is put into it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import pytest

from triarena.games import IllegalMove, MalformedMove, Outcome, Score, Side
from triarena.games.conformance import check_game


def test_a_sound_game_passes(nim: ModuleType) -> None:
    check_game(nim.GAME, Random(1).randrange, options={"heaps": 5}, seed=3)


def move_twice(nim: ModuleType) -> None:
    legal = nim.NimPosition.legal_moves
    nim.NimPosition.legal_moves = lambda self: iter([*legal(self), *legal(self)])


def move_missing(nim: ModuleType) -> None:
    legal = nim.NimPosition.legal_moves
    nim.NimPosition.legal_moves = lambda self: iter(list(legal(self))[1:] or list(legal(self)))


def move_too_many(nim: ModuleType) -> None:
    legal = nim.NimPosition.legal_moves
    nim.NimPosition.legal_moves = lambda self: iter([*legal(self), nim.Take(1, 9)])


def shuffled(nim: ModuleType) -> None:
    legal, rng = nim.NimPosition.legal_moves, Random(1)
    nim.NimPosition.legal_moves = lambda self: iter(rng.sample(moves := list(legal(self)), len(moves)))


def check_that_allows_all(nim: ModuleType) -> None:
    nim.NimPosition.check = lambda self, move: None


def moves_after_the_end(nim: ModuleType) -> None:
    check = nim.NimPosition.check
    nim.NimPosition.check = lambda self, move: check(self, move) if any(self.heaps) else None


def wrong_error(nim: ModuleType) -> None:
    check = nim.NimPosition.check

    def check_otherwise(self: Any, move: Any) -> None:
        try:
            check(self, move)
        except IllegalMove as error:
            raise ValueError(error.message) from None

    nim.NimPosition.check = check_otherwise


def error_without_a_code(nim: ModuleType) -> None:
    check = nim.NimPosition.check

    def check_otherwise(self: Any, move: Any) -> None:
        try:
            check(self, move)
        except IllegalMove as error:
            raise IllegalMove("", error.message) from None

    nim.NimPosition.check = check_otherwise


def mutable_position(nim: ModuleType) -> None:
    play = nim.NimPosition.play

    def spoil(self: Any, move: Any) -> Any:
        played = play(self, move)
        object.__setattr__(self, "heaps", (9,) * len(self.heaps))
        return played

    nim.NimPosition.play = spoil


def text_that_reads_otherwise(nim: ModuleType) -> None:
    nim.Nim.format = lambda self, move: f"{move.matches}-{move.heap}"


def digits_of_other_scripts(nim: ModuleType) -> None:
    nim.__dict__["_is_digit"] = str.isdigit


def index_error_in_parse(nim: ModuleType) -> None:
    nim.Nim.parse = lambda self, text: nim.Take(int(text[0]), int(text[2]))


def type_that_must_be_hashable(nim: ModuleType) -> None:
    read = nim.Nim.read_move

    def read_move(self: Any, wire: Any) -> Any:
        if not isinstance(wire, dict) or wire.get("type") not in {"take"}:
            raise MalformedMove("no")
        return read(self, wire)

    nim.Nim.read_move = read_move


def tuple_on_the_wire(nim: ModuleType) -> None:
    write = nim.Nim.write_position
    nim.Nim.write_position = lambda self, p: {**write(self, p), "heaps": p.heaps}


def to_move_forgotten(nim: ModuleType) -> None:
    read = nim.Nim.read_position
    nim.Nim.read_position = lambda self, wire: nim.NimPosition(read(self, wire).heaps)


def unbounded_position(nim: ModuleType) -> None:
    nim.Nim.read_position = lambda self, wire: nim.NimPosition(tuple(wire["heaps"]), Side(wire["to_move"]))


def options_not_settled(nim: ModuleType) -> None:
    nim.Nim.start = lambda self, options, seed=0: nim.NimPosition((1,) * int(options.get("heaps", 3)))


def start_that_draws(nim: ModuleType) -> None:
    start, rng = nim.Nim.start, Random(1)

    def draw(self: Any, options: Any, seed: int = 0) -> Any:
        start(self, options, seed)
        return nim.NimPosition((rng.randrange(1, 9), 1))

    nim.Nim.start = draw


def visible_that_hides_a_heap(nim: ModuleType) -> None:
    nim.NimPosition.visible = lambda self: nim.NimPosition((self.heaps[0],), self.to_move)


def outcome_without_reason(nim: ModuleType) -> None:
    good = nim.NimPosition.outcome.fget

    def outcome(self: Any) -> Outcome | None:
        found = good(self)
        return found and Outcome(found.winner, "", found.red, found.blue)

    nim.NimPosition.outcome = property(outcome)


def outcome_with_other_scores(nim: ModuleType) -> None:
    good = nim.NimPosition.outcome.fget

    def outcome(self: Any) -> Outcome | None:
        found = good(self)
        return found and Outcome(found.winner, found.reason, Score(5), Score(5))

    nim.NimPosition.outcome = property(outcome)


def end_without_an_outcome(nim: ModuleType) -> None:
    nim.NimPosition.outcome = property(lambda self: None)


FAULTS: dict[Callable[[ModuleType], None], str] = {
    move_twice: "has a move twice",
    move_missing: r"check allows 1-1, but legal_moves\(\) has no such move",
    move_too_many: "check refuses 1-9",
    shuffled: "another order each time",
    check_that_allows_all: "check allows .* has no such move|play of .* raises IndexError",
    moves_after_the_end: "after the end",
    wrong_error: "must be accepted or raise IllegalMove, but raises ValueError",
    error_without_a_code: "is refused with the code ''",
    mutable_position: "changes the position|gives two positions|another order each time",
    text_that_reads_otherwise: "parse makes another move",
    digits_of_other_scripts: "must be accepted or raise MalformedMove, but raises ValueError",
    index_error_in_parse: "must be accepted or raise MalformedMove",
    type_that_must_be_hashable: "must be accepted or raise MalformedMove, but raises TypeError",
    tuple_on_the_wire: "holds .* a tuple|holds a tuple",
    to_move_forgotten: "a position read back is not the visible position",
    unbounded_position: "must be accepted or raise BadPosition",
    options_not_settled: "must be accepted or raise BadOptions|is accepted",
    start_that_draws: "does not start the same twice",
    visible_that_hides_a_heap: "a position read back is not the visible position",
    outcome_without_reason: "is no identifier",
    outcome_with_other_scores: "differ in the score",
    end_without_an_outcome: "no move is legal",
}


def play_five_games(nim: ModuleType) -> None:
    for seed in range(5):
        check_game(nim.GAME, Random(seed).randrange, options={"heaps": 3}, seed=seed)


@pytest.mark.parametrize(("spoil", "finding"), FAULTS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_fault_is_found_and_named(nim: ModuleType, spoil: Callable[[ModuleType], None], finding: str) -> None:
    spoil(nim)
    with pytest.raises(AssertionError, match=finding):
        play_five_games(nim)
