"""A watched room on the terminal: headline, board, last move, result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.text import Text

    from triarena.clients.boards import Drawing
    from triarena.clients.spectator import Scene
    from triarena.protocol.from_server import RoomInfo

RULE = "-" * 40


def headline(info: RoomInfo) -> str:
    """Room, match and both sides on one line each: ``> red   Ann   1.5 s``."""
    state = "paused" if info.paused and info.state == "running" else info.state
    first = f"room {info.room}  {info.game}" + (f"  match {info.match}" if info.match else "") + f"  {state}"
    return "\n".join([f"{first}  ply {info.ply}", _seat(info, "red"), _seat(info, "blue")])


def _seat(info: RoomInfo, side: str) -> str:
    seat = info.red if side == "red" else info.blue
    mark = ">" if info.to_move == side else " "
    away = "" if seat.connected or seat.name is None else "  (not connected)"
    return f"{mark} {side:<4}  {seat.name or '(open)'}  {seat.used_ms / 1000:.1f} s{away}"


def caption(scene: Scene) -> str:
    """The last move, and the result if there is one."""
    from triarena.clients.results import sentence
    from triarena.games.registry import BUILT_IN

    drawn = scene.info.game in BUILT_IN  # their boards tell the last move themselves
    lines = [f"last move: {scene.text}"] if scene.text and not drawn else []
    return "\n".join(lines + ([sentence(scene.result)] if scene.result else []))


def board(scene: Scene) -> Drawing:
    """The board of a scene; a line of text before the match."""
    from triarena.clients.boards import draw

    if scene.position is None:
        return ((("the match has not started", ""),),)
    return draw(scene.info.game, scene.position, scene.last_move)


def as_text(scene: Scene) -> str:
    """A scene without colours."""
    from triarena.clients.boards import plain

    parts = [headline(scene.info), plain(board(scene)).rstrip("\n"), caption(scene)]
    return "\n".join(part for part in parts if part)


def as_rich(scene: Scene) -> Text:
    """A scene in colours."""
    from rich.text import Text

    from triarena.clients.boards.paint import paint

    text = Text(no_wrap=True, overflow="crop")
    text.append(headline(scene.info) + "\n", "bold").append_text(paint(board(scene)))
    return text.append("\n" + caption(scene), "bold")


def show_plain(scenes: Iterable[Scene]) -> None:
    """One drawing after another, separated by a line."""
    for scene in scenes:
        click.echo(as_text(scene))
        click.echo(RULE)


def show_live(scenes: Iterable[Scene]) -> None:
    """One drawing, renewed in place; the last one stays."""
    from rich.live import Live

    with Live(auto_refresh=False, vertical_overflow="crop") as live:
        for scene in scenes:
            live.update(as_rich(scene), refresh=True)
