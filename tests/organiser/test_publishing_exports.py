"""Exports are put in place all that can be, each at once, and never an older one over a newer one."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import filelock
import pytest

from triarena.organiser.export import event_section, publishing
from triarena.organiser.export.page import page
from triarena.organiser.export.publishing import LOCK_NAME, NotWritten, Overtaken, publish, versions
from triarena.organiser.export.writing import NAMES, export_newest
from triarena.organiser.records import Source
from triarena.organiser.report import report_tournament
from triarena.organiser.spec import TournamentFile
from triarena.organiser.store import Store, StoreReader

from .read_page import read_page
from .staged_tournament import BEGIN, Staged, event_of, play, stage

LATER = BEGIN + timedelta(minutes=10)


def put(folder: Path, *names: str, text: str = "new") -> None:
    publish(folder, {name: [text] for name in names}, versions(folder, names))


def there(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file() and path.name != LOCK_NAME}


def export(staged: Staged) -> None:
    """As everybody does."""

    @contextmanager
    def read() -> Iterator[tuple[TournamentFile, Source]]:
        with StoreReader(staged.folder) as reader, reader.snapshot() as contents:
            yield staged.file, contents

    export_newest(staged.folder, read, lambda: LATER)


def go_on(staged: Staged) -> None:
    """Play a tournament that was left in its middle to its end."""
    with Store(staged.folder) as store:
        store.give_up_running("The tool was killed.", BEGIN)
        play(store, staged.file.events[0])
        store.set_state("finished")


def said(staged: Staged) -> tuple[str, int]:
    """What the exports say: the state, and how many games there are."""
    html = (staged.folder / "index.html").read_text(encoding="utf-8")
    with (staged.folder / "games.csv").open(encoding="utf-8", newline="") as file:
        games = len([*csv.DictReader(file)])
    lines = (staged.folder / "games.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == games
    assert len([row for row in read_page(html).rows("towers", "games") if len(row) == 10]) == games
    return "running" if 'http-equiv="refresh"' in html else "over", games


def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "games.csv", text="old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(NotWritten, match="No space left"):
        put(tmp_path, "games.csv")
    assert there(tmp_path) == {"games.csv": "old"}


def test_a_file_that_cannot_be_written_stops_none_of_the_others_and_is_named_itself(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "c").mkdir()
    with pytest.raises(NotWritten) as refused:
        put(tmp_path, "a", "b", "c", "d")
    paths, _, cause = str(refused.value).partition(" can't be written: ")
    assert paths == f"{tmp_path / 'a'}, {tmp_path / 'c'}"
    assert cause
    assert "can't be written" not in cause
    assert there(tmp_path) == {"b": "new", "d": "new"}


def test_where_no_file_can_be_made_those_that_were_meant_are_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(NotWritten) as refused:
        put(gone, "a", "b")
    assert str(refused.value) == f"{gone / 'a'}, {gone / 'b'} can't be written: No such file or directory"


def test_what_a_killed_process_left_unfinished_is_removed_and_what_another_one_writes_is_not(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    living = os.getppid()
    for name in (f".a.{dead.pid}", f".a.{living}", f".other.{dead.pid}", ".a.bak"):
        (tmp_path / name).write_text("half")
    put(tmp_path, "a")
    assert there(tmp_path) == {"a": "new", f".a.{living}": "half", f".other.{dead.pid}": "half", ".a.bak": "half"}


def test_nothing_is_put_in_the_place_of_what_was_put_there_meanwhile(tmp_path: Path) -> None:
    put(tmp_path, "a", "b", text="first")
    before = versions(tmp_path, ("a", "b"))
    put(tmp_path, "b", text="newer")
    with pytest.raises(Overtaken):
        publish(tmp_path, {"a": ["older"], "b": ["older"]}, before)
    assert there(tmp_path) == {"a": "first", "b": "newer"}


def test_a_process_that_was_stopped_between_two_files_replaces_no_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a", "b", text="first")
    before, replace = versions(tmp_path, ("a", "b")), Path.replace

    def stopped(path: Path, target: Path) -> None:
        replace(path, target)
        for name in ("a", "b"):
            newer = tmp_path / f"{name}.newer"
            newer.write_text("newer")
            replace(newer, tmp_path / name)

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(Overtaken):
        publish(tmp_path, {"a": ["older"], "b": ["older"]}, before)
    assert there(tmp_path) == {"a": "newer", "b": "newer"}


def test_nobody_waits_for_ever_for_a_process_that_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "PATIENCE_SECONDS", 0.01)
    with filelock.FileLock(tmp_path / LOCK_NAME, thread_local=False):
        put(tmp_path, "a")
    assert there(tmp_path) == {"a": "new"}


@pytest.mark.parametrize("times", [1, 2, 3])
def test_exports_of_an_older_state_never_replace_those_of_a_newer_one(tmp_path: Path, times: int) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=9)
    overtaken: list[None] = []

    @contextmanager
    def read() -> Iterator[tuple[TournamentFile, Source]]:
        with StoreReader(staged.folder) as reader, reader.snapshot() as contents:
            yield staged.file, contents

    def now() -> datetime:
        """Between reading and writing somebody else exports, at first after the last game was played."""
        if not overtaken:
            go_on(staged)
        if len(overtaken) < times:
            overtaken.append(None)
            export(staged)
        return LATER

    export(staged)
    assert said(staged) == ("running", 9)
    export_newest(staged.folder, read, now)
    assert said(staged) == ("over", 56)
    assert len(overtaken) == min(times, 2)


def test_all_exports_that_can_be_written_are_as_new_as_the_store(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=9)
    export(staged)
    go_on(staged)
    (tmp_path / "standings.csv").unlink()
    (tmp_path / "standings.csv").mkdir()
    with pytest.raises(NotWritten, match=r"standings\.csv can't be written"):
        export(staged)
    assert said(staged) == ("over", 56)
    (tmp_path / "standings.csv").rmdir()
    export(staged)
    assert {path.name for path in tmp_path.iterdir()} >= {*NAMES}


def test_what_no_page_shows_is_not_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"Bot {number}" for number in range(event_section.SQUARES_UP_TO + 1)]
    staged = stage(tmp_path, event_of("Towers", "swiss", names=names, rounds=1))
    monkeypatch.setattr(event_section, "superiority_table", lambda report: pytest.fail("it was computed"))
    with StoreReader(tmp_path) as reader:
        html = "".join(page(report_tournament(staged.file, reader.contents()), LATER, "{match}"))
    assert "Who is stronger?" not in html
