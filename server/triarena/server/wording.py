"""What a game writes, as it goes over the wire and into the journal.

Our own games' words are told as they are: making models of them, and plain values of the models, would cost more than
the rest of a ply, and the tests hold them against the models. What a game of another distribution writes is checked
each time: a fault of its own ends the match, and reaches no client.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from triarena.games import AnyGame, AnyPosition
from triarena.games.core import Plain
from triarena.protocol.game_values import POSITION_GAMES, WireMove, WirePosition

_MOVE: Final[TypeAdapter[Any]] = TypeAdapter(WireMove)
_POSITION: Final[TypeAdapter[Any]] = TypeAdapter(WirePosition)


def worded_move(game: AnyGame, move: Any) -> Plain:
    """The canonical wire form of a move. Raises ValueError if another distribution's game writes what is none."""
    plain = game.write_move(move)
    return plain if game.name in POSITION_GAMES else _MOVE.dump_python(_MOVE.validate_python(plain))


def worded_position(game: AnyGame, position: AnyPosition) -> Plain:
    """The wire form of a position that is still played. Raises ValueError as ``worded_move``."""
    plain = game.write_position(position)
    if game.name not in POSITION_GAMES:
        return _POSITION.dump_python(_POSITION.validate_python(plain), exclude_none=True)
    return present(plain)


def present(plain: Any) -> Plain:
    """A map without the fields that have no value, as they are left out of messages."""
    return {name: value for name, value in plain.items() if value is not None}
