"""Writing a tournament's exports: all that can be written, and never an older state over a newer one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Final

from triarena.organiser.records import Source
from triarena.organiser.report import TournamentReport, report_tournament
from triarena.organiser.spec import TournamentFile

from .page import page
from .publishing import Overtaken, Versions, publish, versions
from .records import games_csv, games_jsonl, standings_csv

SERVER_FOLDER: Final = "server"
"""Where the embedded server keeps its matches, within the tournament's folder."""
NAMES: Final = ("index.html", "games.csv", "standings.csv", "games.jsonl")


def export_newest(
    folder: Path,
    read: Callable[[], AbstractContextManager[tuple[TournamentFile, Source]]],
    now: Callable[[], datetime],
) -> None:
    """Write all exports as of now or later, also if others do so at the same time.

    ``read`` opens the tournament as it stands when it is called. Raises NotWritten, and StoreError as ``export_all``.
    """
    # Whoever puts its files in place had begun to read after whoever did so before. So if we are overtaken twice, the
    # second one has begun after the first one was done, and so after we were called: its files are new enough.
    for _ in range(2):
        before = versions(folder, NAMES)
        with suppress(Overtaken), read() as (file, contents):
            export_all(folder, file, contents, now(), before)
            return


def export_all(
    folder: Path, file: TournamentFile, contents: Source, at: datetime, before: Versions | None = None
) -> TournamentReport:
    """Write all exports of a tournament into its folder, and return what they were made from.

    ``at`` is now, in the zone in which times are shown. If ``contents`` are a store's snapshot, the games of one round
    are held at a time, so that a tournament of many takes hardly more memory than one of few. ``before`` is what lay
    in the folder before ``contents`` were read; None: what lies there now.
    Raises NotWritten, Overtaken, and StoreError if the store holds something else than the file describes.
    """
    report = report_tournament(file, contents)
    where = f"where the folder {folder.absolute().name} lies" if is_kept_here(folder) else "where the server keeps them"
    texts = exports(report, at, replay_command(folder), where)
    publish(folder, texts, versions(folder, NAMES) if before is None else before)
    return report


def exports(report: TournamentReport, at: datetime, replay: str, where: str = "") -> dict[str, Iterator[str]]:
    """The files' texts by their names, piece by piece; see ``page``."""
    texts = (page(report, at, replay, where), games_csv(report), standings_csv(report), games_jsonl(report))
    return dict(zip(NAMES, texts, strict=True))


def replay_command(folder: Path) -> str:
    """The command that shows a match again, to be given where the tournament's folder lies."""
    here = is_kept_here(folder)
    where = f" --data-dir {quote(f'{folder.absolute().name}/{SERVER_FOLDER}')}" if here else ""
    return "triarena replay {match} --boards" + where


def is_kept_here(folder: Path) -> bool:
    """Whether the matches of a tournament were played at a server of its own, which keeps them in its folder."""
    return any((folder / SERVER_FOLDER).glob("*"))
