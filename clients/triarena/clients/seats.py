"""Taking a seat, and giving it up."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias

from triarena.games import UnknownGame, find_game
from triarena.protocol.from_client import Join, JoinReserved, JoinRoom, Leave, Rejoin
from triarena.protocol.from_server import Joined, Left, MatchOver

from .backoff import BACKOFF, Backoff
from .comeback import Comeback, Reporter, to_stderr
from .connection import Connection
from .errors import ClientError, ConnectionLost, Farewell, ServerError

SeatRequest: TypeAlias = Join | JoinRoom | JoinReserved

REASON: Final = 200
"""How many characters ``leave`` has for its reason."""

PERHAPS_OURS: Final = frozenset(["reservation_used", "room_full"])
"""Refusals that may mean our own seat, until the server has noticed that the connection which took it was lost."""


def seat_request(
    game: str | None, options: Mapping[str, int | str] | None, room: str | None, reservation: str | None
) -> SeatRequest:
    """The request that takes the seat meant. Raises ValueError if none of the three is given."""
    if reservation is not None:
        return JoinReserved(reservation=reservation)
    if room is not None:
        return JoinRoom(room=room)
    if game is not None:
        return Join(game=game, options=dict(options or {}))
    raise ValueError("a seat is found by a game, a room or a reservation; give one of them")


def take_seat(
    connection: Connection, request: SeatRequest, *, backoff: Backoff = BACKOFF, report: Reporter = to_stderr
) -> Joined:
    """The seat that was taken, if need be over the connection reopened. Raises ServerError if there is none.

    A seat in a game whose rules this installation does not share is given back, with ClientError.
    """
    try:
        return _ask_for_seat(connection, request)
    except (ConnectionLost, Farewell) as lost:
        again = partial(_ask_for_seat, connection, request)
        return Comeback(connection, backoff, report).after(lost, again, also=PERHAPS_OURS, refused=True)


def take_seat_back(connection: Connection, seat: Joined, request: SeatRequest | None) -> Joined:
    """The seat that a lost connection held, by its token.

    If the server knows the token no more, as happens before a match has begun, ``request`` takes a seat as at
    first; without one ServerError is raised. One in another game is given back, with ClientError.
    """
    try:
        return connection.request(Rejoin(token=seat.token))
    except ServerError as error:
        if error.code != "unknown_token" or request is None:
            raise
    joined = _ask_for_seat(connection, request)
    if joined.game != seat.game:
        leave(connection, joined.room, why=f"other_game: the seat was of {seat.game}")
        raise ClientError("other_game", f"room {joined.room} plays {joined.game} now, not {seat.game}; join again")
    return joined


def leave(connection: Connection, room: str, timeout: float = 5.0, *, why: str = "") -> MatchOver | None:
    """Give up a seat; how the match ended if one was under way. A server that does not answer is left without.

    ``why`` is for the organiser to read, as a code and a sentence.
    """
    with suppress(ClientError):
        connection.send(Leave(room=room, reason=one_line(why)))
        while True:
            message = connection.receive(timeout)
            if isinstance(message, Left | MatchOver) and message.room == room:
                return message if isinstance(message, MatchOver) else None
    return None


def _ask_for_seat(connection: Connection, request: SeatRequest) -> Joined:
    joined = connection.request(request)
    try:
        theirs = {offered.name: offered.rules_version for offered in connection.welcome.games}
        ours = find_game(joined.game).rules_version
        if theirs.get(joined.game, ours) != ours:
            sentence = f"the server plays {joined.game} by rules version {theirs[joined.game]}, this installation knows"
            raise ClientError("rules_version", f"{sentence} version {ours}: update the older one")
    except UnknownGame as error:
        leave(connection, joined.room, why=f"unknown_game: {error}")
        raise ClientError("unknown_game", f"{error}: install the distribution that brings it") from None
    except ClientError as error:
        leave(connection, joined.room, why=f"{error.code}: {error.message}")
        raise
    return joined


def one_line(text: str) -> str:
    """As much of a text as a message takes for a reason, without what a terminal might obey."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))[:REASON]
