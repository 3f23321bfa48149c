"""A hint for who waits in a room of its own while a client of the Software-Challenge waits in another one.

Those clients can't choose by which rules they play, and our own play by others unless they ask for theirs: so the two
might wait for each other for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triarena.protocol.from_server import Notice
from triarena.server.room import Room
from triarena.server.seat import Line

from .requests import GAME


def tell_of_each_other(newest: Room, rooms: Iterable[Room]) -> None:
    """Somebody sat down in ``newest``: tell our clients which wait, there or elsewhere, of those of the other kind."""
    if not _waits(newest):
        return
    for room in rooms:
        if room is not newest and _waits(room) and room.terms.options != newest.terms.options:
            _tell(newest, room)
            _tell(room, newest)


def _waits(room: Room) -> bool:
    """Whether somebody waits there for anybody."""
    nothing_yet = room.referee is None and room.result is None
    return nothing_yet and room.terms.game.name == GAME and not room.empty and room.open_seat() is not None


def _tell(room: Room, other: Room) -> None:
    if not any(line.terse for line in _lines(other)):
        return
    options = " ".join(f"--option {name}={value}" for name, value in other.terms.options.items())
    sentence = (
        f"a client of the Software-Challenge waits in room {other.id}, which has other options: join with {options}"
    )
    for line in _lines(room):
        if not line.terse:
            line.post(Notice(code="other_options", message=f"{sentence} to meet it", room=room.id))


def _lines(room: Room) -> Iterator[Line]:
    return (seat.line for seat in room.seats.values() if seat.line is not None)
