"""A tournament's folder: what lies where in it, making one, and finding one again."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from .claim import claim_folder, is_claimed
from .file import ServerCheck, parse_tournament, read_tournament, unchecked
from .records import Contents, StoredEvent, StoredPlayer, StoreError
from .spec import TournamentFile
from .store import Store, StoreReader, create_store
from .store_file import STORE_NAME
from .summary import Summary

ENDING: Final = ".tournament"
OWNER_ONLY: Final = 0o700
IGNORE: Final = ".gitignore"
IGNORE_ALL: Final = "# Tokens and a secret lie here: it is all for the owner alone.\n*\n"
IGNORE_OURS: Final = (
    f"# Tokens and a secret lie here.\n/{STORE_NAME}*\n/tournament.lock\n/tournament.running\n/.exports.lock\n"
    "/server/\n/logs/\n/irregular/\n"
)
SEED_BITS: Final = 53
BROKEN_OFF: Final = "it was broken off: the tool that ran it has ended without a word"


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

    def make(
        self, source: Path, file: TournamentFile, at: datetime, players: Sequence[StoredPlayer] | None = None
    ) -> Store:
        """Begin the tournament of a file here, with the tokens of ``players`` (None: ``with_tokens``).

        Raises StoreError ``store_exists``, ``folder_in_use`` or ``cannot_open``.
        """
        self.make_private()
        events = [StoredEvent(event.slug, event.seed) for event in file.events]
        with claim_folder(self.path):  # of two at the same moment one is the first
            return create_store(self.path, source, events, with_tokens(file) if players is None else players, at)

    def make_private(self) -> None:
        """Make the folder, if there is none yet: tokens and a secret will lie here, for its owner alone.

        Only the owner may look into it (where the system knows owners), and Git leaves it out. In a folder that holds
        other things already, that goes for what is kept here only. Raises StoreError ``cannot_open``.
        """
        within = (self.server, self.logs, self.irregular)
        try:
            self.path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            ours = self._is_ours()
            for folder in (self.path, *within) if ours else within:
                folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
                folder.chmod(OWNER_ONLY)
            if ours or not (self.path / IGNORE).exists():
                (self.path / IGNORE).write_text(IGNORE_ALL if ours else IGNORE_OURS, encoding="utf-8")
        except OSError as error:
            sentence = f"{self.path} can't be written to: {error.strerror or error}."
            raise StoreError("cannot_open", sentence) from error

    def _is_ours(self) -> bool:
        """Whether nothing but a tournament lies here: the folder is empty, or was made private before."""
        try:
            return (self.path / IGNORE).read_text(encoding="utf-8") == IGNORE_ALL
        except FileNotFoundError:
            return not any(self.path.iterdir())
        except UnicodeDecodeError:
            return False

    def contents(self) -> Contents:
        """All that is stored here. Raises StoreError, also if there is no tournament.

        What calls itself running without a tool that runs it was broken off, and is ``interrupted``.
        """
        with StoreReader(self.path) as reader:
            contents = reader.contents()
            if contents.state != "running" or is_claimed(self.path):
                return contents
            contents = reader.contents()  # it may have ended in between
        return replace(contents, state="interrupted", why=BROKEN_OFF) if contents.state == "running" else contents

    @contextmanager
    def snapshot(self) -> Iterator[Summary]:
        """The same without the single games, which are read when they are asked for, as of the same moment."""
        with StoreReader(self.path) as reader:
            state = reader.state()
            broken_off = state == "running" and not is_claimed(self.path)
            with reader.snapshot() as found:  # it may have ended in between
                if broken_off and found.state == "running":
                    found = replace(found, state="interrupted", why=BROKEN_OFF)
                yield found

    def file(self, contents: Contents | Summary, concurrency: int) -> TournamentFile:
        """The tournament's file as it was at the start, with the seeds drawn then. Raises TournamentFileError.

        A single tournament without a name is called like its file, and mostly so is the folder; but that may have been
        renamed, or chosen: then the tournament is called as the store has it.
        """
        seeds = {event.slug: event.seed for event in contents.events}

        def read(stem: str) -> TournamentFile:
            return parse_tournament(
                contents.file_text,
                contents.file_folder,
                file=f"{stem}.toml",
                draw_seed=lambda slug: seeds.get(slug, 0),
                concurrency=concurrency,
            )

        file = read(self.path.stem)
        if len(seeds) == 1 and file.events[0].slug not in seeds:
            return read(*seeds)
        return file


def with_tokens(file: TournamentFile) -> list[StoredPlayer]:
    """The players of a new tournament, with a token for each that waits in the lobby."""
    return [StoredPlayer(player.name, secrets.token_urlsafe(24) if player.kept else None) for player in file.players]


def read_new(
    path: Path,
    concurrency: int,
    draw: Callable[[str], int] | None = None,
    check_server: ServerCheck = unchecked,
) -> TournamentFile:
    """A tournament's file whose seeds are drawn now where it gives none. Raises TournamentFileError."""
    return read_tournament(path, draw_seed=draw or draw_seed, concurrency=concurrency, check_server=check_server)


def draw_seed(slug: str) -> int:
    """A seed for a tournament whose file gives none."""
    return secrets.randbits(SEED_BITS)
