"""``triarena prepare``: a room with reserved seats, and the commands that fill them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .invocation import command, is_loopback, seen_from_outside
from .options import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    administrator,
    game_options,
    secret_options,
    server_options,
    tls_arguments,
)
from .times import clock

if TYPE_CHECKING:
    from triarena.protocol.from_client import Slot
    from triarena.protocol.from_server import Prepared

SIDES = ("red", "blue")
OLD_RULES = "server-24.2.5"
"""The rules that bots of the Software-Challenge know."""
KILLED = (
    "a bot that was killed or has lost its connection is started again with the same command, also after a restart of "
    "the server; one whose own function fails has left the match and lost it"
)
SECONDS = click.FloatRange(0, 86400, min_open=True)


@click.command(
    epilog="A reservation is good for one client and expires after a time that the server's settings say "
    "(rooms.reservation_seconds)."
)
@click.argument("game")
@game_options
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="What the game draws comes from it.  [default: drawn]")
@click.option(
    "--move-time",
    type=SECONDS,
    metavar="SECONDS",
    help="For each move, instead of the server's time; its margin and strikes stay.",
)
@click.option("--budget", type=SECONDS, metavar="SECONDS", help="For all moves of a side, instead of a time for each.")
@click.option(
    "--increment", type=click.FloatRange(0, 86400), metavar="SECONDS", help="What every move adds to the budget."
)
@click.option("--untimed", type=click.Choice([*SIDES, "both"]), help="No clock for this side, for debugging.")
@click.option("--name-red", help="Under which red plays, whatever its client calls itself.")
@click.option("--name-blue", help="Likewise for blue.")
@click.option("--paused", is_flag=True, help="Play no ply before triarena resume or triarena step.")
@click.option("--open", "is_open", is_flag=True, help="Anybody may take the seats; no reservations.")
@server_options
@click.option("--public-host", help="Under which other machines find the server, for the printed commands.")
@secret_options
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON instead of commands.")
def prepare(
    game: str,
    options: dict[str, int | str],
    seed: int | None,
    move_time: float | None,
    budget: float | None,
    increment: float | None,
    untimed: str | None,
    name_red: str | None,
    name_blue: str | None,
    paused: bool,
    is_open: bool,
    host: str,
    port: int,
    public_host: str | None,
    secret: str | None,
    secret_file: Path | None,
    as_json: bool,
) -> None:
    """Open a room of GAME with its two seats reserved, and print the commands that take them.

    \b
    $ triarena prepare towerwars --option size=10 --name-red Anna --name-blue Bert
    $ triarena prepare towerwars --budget 300 --increment 2
    $ triarena prepare flowerwars --untimed both --paused
    $ triarena prepare mississippi_queen --option rules=server-24.2.5
    """
    from triarena.protocol.from_client import Slot

    if move_time is not None and budget is not None:
        raise click.UsageError("--move-time and --budget exclude each other")
    if increment is not None and budget is None:
        raise click.UsageError("--increment adds to a budget; give --budget as well")
    with administrator(host, port, secret, secret_file) as admin:
        slots = [
            Slot(name=name, reserved=not is_open, timed=untimed not in (side, "both"))
            for side, name in zip(SIDES, (name_red, name_blue), strict=True)
        ]
        prepared = admin.prepare(
            game,
            options,
            seed=seed,
            move_ms=None if move_time is None else move_time * 1000,
            budget_ms=None if budget is None else budget * 1000,
            increment_ms=None if increment is None else increment * 1000,
            slots=slots,
            paused=paused,
        )
    if as_json:
        click.echo(json.dumps(_plain(prepared)))
    else:
        found = public_host or (seen_from_outside(port) if is_loopback(host) else None) or host
        old = _old_bots(prepared, found, know_its_rules=options.get("rules") == OLD_RULES)
        click.echo("\n".join(_commands(prepared, slots, found, port, paused, public_host) + old))


def _plain(prepared: Prepared) -> dict[str, object]:
    """As JSON tells it."""
    clocks = [control.model_dump(exclude_none=True) for control in prepared.time_controls]
    return {
        "room": prepared.room,
        "reservations": dict(zip(SIDES, prepared.reservations, strict=True)),
        "reservation_seconds": prepared.reservation_seconds,
        "time_controls": dict(zip(SIDES, clocks, strict=False)),  # an older server tells none
        "socha_port": prepared.socha_port,
    }


def _commands(
    prepared: Prepared, slots: list[Slot], host: str, port: int, paused: bool, public_host: str | None
) -> list[str]:
    """What to paste, one line per seat and one to watch; and what players should know."""
    place = [] if host == DEFAULT_HOST else ["--host", host]
    place += [] if port == DEFAULT_PORT else ["--port", str(port)]
    ours, theirs = place + tls_arguments(), place + _their_tls_arguments(host)
    join = command("join") if public_host is None else "triarena join"  # how players call it elsewhere, nobody knows
    lines = [f"room {prepared.room} is ready; replace my_bot.py by the bot's file:"]
    for side, slot, code in zip(SIDES, slots, prepared.reservations, strict=True):
        seat = ["--room", prepared.room] if code is None else ["--reservation", code]
        # Never behind the command: not every shell takes what follows a # for a comment.
        lines.append(f"{side}, {slot.name}:" if slot.name else f"{side}:")
        lines.append(f"  {join} {shlex.join(['my_bot.py', *seat, *theirs])}")
    lines += ["to watch:", f"  {command('watch', prepared.room, *theirs)}"]
    if paused:
        lines.append("it is paused; to let it go on (or step in place of resume, ply by ply):")
        lines.append(f"  {command('resume', prepared.room, *ours)}")
    if "--tls-ca" in theirs and not is_loopback(host):
        lines.append(f"give the players your certificate {ours[-1]}, as {theirs[-1]} beside their bots")
    if any(prepared.reservations):
        if prepared.reservation_seconds is not None:
            lines.append(f"the reservations are good for {_duration(prepared.reservation_seconds)}")
        lines.append(KILLED)
    return lines + _clocks(prepared)


def _duration(seconds: float) -> str:
    """In minutes where they are whole."""
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g} s"


def _old_bots(prepared: Prepared, host: str, *, know_its_rules: bool) -> list[str]:
    """How bots of the Software-Challenge take the seats, or why they can't."""
    port = prepared.socha_port
    if port is None:
        off = "bots of the Software-Challenge can take these seats only at a server that was started with --socha"
        return [off] if know_its_rules else []
    if not know_its_rules:
        return [f"bots of the Software-Challenge need --option rules={OLD_RULES}"]
    lines = ["or bots of the Software-Challenge:"]
    for side, code in zip(SIDES, prepared.reservations, strict=True):
        seat = ["--room", prepared.room] if code is None else ["--reservation", code]
        words = ["java", "-jar", "my-old-bot.jar", "--host", host, "--port", str(port), *seat]
        lines += [f"{side}:", f"  {shlex.join(words)}"]
    if any(prepared.reservations):
        lines.append("such a bot loses a running match with its connection; only after a restart it comes back to it")
    return lines


def _their_tls_arguments(host: str) -> list[str]:
    """Like ours; but whoever is at another machine has the certificate in another folder."""
    match tls_arguments():
        case ["--tls-ca", file] if not is_loopback(host):
            return ["--tls-ca", Path(file).name]
        case arguments:
            return arguments


def _clocks(prepared: Prepared) -> list[str]:
    """How much time the sides have, as the server told it."""
    told = [clock(control.model_dump()) for control in prepared.time_controls]
    if len(set(told)) == 1:
        return [f"time: {told[0]}"]
    return [f"time: {'; '.join(f'{side} {words}' for side, words in zip(SIDES, told, strict=True))}"] if told else []
