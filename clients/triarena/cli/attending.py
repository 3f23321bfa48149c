"""The bot of ``triarena join --tournament``: it stays until the organiser dismisses it."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import click

from .join import abandon
from .listener import Listener
from .options import FORFEITED, connected, explained
from .waiting import FIRST_SECONDS

if TYPE_CHECKING:
    from triarena.clients.bots import Bot
    from triarena.clients.errors import BotError
    from triarena.protocol.from_server import FromServer, Invitation

    from .waiting import Waiting

STARTED_AGAIN = "; whoever starts this program again plays on with the next match"


def attend_tournament(
    bot: str,
    game: str | None,
    seed: int | None,
    host: str,
    port: int,
    name: str | None,
    token: str | None,
    wait: float,
    patience: float,
    as_json: bool,
) -> None:
    """Play all matches to which the bot is invited, and tell the organiser's farewell.

    The bot is loaded once before, to learn at once whether it can be; one that comes along only if ``game`` is given.
    ``seed`` is for invitations without one. Raises Failure if the bot can't be loaded, may not take part, or the server
    did not come back.
    """
    from triarena.clients.backoff import Backoff
    from triarena.clients.bots import FreshBot, is_file
    from triarena.clients.tournament import attend

    from .waiting import Waiting, WaitingThread
    from .watchdog import Watchdog

    def load(invitation: Invitation) -> Bot:
        return fresh.load(invitation.game, invitation.seed if invitation.seed is not None else seed)

    backoff = Backoff(patience=patience)
    # What a bot prints shall not stand between the lines of JSON.
    out, apart = sys.stdout, redirect_stdout(sys.stderr) if as_json else nullcontext()
    with explained(), apart:
        fresh = FreshBot(bot)
        if is_file(bot) or game is not None:
            fresh.load(game or "", seed)
        with connected(host, port, name=name, token=token, wait=wait, patience=patience) as connection:
            listener, waiting = Listener(out, connection, as_json, brief=True), Waiting()
            lobby = _Lobby(listener, waiting, f"in the lobby of the tournament at {host}:{port}")
            hangs = partial(abandon, listener, advice=STARTED_AGAIN, exit_code=FORFEITED)
            with WaitingThread(waiting), Watchdog(connection, hangs) as watchdog:
                farewell = attend(
                    connection, load, on_event=lobby, on_failure=_tell, wrap=watchdog.watched, backoff=backoff
                )
    click.echo(f"dismissed: {farewell.message}", err=as_json)
    if listener.unwritten is not None:
        raise listener.unwritten


@dataclass(slots=True)
class _Lobby:
    """Hears what the listener hears, and says when and where the next match is waited for."""

    listener: Listener
    waiting: Waiting
    where: str
    _next: str = field(default="first", init=False)

    def __call__(self, message: FromServer) -> None:
        from triarena.protocol.from_server import Enlisted, Invitation, MatchOver

        if isinstance(message, Invitation):
            self.waiting.end()
            self._next = "next"
        self.listener(message)
        if isinstance(message, Enlisted | MatchOver):
            after = 0.0 if self._next == "first" else FIRST_SECONDS
            self.waiting.begin(f"the {self._next} match, {self.where}", after)


def _tell(error: BotError) -> None:
    """A fault of the bot that cost a match, and no more than that."""
    if error.traceback:
        click.echo(error.traceback, err=True)
    click.echo(f"Error: {error.message} [{error.code}]; waiting for the next match", err=True)
