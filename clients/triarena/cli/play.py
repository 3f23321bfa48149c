"""``triarena play``: a person against a bot, here or on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_PORT, PORT, explained, game_options, tls_options, unless_chosen

if TYPE_CHECKING:
    from triarena.clients.bots import Bot
    from triarena.games import AnyGame, AnyPosition, Side


@click.command(epilog="Type help when it is your turn. A game without a server is not stored.")
@click.argument("game")
@click.option(
    "--bot",
    help="The opponent: greedy, random, or a file.  [default: greedy, or random if the game has no greedy; "
    "on a server whoever joins]",
)
@click.option("--side", type=click.Choice(["red", "blue"]), help="Yours; on a server it comes with the seat.")
@game_options
@click.option("--seed", type=int, help="For what the game draws and for the bot: the same game again.")
@click.option("--host", help="Play on this server; without it, no server is needed.")
@click.option("--port", type=PORT, default=DEFAULT_PORT, show_default=True, envvar="TRIARENA_PORT", show_envvar=True)
@tls_options
@click.option("--room", help="On a server: an open seat of this room.")
@click.option(
    "--reservation",
    metavar="CODE",
    envvar="TRIARENA_RESERVATION",
    show_envvar=True,
    help="On a server: the seat that this code was made for.",
)
@click.option("--name", help="On a server: your name.")
@click.option(
    "--token", envvar="TRIARENA_TOKEN", show_envvar=True, help="Proves a name that belongs to you on that server."
)
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
    token: str | None,
) -> None:
    """Play GAME by hand, move by move, in the game's notation (told with the rules in docs/rules).

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
    reservation = unless_chosen(reservation, otherwise=host is None or room is not None)
    if host is None:
        if room or reservation or name:
            raise click.UsageError("--room, --reservation and --name are for a game on a server; give --host as well")
        from triarena.clients.bots import load_bot

        with explained():
            play_here(engine, start, load_bot(bot or usual_bot(game), game, seed), Side(side or "red"))
        return
    if side is not None:
        raise click.UsageError("on a server the side comes with the seat; leave --side out")
    if options and (room or reservation):
        raise click.UsageError("--option goes with a new room: a room has its options already")
    from .online import play_there

    play_there(engine, options, (room, reservation), (host, port), (name, token), bot)


def usual_bot(game: str) -> str:
    """The best opponent that comes along: games of other distributions have the random one only."""
    from triarena.games.registry import BUILT_IN

    return "greedy" if game in BUILT_IN else "random"


def play_here(engine: AnyGame, start: AnyPosition, bot: Bot, side: Side) -> None:
    """A game in this process. Raises BotError if the bot fails."""
    from .prompt import Prompt
    from .scenes import show_board

    prompt = Prompt(engine, input, ("undo", "surrender", "quit"))
    history: list[tuple[AnyPosition, Any]] = [(start, None)]  # positions with the moves that led to them
    while (position := history[-1][0]).outcome is None:
        if position.to_move is not side:
            move = _bots_move(engine, bot, position)
            click.echo(f"{side.other} plays {engine.format(move)}")
            history.append((position.play(move), move))
            continue
        show_board(engine, *history[-1])
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
    show_board(engine, *history[-1])
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
