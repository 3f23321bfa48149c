"""Writing a tournament's exports: each file is replaced at once, so nobody ever reads half of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Final

from triarena.organiser.records import Source
from triarena.organiser.report import TournamentReport, report_tournament
from triarena.organiser.spec import TournamentFile

from .page import page
from .records import games_csv, games_jsonl, standings_csv

SERVER_FOLDER: Final = "server"
"""Where the embedded server keeps its matches, within the tournament's folder."""
NAMES: Final = ("index.html", "games.csv", "standings.csv", "games.jsonl")


def export_all(folder: Path, file: TournamentFile, contents: Source, at: datetime) -> TournamentReport:
    """Write all exports of a tournament into its folder, and return what they were made from.

    ``at`` is now, in the zone in which times are shown. If ``contents`` are a store's snapshot, the games of one round
    are held at a time, so that a tournament of many takes hardly more memory than one of few.
    Raises OSError, and StoreError if the store holds something else than the file describes.
    """
    report = report_tournament(file, contents)
    where = f"where the folder {folder.absolute().name} lies" if is_kept_here(folder) else "where the server keeps them"
    for name, pieces in exports(report, at, replay_command(folder), where).items():
        write_atomically(folder / name, pieces)
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


def write_atomically(path: Path, pieces: Iterable[str]) -> None:
    """Replace a file's text: whoever opens it reads the old or the new one entirely. Raises OSError."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
