"""Writing a tournament's exports: each file is replaced at once, so nobody ever reads half of one."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Final

from triarena.organiser.records import Contents
from triarena.organiser.report import TournamentReport, report_tournament
from triarena.organiser.spec import TournamentFile

from .page import page
from .records import games_csv, games_jsonl, standings_csv

SERVER_FOLDER: Final = "server"
"""Where the embedded server keeps its matches, within the tournament's folder."""
NAMES: Final = ("index.html", "games.csv", "standings.csv", "games.jsonl")


def export_all(folder: Path, file: TournamentFile, contents: Contents, at: datetime) -> TournamentReport:
    """Write all exports of a tournament into its folder, and return what they were made from.

    ``at`` is now, in the zone in which times are shown. Raises OSError, and StoreError if the store holds something
    else than the file describes.
    """
    report = report_tournament(file, contents)
    for name, text in exports(report, at, replay_command(folder)).items():
        write_atomically(folder / name, text)
    return report


def exports(report: TournamentReport, at: datetime, replay: str) -> dict[str, str]:
    """The files' texts by their names."""
    texts = (page(report, at, replay), games_csv(report), standings_csv(report), games_jsonl(report))
    return dict(zip(NAMES, texts, strict=True))


def replay_command(folder: Path) -> str:
    """The command that shows a match again, to be given in the tournament's folder."""
    where = f" --data-dir {SERVER_FOLDER}" if (folder / SERVER_FOLDER).is_dir() else ""
    return "triarena replay {match}" + where


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's text: whoever opens it reads the old or the new one entirely. Raises OSError."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
