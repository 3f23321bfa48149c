"""Following a match: the room as it is, then as it changes, until the match is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from triarena.games import AnyGame, AnyPosition, UnknownGame, find_game
from triarena.protocol.from_client import Observe
from triarena.protocol.from_server import FromServer, MatchOver, Moved, Observing, Snapshot
from triarena.protocol.room_views import RoomInfo, RoomView, Seat
from triarena.protocol.values import Result

from .admin import Administrator
from .backoff import BACKOFF, Backoff
from .comeback import Comeback, Reporter, to_stderr
from .connection import Connection
from .errors import ClientError, ConnectionLost, Farewell


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


def watch(
    connection: Connection, room: str, *, secret: str = "", backoff: Backoff = BACKOFF, report: Reporter = to_stderr
) -> Iterator[Scene]:
    """The scenes of a room, one per ply, ending with the one that has the result.

    A scene may stand for several plies if the server found us too slow, or the connection was lost for a while: it is
    reopened, the administrator's ``secret`` told if there is one, and what else was done with it must be done again.
    Raises ServerError for an unknown room or one that may not be watched, ConnectionLost, and ClientError if this
    installation does not know the game.
    """
    scene: Scene | None = None
    for message in _messages(connection, room, secret, Comeback(connection, backoff, report)):
        before = scene
        match message:
            case Observing(view=view) | Snapshot(view=view):
                scene = _scene(_find(view.info.game), view)
            case Moved() if scene is not None:
                scene = _after_move(_find(scene.info.game), scene, message)
            case MatchOver() if scene is not None:
                scene = _after_end(_find(scene.info.game), scene, message)
        if scene is None or scene is before or (isinstance(message, Observing) and _nothing_new(before, scene)):
            continue
        yield scene
        if scene.result is not None:
            return


def _messages(connection: Connection, room: str, secret: str, comeback: Comeback) -> Iterator[FromServer]:
    """What is told about a room, without end; again from the beginning when the connection was lost and is back."""
    observing = False

    def observe() -> Observing:
        return connection.request(Observe(room=room))

    def observe_again() -> Observing:
        if secret:
            Administrator.authenticate(connection, secret)
        return observe()

    while True:
        try:
            message = connection.receive() if observing else observe()
        except (ConnectionLost, Farewell) as lost:
            message = comeback.after(lost, observe_again, refused=not observing)
        observing = True
        if getattr(message, "room", None) != room:
            continue
        if isinstance(message, Moved):
            comeback.progressed()
        yield message


def _nothing_new(before: Scene | None, now: Scene) -> bool:
    """Whether nothing has happened while the connection was lost."""
    return before is not None and _told(before) == _told(now)


def _told(scene: Scene) -> tuple[object, ...]:
    """What of a scene is news when it differs; clocks and the like go with it."""
    return scene.position, scene.result, scene.info.paused, scene.info.state


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
        update={
            "state": "paused" if scene.info.paused else "running",
            "ply": moved.ply + 1,
            "to_move": to_move,
            moved.side: used,
        }
    )
    return replace(scene, info=info, position=position, last_move=move, text=moved.text)


def _after_end(game: AnyGame, scene: Scene, over: MatchOver) -> Scene:
    ends: dict[str, object] = {"state": "over", "to_move": None, "paused": False, "storage_lost": False}
    for side in over.result.detail.offenders:
        seat: Seat = getattr(scene.info, side)
        ends[side] = seat.model_copy(update={"used_ms": seat.used_ms + over.result.overran_ms(side)})
    info = scene.info.model_copy(update=ends)
    return replace(scene, info=info, position=_position(game, over.position) or scene.position, result=over.result)


def _position(game: AnyGame, wire: Any) -> AnyPosition | None:
    return None if wire is None else game.read_position(wire.model_dump(exclude_none=True))
