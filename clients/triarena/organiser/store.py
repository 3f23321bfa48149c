"""The durable record of a tournament: one SQLite file, one transaction per result.

A ``Store`` is what the running tool writes, a ``StoreReader`` what everybody else reads meanwhile. All calls block,
shortly, and may come from any thread. Whoever wants to write first claims the folder (``claim.py``).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from triarena.tournament.values import Plan, Played

from . import rows, store_file
from .records import (
    Attempt,
    Contents,
    EventState,
    Note,
    Spent,
    StoredEvent,
    StoredPlayer,
    StoredResult,
    StoreError,
    TournamentState,
    by_fixture,
)
from .store_file import STORE_NAME
from .summary import Histories, Summary, read_summary


def create_store(
    folder: Path, file: Path, events: Sequence[StoredEvent], players: Sequence[StoredPlayer], at: datetime
) -> Store:
    """Make the store of a new tournament in ``folder`` and open it.

    ``file`` is the tournament's file, whose text is kept and whose place is remembered.
    Raises StoreError ``store_exists``, ``cannot_open``.
    """
    with store_file.explained(file):
        file_text = file.read_text(encoding="utf-8-sig")

    def fill() -> Iterator[tuple[str, tuple[object, ...]]]:
        about = (file_text, str(file.absolute().parent), rows.moment(at))
        yield "INSERT INTO tournament VALUES (1, ?, ?, ?, 'running', '')", about
        for position, event in enumerate(events):
            yield "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (position, *astuple(event))
        for position, player in enumerate(players):
            yield "INSERT INTO players VALUES (?, ?, ?)", (position, player.name, player.token)

    store_file.make(folder / STORE_NAME, fill())
    return Store(folder)


class StoreReader:
    """Reads a tournament's store, also while a tool writes it. Close it, or use it as a context."""

    _read_only = True

    def __init__(self, folder: Path) -> None:
        """Open it. Raises StoreError ``no_store``, ``not_a_store``, ``other_version``, ``damaged``, ``cannot_open``."""
        self._path = folder / STORE_NAME
        self._connection = store_file.connect(self._path, read_only=self._read_only)
        self._identity = store_file.identity(self._path)
        self._lock = threading.Lock()
        self._histories = Histories()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        with self._lock:
            self._connection.close()

    def is_in_place(self) -> bool:
        """Whether the file still lies where it was opened, as far as can be told: nobody has moved or deleted it."""
        try:
            return store_file.identity(self._path) == self._identity
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # a disk that does not answer may do so again
            return True

    def contents(self) -> Contents:
        """All that is stored, as of one moment, but the tokens."""
        with self._transaction("DEFERRED") as run:
            file_text, file_folder, created_at, state, why = run(rows.SELECT_TOURNAMENT).fetchone()
            return Contents(
                file_text=file_text,
                file_folder=Path(file_folder),
                created_at=datetime.fromisoformat(created_at),
                state=state,
                why=why,
                events=tuple(StoredEvent(*row) for row in run(rows.SELECT_EVENTS)),
                players=tuple(name for (name,) in run("SELECT name FROM players ORDER BY position")),
                attempts=tuple(map(rows.read_attempt, run(f"{rows.SELECT_ATTEMPTS} ORDER BY rowid"))),
                results=tuple(map(rows.read_result, run(f"{rows.SELECT_RESULTS} ORDER BY rowid"))),
                notes=tuple(map(rows.read_note, run(rows.SELECT_NOTES))),
            )

    def summary(self) -> Summary:
        """What is stored, as of one moment, without the single games; what is known of their results is kept."""
        with self._transaction("DEFERRED") as run:
            return read_summary(run, self._histories)

    @contextmanager
    def snapshot(self) -> Iterator[Summary]:
        """The same, and as long as the context lasts the games of each round can be read as of the same moment.

        Nobody else can use this reader meanwhile.
        """
        with self._lock:
            explained, run = partial(store_file.explained, self._path), self._connection.execute
            try:
                with explained():
                    run("BEGIN DEFERRED")
                    summary = read_summary(run, self._histories, explained)
                yield summary  # what fails meanwhile is not the store's fault
            finally:
                if self._connection.in_transaction:
                    run("ROLLBACK")

    def events(self) -> tuple[StoredEvent, ...]:
        """The events, in the order in which they are played."""
        with self._transaction("DEFERRED") as run:
            return tuple(StoredEvent(*row) for row in run(rows.SELECT_EVENTS))

    def state(self) -> TournamentState:
        """How the whole tournament stands."""
        with self._transaction("DEFERRED") as run:
            state: TournamentState = run("SELECT state FROM tournament").fetchone()[0]
            return state

    def players(self) -> tuple[StoredPlayer, ...]:
        """The players with their tokens, in seeding order."""
        with self._transaction("DEFERRED") as run:
            return tuple(StoredPlayer(*row) for row in run("SELECT name, token FROM players ORDER BY position"))

    def notes(self) -> tuple[Note, ...]:
        """What was noted so far, the oldest first."""
        with self._transaction("DEFERRED") as run:
            return tuple(map(rows.read_note, run(rows.SELECT_NOTES)))

    def results(self, event: str) -> tuple[StoredResult, ...]:
        """An event's results, in the order in which they were stored."""
        with self._transaction("DEFERRED") as run:
            query = f"{rows.SELECT_RESULTS} WHERE event = ? ORDER BY rowid"
            return tuple(map(rows.read_result, run(query, (event,))))

    def played(self, event: str) -> dict[str, Played]:
        """What was played of an event, by the fixture's id: what its format's plan is asked with."""
        return by_fixture(self.results(event))

    def attempts(self, event: str, fixture: str) -> tuple[Attempt, ...]:
        """The attempts at a fixture, the first one first."""
        with self._transaction("DEFERRED") as run:
            query = f"{rows.SELECT_ATTEMPTS} WHERE event = ? AND fixture = ? ORDER BY number"
            return tuple(map(rows.read_attempt, run(query, (event, fixture))))

    @contextmanager
    def _transaction(self, kind: str, synchronous: str = "FULL") -> Iterator[Any]:
        """Yields the connection's ``execute``; commits, or takes all of it back."""
        with self._lock, store_file.explained(self._path):
            self._connection.execute(f"PRAGMA synchronous = {synchronous}")
            self._connection.execute(f"BEGIN {kind}")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


class Store(StoreReader):
    """Reads and writes a tournament's store.

    What a method has returned from survives the death of this process, and of the machine as well, but for where a
    game is being played: a game without a result is played anew anyway, and waiting for the disk takes milliseconds.
    """

    _read_only = False

    def set_state(
        self, state: TournamentState, why: str = "", *, unless: Collection[TournamentState] = ()
    ) -> TournamentState:
        """Say how the whole tournament stands, unless it stands so; how it did before, in the same transaction."""
        with self._transaction("IMMEDIATE") as run:
            before: TournamentState = run("SELECT state FROM tournament").fetchone()[0]
            if before not in unless:
                run("UPDATE tournament SET state = ?, why = ?", (state, why))
            return before

    def set_event_state(self, event: str, state: EventState, why: str = "") -> None:
        """Say how one event stands. Raises StoreError ``unknown_event``."""
        with self._transaction("IMMEDIATE") as run:
            if not run("UPDATE events SET state = ?, why = ? WHERE slug = ?", (state, why, event)).rowcount:
                raise _unknown(event)

    def cancel_events(self, why: str) -> None:
        """Say of all events that are being played that they were cancelled."""
        with self._transaction("IMMEDIATE") as run:
            run("UPDATE events SET state = 'cancelled', why = ? WHERE state = 'running'", (why,))

    def set_playing_seconds(self, event: str, seconds: float) -> None:
        """Say for how long an event has been played so far. Raises StoreError ``unknown_event``."""
        with self._transaction("IMMEDIATE") as run:
            if not run("UPDATE events SET seconds = ? WHERE slug = ?", (seconds, event)).rowcount:
                raise _unknown(event)

    def keep_options(self, options: Mapping[str, str]) -> None:
        """Keep the options with which it is run, in the place of those before."""
        with self._transaction("IMMEDIATE") as run:
            run("DELETE FROM options")
            for option in options.items():
                run("INSERT INTO options VALUES (?, ?)", option)

    def options(self) -> dict[str, str]:
        """The options with which it was run the last time."""
        with self._transaction("DEFERRED") as run:
            return dict(run("SELECT name, value FROM options"))

    def note(self, note: Note) -> None:
        """Keep something that readers of the standings should know."""
        with self._transaction("IMMEDIATE") as run:
            values = (rows.moment(note.at), note.kind, note.text, note.event, note.player)
            run("INSERT INTO notes (at, kind, text, event, player) VALUES (?, ?, ?, ?, ?)", values)

    def begin_attempt(self, event: str, fixture: str, at: datetime) -> Attempt:
        """Record that a fixture is now tried.

        Raises StoreError ``unknown_event``, ``already_played`` or ``already_running``.
        """
        with self._transaction("IMMEDIATE", synchronous="NORMAL") as run:
            if not run("SELECT 1 FROM events WHERE slug = ?", (event,)).fetchone():
                raise _unknown(event)
            if run("SELECT 1 FROM results WHERE event = ? AND fixture = ?", (event, fixture)).fetchone():
                raise StoreError("already_played", f"Game {fixture} of {event} has its result; it is not played again.")
            query = "SELECT count(*), sum(state = 'running') FROM attempts WHERE event = ? AND fixture = ?"
            before, running = run(query, (event, fixture)).fetchone()
            if running:
                raise StoreError("already_running", f"Game {fixture} of {event} is being played already.")
            attempt = Attempt(event, fixture, before + 1, at)
            run(rows.INSERT_ATTEMPT, rows.write_attempt(attempt))
            return attempt

    def place_attempt(self, attempt: Attempt, *, room: str = "", match: str = "") -> None:
        """Add where a running attempt is played, as it becomes known. Raises StoreError ``not_running``."""
        with self._transaction("IMMEDIATE", synchronous="NORMAL") as run:
            _one_running(
                run(
                    "UPDATE attempts SET room = coalesce(nullif(?, ''), room), match = coalesce(nullif(?, ''), match)"
                    " WHERE event = ? AND fixture = ? AND number = ? AND state = 'running'",
                    (room, match, attempt.event, attempt.fixture, attempt.number),
                ),
                attempt,
            )

    def fail_attempt(
        self, attempt: Attempt, why: str, at: datetime, *, spent: Spent | None = None, folder: str = ""
    ) -> None:
        """Record that a running attempt came to nothing; the fixture has no result.

        Raises StoreError ``not_running``.
        """
        with self._transaction("IMMEDIATE") as run:
            _end(run, attempt, "failed", at, why=why, spent=spent or Spent(), folder=folder, match="")

    def keep_folder(self, attempt: Attempt, folder: str) -> None:
        """Add where the logs of an attempt lie, once they do."""
        with self._transaction("IMMEDIATE", synchronous="NORMAL") as run:
            about = (folder, attempt.event, attempt.fixture, attempt.number)
            run("UPDATE attempts SET folder = ? WHERE event = ? AND fixture = ? AND number = ?", about)

    def record_result(self, result: StoredResult, *, spent: Spent | None = None, folder: str = "") -> None:
        """Record the sporting end of a fixture and of its running attempt, in one transaction.

        Raises StoreError ``not_running`` or ``already_played``.
        """
        fixture = result.played.fixture.id
        with self._transaction("IMMEDIATE") as run:
            attempt = Attempt(result.event, fixture, result.attempt, result.started_at)
            _end(run, attempt, "played", result.ended_at, spent=spent or Spent(), folder=folder, match=result.match)
            try:
                run(rows.INSERT_RESULT, rows.write_result(result))
            except sqlite3.IntegrityError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
                    raise
                code, known = "already_played", f"Game {fixture} of {result.event} has its result already."
                raise StoreError(code, known) from error

    def give_up_running(self, why: str, at: datetime) -> tuple[Attempt, ...]:
        """End what a killed tool has left running, as failed, and return it as it stood."""
        with self._transaction("IMMEDIATE") as run:
            left = tuple(map(rows.read_attempt, run(f"{rows.SELECT_ATTEMPTS} WHERE state = 'running' ORDER BY rowid")))
            for attempt in left:
                _end(run, attempt, "failed", at, why=why, spent=Spent(), folder="", match="")
            return left


def check_agreement(event: str, plan: Plan, played: Mapping[str, Played]) -> None:
    """Make sure that every result belongs to a game of the plan that was made with these results.

    Raises StoreError ``result_disagrees`` for the first that doesn't: the file was edited, or another version paired.
    """
    known = ((played.get(fixture.id), fixture) for fixture in plan.fixtures())
    if sum(result is not None and result.fixture == fixture for result, fixture in known) == len(played):
        return
    planned = {fixture.id: fixture for fixture in plan.fixtures()}
    for id, result in played.items():
        fixture, stored = planned.get(id), result.fixture
        if fixture == stored:
            continue
        now = f"{fixture.red} v {fixture.blue}, seed {fixture.seed}" if fixture else "no such game"
        raise StoreError(
            "result_disagrees",
            f"Game {id} of {event} is stored as {stored.red} v {stored.blue}, seed {stored.seed}, but the schedule has "
            f"{now}: the tournament's file was changed after the start; restore it, or start a new tournament.",
        )


def _unknown(event: str) -> StoreError:
    return StoreError("unknown_event", f"This tournament has no event {event!r}.")


def _end(
    run: Any, attempt: Attempt, state: str, at: datetime, *, spent: Spent, folder: str, match: str, why: str = ""
) -> None:
    _one_running(
        run(
            "UPDATE attempts SET state = ?, why = ?, ended_at = ?, seconds = ?, overhead_ms = ?, red_ms = ?,"
            " blue_ms = ?, folder = ?, match = coalesce(nullif(?, ''), match)"
            " WHERE event = ? AND fixture = ? AND number = ? AND state = 'running'",
            (
                *(state, why, rows.moment(at), spent.seconds, spent.overhead_ms, spent.red_ms, spent.blue_ms),
                *(folder, match, attempt.event, attempt.fixture, attempt.number),
            ),
        ),
        attempt,
    )


def _one_running(cursor: sqlite3.Cursor, attempt: Attempt) -> None:
    if cursor.rowcount != 1:
        raise StoreError(
            "not_running", f"Attempt {attempt.number} at game {attempt.fixture} of {attempt.event} is not running."
        )
