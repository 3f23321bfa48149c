"""What a tournament's store holds, as values.

Attempts and results are different records. An *attempt* is one try to have a fixture played: it may fail for reasons
that are nobody's sporting fault, and is then repeated. A *result* is the sporting end of a fixture: there is at most
one, it belongs to the attempt that brought it about, and it never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from triarena.tournament.values import Played

TournamentState: TypeAlias = Literal["running", "interrupted", "finished", "cancelled"]
"""``running`` is also what a killed tool leaves behind; its claim tells whether it runs, and `Folder.contents` asks."""
OVER: Final[tuple[TournamentState, ...]] = ("finished", "cancelled")
"""Nothing more is played."""
EventState: TypeAlias = Literal["waiting", "running", "finished", "stopped", "cancelled"]
"""``stopped``: by its stopping rule; ``finished``: everything planned was played."""
AttemptState: TypeAlias = Literal["running", "played", "failed"]


TOOL_ENDED: Final = "the tool was ended"
TOOL_INTERRUPTED: Final = "the tool was interrupted"
TOURNAMENT_CANCELLED: Final = "the tournament was cancelled"
LATEST: Final = 5
"""So many of the last results are shown."""
NOBODYS_FAILURES: Final = frozenset([TOOL_ENDED, TOOL_INTERRUPTED, TOURNAMENT_CANCELLED])
"""Why attempts ended that somebody has ended: nothing went wrong in them."""


class StoreError(Exception):
    """The store can't be used, or was asked for what it must not do. ``str(error)`` is one sentence for a person.

    ``code`` is stable: ``no_store``, ``store_exists``, ``not_a_store``, ``other_version``, ``damaged``,
    ``cannot_open``, ``folder_in_use``, ``store_failed``, ``unknown_event``, ``already_running``,
    ``not_running``, ``already_played``, ``result_disagrees``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One tournament of the file."""

    slug: str
    seed: int
    """The one drawn when it was started, or the file's."""
    state: EventState = "waiting"
    why: str = ""
    """Why it was stopped or cancelled."""
    seconds: float = 0.0
    """For how long it has been played so far, interruptions not counted."""


@dataclass(frozen=True, slots=True)
class StoredPlayer:
    """One bot, with the secret by which it proves its name."""

    name: str
    token: str | None = field(default=None, repr=False)
    """None: it plays by reservations only."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What an attempt took. None where it isn't known."""

    seconds: float | None = None
    """From its start to its end."""
    overhead_ms: float | None = None
    """What of it was spent outside the bots."""
    red_ms: float | None = None
    """Time that red's clock was charged, over the whole match."""
    blue_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to have a fixture played."""

    event: str
    """The event's slug."""
    fixture: str
    """The fixture's id."""
    number: int
    """From 1, within the fixture."""
    started_at: datetime
    state: AttemptState = "running"
    room: str = ""
    match: str = ""
    """The id in the server's journal, once there is one."""
    why: str = ""
    """Of a failed attempt: what happened, one sentence."""
    ended_at: datetime | None = None
    spent: Spent = Spent()
    folder: str = ""
    """Where the logs of an irregular match lie, relative to the tournament's folder; empty if nothing was kept."""

    @property
    def went_wrong(self) -> bool:
        """Whether it failed, and not since the tool was ended meanwhile."""
        return self.state == "failed" and self.why not in NOBODYS_FAILURES


@dataclass(frozen=True, slots=True)
class StoredResult:
    """The sporting end of a fixture."""

    event: str
    played: Played
    attempt: int
    """The number of the attempt that brought it about."""
    match: str
    """The id in the server's journal."""
    message: str
    """The referee's sentence: why it ended so."""
    started_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Note:
    """Something that whoever reads the standings should know, e.g. that a bot could not be started."""

    at: datetime
    kind: str
    """Stable, e.g. ``cannot_start``, ``restarted``, ``absent``."""
    text: str
    """One sentence."""
    event: str = ""
    """The event's slug; empty if it concerns all of them."""
    player: str = ""
    """Whom it concerns, if it concerns one."""


@dataclass(frozen=True, slots=True)
class Tries:
    """An event's attempts, counted."""

    running: int = 0
    repeated: int = 0
    """Those that failed for reasons that were no player's."""
    timed: int = 0
    """Those that brought a result by play, and of which it is known how long they took."""
    seconds: float = 0.0
    """What these took together."""
    newest_round: int | None = None
    """The highest of the rounds of which a game was tried; None if none was."""


@dataclass(frozen=True, slots=True)
class RoundRecords:
    """What is stored of the games of one round, by the fixture's id."""

    results: Mapping[str, StoredResult]
    attempts: Mapping[str, Sequence[Attempt]]
    """The first one first."""


class Source(Protocol):
    """What a store held at one moment, as far as reports ask for it: all of it (``Contents``), or a ``Summary``."""

    @property
    def created_at(self) -> datetime:
        """When the tournament was made."""
        ...

    @property
    def state(self) -> TournamentState:
        """How the whole of it stands."""
        ...

    @property
    def why(self) -> str:
        """Why it does."""
        ...

    @property
    def notes(self) -> tuple[Note, ...]:
        """The oldest first."""
        ...

    def event(self, slug: str) -> StoredEvent:
        """The event of that slug. Raises StoreError ``unknown_event``."""
        ...

    def played(self, slug: str) -> Mapping[str, Played]:
        """What was played of an event, by the fixture's id."""
        ...

    def tries(self, slug: str) -> Tries:
        """An event's attempts, counted."""
        ...

    def latest(self, slug: str) -> tuple[Played, ...]:
        """An event's last results, at most ``LATEST``, the newest first."""
        ...

    def games_of(self, slug: str, round_: int) -> RoundRecords:
        """What is stored of the games of one round of an event."""
        ...


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a store held at one moment. No secrets are in it."""

    file_text: str
    """The tournament's file as it was when the tournament was started."""
    file_folder: Path
    """Where that file lay: paths in it are relative to this folder."""
    created_at: datetime
    state: TournamentState
    why: str
    events: tuple[StoredEvent, ...]
    """In the order in which they are played."""
    players: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    """In the order in which they began."""
    results: tuple[StoredResult, ...]
    """In the order in which they were stored."""
    notes: tuple[Note, ...]
    """The oldest first."""

    def event(self, slug: str) -> StoredEvent:
        """The event of that slug. Raises StoreError ``unknown_event``."""
        return event_of(self.events, slug)

    def played(self, slug: str) -> dict[str, Played]:
        """What was played of an event, by the fixture's id."""
        return by_fixture(result for result in self.results if result.event == slug)

    def tries(self, slug: str) -> Tries:
        """An event's attempts, counted."""
        mine = [each for each in self.attempts if each.event == slug]
        took = [each.spent.seconds for each in mine if each.state == "played" and each.match]
        known = [seconds for seconds in took if seconds is not None]
        return Tries(
            running=sum(each.state == "running" for each in mine),
            repeated=sum(each.went_wrong for each in mine),
            timed=len(known),
            seconds=sum(known),
            newest_round=max((round_of(each.fixture) for each in mine), default=None),
        )

    def latest(self, slug: str) -> tuple[Played, ...]:
        """An event's last results, at most ``LATEST``, the newest first."""
        mine = [each for each in self.results if each.event == slug]
        mine.sort(key=lambda each: (each.played.fixture.round, each.played.fixture.table, each.played.fixture.number))
        mine.sort(key=lambda each: each.ended_at, reverse=True)
        return tuple(each.played for each in mine[:LATEST])

    def games_of(self, slug: str, round_: int) -> RoundRecords:
        """What is stored of the games of one round of an event."""
        return round_records(
            (each for each in self.results if each.event == slug and each.played.fixture.round == round_),
            (each for each in self.attempts if each.event == slug and round_of(each.fixture) == round_),
        )


def event_of(events: Sequence[StoredEvent], slug: str) -> StoredEvent:
    """The event of that slug. Raises StoreError ``unknown_event``."""
    for event in events:
        if event.slug == slug:
            return event
    known = ", ".join(event.slug for event in events)
    raise StoreError("unknown_event", f"This tournament has no event {slug!r}; it has {known}.")


def round_of(fixture: str) -> int:
    """The round that a fixture's id names."""
    return int(fixture.partition(".")[0])


def round_records(results: Iterable[StoredResult], attempts: Iterable[Attempt]) -> RoundRecords:
    """Those of one round, by the fixture's id."""
    tries: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        tries.setdefault(attempt.fixture, []).append(attempt)
    return RoundRecords({each.played.fixture.id: each for each in results}, tries)


def by_fixture(results: Iterable[StoredResult]) -> dict[str, Played]:
    """Results of one event as tournament mathematics wants them."""
    return {result.played.fixture.id: result.played for result in results}
