"""Finding a tournament's file or folder, and telling in a sentence what is wrong with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triarena.cli.invocation import command
from triarena.cli.options import Failure

from .paths import nothing_in

if TYPE_CHECKING:
    from triarena.organiser.file import ServerSettings
    from triarena.organiser.folder import Folder
    from triarena.organiser.spec import TournamentFile

OF_ONE_VALUE = "The command line: "
"""How the server's sentences about single values begin; the others are about values that don't go together."""


class BadFile(Failure):
    """A tournament's file that can't be used: wrong use."""

    exit_code = 2

    def __init__(self, code: str, message: str, *, many: bool = False) -> None:
        """``many``: the message has a line for each fault, so that the code stands in a headline above them."""
        super().__init__(code, "the tournament's file can't be used" if many else message)
        self._below = f":\n{message}" if many else ""

    def format_message(self) -> str:
        """As it is shown."""
        return self.message + self._below


@contextmanager
def told() -> Iterator[None]:
    """Expected errors of files and stores end the command with their sentences and codes."""
    from triarena.organiser.problems import TournamentFileError
    from triarena.organiser.records import StoreError

    try:
        yield
    except TournamentFileError as error:
        raise BadFile(error.code, error.message, many=len(error.problems) > 1) from None
    except StoreError as error:
        raise Failure(error.code, error.message) from None


@contextmanager
def interruptible(folder: Callable[[], Folder | None]) -> Iterator[None]:
    """Ctrl-C where no game can have been begun: say what there is by now, and how to go on."""
    try:
        yield
    except (KeyboardInterrupt, BaseExceptionGroup) as error:
        if isinstance(error, BaseExceptionGroup) and error.split(KeyboardInterrupt)[1] is not None:
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once more changes nothing: this is the end
        place = folder()
        if place is None or not place.exists:
            said = "interrupted: nothing was begun"
        else:
            said = f"interrupted: go on with {command('tournament', 'resume', str(place.path))}"
        click.echo(said, err=True)
        sys.exit(130)


def free_processors() -> int:
    """How many games may run at once if nobody says: a processor is left to server and system."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)) - 1)
    return max(1, (os.cpu_count() or 2) - 1)


def read_file(file: Path, draw: Callable[[str], int] | None = None) -> TournamentFile:
    """The tournament of a file, with the settings for its server checked as well. Raises BadFile.

    ``draw`` gives the seeds that the file leaves open; None: by chance.
    """
    from triarena.organiser.folder import read_new

    speakable(file.absolute())
    with told():
        return read_new(file, free_processors(), draw, check_server=server_faults)


def server_faults(settings: ServerSettings) -> Iterator[tuple[tuple[str, ...], str]]:
    """What the server would say to its settings: the section and key of each fault, and a sentence."""
    given = {f"{section}.{key}": value for section, keys in settings.items() for key, value in keys.items()}
    if not given:
        return
    from triarena.server.settings_sources import SettingsError, load_settings

    try:
        load_settings(flags=given)
    except SettingsError as error:
        together = [problem for problem in error.problems if not problem.startswith(OF_ONE_VALUE)]
        yield from (((), sentence) for sentence in together)
    for name, value in given.items():
        try:
            load_settings(flags={name: value})
        except SettingsError as error:
            for problem in error.problems:
                if problem.startswith(OF_ONE_VALUE):
                    yield tuple(name.split(".", 1)), problem.removeprefix(OF_ONE_VALUE).rstrip(".")


def folder_for(file: Path, folder: Path | None) -> Folder:
    """Where a new tournament of a file is kept. Raises Failure if there is one already."""
    from triarena.organiser.folder import ENDING, Folder

    place = Folder(speakable((folder or Path(file.stem + ENDING)).absolute()))
    if place.exists:
        shown = str(folder or Path(file.stem + ENDING))
        with told():
            state = place.contents().state
        if state == "running":
            from triarena.organiser.claim import in_use

            raise Failure("folder_in_use", in_use(place.path))
        if state in ("finished", "cancelled"):
            raise Failure(
                "store_exists",
                f"{shown} holds a tournament that is {state}: look at it with "
                f"'{command('tournament', 'standings', shown)}', or keep the new one elsewhere with --folder",
            )
        raise Failure(
            "store_exists",
            f"{shown} holds a tournament that is not over: go on with "
            f"'{command('tournament', 'resume', shown)}', or keep the new one elsewhere with --folder",
        )
    return place


def speakable(path: Path) -> Path:
    """The same path. Raises Failure if its name is no text, so that no database and no page could hold it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="replace")
        raise Failure("bad_path", f"the name of {shown} is no text in UTF-8: rename it, or work elsewhere") from None
    return path


def existing(folder: Path) -> Folder:
    """A tournament's folder, also if its ending was left out. Raises Failure if it is none."""
    from triarena.organiser.folder import ENDING, Folder

    whole = folder.absolute()
    for candidate in (
        whole,
        *([whole.with_name(whole.name + ENDING), whole.with_suffix(ENDING)] if whole.name else ()),
    ):
        if Folder(candidate).exists:
            speakable(candidate)
            return Folder(candidate)
    raise Failure("no_store", nothing_in(folder))
