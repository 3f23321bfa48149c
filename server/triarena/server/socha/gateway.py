"""The way in for clients of the Software-Challenge: a second, thin shell over the same lobby, rooms and referee."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from triarena.protocol.from_server import RoomEvent, RoomEventKind
from triarena.server.connection import Connection
from triarena.server.lobby import Lobby
from triarena.server.room import Room
from triarena.server.wire import Tongue

from .answers import Mementos
from .guest import XmlGuest, assembled, show_start
from .hints import tell_of_each_other
from .requests import GAME
from .wrong_port import GatewaySession


@dataclass(frozen=True, slots=True)
class GatewayRules:
    """What the settings say about it."""

    port: int
    """0: any free one."""
    rules: str
    """The rule profile of rooms that are opened from here."""
    password: str | None = field(default=None, repr=False)
    """With which its administrators may come, beside the administrator's secret."""


class Gateway:
    """One per server."""

    def __init__(self, rules: GatewayRules, lobby: Lobby, usual_port: int | None = None) -> None:
        """``usual_port`` is the one for all others, to tell those who are at the wrong one."""
        self._lobby = lobby
        self._rules = rules
        self.tongue = Tongue(partial(GatewaySession, rules.rules, Mementos(), usual_port), terse=True)
        """What is spoken there."""
        lobby.listeners.append(self.happened)

    async def serve(self, connection: Connection) -> None:
        """A client's stay, from accept to farewell."""
        await self._lobby.serve(connection, partial(XmlGuest, rules=self._rules.rules, password=self._rules.password))

    def happened(self, room: Room, event: RoomEventKind) -> None:
        """Tell clients of this kind what happens in their room; administrators are told of all rooms anyway."""
        if room.terms.game.name != GAME or event not in ("joined", "left", "paused", "resumed"):
            return
        if event == "joined":
            tell_of_each_other(room, self._lobby.rooms.values())
        watching = [guest for guest in self._guests(room) if room.id in guest.watching]
        for guest in self._guests(room):
            if not guest.admin:
                guest.connection.post(RoomEvent(event=event, info=room.info()))
        if event == "joined" and assembled(room):
            for guest in watching:
                show_start(room, guest.connection)

    def _guests(self, room: Room) -> Iterator[XmlGuest]:
        lines = [seat.line for seat in room.seats.values()] + [watch.line for watch in room.watches]
        for line in lines:
            guest = None if line is None else self._lobby.guests.get(line.number)
            if isinstance(guest, XmlGuest):
                yield guest
