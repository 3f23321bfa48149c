"""Writing a tournament's page and tables when no tool does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from triarena.cli.options import Failure

from .opening import free_processors

if TYPE_CHECKING:
    from triarena.organiser.folder import Folder
    from triarena.organiser.records import Source
    from triarena.organiser.spec import TournamentFile
    from triarena.organiser.store import Store

WHY: Final = "it was cancelled"
RENEWED: Final = "its page and tables were written anew"


def renew(place: Folder) -> None:
    """Write all exports anew. Raises Failure ``cannot_write``, StoreError, TournamentFileError."""
    from triarena.organiser.export.publishing import NotWritten
    from triarena.organiser.export.writing import export_newest

    @contextmanager
    def read() -> Iterator[tuple[TournamentFile, Source]]:
        with place.snapshot() as contents:
            yield place.file(contents, free_processors()), contents

    try:
        export_newest(place.path, read, lambda: datetime.now().astimezone())
    except NotWritten as error:
        raise Failure("cannot_write", str(error)) from None


def finish_cancelled(place: Folder, store: Store) -> bool:
    """Do what is left to do of a tournament that was cancelled, unless a tool runs it, which does so; whether it was
    done. Raises as ``renew``.
    """
    from triarena.organiser.claim import claim_folder
    from triarena.organiser.records import TOURNAMENT_CANCELLED, StoreError

    try:
        with claim_folder(place.path, patience=0.2):
            store.give_up_running(TOURNAMENT_CANCELLED, datetime.now(UTC))
            store.cancel_events(WHY)
            renew(place)
    except StoreError as error:
        if error.code != "folder_in_use":
            raise
        return False
    return True
