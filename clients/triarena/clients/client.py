"""Playing a match: take a seat, then answer every ``your_turn`` with the bot's move until ``match_over``.

    from triarena.clients import play

    play(lambda position: next(position.legal_moves()), game="towerwars")

A move that the rules forbid is reported (ply, move, the broken rule's code and sentence, the position) *and sent*:
the server is the referee. Nothing is put in its place, so that a fault shows in the bot's first match and not in
the tournament, and the match is recorded as lost by that move. What is no move at all cannot be sent: the match
is left and ``BotError`` says what to change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from triarena.games import AnyGame, AnyPosition, MoveError, Side, UnknownGame, find_game
from triarena.protocol.from_client import Join, JoinReserved, JoinRoom, Leave, Move, Ready, Surrender
from triarena.protocol.from_server import FromServer, Joined, Left, MatchOver, MatchStarted, YourTurn
from triarena.protocol.values import TimeControl

from .bots import Bot, BotMove, bot_of, call_bot, chosen_move
from .connection import DEFAULT_HOST, DEFAULT_PORT, Connection
from .errors import BotError, ClientError, ConnectionLost, ServerError

SeatRequest: TypeAlias = Join | JoinRoom | JoinReserved
Listener: TypeAlias = Callable[[FromServer], None]
Reporter: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Match:
    """What a bot may know before the first move; ``get_ready`` gets one."""

    match: str
    """Under which the server keeps the match."""
    room: str
    game: str
    options: Mapping[str, int | str]
    side: Side
    """Yours."""
    name: str
    opponent: str
    time_control: TimeControl
    """Yours."""
    startup_ms: float
    """How long ``get_ready`` may take."""
    position: AnyPosition
    """The first one."""


class GiveUp(Exception):
    """Raise it in ``choose_move`` to surrender the match."""


def to_stderr(line: str) -> None:
    """Where reports about the bot go unless somebody else takes them."""
    print(line, file=sys.stderr, flush=True)


def play(
    choose_move: BotMove,
    *,
    get_ready: Callable[[Match], object] | None = None,
    game: str | None = None,
    options: Mapping[str, int | str] | None = None,
    room: str | None = None,
    reservation: str | None = None,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    name: str | None = None,
    on_event: Listener | None = None,
    report: Reporter = to_stderr,
) -> MatchOver:
    """Play one match, from connecting to its end.

    ``choose_move`` takes the position, or the position and the ``Clock`` of the turn, and returns a move or its
    text. ``get_ready`` may load what takes long, before the clock runs. The seat is that of ``reservation``, an
    open one of ``room``, or one of ``game`` (with ``options``). ``on_event`` sees every message about the match.

    Raises CannotConnect, ServerError, ConnectionLost; BotError if the bot failed (the match is then left);
    ClientError if this installation does not know the game or its rules' version.
    """
    with Connection.open(host, port, name=name) as connection:
        joined = take_seat(connection, seat_request(game, options, room, reservation))
        return play_seat(connection, joined, bot_of(choose_move, get_ready), on_event=on_event, report=report)


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


def take_seat(connection: Connection, request: SeatRequest) -> Joined:
    """The seat that was taken. Raises ServerError if there is none.

    A seat in a game whose rules this installation does not share is given back, with ClientError.
    """
    joined = connection.request(request)
    try:
        theirs = {offered.name: offered.rules_version for offered in connection.welcome.games}
        ours = find_game(joined.game).rules_version
        if theirs.get(joined.game, ours) != ours:
            sentence = f"the server plays {joined.game} by rules version {theirs[joined.game]}, this installation knows"
            raise ClientError("rules_version", f"{sentence} version {ours}: update the older one")
    except UnknownGame as error:
        leave(connection, joined.room)
        raise ClientError("unknown_game", f"{error}: install the distribution that brings it") from None
    except ClientError:
        leave(connection, joined.room)
        raise
    return joined


def leave(connection: Connection, room: str, timeout: float = 5.0) -> MatchOver | None:
    """Give up a seat; how the match ended if one was under way. A server that does not answer is left without."""
    with suppress(ClientError):
        connection.send(Leave(room=room))
        while True:
            message = connection.receive(timeout)
            if isinstance(message, Left | MatchOver) and message.room == room:
                return message if isinstance(message, MatchOver) else None
    return None


def play_seat(
    connection: Connection,
    joined: Joined,
    bot: Bot,
    *,
    on_event: Listener | None = None,
    report: Reporter = to_stderr,
) -> MatchOver:
    """Play the match of a seat that was taken with ``take_seat``; see ``play``."""
    tell = on_event or (lambda message: None)
    seat = _Seat(connection, joined, find_game(joined.game), bot, report)
    tell(joined)
    try:
        while True:
            message = connection.receive()
            if getattr(message, "room", joined.room) != joined.room:
                continue
            tell(message)
            if isinstance(message, MatchStarted):
                seat.start(message)
            elif isinstance(message, YourTurn):
                seat.answer(message)
            elif isinstance(message, MatchOver):
                return message
    except BotError as error:
        error.match_over = leave(connection, joined.room)
        if error.match_over is not None:
            tell(error.match_over)
        raise
    except ConnectionLost as error:
        sentence = f"{error.message}; the match in room {joined.room} was not over, only match_over ends one"
        raise ConnectionLost(error.code, sentence) from None
    except KeyboardInterrupt:
        with suppress(ClientError):
            connection.send(Leave(room=joined.room))
        raise


@dataclass(slots=True)
class _Seat:
    """The bot at its seat: messages in, messages out."""

    connection: Connection
    joined: Joined
    game: AnyGame
    bot: Bot
    report: Reporter

    def start(self, started: MatchStarted) -> None:
        """Let the bot load what it needs, then say that it is ready."""
        if self.bot.get_ready is not None:
            call_bot("get_ready", self.bot.get_ready, self.match(started))
        self.connection.send(Ready(room=started.room))

    def match(self, started: MatchStarted) -> Match:
        """What the bot may know of the match."""
        side, players = Side(started.side), {Side.RED: started.players.red, Side.BLUE: started.players.blue}
        return Match(
            match=started.match,
            room=started.room,
            game=started.game,
            options=started.options,
            side=side,
            name=players[side],
            opponent=players[side.other],
            time_control=started.time_control,
            startup_ms=started.startup_ms,
            position=self.position(started.position),
        )

    def answer(self, turn: YourTurn) -> None:
        """Ask the bot and send its move."""
        position = self.position(turn.position)
        try:
            returned = call_bot("choose_move", self.bot.choose_move, position, turn.clock, passes=(GiveUp,))
            move, wire = chosen_move(self.game, returned)
            message = Move(room=turn.room, ply=turn.ply, move=wire)
        except GiveUp:
            self.connection.send(Surrender(room=turn.room))
            return
        except BotError as error:
            raise BotError(error.code, f"ply {turn.ply}: {error.message}", error.traceback) from None
        except ValidationError:  # a move that the rules could read, but no frame would hold
            sentence = f"ply {turn.ply}: the move that choose_move returned is too long to be sent"
            raise BotError("not_a_move", f"{sentence}; return one of position.legal_moves()") from None
        try:
            position.check(move)
        except MoveError as error:
            self.report(
                f"warning: ply {turn.ply}, move {self.game.format(move)}: {error.message} [{error.code}]; "
                "it is sent all the same, and the server will judge it\n"
                f"  position: {position!r}"
            )
        self.connection.send(message)

    def position(self, wire: Any) -> AnyPosition:
        """The position of a message."""
        if wire is None:
            raise ServerError("no_position", "the server sent no position with the turn, although it was asked to")
        position: AnyPosition = self.game.read_position(wire.model_dump(exclude_none=True))
        return position
