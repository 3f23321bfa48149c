"""The bots of a tournament's file: ``[[bots]]`` becomes ``Player`` values, once everything they need is there."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from triarena.clients.bots import BUILT_IN_BOTS
from triarena.games.core import shown
from triarena.protocol.identity import canonical
from triarena.protocol.values import Name

from .positions import Path as KeyPath
from .problems import meant
from .schema import BotTable
from .spec import Player, PlayerKind

Tell: TypeAlias = Callable[[KeyPath, str], None]
"""Notes a problem: the path of the key, and the sentence."""

KINDS: Final[tuple[PlayerKind, ...]] = ("file", "shipped", "command", "remote")
PYTHON: Final = "{python}"
"""The word of a command that stands for the Python which runs this program."""
_NAME_RULE: Final = "it may have 1 to 40 letters, digits, and . _ + - with blanks only inside"
_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)


def tell_names(names: Sequence[tuple[KeyPath, str]], tell: Tell) -> None:
    """Tells of every name that the protocol forbids, and that is another's up to case and compatible letters."""
    owners: dict[str, str] = {}
    for path, name in names:
        try:
            _NAME.validate_python(name)
        except ValidationError:
            tell(path, f"{shown(name)} cannot be a player's name; {_NAME_RULE}")
            continue
        if (other := owners.get(canonical(name))) is not None:
            same = "" if other == name else f" up to case and look: {shown(other)}"
            tell(path, f"{shown(name)} is already the name of another bot{same}; every name must be different")
        owners.setdefault(canonical(name), name)


def read_player(table: BotTable, path: KeyPath, folder: Path, tell: Tell) -> Player | None:
    """The player that a table describes; None after telling what is wrong. Paths are relative to ``folder``."""
    given = [kind for kind in KINDS if getattr(table, kind) is not None]
    if len(given) != 1:
        choice = "exactly one of file, shipped, command and remote"
        why = f"not {' and '.join(given)}" if given else f'e.g. shipped = "{BUILT_IN_BOTS[-1]}", or remote = true'
        tell((*path, given[1]) if given else path, f"a bot needs {choice}, {why}")
        return None
    if not _environment(table.env, (*path, "env"), tell):
        return None
    cwd = _folder(table, path, folder, tell)
    if cwd is None:
        return None
    if table.file is not None:
        file = _bot_file(table.file, (*path, "file"), folder, tell)
        if file is None:
            return None
        return Player(table.name, "file", str(file), cwd if table.folder else file.parent, table.seed, table.env)
    if table.shipped is not None:
        if table.shipped not in BUILT_IN_BOTS:
            tell((*path, "shipped"), f"no bot {shown(table.shipped)} comes along{meant(table.shipped, BUILT_IN_BOTS)}")
            return None
        return Player(table.name, "shipped", table.shipped, cwd, table.seed, table.env)
    if table.command is not None:
        words = _command(table.command, (*path, "command"), cwd, table.env, tell)
        return None if words is None else Player(table.name, "command", words, cwd, table.seed, table.env)
    for key in ("seed", "folder", "env"):
        if key in table.model_fields_set:
            tell((*path, key), "it says how a bot is started, but a remote bot is started by its owner; leave it out")
            return None
    return Player(table.name, "remote", "", cwd)


def _environment(env: Mapping[str, str], path: KeyPath, tell: Tell) -> bool:
    """Whether a process can have these variables; tells of those that it can't."""
    good = True
    for name, value in env.items():
        if not name or "=" in name or "\0" in name:
            sentence = f"{shown(name)} cannot be a variable's name: it must not be empty, nor contain = or a null byte"
        elif "\0" in value:
            sentence = "a variable's value must not contain a null byte"
        else:
            continue
        tell((*path, name), sentence)
        good = False
    return good


def _folder(table: BotTable, path: KeyPath, folder: Path, tell: Tell) -> Path | None:
    """In which folder the bot's process runs."""
    if table.folder is None:
        return folder
    found = _path(table.folder, folder)
    if found.is_dir():
        return found
    tell((*path, "folder"), f"there is no folder {found}")
    return None


def _bot_file(text: str, path: KeyPath, folder: Path, tell: Tell) -> Path | None:
    file = _path(text, folder)
    if file.is_file():
        return file
    if text in BUILT_IN_BOTS:
        tell(path, f'there is no file {file}; the bot that comes along is shipped = "{text}"')
    elif file.is_dir():
        tell(path, f"{file} is a folder; give the bot's Python file")
    else:
        neighbours = [other.name for other in file.parent.glob("*.py")] if file.parent.is_dir() else []
        hint = meant(file.name, neighbours)
        tell(
            path,
            f"there is no file {file}" + (hint if "did you mean" in hint else "; paths begin at this file's folder"),
        )
    return None


def _command(
    command: str | list[str], path: KeyPath, cwd: Path, env: Mapping[str, str], tell: Tell
) -> tuple[str, ...] | None:
    """The words of a command whose program is there."""
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError as error:
            tell(path, f"{shown(command)} can't be split into words: {error}; write a list of words")
            return None
    else:
        words = list(command)
    if not words:
        tell(path, "the command is empty; its first word is the program")
        return None
    program, *rest = words
    if program == PYTHON:
        return sys.executable, *rest
    if os.sep not in program and (os.altsep is None or os.altsep not in program):
        if shutil.which(program, path=env.get("PATH")) is None:
            tell(path, f"there is no program {program!r} on the search path; install it, or give its path")
            return None
        return tuple(words)
    file = _path(program, cwd)
    if not file.is_file():
        tell(path, f"there is no program {file}")
        return None
    if not os.access(file, os.X_OK):
        tell(path, f"{file} may not be executed; run: chmod +x {shlex.quote(str(file))}")
        return None
    return str(file), *rest


def _path(text: str, folder: Path) -> Path:
    """A path of the file, absolute; ``~`` is the home folder."""
    try:
        return (folder / Path(text).expanduser()).resolve()
    except (RuntimeError, ValueError, OSError):  # no such user, a null byte: nothing that could exist
        return folder / text.replace("\0", "?")
