"""A watched room on the terminal: headline, board, last move, result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from .options import on_terminal

if TYPE_CHECKING:
    from rich.text import Text

    from triarena.clients.boards import Drawing
    from triarena.clients.spectator import Scene
    from triarena.games import AnyGame, AnyPosition
    from triarena.protocol.room_views import RoomInfo, Seat

RULE = "-" * 40


def state(info: RoomInfo) -> str:
    """What a room does: also whether it is paused, or will be."""
    if info.storage_lost:
        return "waits for the database"
    paused = " (paused)" if info.paused and info.state != "paused" else ""
    return f"{info.state}{paused}{_awaited(info)}"


def _awaited(info: RoomInfo) -> str:
    """For whom a match waits, and for how long at most."""
    times = {side: seat.awaited_ms for side, seat in (("red", info.red), ("blue", info.blue))}
    awaited = {side: time for side, time in times.items() if time is not None}
    return f", waits for {' and '.join(awaited)} ({min(awaited.values()) / 1000:.0f} s)" if awaited else ""


def player(info: RoomInfo, seat: Seat) -> str:
    """Who sits on a seat, or for whom it is kept."""
    if seat.connected or info.state == "over":
        return seat.name or ""
    if info.state == "waiting":
        return f"{seat.name or ''} ({'reserved' if seat.reserved else 'open'})".lstrip()
    return f"{seat.name} (away)"


def headline(info: RoomInfo) -> str:
    """Room, match and both sides on one line each: ``> red   Ann   1.5 s``."""
    first = f"room {info.room}  {info.game}" + (f"  match {info.match}" if info.match else "")
    return "\n".join([f"{first}  {state(info)}  ply {info.ply}", _seat(info, "red"), _seat(info, "blue")])


def _seat(info: RoomInfo, side: str) -> str:
    seat = info.red if side == "red" else info.blue
    mark = ">" if info.to_move == side else " "
    return f"{mark} {side:<4}  {player(info, seat)}  {seat.used_ms / 1000:.1f} s"


def caption(scene: Scene) -> str:
    """The last move, and the result if there is one."""
    from triarena.clients.results import sentence

    lines = [f"last move: {scene.text}"] if scene.text else []
    return "\n".join(lines + ([sentence(scene.result)] if scene.result else []))


def board(scene: Scene) -> Drawing:
    """The board of a scene; a line of text before the match."""
    from triarena.clients.boards import draw

    if scene.position is None:
        paused = ", and waits for triarena resume or step when both players are there" if scene.info.paused else ""
        return (((f"the match has not started{paused}", ""),),)
    return draw(scene.info.game, scene.position, scene.last_move)


def as_text(scene: Scene) -> str:
    """A scene without colours."""
    from triarena.clients.boards import plain

    parts = [headline(scene.info), plain(board(scene)).rstrip("\n"), caption(scene)]
    return "\n".join(part for part in parts if part)


def as_rich(scene: Scene, size: tuple[int, int], note: str = "") -> Text:
    """A scene in colours for a terminal of that many columns and lines."""
    return fitted("\n".join(filter(None, [headline(scene.info), caption(scene), note])), board(scene), size)


def fitted(heading: str, drawing: Drawing, size: tuple[int, int]) -> Text:
    """A drawing in colours under its heading. A terminal too small for both cuts off what is below: that is told."""
    from rich.text import Text

    from triarena.clients.boards import plain
    from triarena.clients.boards.paint import paint

    lines = [*heading.splitlines(), *plain(drawing).splitlines()]
    columns, rows = max(map(len, lines)), len(lines)
    if columns > size[0] or rows > size[1]:
        heading += f"\ncropped: needs {columns}x{rows + 1}, the terminal has {size[0]}x{size[1]}"
    return Text(f"{heading}\n", "bold", no_wrap=True, overflow="crop").append_text(paint(drawing))


def show_plain(scenes: Iterable[Scene]) -> None:
    """One drawing after another, separated by a line."""
    for scene in scenes:
        click.echo(as_text(scene))
        click.echo(RULE)


def show_live(scenes: Iterable[Scene], behind: Callable[[], int] = lambda: 0) -> None:
    """One drawing, renewed in place; the last one stays. ``behind`` counts what has happened since."""
    from rich.live import Live

    with Live(auto_refresh=False, vertical_overflow="crop") as live:
        for scene in scenes:
            late = behind()
            note = f"the match is {late} messages ahead; --speed max catches up" if late else ""
            live.update(as_rich(scene, live.console.size, note), refresh=True)


def show_board(engine: AnyGame, position: AnyPosition, last_move: Any) -> None:
    """The board, in colours where that is possible."""
    from triarena.clients.boards import draw, plain

    drawing = draw(engine.name, position.visible(), last_move)
    if on_terminal():
        with suppress(ImportError):  # without the extra, the board is black and white
            from rich.console import Console

            from triarena.clients.boards.paint import paint

            Console().print(paint(drawing))
            return
    click.echo(plain(drawing), nl=False)
