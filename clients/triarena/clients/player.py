"""The bot at its seat: the server's questions in, the bot's answers out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from triarena.games import AnyGame, AnyPosition, MoveError, Side
from triarena.protocol.from_client import Move, Ready, Surrender
from triarena.protocol.from_server import Joined, MatchStarted, YourTurn
from triarena.protocol.values import TimeControl

from .bots import Bot, call_bot, chosen_move
from .comeback import Reporter
from .connection import Connection
from .errors import BotError, ServerError


@dataclass(frozen=True, slots=True)
class Match:
    """What a bot may know before its first move; ``get_ready`` and ``come_back`` get one."""

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
    """The first one; for ``come_back`` the one at which the match stands."""


class GiveUp(Exception):
    """Raise it in ``choose_move`` to surrender the match."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the bot said to a turn, kept in case it did not arrive."""

    turn: YourTurn
    message: Move | Surrender

    def fits(self, turn: YourTurn) -> bool:
        """Whether the turn is the one that was answered, asked again."""
        return (turn.ply, turn.position) == (self.turn.ply, self.turn.position)


@dataclass(slots=True)
class Player:
    """A bot in a match, which may outlive its connection: what was thought once is not thought again."""

    connection: Connection
    joined: Joined
    """The seat; another one may take its place when the connection was lost."""
    game: AnyGame
    bot: Bot
    report: Reporter
    match: str | None = None
    """The match for which the bot is ready; None before the first."""
    _answer: _Answer | None = field(default=None, init=False)

    def start(self, started: MatchStarted) -> None:
        """Let the bot load what it needs, or learn that it is back, then say that it is ready."""
        if started.match != self.match:
            self._answer = None
            if self.bot.get_ready is not None:
                call_bot("get_ready", self.bot.get_ready, self._match(started))
            self.match = started.match
        elif self.bot.come_back is not None:
            call_bot("come_back", self.bot.come_back, self._match(started))
        self.connection.send(Ready(room=started.room))

    def answer(self, turn: YourTurn) -> None:
        """Send the bot's move: the one it has chosen for this very turn already, or else ask it."""
        if self._answer is None or not self._answer.fits(turn):
            self._answer = _Answer(turn, self._ask(turn))
        self.connection.send(self._answer.message.model_copy(update={"room": turn.room}))

    def _match(self, started: MatchStarted) -> Match:
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
            position=self._position(started.position),
        )

    def _ask(self, turn: YourTurn) -> Move | Surrender:
        """What the bot answers. Raises BotError if that is no move; an illegal one is reported."""
        position = self._position(turn.position)
        try:
            returned = call_bot("choose_move", self.bot.choose_move, position, turn.clock, passes=(GiveUp,))
            move, wire = chosen_move(self.game, returned)
            message = Move(room=turn.room, ply=turn.ply, move=wire)
        except GiveUp:
            return Surrender(room=turn.room)
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
        return message

    def _position(self, wire: Any) -> AnyPosition:
        if wire is None:
            raise ServerError("no_position", "the server sent no position with the turn, although it was asked to")
        position: AnyPosition = self.game.read_position(wire.model_dump(exclude_none=True))
        return position
