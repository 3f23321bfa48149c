"""``triarena compare``: which of two bots is better, and how sure is that?"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

import click

from .options import Failure, game_options


@click.command(
    epilog="Exit code 0: decided, or undecided after the games that were allowed; 1: it could not be played; "
    "2: wrong use; 130: interrupted."
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--game", required=True, help="Which game they play (see: triarena games).")
@game_options
@click.option("--elo0", type=float, default=0.0, show_default=True, help="The lesser difference, A over B.")
@click.option("--elo1", type=float, default=50.0, show_default=True, help="The greater difference, A over B.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, True, True),
    default=0.05,
    show_default=True,
    help="How often elo1 may be accepted although elo0 is true.",
)
@click.option(
    "--beta",
    type=click.FloatRange(0, 0.5, True, True),
    default=0.05,
    show_default=True,
    help="How often elo0 may be accepted although elo1 is true.",
)
@click.option(
    "--max-games",
    type=click.IntRange(2, 1_000_000),
    default=1000,
    show_default=True,
    help="Stop undecided after so many; games come in pairs.",
)
@click.option(
    "--move-time", type=click.FloatRange(0, 3600, True), default=2.0, show_default=True, help="Seconds for one move."
)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Same seed, same boards.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where it is kept.  [default: A-B.tournament, here]",
)
def compare(
    a: str,
    b: str,
    game: str,
    options: dict[str, int | str],
    elo0: float,
    elo1: float,
    alpha: float,
    beta: float,
    max_games: int,
    move_time: float,
    seed: int | None,
    folder: Path | None,
) -> None:
    """Let bots A and B play until it is decided which is better: Python files, or random, or greedy.

    They play pairs of games, on the same board with sides swapped. A sequential probability ratio test on the pairs
    ends it as soon as the results say whether A over B is elo0 or elo1, and not before; so a clear difference takes few
    games and a small one many.

    \b
    $ triarena compare my_bot.py greedy --game towerwars
    $ triarena compare new.py old.py --game flowerwars --elo1 20
    """
    if elo0 >= elo1:
        raise click.UsageError(f"--elo0 ({elo0:g}) must be less than --elo1 ({elo1:g})")
    from triarena.organiser.comparison import said
    from triarena.organiser.folder import read_new

    from .tournament.opening import folder_for, free_processors, interruptible, told
    from .tournament.running import run_shown
    from .tournament.server_choice import Choice

    for bot in (a, b):
        _check_bot(bot)
    names = _names(a, b)
    text = _file(names, (a, b), game, options, (elo0, elo1, alpha, beta), max_games - max_games % 2, move_time, seed)
    _check(text)
    place = folder_for(Path("-".join(names)), folder)
    if max_games % 2:
        click.echo(f"games come in pairs, so at most {max_games - 1} are played")
    with interruptible(lambda: place), told():
        place.make_private()
        source = place.path / "compare.toml"
        try:
            source.write_text(text, encoding="utf-8")
        except OSError as error:
            raise Failure("cannot_open", f"{source} can't be written: {error.strerror or error}") from None
        described = read_new(source, free_processors())
        with place.make(source, described, datetime.now(UTC)) as store:
            run_shown(place, store, described, Choice(), said)


def _check_bot(bot: str) -> None:
    """Raises a usage error for what is neither a file nor a bot that comes along."""
    from triarena.clients.bots import BUILT_IN_BOTS, is_file

    path = Path(bot)
    if not is_file(bot) or path.is_file():
        return
    if path.is_dir():
        raise click.UsageError(f"{bot} is a folder; give a bot's Python file")
    neighbours = [str(path.with_name(other.name)) for other in path.parent.glob("*.py")]
    close = get_close_matches(bot, [*BUILT_IN_BOTS, *neighbours], n=1)
    hint = f"did you mean {close[0]}?" if close else f"give a Python file, or {' or '.join(BUILT_IN_BOTS)}"
    raise click.UsageError(f"there is no bot {bot}: {hint}")


def _check(text: str) -> None:
    """Raises a usage error for what would be wrong in the comparison's file, before there is one."""
    from triarena.organiser.file import parse_tournament
    from triarena.organiser.problems import TournamentFileError

    try:
        parse_tournament(text, Path.cwd(), file="", draw_seed=lambda slug: 0, concurrency=1)
    except TournamentFileError as error:
        raise click.UsageError("; ".join(problem.message for problem in error.problems)) from None


def _names(a: str, b: str) -> tuple[str, str]:
    """What they are called: their files' names, with a number where both have the same."""
    first, second = Path(a).stem, Path(b).stem
    return (f"{first}-1", f"{second}-2") if first.casefold() == second.casefold() else (first, second)


def _file(
    names: tuple[str, str],
    sources: tuple[str, str],
    game: str,
    options: dict[str, int | str],
    test: tuple[float, float, float, float],
    games: int,
    move_time: float,
    seed: int | None,
) -> str:
    """A tournament's file for it, so that it can be resumed and looked at like any other."""
    from triarena.clients.bots import is_file

    quoted = json.dumps  # a JSON text is a TOML text
    lines = [f"name = {quoted(f'{names[0]} over {names[1]}')}", f"game = {quoted(game)}"]
    lines += [f"games_per_pairing = {games}", *([f"seed = {seed}"] if seed is not None else [])]
    lines += ["[options]", *(f"{quoted(key)} = {quoted(value)}" for key, value in options.items())]
    lines += ["[clock]", f"move_seconds = {move_time!r}"]
    lines += [
        "[stop.sprt]",
        *(f"{key} = {value!r}" for key, value in zip(("elo0", "elo1", "alpha", "beta"), test, strict=True)),
    ]
    for name, source in zip(names, sources, strict=True):
        kind = "file" if is_file(source) else "shipped"
        lines += [
            "[[bots]]",
            f"name = {quoted(name)}",
            f"{kind} = {quoted(str(Path(source).absolute()) if kind == 'file' else source)}",
        ]
    return "\n".join(lines) + "\n"
