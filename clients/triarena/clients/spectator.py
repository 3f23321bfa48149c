"""Following a match: the room as it is, then as it changes, until the match is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from triarena.games import AnyGame, AnyPosition, UnknownGame, find_game
from triarena.protocol.from_client import Observe
from triarena.protocol.from_server import MatchOver, Moved, Observing, RoomInfo, RoomView, Seat, Snapshot
from triarena.protocol.values import Result

from .connection import Connection
from .errors import ClientError


@dataclass(frozen=True, slots=True)
class Scene:
    """A room at one moment."""

    info: RoomInfo
    """Names, whose turn it is, and the time used, kept up to date from ply to ply."""
    position: AnyPosition | None
    """None while the match has not started."""
    last_move: Any
    """The move that led to the position; None at the start."""
    text: str
    """The last move in the game's notation; empty at the start."""
    result: Result | None = None
    """How the match ended; None while it goes on."""


def watch(connection: Connection, room: str) -> Iterator[Scene]:
    """The scenes of a room, one per ply, ending with the one that has the result.

    A scene may stand for several plies if the server found us too slow. Raises ServerError for an unknown room
    or one that may not be watched, ClientError if this installation does not know the game.
    """
    observing = connection.request(Observe(room=room))
    game = _find(observing.view.info.game)
    scene = _scene(game, observing.view)
    yield scene
    while scene.result is None:
        match connection.receive():
            case Observing(room=about, view=view) | Snapshot(room=about, view=view) if about == room:
                scene = _scene(game, view)
            case Moved(room=about) as moved if about == room:
                scene = _after_move(game, scene, moved)
            case MatchOver(room=about) as over if about == room:
                scene = _after_end(game, scene, over)
            case _:
                continue
        yield scene


def _find(name: str) -> AnyGame:
    try:
        return find_game(name)
    except UnknownGame as error:
        raise ClientError("unknown_game", f"{error}: install the distribution that brings it") from None


def _scene(game: AnyGame, view: RoomView) -> Scene:
    last = view.plies[-1] if view.plies else None
    return Scene(
        info=view.info,
        position=_position(game, view.position),
        last_move=last and game.read_move(last.move.model_dump(exclude_none=True)),
        text=last.text if last else "",
        result=view.result,
    )


def _after_move(game: AnyGame, scene: Scene, moved: Moved) -> Scene:
    """The scene after a ply; its position comes with the message, or else from playing the move."""
    move = game.read_move(moved.move.model_dump(exclude_none=True))
    position = _position(game, moved.position)
    if position is None and scene.position is not None:
        position = scene.position.play(move)
    seat: Seat = getattr(scene.info, moved.side)
    used = seat.model_copy(update={"used_ms": seat.used_ms + moved.used_ms})
    to_move = position.to_move.value if position is not None and position.outcome is None else None
    info = scene.info.model_copy(
        update={"state": "running", "ply": moved.ply + 1, "to_move": to_move, moved.side: used}
    )
    return replace(scene, info=info, position=position, last_move=move, text=moved.text)


def _after_end(game: AnyGame, scene: Scene, over: MatchOver) -> Scene:
    info = scene.info.model_copy(update={"state": "over", "to_move": None})
    return replace(scene, info=info, position=_position(game, over.position) or scene.position, result=over.result)


def _position(game: AnyGame, wire: Any) -> AnyPosition | None:
    return None if wire is None else game.read_position(wire.model_dump(exclude_none=True))
