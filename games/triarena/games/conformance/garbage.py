"""Texts and wire forms that are no move and no position: refused with the right error, and never anything else."""

from __future__ import annotations

from collections.abc import Sequence

from triarena.games.core import AnyGame, AnyPosition, BadPosition, MalformedMove, Plain, shown

from .promise import Choose, promise, refuses, sample
from .spoil import JUNK, spoil_text, spoil_wire

TEXTS = (
    *("", " ", "\n", "\0", "\ud800", "💥", "no such move", "-1", "1e9", "NaN", "{", "{}", "[]", "(("),
    *("9" * 5000, "٣", "²"),
)
"""No move of any game. The digits are more than ``int`` takes; the last two are digits to ``isdigit`` only."""


NO_MOVES: tuple[Plain, ...] = (*JUNK, {"type": "no such move"}, {"type": "\ud800"}, {"type": {}}, {"type": True})
"""Wire forms that are no move and no position of any game."""


MUTANTS = 150
"""How many spoilt wire forms of one position are tried."""


def check_garbage(game: AnyGame, choose: Choose, positions: Sequence[AnyPosition]) -> None:
    """Garbage, and garbage made from ``positions`` and their moves. Raises AssertionError."""
    for text in TEXTS:
        what = f"{game.name}: the text {shown(text)}"
        promise(refuses(MalformedMove, what, game.parse, text) is not None, f"{what} is accepted as a move")
    for wire in NO_MOVES:
        what = f"{game.name}: the wire form {shown(wire)}"
        promise(refuses(MalformedMove, what, game.read_move, wire) is not None, f"{what} is accepted as a move")
        promise(refuses(BadPosition, what, game.read_position, wire) is not None, f"{what} is accepted as a position")
    for position in positions:
        for move in sample(choose, list(position.legal_moves()), 3):
            _check_spoilt_text(game, game.format(move))
            _check_spoilt_move(game, game.write_move(move))
        _check_spoilt_position(game, choose, game.write_position(position))


def _check_spoilt_text(game: AnyGame, text: str) -> None:
    """A text with a slip of the finger is malformed, or a move whose canonical text means the same move."""
    for spoilt in spoil_text(text):
        if refuses(MalformedMove, f"{game.name}: the text {spoilt!r}", game.parse, spoilt) is None:
            move = game.parse(spoilt)
            promise(game.parse(game.format(move)) == move, f"{game.name}: {spoilt!r} and its canonical text differ")


def _check_spoilt_move(game: AnyGame, wire: Plain) -> None:
    """A spoilt wire form is malformed, or a move whose wire form means the same move."""
    for spoilt in spoil_wire(wire):
        if refuses(MalformedMove, f"{game.name}: the wire form {shown(spoilt, 200)}", game.read_move, spoilt) is None:
            move = game.read_move(spoilt)
            promise(
                game.read_move(game.write_move(move)) == move,
                f"{game.name}: {shown(spoilt, 200)} is accepted, but does not survive writing and reading",
            )


def _check_spoilt_position(game: AnyGame, choose: Choose, wire: Plain) -> None:
    """A spoilt wire form is a bad position, or one that can be asked everything."""
    for spoilt in sample(choose, list(spoil_wire(wire)), MUTANTS):
        what = f"{game.name}: the position {shown(spoilt, 400)}"
        if refuses(BadPosition, what, game.read_position, spoilt) is None:
            try:
                _ask_everything(game, game.read_position(spoilt))
            except Exception as error:
                broken = f"{what} is accepted, but cannot be played from: {type(error).__name__}: {error}"
                raise AssertionError(broken) from error


def _ask_everything(game: AnyGame, position: AnyPosition) -> None:
    hash(position)
    if position.outcome is None:
        move = next(position.legal_moves())
        position.check(move)
        position.play(move)
    if game.read_position(game.write_position(position)) != position.visible():
        raise ValueError("it reads back as another position")
