"""``triarena join``: a bot takes a seat and plays."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

import click

from .options import FORFEITED, Failure, connected, explained, game_options, patience_option, server_options

if TYPE_CHECKING:
    from triarena.clients.bots import Bot
    from triarena.clients.connection import Connection
    from triarena.protocol.from_server import FromServer, Joined, MatchOver, MatchStarted


@click.command(
    epilog="Exit code 0: played to a regular end, won or lost; 3: forfeited by a fault of the bot; "
    "1: no connection, no seat, or a fault of the server; 2: wrong use."
)
@click.argument("bot", default="random")
@click.option("--game", help="Take a seat of this game (see: triarena games).")
@click.option("--room", help="Take an open seat of this room (see: triarena rooms).")
@click.option("--reservation", metavar="CODE", help="Take the seat that this code was made for.")
@game_options
@server_options
@click.option("--name", help="The player's name.")
@click.option(
    "--token", envvar="TRIARENA_TOKEN", show_envvar=True, help="Proves a name that belongs to this bot on that server."
)
@click.option("--seed", type=int, help="For the bot's own randomness: same seed, same choices.")
@click.option("--matches", type=click.IntRange(1), default=1, show_default=True, help="How many to play in turn.")
@click.option(
    "--wait", type=click.FloatRange(0), default=0, metavar="SECONDS", help="Keep trying until the server is there."
)
@patience_option
@click.option("--json", "as_json", is_flag=True, help="Print nothing but one line of JSON per match.")
def join(
    bot: str,
    game: str | None,
    room: str | None,
    reservation: str | None,
    options: dict[str, int | str],
    host: str,
    port: int,
    name: str | None,
    token: str | None,
    seed: int | None,
    matches: int,
    wait: float,
    rejoin_patience: float,
    as_json: bool,
) -> None:
    """Send a bot into a match: BOT is a Python file with a function choose_move(position), or random, or greedy.

    \b
    $ triarena join --game towerwars my_bot.py
    $ triarena join --game flowerwars --option size=10 greedy --name Flora
    $ triarena join --reservation CODE my_bot.py --host 192.168.1.20
    """
    _check_use(game, room, reservation, options, matches)
    from triarena.clients.backoff import Backoff
    from triarena.clients.client import play_seat
    from triarena.clients.seats import seat_request, take_seat

    listener, backoff = Listener(sys.stdout, as_json), Backoff(patience=rejoin_patience)
    # What a bot prints shall not stand between the lines of JSON.
    with explained(), redirect_stdout(sys.stderr) if as_json else nullcontext():
        request = seat_request(game, options, room, reservation)
        loaded = _load_early(bot, game, seed)
        with connected(host, port, name=name, token=token, wait=wait) as connection:
            for _ in range(matches):
                joined = take_seat(connection, request, backoff=backoff)
                check_game(connection, joined, game)
                loaded = loaded or _load_early(bot, joined.game, seed)
                assert loaded is not None, "the game is known now"
                play_seat(connection, joined, loaded, request=request, on_event=listener, backoff=backoff)
    if listener.exit_code:
        click.get_current_context().exit(listener.exit_code)


@dataclass(slots=True)
class Listener:
    """Tells on ``out`` how a match goes, in short lines or as one line of JSON; notes the exit code."""

    out: TextIO
    as_json: bool = False
    exit_code: int = 0
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
        if self._joined is None or joined.token != self._joined.token:
            self._started = None
            self._say(f"joined room {joined.room} of {joined.game} as {joined.side}, called {joined.name}")
        self._joined = joined

    def _start(self, started: MatchStarted) -> None:
        """The start of a match; told again after coming back, it is no news."""
        if self._started is None or started.match != self._started.match:
            players = started.players
            self._say(f"match {started.match} has started: red {players.red} against blue {players.blue}")
        self._started = started

    def _finish(self, over: MatchOver, joined: Joined) -> None:
        from triarena.clients.results import at_fault, sentence, server_failed, verdict

        outcome = verdict(over.result, joined.side)
        if at_fault(over.result, joined.side):
            self.exit_code = FORFEITED
        elif server_failed(over.result):
            self.exit_code = self.exit_code or 1
        self._say(f"{outcome}: {sentence(over.result)}")
        if self.as_json:
            self._print(json.dumps(self._record(over, joined, outcome)))

    def _record(self, over: MatchOver, joined: Joined, outcome: str) -> dict[str, object]:
        """A match as JSON tells it."""
        started = self._started
        return {
            "verdict": outcome,
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
        click.echo(line, file=self.out)


def _check_use(
    game: str | None, room: str | None, reservation: str | None, options: dict[str, int | str], matches: int
) -> None:
    """Raises a usage error for options that do not go together."""
    if room is not None and reservation is not None:
        raise click.UsageError("--room and --reservation both choose a seat; give one of them")
    if game is None and room is None and reservation is None:
        raise click.UsageError("which seat? give --game GAME (see: triarena games), or --room, or --reservation")
    if options and (room is not None or reservation is not None):
        raise click.UsageError("--option goes with --game alone: a room has its options already")
    if matches > 1 and reservation is not None:
        raise click.UsageError("a reservation is good for one match; leave --matches out")


def _load_early(bot: str, game: str | None, seed: int | None) -> Bot | None:
    """The bot, as soon as it can be loaded: one that comes along depends on the game, a file does not."""
    from triarena.clients.bots import is_file, load_bot

    return load_bot(bot, game or "", seed) if game is not None or is_file(bot) else None


def check_game(connection: Connection, joined: Joined, game: str | None) -> None:
    """Give a seat back that is not of the game asked for."""
    from triarena.clients.seats import leave

    if game is not None and joined.game != game:
        leave(connection, joined.room)
        raise Failure(
            "other_game", f"room {joined.room} plays {joined.game}, not {game}; leave --game out, or correct it"
        )
