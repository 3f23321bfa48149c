"""A person at a seat of a server: asked for moves at the prompt, for as long as the match goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from .invocation import command
from .keyboard import Keyboard
from .options import connected, tls_arguments

if TYPE_CHECKING:
    from triarena.clients.connection import Connection
    from triarena.games import AnyGame, AnyPosition
    from triarena.protocol.from_server import FromServer, Joined


def play_there(
    engine: AnyGame,
    options: dict[str, int | str],
    seat: tuple[str | None, str | None],
    server: tuple[str, int],
    player: tuple[str | None, str | None],
    bot: str | None,
) -> None:
    """A match on a server: ``seat`` is a room and a reservation, if any, and ``player`` a name and the token that
    proves it; ``bot`` joins from a process of its own.
    """
    from triarena.clients.bots import Bot
    from triarena.clients.client import play_seat
    from triarena.clients.player import GiveUp
    from triarena.clients.seats import seat_request, take_seat

    from .join import check_game
    from .listener import Listener
    from .prompt import Prompt
    from .scenes import show_board

    last_move: Any = None

    def ask(position: AnyPosition, clock: Any) -> Any:
        show_board(engine, position, last_move)
        answer = prompt.ask(position)
        if answer in prompt.words:
            raise GiveUp
        return answer

    def tell(message: FromServer) -> None:
        nonlocal last_move
        listener(message)
        if message.type == "joined":
            _tell_time(message)
        elif message.type == "match_started" and message.plies:  # back in the match, of which more may have been played
            last_move = engine.read_move(message.plies[-1].move.model_dump(exclude_none=True))
        elif message.type == "moved":
            click.echo(f"{message.side} plays {message.text}")
            last_move = engine.read_move(message.move.model_dump(exclude_none=True))

    with connected(*server, name=player[0], token=player[1]) as connection:
        request = seat_request(engine.name, options, *seat)
        joined = take_seat(connection, request)
        check_game(connection, joined, engine.name)
        listener = Listener(sys.stdout, connection)
        prompt = Prompt(engine, _reader(connection, joined.room), ("surrender", "quit"))
        where = ["--room", joined.room, "--host", server[0], "--port", str(server[1]), *tls_arguments()]
        with _joining(bot and [bot, *where]):
            play_seat(connection, joined, Bot(ask), request=request, on_event=tell)
    click.get_current_context().exit(listener.exit_code)


def _tell_time(joined: Joined) -> None:
    """What a person must know before the match begins."""
    control = joined.time_control
    if control.type == "unlimited":
        return
    advice = (
        f"an administrator makes a seat without a clock: {command('prepare', joined.game, '--untimed', joined.side)}"
    )
    if control.type == "per_move":
        click.echo(f"you have {control.move_ms / 1000:g} s for each move, and lose if one comes later;\n{advice}")
    else:
        click.echo(f"you have {control.budget_ms / 1000:g} s for all moves together, and lose after that;\n{advice}")


def _reader(connection: Connection, room: str) -> Callable[[str], str]:
    """Asks for a line, and gives up with EOFError when the match is over before there is one."""
    from triarena.clients.errors import ConnectionLost
    from triarena.protocol.from_server import MatchOver

    keyboard = Keyboard.of_standard_input()
    if keyboard is None:
        return input
    lost = False

    def listen(seconds: float) -> bool:
        nonlocal lost
        if lost:
            time.sleep(seconds)
            return True
        try:
            connection.listen(seconds)
        except ConnectionLost:  # said, and perhaps repaired, as soon as the move is to be sent
            lost = True
        return not any(isinstance(message, MatchOver) and message.room == room for message in connection.waiting)

    def read(prompt: str) -> str:
        nonlocal lost
        lost = False
        return keyboard.ask(prompt, listen)

    return read


@contextmanager
def _joining(arguments: Sequence[str] | None) -> Iterator[None]:
    """A bot in a process of its own, as long as the block runs; None for no bot. What goes wrong it says itself."""
    if not arguments:
        yield
        return
    joining = [sys.executable, "-m", "triarena.cli", "join", *arguments]
    own = {"TRIARENA_TOKEN", "TRIARENA_RESERVATION"}  # the person's
    environment = {name: value for name, value in os.environ.items() if name not in own}
    with subprocess.Popen(joining, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            yield
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
        finally:
            process.terminate()
