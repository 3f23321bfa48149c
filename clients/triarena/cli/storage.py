"""What ``matches``, ``replay`` and ``report`` share: where the journal is, and reading from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from .options import Failure, lower

F = TypeVar("F", bound=Callable[..., Any])


def storage_options(command: F) -> F:
    """``--data-dir``, ``--database`` and ``--config``, as for ``serve``."""
    config = click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        envvar="TRIARENA_CONFIG",
        show_envvar=True,
        help="The server's settings file.",
    )
    folder = click.option(
        "--data-dir", type=click.Path(path_type=Path, file_okay=False), help="The server's data folder."
    )
    database = click.option("--database", help="The server's database URL.")
    return config(folder(database(command)))


def journal_url(config: Path | None, data_dir: Path | None, database: str | None) -> str:
    """The URL of the journal, found as the server finds it."""
    from triarena.server.settings_sources import SettingsError, load_settings

    flags = {"server.data_dir": data_dir, "server.database": database}
    try:
        return load_settings(config, os.environ, flags).server.database_url
    except SettingsError as error:
        raise Failure(error.code, error.message) from None


def storage_words(config: Path | None, data_dir: Path | None, database: str | None) -> list[str]:
    """The options as they were given, for another command that is to find the same journal."""
    given = {"--config": config, "--data-dir": data_dir, "--database": database}
    return [word for option, value in given.items() if value is not None for word in (option, str(value))]


@contextmanager
def journal_explained() -> Iterator[None]:
    """Errors of the journal end the command with their sentence and code."""
    from triarena.server.journal import JournalError

    try:
        yield
    except JournalError as error:
        raise Failure(error.code, lower(error.message)) from None
