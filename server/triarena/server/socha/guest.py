"""A client of the Software-Challenge as the lobby sees it."""

from __future__ import annotations

import hmac
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from triarena.games import AnyGame, Side
from triarena.games.mississippi_queen.profiles import SERVER_24_2_5
from triarena.protocol import from_client as c
from triarena.protocol.from_server import Error, RoomEvent, Snapshot
from triarena.protocol.room_views import RoomView
from triarena.server.connection import Connection
from triarena.server.guest import Guest
from triarena.server.refusal import Refusal
from triarena.server.room import Room
from triarena.server.seldom import Seldom
from triarena.server.terms import Terms

from .requests import GAME
from .state import TEAMS

if TYPE_CHECKING:
    from triarena.server.lobby import Lobby

log = structlog.get_logger()

SOFTWARE = "a client of the Software-Challenge 2024"
USED = "this reservation was used: its player is connected, and the match is over or about to begin"
"""What there is to say of a code that opens nothing now."""


class XmlGuest(Guest):
    """Like any other, with the few things in which the original's clients differ."""

    __slots__ = ("_password", "_rules", "_seldom")

    def __init__(self, connection: Connection, lobby: Lobby, rules: str, password: str | None) -> None:
        """``rules`` are those by which the settings want these clients to play, ``password`` is for administrators."""
        super().__init__(connection, lobby)
        self.software = SOFTWARE
        self._rules = rules
        self._seldom = Seldom()
        self._password = password

    def must_know(self, game: AnyGame) -> None:
        """The original's clients know one game."""
        if game.name != GAME:
            raise Refusal("wrong_game", f"{game.title} is played there, which this protocol has no words for")

    def may_play(self, terms: Terms) -> None:
        """The original's clients know its rules; by others they would lose without knowing why."""
        self.must_know(terms.game)
        rules = terms.options["rules"]
        if rules not in (self._rules, SERVER_24_2_5.name):
            played = f"this room is played by the rules {rules!r}, and clients of the Software-Challenge know others"
            wanted = f"--option rules={self._rules}"
            raise Refusal("wrong_rules", f"{played}: ask the organiser for a room that was prepared with {wanted}")

    def called(self, side: Side) -> str:
        """By its team: these clients tell no name."""
        return TEAMS[side.value]

    def is_secret(self, offered: str) -> bool:
        """Whether it is the password that was set for these clients."""
        if self._password is None:
            return False
        return hmac.compare_digest(offered.encode("utf-8", "surrogatepass"), self._password.encode())

    def displaces(self, room: Room) -> bool:
        """These clients have no ``rejoin``: whose connection hangs, before the match or in it, comes again with its
        code. When the match is over there is nothing to win by it.
        """
        return room.result is None

    def came_to_the_end(self, room: Room) -> None:
        """Its result has the players' names, which these clients are told by nothing else."""
        self.connection.post(RoomEvent(event="over", info=room.info()))

    def gone(self) -> None:
        """These clients have no way to come back: a loss is final, as it was with the original."""
        self.connection.loss = replace(self.connection.loss, final=True)
        super().gone()

    def _refuse(self, message: c.FromClient, refusal: Refusal) -> None:
        if refusal.code == "reservation_used":
            refusal = Refusal(refusal.code, USED)
        self._note(message.type, refusal.code, refusal.message)
        super()._refuse(message, refusal)

    def misread(self, answer: Error) -> None:
        """See Guest."""
        self._note(answer.request, answer.code, answer.message)
        super().misread(answer)

    def _note(self, request: str | None, code: str, why: str) -> None:
        """Tell the log: clients in Python show nobody what they are refused, but end with an error of their own."""
        if many := self._seldom(code):
            about = {"connection": self.connection.number, "address": self.connection.address, "request": request}
            log.info("request_refused", **about, code=code, why=why, times=many)

    def _act(self, message: c.FromClient, at: float) -> None:
        super()._act(message, at)
        if isinstance(message, c.Authenticate):
            number, address = self.connection.number, self.connection.address
            log.info("administrator", request="authenticate", connection=number, address=address)
        if isinstance(message, c.Observe):
            room = self._lobby.rooms[message.room]
            if assembled(room):
                show_start(room, self.connection)


def assembled(room: Room) -> bool:
    """Whether both players are there, and the match waits only for a step or to be unpaused."""
    return room.full and room.gate.paused and room.referee is None and room.result is None


def show_start(room: Room, line: Connection) -> None:
    """Show the board before the match has begun, as the original does to observers of a paused room."""
    start = room.terms.game.start(room.terms.options, room.terms.seed)
    plain = {"info": room.info(), "position": room.terms.game.write_position(start)}
    line.post(Snapshot(room=room.id, view=RoomView.model_validate(plain)))
