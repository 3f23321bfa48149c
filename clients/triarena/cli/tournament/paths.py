"""The arguments FILE and FOLDER of a tournament's commands: who mistypes them, or mixes them up, is told what to do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import click

from triarena.cli.invocation import command

ENDING: Final = ".tournament"
MOST: Final = 5
"""Names that are suggested."""


def _file(ctx: click.Context, parameter: click.Parameter, path: Path) -> Path:
    """A tournament's file that is there; whether it can be read is found out by reading it."""
    if path.is_dir():
        go_on = f"; to go on with the tournament in it: {command('tournament', 'resume', str(path))}"
        raise click.BadParameter(f"{path} is a directory, not a tournament's file{go_on if _holds_one(path) else ''}")
    if not _exists(path):
        raise click.BadParameter(f"there is no file {path}{_similar(path, '*.toml', 'TOML files')}")
    return path


FILE: Final = click.argument("file", type=click.Path(path_type=Path), callback=_file)
FOLDER: Final = click.argument("folder", type=click.Path(path_type=Path))
"""Anything: a tournament's file stands for its folder, too, and what is not there is told by whoever looks into it."""


def nothing_in(folder: Path) -> str:
    """That a folder holds no tournament, with those that are near, and how one is begun."""
    if folder.is_file() and folder.suffix == ".toml":
        begin = command("tournament", "run", str(folder))
        return (
            f"the tournament of {folder} has not begun here: there is no {folder.stem}{ENDING}; begin it with '{begin}'"
        )
    hint = (
        _similar(folder, f"*{ENDING}", "tournaments", _holds_one)
        or "; name the folder that 'triarena tournament run' has made"
    )
    return f"there is no tournament in {folder}{hint}"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # below a folder that may not be entered, or a name that no file can have
        return True


def _holds_one(path: Path) -> bool:
    with suppress(OSError):
        return any(path.glob("tournament.sqlite"))
    return False


def _similar(path: Path, pattern: str, what: str, fits: Callable[[Path], bool] = Path.is_file) -> str:
    """What lies where ``path`` should: the one that was meant, or all."""
    try:
        found = sorted(each.name for each in path.parent.glob(pattern) if fits(each))
    except (OSError, ValueError):
        return ""
    if close := get_close_matches(path.name, found, n=1):
        return f"; did you mean {path.parent / close[0]}?"
    more = ", ..." if len(found) > MOST else ""
    return f"; the {what} there are {', '.join(found[:MOST])}{more}" if found else ""
