"""The players of a tournament: who takes part, who waits to be invited, and sending them to their seats.

Nothing of it is stored. After a restart the organiser's program enrols its players again, and they enlist again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import structlog
import trio

from triarena.protocol import from_client as c
from triarena.protocol.codec import encode
from triarena.protocol.from_server import Enlisted, Invitation, PlayerEvent, PlayerInfo, PlayerList
from triarena.protocol.identity import canonical

from .names import digest
from .refusal import Refusal

if TYPE_CHECKING:
    from .guest import Guest
    from .lobby import Lobby
    from .room import Room

log = structlog.get_logger()

LISTED_PLAYERS = 1000
"""How many players a list tells; more might not fit into a frame."""
REMEMBERED_FAREWELLS = 1000
"""How many dismissed players may still be told so when they come back."""


@dataclass(slots=True, eq=False)
class Place:
    """Of a player who has enlisted."""

    guest: Guest
    name: str
    invited: str | None = None
    """The digest of the code with which it was last invited."""

    def info(self, *, playing: bool) -> PlayerInfo:
        """As administrators may see it."""
        line = self.guest.connection
        return PlayerInfo(name=self.name, connection=line.number, software=self.guest.software, playing=playing)


@dataclass(frozen=True, slots=True)
class Farewell:
    """What is left to be said to a player who was dismissed."""

    token: str
    """The digest of the token by which it is known."""
    message: str


class Enlisting:
    """Who has enlisted in a lobby. Requests of administrators come from guests that were found to be such."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._places: dict[str, Place] = {}
        """By the canonical form of the name, in the order in which they came."""
        self._farewells: OrderedDict[str, Farewell] = OrderedDict()
        self._organisers: dict[str, Guest] = {}
        """The administrator who has enrolled a name (in canonical form), as long as its connection is open."""

    # -- players -------------------------------------------------------------------------------

    def enlist(self, guest: Guest, message: c.Enlist) -> None:
        """Let a guest wait for invitations; one that did so under the same name before is displaced."""
        if self._lobby.draining:
            raise Refusal("server_stopping", "the server is about to stop and starts nothing new")
        if guest.name is None or guest.token is None:
            sentence = "only who proves its name by a token is invited to matches"
            raise Refusal("token_required", f"{sentence}: give both (--name and --token, in hello 'name' and 'token')")
        key = canonical(guest.name)
        if not self._lobby.identities.owns(guest.name, guest.token, guest.connection.address, trio.current_time()):
            self._refuse_stranger(guest, key, guest.name)
            return
        guest.proven = True
        place = self._places.get(key)
        if place is None or place.guest is not guest:
            self._leave(key, "displaced", f"{guest.name!r} has enlisted over another connection")
            self._places[key] = Place(guest, guest.name)
            log.info("enlisted", name=guest.name, connection=guest.connection.number)
            self._tell("came", self._places[key])
        guest.connection.post(Enlisted(id=message.id, name=guest.name))

    def _refuse_stranger(self, guest: Guest, key: str, name: str) -> None:
        """Its name belongs to nobody: it came too early, or too late."""
        farewell = self._farewells.get(key)
        if farewell is not None and farewell.token == guest.token:
            guest.connection.close("dismissed", farewell.message)
            return
        raise Refusal("not_enrolled", f"the organiser has not enrolled {name!r}, or not yet")

    def gone(self, guest: Guest) -> None:
        """A guest's connection is over, and with it its place, or its say over the names that it has enrolled."""
        if guest.admin:
            for key in [key for key, organiser in self._organisers.items() if organiser is guest]:
                del self._organisers[key]
        key = canonical(guest.name) if guest.name is not None else ""
        if key in self._places and self._places[key].guest is guest:
            self._leave(key)

    def _leave(self, key: str, code: str | None = None, why: str = "") -> None:
        """Nobody waits under that name any more; with a code, who did so is told and hung up on."""
        place = self._places.pop(key, None)
        if place is None:
            return
        self._tell("went", place)
        if code is not None:
            place.guest.connection.close(code, why)

    def _tell(self, event: Literal["came", "went"], place: Place) -> None:
        message = PlayerEvent(event=event, name=place.name, connection=place.guest.connection.number)
        encoded = encode(message)
        for line in self._lobby.administrators():
            line.post_encoded(encoded)

    # -- administrators ------------------------------------------------------------------------

    def enrol(self, guest: Guest, message: c.Enrol) -> str:
        """Make names belong to the holders of tokens; a sentence that says so. Nothing is done if one can't be.

        A name that another administrator has enrolled with another token stays so as long as that one is connected: two
        tournaments would throw each other's bots out.
        """
        identities, limit = self._lobby.identities, self._lobby.house.enrolled_players
        tokens = {canonical(player.name): player.digest for player in message.players}
        if len(tokens) < len(message.players):
            raise Refusal("name_taken", "two of these players have the same name, perhaps in other letters")
        for player in message.players:
            if identities.belongs_to_another(player.name, player.digest):
                sentence = f"on this server the name {player.name!r} belongs to a bot with another token"
                raise Refusal("name_taken", f"{sentence}: enrol it with that one, or under another name")
            key = canonical(player.name)
            organiser = self._organisers.get(key, guest)
            if organiser is not guest and identities.enrolled_as(key) != player.digest:
                sentence = f"another tournament that runs on this server has a bot called {player.name!r}"
                raise Refusal("name_taken", f"{sentence}: wait for its end, or take another name")
        if identities.enrolled_with(tokens) > limit:
            raise Refusal("too_many_players", f"{limit} players may be enrolled at once; dismiss some first")
        for key, token in tokens.items():
            identities.enrol(key, token)
            self._organisers[key] = guest
            self._farewells.pop(key, None)
            if key in self._places and self._places[key].guest.token != token:
                self._leave(key, "wrong_token", "the organiser has given your name another token")
        log.info("enrolled", players=len(tokens))
        return f"{len(tokens)} players are enrolled"

    def invite(self, message: c.Invite) -> str:
        """Send a waiting player to its seat; a sentence that says so."""
        place = self._places.get(canonical(message.player))
        if place is None:
            raise Refusal("not_waiting", f"{message.player!r} is not enlisted: it is not there, or not yet")
        code = digest(message.reservation)
        reservation = self._lobby.seating.reservations.find(code)
        if reservation is None:
            raise Refusal("unknown_reservation", "there is no such reservation; was its room closed?")
        room = reservation.room
        if room.result is not None:
            raise Refusal("match_over", f"the match in room {room.id!r} is over")
        if room.seats[reservation.side].line is not None:
            raise Refusal("reservation_used", f"somebody has taken that seat of room {room.id!r} already")
        if place.invited != code and (busy := self._busy_in(place)) is not None:
            raise Refusal("not_waiting", f"{place.name!r} is busy with the match in room {busy.id!r}")
        place.invited = code
        place.guest.connection.post(
            Invitation(
                room=room.id,
                game=room.terms.game.name,
                options=dict(room.terms.options),
                reservation=message.reservation,
                seed=message.seed,
            )
        )
        return f"{place.name} is invited to room {room.id}"

    def players(self, message: c.ListPlayers) -> PlayerList:
        """Who has enlisted."""
        listed = list(self._places.values())[:LISTED_PLAYERS]
        players = [place.info(playing=self._busy_in(place) is not None) for place in listed]
        return PlayerList(id=message.id, players=players, omitted=len(self._places) - len(listed))

    def dismiss(self, message: c.Dismiss) -> str:
        """End a player's enrolment and send it home; a sentence that says so."""
        key, identities = canonical(message.name), self._lobby.identities
        place = self._places.get(key)
        if place is not None and (room := _sits_in(place.guest)) is not None:
            sentence = f"{place.name!r} plays in room {room.id!r}"
            raise Refusal("match_running", f"{sentence}: let the match end, or cancel it, and dismiss then")
        token = identities.forget(key)
        self._organisers.pop(key, None)
        if token is None and place is None:
            raise Refusal("not_enrolled", f"nobody has enrolled {message.name!r}")
        farewell = message.message or "the organiser has dismissed you"
        self._leave(key, "dismissed", farewell)
        if token is not None:  # also for one that is there: last words can be lost
            self._farewells[key] = Farewell(token, farewell)
            while len(self._farewells) > REMEMBERED_FAREWELLS:
                self._farewells.popitem(last=False)
        log.info("dismissed", name=message.name)
        return f"{message.name} is dismissed" + ("" if place is not None else "; it is not there, and told if it comes")

    def _busy_in(self, place: Place) -> Room | None:
        """Where a player sits, or has been invited to sit, in a match that is not over."""
        found = self._lobby.seating.reservations.find(place.invited) if place.invited is not None else None
        if found is not None and trio.current_time() < found.expires:
            room = found.room
            if room.referee is None and room.result is None and room.seats[found.side].line is None:
                return room
        return _sits_in(place.guest)


def _sits_in(guest: Guest) -> Room | None:
    return next((room for room in guest.rooms.values() if room.result is None), None)
