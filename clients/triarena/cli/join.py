"""``triarena join``: a bot takes a seat and plays."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext, redirect_stdout, suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click

from .listener import Listener
from .options import Failure, connected, explained, game_options, patience_option, server_options, unless_chosen

if TYPE_CHECKING:
    from triarena.clients.bots import Bot
    from triarena.clients.connection import Connection
    from triarena.protocol.from_server import Joined, MatchOver


@click.command(
    epilog="Exit code 0: played to an end, won or lost, or aborted by nobody's fault (cancelled, or at the most plies "
    "that a match may have); 3: forfeited by a fault of the bot; 1: no connection, no seat, or a fault of the server; "
    "2: wrong use. "
    "With --tournament 0: dismissed by the organiser."
)
@click.argument("bot", default="random")
@click.option("--game", help="Take a seat of this game (see: triarena games).")
@click.option("--room", help="Take an open seat of this room (see: triarena rooms).")
@click.option(
    "--reservation",
    metavar="CODE",
    envvar="TRIARENA_RESERVATION",
    show_envvar=True,
    help="Take the seat that this code was made for. In the variable others on this machine don't see it.",
)
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
@click.option(
    "--tournament",
    is_flag=True,
    help="Wait to be invited to matches, and play them all, until the organiser ends it.",
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
    tournament: bool,
    rejoin_patience: float,
    as_json: bool,
) -> None:
    """Send a bot into a match: BOT is a Python file with a function choose_move(position), or random, or greedy.
    Without BOT the random bot plays: any legal move, all equally likely.

    \b
    $ triarena join --game towerwars my_bot.py
    $ triarena join --game flowerwars --option size=10 greedy --name Flora
    $ triarena join --reservation CODE my_bot.py --host 192.168.1.20
    $ triarena join --tournament my_bot.py --name Flora --token TOKEN --host 192.168.1.20
    """
    reservation = unless_chosen(reservation, otherwise=tournament or room is not None)
    if tournament:
        from .attending import attend_tournament

        _check_tournament(room, reservation, options, matches, name, token)
        attend_tournament(bot, game, seed, host, port, name, token, wait, rejoin_patience, as_json)
        return
    _check_use(game, room, reservation, options, matches)
    from triarena.clients.backoff import Backoff
    from triarena.clients.client import play_seat
    from triarena.clients.seats import seat_request, take_seat

    from .watchdog import Watchdog

    backoff = Backoff(patience=rejoin_patience)
    # What a bot prints shall not stand between the lines of JSON.
    out, apart = sys.stdout, redirect_stdout(sys.stderr) if as_json else nullcontext()
    with explained(), apart:
        request = seat_request(game, options, room, reservation)
        loaded = _load_early(bot, game, seed)
        with connected(host, port, name=name, token=token, wait=wait, patience=rejoin_patience) as connection:
            listener = Listener(out, connection, as_json)
            with Watchdog(connection, partial(abandon, listener)) as watchdog:
                for _ in range(matches):
                    joined = take_seat(connection, request, backoff=backoff)
                    check_game(connection, joined, game)
                    loaded = loaded or _load_early(bot, joined.game, seed)
                    assert loaded is not None, "the game is known now"
                    watched = watchdog.watched(loaded)
                    play_seat(connection, joined, watched, request=request, on_event=listener, backoff=backoff)
    if listener.unwritten is not None:
        raise listener.unwritten
    if listener.exit_code:
        click.get_current_context().exit(listener.exit_code)


def abandon(
    listener: Listener, over: MatchOver, what: str, *, advice: str = "", exit_code: int | None = None
) -> NoReturn:
    """End the program at once: its bot still thinks, and nothing else can stop that."""
    listener(over)
    code = exit_code or listener.exit_code or 1
    sentence = f"{what}, although the match is over: its thinking has no end, or no regard for the clock{advice}"
    with suppress(OSError, ValueError):
        click.echo(f"Error: {sentence} [bot_hangs]", err=True)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _check_use(
    game: str | None, room: str | None, reservation: str | None, options: dict[str, int | str], matches: int
) -> None:
    """Raises a usage error for options that do not go together."""
    if room is not None and reservation is not None:
        raise click.UsageError("--room and --reservation both choose a seat; give one of them")
    if game is None and room is None and reservation is None:
        raise click.UsageError("which seat? give --game GAME (see: triarena games), or --room, or --reservation")
    if reservation is not None and reservation.endswith(".py"):
        raise click.UsageError(
            f"{reservation!r} looks like the file of a bot, and --reservation takes a code: the code is missing, as in "
            f"--reservation CODE {reservation}"
        )
    if options and (room is not None or reservation is not None):
        raise click.UsageError("--option goes with --game alone: a room has its options already")
    if matches > 1 and reservation is not None:
        raise click.UsageError("a reservation is good for one match; leave --matches out")
    if game is not None:
        _check_spelling(game, options)


def _check_spelling(game: str, options: dict[str, int | str]) -> None:
    """Raises a usage error for a game or an option that there is not, before any server is looked for."""
    from triarena.games import BadOptions, UnknownGame, find_game, settle_options

    try:
        found = find_game(game)
        settle_options(found.name, found.options, options)
    except UnknownGame as error:
        raise click.BadParameter(str(error), param_hint="--game") from None
    except BadOptions as error:
        raise click.BadParameter(str(error), param_hint="--option") from None


def _check_tournament(
    room: str | None,
    reservation: str | None,
    options: dict[str, int | str],
    matches: int,
    name: str | None,
    token: str | None,
) -> None:
    """Raises a usage error for what does not go together with a tournament, or is missing."""
    if room is not None or reservation is not None or options or matches > 1:
        raise click.UsageError(
            "in a tournament the organiser chooses the matches; leave --room, --reservation, --option, --matches out"
        )
    if name is None or token is None:
        raise click.UsageError(
            "a tournament takes --name and --token (or the variable TRIARENA_TOKEN), as the organiser gave them to you"
        )


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
