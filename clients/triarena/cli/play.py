"""``triarena play``: a person against a bot, here or on a server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_PORT, PORT, connected, explained, game_options, on_terminal, tls_arguments, tls_options

if TYPE_CHECKING:
    from triarena.clients.bots import Bot
    from triarena.games import AnyGame, AnyPosition, Side
    from triarena.protocol.from_server import FromServer


@click.command(epilog="Type help when it is your turn. A game without a server is not stored.")
@click.argument("game")
@click.option("--bot", help="The opponent: greedy, random, or a file.  [default: greedy; on a server whoever joins]")
@click.option("--side", type=click.Choice(["red", "blue"]), help="Yours; on a server it comes with the seat.")
@game_options
@click.option("--seed", type=int, help="For what the game draws and for the bot: the same game again.")
@click.option("--host", help="Play on this server; without it, no server is needed.")
@click.option("--port", type=PORT, default=DEFAULT_PORT, show_default=True, envvar="TRIARENA_PORT", show_envvar=True)
@tls_options
@click.option("--room", help="On a server: an open seat of this room.")
@click.option("--reservation", metavar="CODE", help="On a server: the seat that this code was made for.")
@click.option("--name", help="On a server: your name.")
def play(
    game: str,
    bot: str | None,
    side: str | None,
    options: dict[str, int | str],
    seed: int | None,
    host: str | None,
    port: int,
    room: str | None,
    reservation: str | None,
    name: str | None,
) -> None:
    """Play GAME by hand, move by move, in the game's notation.

    \b
    $ triarena play towerwars --option size=6
    $ triarena play flowerwars --bot my_bot.py --side blue
    $ triarena play towerwars --host 127.0.0.1 --bot greedy
    """
    from triarena.games import BadOptions, Side, UnknownGame, find_game

    try:
        engine = find_game(game)
        start = engine.start(options, seed or 0)
    except (UnknownGame, BadOptions) as error:
        raise click.UsageError(str(error)) from None
    if host is None:
        if room or reservation or name:
            raise click.UsageError("--room, --reservation and --name are for a game on a server; give --host as well")
        from triarena.clients.bots import load_bot

        with explained():
            play_here(engine, start, load_bot(bot or "greedy", game, seed), Side(side or "red"))
        return
    if side is not None:
        raise click.UsageError("on a server the side comes with the seat; leave --side out")
    if options and (room or reservation):
        raise click.UsageError("--option goes with a new room: a room has its options already")
    play_there(engine, options, (room, reservation), (host, port), name, bot)


def play_here(engine: AnyGame, start: AnyPosition, bot: Bot, side: Side) -> None:
    """A game in this process. Raises BotError if the bot fails."""
    from .prompt import Prompt

    prompt = Prompt(engine, input, ("undo", "surrender", "quit"))
    history: list[tuple[AnyPosition, Any]] = [(start, None)]  # positions with the moves that led to them
    while (position := history[-1][0]).outcome is None:
        if position.to_move is not side:
            move = _bots_move(engine, bot, position)
            click.echo(f"{side.other} plays {engine.format(move)}")
            history.append((position.play(move), move))
            continue
        _show(engine, *history[-1])
        answer = prompt.ask(position)
        if answer == "undo":
            history = _undone(history, side)
        elif answer == "surrender":
            click.echo(f"{side} surrenders, {side.other} wins")
            return
        elif answer == "quit":
            return
        else:
            history.append((position.play(answer), answer))
    _show(engine, *history[-1])
    winner, outcome = position.outcome.winner, position.outcome
    headline = "draw" if winner is None else "you win" if winner is side else "you lose"
    click.echo(f"{headline} [{outcome.reason}]; red {outcome.red.points}, blue {outcome.blue.points}")


def _bots_move(engine: AnyGame, bot: Bot, position: AnyPosition) -> Any:
    """The bot's move, which is legal. Raises BotError."""
    from triarena.clients.bots import call_bot, chosen_move
    from triarena.clients.errors import BotError
    from triarena.games import MoveError
    from triarena.protocol.values import Clock

    move, _ = chosen_move(engine, call_bot("choose_move", bot.choose_move, position.visible(), Clock()))
    try:
        position.check(move)
    except MoveError as error:
        sentence = f"the bot's move {engine.format(move)} is illegal, so you win: {error.message}"
        raise BotError(error.code, sentence) from None
    return move


def _undone(history: list[tuple[AnyPosition, Any]], side: Side) -> list[tuple[AnyPosition, Any]]:
    """The history back to the turn of ``side`` before this one."""
    for length in range(len(history) - 1, 0, -1):
        if history[length - 1][0].to_move is side:
            return history[:length]
    click.echo("there is no move of yours to take back")
    return history


def _show(engine: AnyGame, position: AnyPosition, last_move: Any) -> None:
    """The board, in colours where that is possible."""
    from triarena.clients.boards import draw, plain

    drawing = draw(engine.name, position.visible(), last_move)
    if on_terminal():
        with suppress(ImportError):  # without the extra, the board is black and white
            from rich.console import Console

            from triarena.clients.boards.paint import paint

            Console().print(paint(drawing))
            return
    click.echo(plain(drawing), nl=False)


def play_there(
    engine: AnyGame,
    options: dict[str, int | str],
    seat: tuple[str | None, str | None],
    server: tuple[str, int],
    name: str | None,
    bot: str | None,
) -> None:
    """A match on a server: ``seat`` is a room and a reservation, if any; ``bot`` joins from a process of its own."""
    from triarena.clients.bots import Bot
    from triarena.clients.client import play_seat
    from triarena.clients.player import GiveUp
    from triarena.clients.seats import seat_request, take_seat

    from .join import Listener, check_game
    from .prompt import Prompt

    prompt = Prompt(engine, input, ("surrender", "quit"))
    listener = Listener(sys.stdout)
    last_move: Any = None

    def ask(position: AnyPosition, clock: Any) -> Any:
        _show(engine, position, last_move)
        answer = prompt.ask(position)
        if answer in prompt.words:
            raise GiveUp
        return answer

    def tell(message: FromServer) -> None:
        nonlocal last_move
        listener(message)
        if message is joined and joined.time_control.type == "per_move":
            seconds = joined.time_control.move_ms / 1000
            click.echo(f"you have {seconds:g} s for a move; an administrator can prepare a seat without a clock")
        elif message.type == "match_started" and message.plies:  # back in the match, of which more may have been played
            last_move = engine.read_move(message.plies[-1].move.model_dump(exclude_none=True))
        elif message.type == "moved":
            click.echo(f"{message.side} plays {message.text}")
            last_move = engine.read_move(message.move.model_dump(exclude_none=True))

    with connected(*server, name=name) as connection:
        request = seat_request(engine.name, options, *seat)
        joined = take_seat(connection, request)
        check_game(connection, joined, engine.name)
        where = ["--room", joined.room, "--host", server[0], "--port", str(server[1]), *tls_arguments()]
        with _joining(bot and [bot, *where]):
            play_seat(connection, joined, Bot(ask), request=request, on_event=tell)
    click.get_current_context().exit(listener.exit_code)


@contextmanager
def _joining(arguments: Sequence[str] | None) -> Iterator[None]:
    """A bot in a process of its own, as long as the block runs; None for no bot. What goes wrong it says itself."""
    if not arguments:
        yield
        return
    command = [sys.executable, "-m", "triarena.cli", "join", *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            yield
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
        finally:
            process.terminate()
