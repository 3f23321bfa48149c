"""Telling how a match goes: a few short lines, or one of JSON, and the exit code that follows from its end."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO

import click

from .options import FORFEITED

if TYPE_CHECKING:
    from triarena.clients.connection import Connection
    from triarena.protocol.from_server import FromServer, Joined, MatchOver, MatchStarted

PATIENCE_SECONDS: Final = 1.0
"""A match that has not begun so long after a seat was taken waits for somebody."""


@dataclass(slots=True)
class Listener:
    """Tells on ``out`` what the messages about a match say; notes the exit code."""

    out: TextIO
    connection: Connection
    as_json: bool = False
    brief: bool = False
    """One line for each match, when it is over."""
    exit_code: int = 0
    unwritten: OSError | None = None
    """Why something could not be told; no reason to lose a match, but one to fail in the end."""
    _joined: Joined | None = field(default=None, init=False)
    _started: MatchStarted | None = field(default=None, init=False)

    def __call__(self, message: FromServer) -> None:
        """Take note of a message about the match."""
        from triarena.protocol.from_server import Joined, MatchOver, MatchStarted, Notice

        if isinstance(message, Joined):
            self._sit(message)
        elif isinstance(message, MatchStarted):
            self._start(message)
        elif isinstance(message, Notice):
            self._say(f"notice: {message.message} [{message.code}]")
        elif isinstance(message, MatchOver) and self._joined is not None:
            self._finish(message, self._joined)

    def _sit(self, joined: Joined) -> None:
        """A seat; one that came back by its token is no news."""
        known = self._joined is not None and joined.token == self._joined.token
        self._joined = joined
        if known:
            return
        self._started = None
        if self.brief:
            return
        where = self.connection.address  # perhaps another server than was meant
        self._say(f"joined room {joined.room} of {joined.game} as {joined.side}, called {joined.name}, at {where}")
        if not self.as_json and not self._begins_at_once(joined.room):
            about = ", ".join([joined.game, *(f"{name}={value}" for name, value in joined.options.items())])
            self._say(f"waiting for {self._missing(joined)} in room {joined.room} ({about}) ...")

    def _missing(self, joined: Joined) -> str:
        """Who keeps the match from beginning."""
        from triarena.clients.admin import list_rooms
        from triarena.clients.errors import ClientError

        with suppress(ClientError):
            for info in list_rooms(self.connection):
                if info.room == joined.room and info.paused and info.red.connected and info.blue.connected:
                    return "the organiser to begin the match"
        return "an opponent"

    def _begins_at_once(self, room: str) -> bool:
        from triarena.clients.errors import ClientError

        if not self._awaited(room):
            with suppress(ClientError):  # it will be told when it is received
                self.connection.listen(PATIENCE_SECONDS)
        return self._awaited(room)

    def _awaited(self, room: str) -> bool:
        """Whether something about the room waits to be received."""
        return any(getattr(message, "room", None) == room for message in self.connection.waiting)

    def _start(self, started: MatchStarted) -> None:
        """The start of a match, or where it stands for who comes back: after a loss, or as a new process."""
        known, self._started = self._started, started
        if self.brief:
            return
        players = f"red {started.players.red} against blue {started.players.blue}"
        if known is not None and known.match == started.match:
            self._say(f"back in the match at ply {len(started.plies)}")
        elif started.plies:
            self._say(f"back in the match at ply {len(started.plies)}: {started.match}, {players}")
        else:
            self._say(f"match {started.match} has started: {players}")

    def _finish(self, over: MatchOver, joined: Joined) -> None:
        from triarena.clients.results import at_fault, server_failed, verdict_line

        if at_fault(over.result, joined.side):
            self.exit_code = FORFEITED
        elif server_failed(over.result):
            self.exit_code = self.exit_code or 1
        self._say(self._about(joined) + verdict_line(over.result, joined.side))
        if self.as_json:
            self._print(json.dumps(self._record(over, joined)))

    def _about(self, joined: Joined) -> str:
        """Which match it was, if nothing has been said of it before."""
        if not self.brief:
            return ""
        players = self._started.players if self._started is not None else None
        against = "" if players is None else f" against {players.blue if joined.side == 'red' else players.red}"
        which = f"room {joined.room}" if self._started is None else f"match {self._started.match}"
        return f"{which} of {joined.game}, as {joined.side}{against}: "

    def _record(self, over: MatchOver, joined: Joined) -> dict[str, object]:
        """A match as JSON tells it."""
        from triarena.clients.results import verdict

        started = self._started
        return {
            "verdict": verdict(over.result, joined.side),
            "side": joined.side,
            "name": joined.name,
            "game": joined.game,
            "options": joined.options,
            "room": joined.room,
            "match": over.match,
            "players": started.players.model_dump() if started else None,
            "result": over.result.model_dump(exclude_none=True),
        }

    def _say(self, line: str) -> None:
        if not self.as_json:
            self._print(line)

    def _print(self, line: str) -> None:
        try:
            click.echo(line, file=self.out)
        except OSError as error:
            self.unwritten = self.unwritten or error
        except ValueError:  # the bot has closed it
            self.unwritten = self.unwritten or OSError(errno.EBADF, "the bot has closed it")
