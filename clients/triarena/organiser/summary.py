"""A store's contents without its games: what a redraw of the standings needs, whatever number of games was played.

Exports need all games, but one round after the other: these are read when they are asked for, as of the same moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from triarena.tournament.values import Played

from . import rows
from .records import (
    LATEST,
    NOBODYS_FAILURES,
    Note,
    RoundRecords,
    StoredEvent,
    TournamentState,
    Tries,
    event_of,
    round_records,
)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a store held at one moment, a ``Source``: counts, and of each game nothing but its sporting result."""

    file_text: str
    """The tournament's file as it was when the tournament was started."""
    file_folder: Path
    """Where that file lay: paths in it are relative to this folder."""
    created_at: datetime
    state: TournamentState
    why: str
    events: tuple[StoredEvent, ...]
    """In the order in which they are played."""
    notes: tuple[Note, ...]
    """The oldest first."""
    _played: Mapping[str, Mapping[str, Played]]
    _tries: Mapping[str, Tries]
    _latest: Mapping[str, tuple[Played, ...]]
    _games_of: Callable[[str, int], RoundRecords] | None = None

    def event(self, slug: str) -> StoredEvent:
        """The event of that slug. Raises StoreError ``unknown_event``."""
        return event_of(self.events, slug)

    def played(self, slug: str) -> Mapping[str, Played]:
        """What was played of an event, by the fixture's id."""
        return self._played.get(slug, {})

    def tries(self, slug: str) -> Tries:
        """An event's attempts, counted."""
        return self._tries.get(slug, Tries())

    def latest(self, slug: str) -> tuple[Played, ...]:
        """An event's last results, at most ``LATEST``, the newest first."""
        return self._latest.get(slug, ())

    def games_of(self, slug: str, round_: int) -> RoundRecords:
        """What is stored of the games of one round of an event. Raises ValueError outside of `StoreReader.snapshot`."""
        if self._games_of is None:
            raise ValueError("a summary that was read by itself tells nothing of single games")
        return self._games_of(slug, round_)


@dataclass(slots=True)
class Histories:
    """What was played of each event, kept between summaries: of results, which never change, only new ones are read."""

    _by_event: dict[str, dict[str, Played]] = field(default_factory=dict)
    _words: dict[str, str] = field(default_factory=dict)
    """Names and reasons, each held once."""
    _newest: int = 0
    """The row of the last result that was read."""

    def renewed(self, run: Callable[..., Any]) -> dict[str, dict[str, Played]]:
        """Everything so far, read by ``run`` within its transaction. What was returned before stays as it was."""
        new: dict[str, dict[str, Played]] = {}
        query = f"{rows.SELECT_PLAYED} WHERE rowid > ? ORDER BY rowid"
        for row in run(query, (self._newest,)):
            new.setdefault(row[0], {})[row[1]] = rows.read_played(row, self._words)
        for event, played in new.items():
            self._by_event[event] = self._by_event.get(event, {}) | played
        self._newest = run("SELECT coalesce(max(rowid), 0) FROM results").fetchone()[0]
        return self._by_event.copy()


def read_summary(
    run: Callable[..., Any], histories: Histories, explained: Callable[[], AbstractContextManager[None]] | None = None
) -> Summary:
    """What the store holds, read by ``run`` within its transaction.

    With ``explained``, in which what fails is said for people, games can be read as long as the transaction lasts.
    """

    def games_of(event: str, round_: int) -> RoundRecords:
        assert explained is not None
        with explained():
            return _games_of(run, event, round_)

    file_text, file_folder, created_at, state, why = run(rows.SELECT_TOURNAMENT).fetchone()
    events = tuple(StoredEvent(*row) for row in run(rows.SELECT_EVENTS))
    return Summary(
        file_text=file_text,
        file_folder=Path(file_folder),
        created_at=datetime.fromisoformat(created_at),
        state=state,
        why=why,
        events=events,
        notes=tuple(map(rows.read_note, run(rows.SELECT_NOTES))),
        _played=histories.renewed(run),
        _tries=dict(map(rows.read_tries, run(rows.SELECT_TRIES, tuple(NOBODYS_FAILURES)))),
        _latest={event.slug: tuple(_latest(run, event.slug)) for event in events},
        _games_of=None if explained is None else games_of,
    )


def _latest(run: Callable[..., Any], event: str) -> Iterator[Played]:
    order = "ORDER BY ended_at DESC, round, at_table, game LIMIT ?"
    return map(rows.read_played, run(f"{rows.SELECT_PLAYED} WHERE event = ? {order}", (event, LATEST)))


def _games_of(run: Callable[..., Any], event: str, round_: int) -> RoundRecords:
    # The ids of a round's fixtures begin with its number and a point; the character after the point is a slash.
    which = "WHERE event = ? AND fixture > ? AND fixture < ? ORDER BY rowid"
    values = (event, f"{round_}.", f"{round_}/")
    return round_records(
        map(rows.read_result, run(f"{rows.SELECT_RESULTS} {which}", values)),
        map(rows.read_attempt, run(f"{rows.SELECT_ATTEMPTS} {which}", values)),
    )
