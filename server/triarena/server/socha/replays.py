"""Stored matches in the original's format for replays: the states that were shown, then the result.

Unlike the original's, they are complete: to the last state, whatever ended the match. As with the original, a state
has the revealed segments only.
"""

from __future__ import annotations

from triarena.games import AnyPosition
from triarena.games.mississippi_queen import GAME
from triarena.games.mississippi_queen import MississippiQueenPosition as Position
from triarena.protocol.game_values import MississippiQueenPosition
from triarena.protocol.replay import Replay, verify

from . import answers


class NotTheirs(Exception):
    """The original has no words for this match. ``code`` is stable, ``str(error)`` is a sentence."""

    code = "wrong_game"


def to_xml(replay: Replay) -> str:
    """The replay as a document. Raises NotTheirs for another game."""
    if replay.game != GAME.name:
        raise NotTheirs(f"match {replay.match} is one of {replay.game}; this format is for {GAME.name} only")
    positions = [_wire(position) for position in verify(replay).positions]
    moves = [None, *(turned.move for turned in replay.plies)]
    told = [answers.memento(replay.room, position, move) for position, move in zip(positions, moves, strict=False)]
    ended = replay.result
    if ended is not None:
        if ended.reason == "illegal_move":
            told.append(answers.illegal_move(replay.room, ended, None))
        names = answers.own_names(replay.red, replay.blue)
        told.append(answers.result(replay.room, ended, names, positions[-1] if positions else None))
    return "".join(["<protocol>", *told, "\n</protocol>\n"])


def _wire(position: AnyPosition) -> MississippiQueenPosition:
    assert isinstance(position, Position), "the replay is of this game"
    return MississippiQueenPosition.model_validate(GAME.write_position(position))
