"""A tournament's folder: what lies where in it, making one, and finding one again."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from .file import ServerCheck, parse_tournament, read_tournament, unchecked
from .records import Contents, StoredEvent, StoredPlayer, StoreError
from .spec import TournamentFile
from .store import Store, StoreReader, create_store
from .store_file import STORE_NAME

ENDING: Final = ".tournament"
SEED_BITS: Final = 53


@dataclass(frozen=True, slots=True)
class Folder:
    """Where everything of one tournament is kept."""

    path: Path

    @property
    def server(self) -> Path:
        """The embedded server's data."""
        return self.path / "server"

    @property
    def logs(self) -> Path:
        """What server and bots have said."""
        return self.path / "logs"

    @property
    def irregular(self) -> Path:
        """One folder for each match that did not end by the rules."""
        return self.path / "irregular"

    @property
    def page(self) -> Path:
        """The page with everything on it."""
        return self.path / "index.html"

    @property
    def exists(self) -> bool:
        """Whether a tournament is kept here."""
        return (self.path / STORE_NAME).exists()

    def make(self, source: Path, file: TournamentFile, at: datetime) -> Store:
        """Begin the tournament of a file here, with a token for each player that waits in the lobby.

        Raises StoreError ``store_exists`` or ``cannot_open``.
        """
        try:
            for folder in (self.server, self.logs, self.irregular):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            sentence = f"{self.path} can't be written to: {error.strerror or error}."
            raise StoreError("cannot_open", sentence) from error
        events = [StoredEvent(event.slug, event.seed) for event in file.events]
        players = [
            StoredPlayer(player.name, secrets.token_urlsafe(24) if player.kept else None) for player in file.players
        ]
        return create_store(self.path, source, events, players, at)

    def contents(self) -> Contents:
        """All that is stored here. Raises StoreError, also if there is no tournament."""
        with StoreReader(self.path) as reader:
            return reader.contents()

    def file(self, contents: Contents, concurrency: int) -> TournamentFile:
        """The tournament's file as it was at the start, with the seeds drawn then. Raises TournamentFileError."""
        seeds = {event.slug: event.seed for event in contents.events}
        return parse_tournament(
            contents.file_text,
            contents.file_folder,
            file=self.path.stem,
            draw_seed=lambda slug: seeds[slug],
            concurrency=concurrency,
        )


def read_new(
    path: Path,
    concurrency: int,
    draw: Callable[[str], int] | None = None,
    check_server: ServerCheck = unchecked,
) -> TournamentFile:
    """A tournament's file whose seeds are drawn now where it gives none. Raises TournamentFileError."""
    return read_tournament(path, draw_seed=draw or _drawn, concurrency=concurrency, check_server=check_server)


def _drawn(slug: str) -> int:
    return secrets.randbits(SEED_BITS)
