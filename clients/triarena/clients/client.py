"""Playing a match: take a seat, then answer every ``your_turn`` with the bot's move until ``match_over``.

    from triarena.clients import play

    play(lambda position: next(position.legal_moves()), game="towerwars")

A move that the rules forbid is reported (ply, move, the broken rule's code and sentence, the position) *and sent*:
the server is the referee. Nothing is put in its place, so that a fault shows in the bot's first match and not in
the tournament, and the match is recorded as lost by that move. What is no move at all cannot be sent: the match
is left and ``BotError`` says what to change.

A connection that is lost, or a server that stops, is no end of a match. The client comes back by itself: it tries at
once, then after pauses that grow, for ``backoff.patience`` seconds, and says so in two short lines. During a match
its token brings the seat back, also from a server that was started again; before one it may have to join as at
first. The server then asks again, and a move that was chosen for the same ply and position is sent, not chosen anew.
Who was ``displaced`` (somebody else took the seat with its token) or ``kicked`` stays away.

The position of a turn is complete, so most bots never notice. One that keeps a state of its own may be told with a
function ``come_back(match)``, called in place of ``get_ready``; the same function may serve as both.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from triarena.games import find_game
from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.from_client import Leave
from triarena.protocol.from_server import FromServer, Joined, MatchOver, MatchStarted, Moved, YourTurn

from .backoff import BACKOFF, Backoff
from .bots import Bot, BotMove, bot_of
from .comeback import Comeback, Reporter, to_stderr
from .connection import DEFAULT_HOST, DEFAULT_PORT, Connection
from .errors import BotError, ClientError, ConnectionLost, Farewell
from .player import Match, Player
from .seats import SeatRequest, leave, seat_request, take_seat, take_seat_back

Listener: TypeAlias = Callable[[FromServer], None]


def play(
    choose_move: BotMove,
    *,
    get_ready: Callable[[Match], object] | None = None,
    come_back: Callable[[Match], object] | None = None,
    game: str | None = None,
    options: Mapping[str, int | str] | None = None,
    room: str | None = None,
    reservation: str | None = None,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    name: str | None = None,
    token: str | None = None,
    tls: ssl.SSLContext | None = None,
    on_event: Listener | None = None,
    report: Reporter = to_stderr,
    backoff: Backoff = BACKOFF,
) -> MatchOver:
    """Play one match, from connecting to its end.

    ``choose_move`` takes the position, or the position and the ``Clock`` of the turn, and returns a move or its
    text. ``get_ready`` may load what takes long, before the clock runs; ``come_back`` is told that the connection
    was lost and is back. The seat is that of ``reservation``, an open one of ``room``, or one of ``game`` (with
    ``options``). ``token`` proves a ``name`` that belongs to this bot; ``tls`` (of ``tls_context``) is for servers that
    speak TLS. ``on_event`` sees every message about the match: ``joined`` and ``match_started`` also after
    coming back, which ``Backoff(patience=0)`` switches off.

    Raises CannotConnect, ServerError, ConnectionLost; BotError if the bot failed (the match is then left);
    ClientError if this installation does not know the game or its rules' version.
    """
    bot, request = bot_of(choose_move, get_ready, come_back), seat_request(game, options, room, reservation)
    with Connection.open(host, port, name=name, token=token, tls=tls) as connection:
        joined = take_seat(connection, request, backoff=backoff, report=report)
        return play_seat(connection, joined, bot, request=request, on_event=on_event, report=report, backoff=backoff)


def play_seat(
    connection: Connection,
    joined: Joined,
    bot: Bot,
    *,
    request: SeatRequest | None = None,
    on_event: Listener | None = None,
    report: Reporter = to_stderr,
    backoff: Backoff = BACKOFF,
) -> MatchOver:
    """Play the match of a seat that was taken with ``take_seat``; see ``play``.

    ``request`` is what took the seat, and takes one again should it be lost before the match has begun. The
    connection is reopened as often as it is lost, and what else was done with it must be done again.
    """
    tell = on_event or (lambda message: None)
    player = Player(connection, joined, find_game(joined.game), bot, report)
    comeback = Comeback(connection, backoff, report)
    tell(joined)
    try:
        while True:
            try:
                return _play_on(player, tell, comeback)
            except (ConnectionLost, Farewell) as lost:
                _sit_again(player, request, comeback, lost)
                tell(player.joined)
    except BotError as error:
        error.match_over = leave(connection, player.joined.room, why=f"{error.code}: {error.message}")
        if error.match_over is not None:
            tell(error.match_over)
        raise
    except KeyboardInterrupt:
        with suppress(ClientError, LocalProtocolError):  # the latter when there is no seat at the moment
            connection.send(Leave(room=player.joined.room, reason="interrupted: somebody stopped the program"))
            if player.match is not None:
                report(f"interrupted: you have left match {player.match}, so it goes to your opponent [left]")
        raise


def _play_on(player: Player, tell: Listener, comeback: Comeback) -> MatchOver:
    """Do what the messages ask for until the match is over or the connection is lost."""
    while True:
        message = player.connection.receive()
        if getattr(message, "room", player.joined.room) != player.joined.room:
            continue
        tell(message)
        if isinstance(message, MatchStarted):
            player.start(message)
        elif isinstance(message, YourTurn):
            player.answer(message)
        elif isinstance(message, Moved):
            comeback.progressed()
        elif isinstance(message, MatchOver):
            return message


def _sit_again(
    player: Player, request: SeatRequest | None, comeback: Comeback, lost: ConnectionLost | Farewell
) -> None:
    """Come back to the seat, or before the match to another one."""
    in_match = player.match is not None
    seat = partial(take_seat_back, player.connection, player.joined, None if in_match else request)
    try:
        player.joined = comeback.after(lost, seat, "in the match" if in_match else "")
    except ConnectionLost as error:
        sentence = f"{error.message}; the match in room {player.joined.room} was not over, only match_over ends one"
        raise ConnectionLost(error.code, sentence) from None
