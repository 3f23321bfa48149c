"""A room as everybody may see it: in a list, and all that an observer needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import trio

from triarena.games import Side
from triarena.protocol.codec import pack_array, pack_map
from triarena.protocol.room_views import RoomInfo
from triarena.protocol.room_views import Seat as WireSeat

from .clock import ms

if TYPE_CHECKING:
    from .room import Room


def room_info(room: Room) -> RoomInfo:
    """Who plays what, and how it stands."""
    referee = room.referee
    return RoomInfo(
        room=room.id,
        game=room.terms.game.name,
        options=dict(room.terms.options),
        state=room.state,
        paused=room.gate.paused and room.result is None,
        storage_lost=room.storage_lost,
        match=room.match,
        ply=0 if referee is None else referee.ply,
        to_move=None if referee is None or room.result is not None else referee.position.to_move.value,
        red=_seat(room, Side.RED),
        blue=_seat(room, Side.BLUE),
        observers=len(room.watches),
    )


def room_view(room: Room, plies: bytes | None) -> bytes:
    """What an observer needs: a RoomView, packed. ``plies`` is a packed list of the latest ones."""
    plain = {"info": room.info().model_dump(exclude_none=True)}
    if room.referee is not None:
        plain["position"] = room.terms.game.write_position(room.referee.position)
    if room.result is not None:
        plain["result"] = room.result.model_dump(exclude_none=True)
    return pack_map(plain, {"plies": pack_array([]) if plies is None else plies})


def _seat(room: Room, side: Side) -> WireSeat:
    seat, referee = room.seats[side], room.referee
    played = 0.0 if referee is None else ms(referee.clocks[side].used)
    overran = 0.0 if room.result is None else room.result.overran_ms(side.value)
    until = math.inf if referee is None or room.result is not None else referee.absences.until(side)
    return WireSeat(
        name=seat.name or seat.fixed_name,
        connected=seat.connected,
        reserved=seat.reservation is not None,
        used_ms=round(played + overran, 3),
        connection=None if seat.line is None else seat.line.number,
        awaited_ms=None if until == math.inf else ms(until - trio.current_time()),
    )
