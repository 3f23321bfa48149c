"""How a tournament stands, as values: what the page, the tables, the terminal and the exports all show.

A pure function of the tournament's file and of what its store holds. Whatever shows it computes nothing of its own, so
all that is shown agrees. Single games are looked at by rounds, and only by who shows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from triarena.tournament.cross_table import Cell, cross_table
from triarena.tournament.formats import CountedFormat
from triarena.tournament.glicko2 import Rating
from triarena.tournament.knockout import Knockout
from triarena.tournament.ladder import Ladder
from triarena.tournament.ratings import Estimate, Ratings, rate
from triarena.tournament.standings import Row, standings
from triarena.tournament.tally import IRREGULAR, UNPLAYED, irregular
from triarena.tournament.values import Plan, Played

from .pairing import format_of
from .records import EventState, Note, Source, StoredEvent, TournamentState, Tries
from .rounds import Game, RoundReport, Rounds
from .spec import Event, TournamentFile
from .store import check_agreement

FAILURES: Final = tuple(IRREGULAR)
"""What bots are said to have done wrong, in the order of the columns: no-shows, time-outs, crashes, illegal moves."""

ENDED: Final[frozenset[EventState]] = frozenset(["finished", "stopped", "cancelled"])
TELLING_SHARE: Final = 0.05
"""Of the games must be over before it is said how long the others take."""
WIDEST_INTERVAL: Final = 2000.0
"""Elo points; a wider one comes from the model's prior, not from games: its bot is tied to too few others yet."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an event is."""

    done: int
    """Games with a result."""
    running: int
    """Games that were being played when the store was read."""
    left: int
    """Games without a result: those planned, and those that will be at least; 0 once the event has ended."""
    more: bool
    """Whether there may be still more, as results decide."""
    repeated: int
    """Attempts that failed for reasons that were no player's, and didn't count."""
    seconds_left: float | None
    """How long the games that are left will take at the pace of those that were played, the starts of bots included;
    None as long as those are too few to tell. With ``more`` it is the least."""

    @property
    def total(self) -> int:
        """Games as far as they are known."""
        return self.done + self.left

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.done / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """One bot's line in the standings."""

    row: Row
    rating: Estimate | None
    """None: it hasn't played, so nothing tells."""
    failures: tuple[int, ...]
    """As FAILURES names them."""
    rank: int | None
    """Its place, from 1; None as long as no game has a result, and so nothing ranks anybody. Whom only the lot will
    part share theirs until the event is over."""
    ladder: Rating | None = None
    """The Glicko-2 rating by which a ladder ranks it."""
    over: bool = False
    """Whether the event is."""
    reached: str | None = None
    """In a knockout, how far it has come: ``winner``, or the latest round in which it has a place."""

    @property
    def player(self) -> str:
        """Its name."""
        return self.row.player

    @property
    def by_lot(self) -> bool:
        """Whether only the lot parts it from a neighbour: once the event is over, for before it may be played out."""
        return self.rank is not None and self.row.by_lot and self.over

    @property
    def telling(self) -> Estimate | None:
        """The rating, unless its interval is so wide that it says nothing yet, and holds the average as well."""
        known = self.rating
        if known is None or (known.high - known.low > WIDEST_INTERVAL and known.low <= 0 <= known.high):
            return None
        return known


@dataclass(frozen=True, slots=True)
class EventReport:
    """How one event stands."""

    event: Event
    stored: StoredEvent
    state: str
    """That of the event; of one that was begun, that of the tournament if nobody goes on with it."""
    progress: Progress
    placed: bool
    """Whether the format itself decides the ranking, by who beat whom, and points only order the rest."""
    tie_breaks: tuple[str, ...]
    """Their names, in the order in which they apply."""
    lines: tuple[Line, ...]
    """The best first."""
    ratings: Ratings | None
    """None as long as nothing was played."""
    cells: tuple[tuple[Cell | None, ...], ...]
    """The cross table, rows and columns in the order of ``lines``."""
    latest: tuple[Played, ...]
    """The last results, the newest first, at most ``LATEST``."""
    absences: bool
    """Whether some game has a result without play."""
    newest_round: int | None
    """The last round of which a game was tried; None if none was."""
    rounds: Sequence[RoundReport]
    """Read anew whenever they are looked at."""
    notes: tuple[Note, ...]

    @property
    def over(self) -> bool:
        """Whether it was played to its end, or ended early by its stopping rule."""
        return self.stored.state in ("finished", "stopped")

    @property
    def placed_by_rounds(self) -> bool:
        """Whether it is a knockout, in which everybody is ranked by how far it has come."""
        return any(line.reached is not None for line in self.lines)

    @property
    def names(self) -> tuple[str, ...]:
        """The players as they stand, the best first."""
        return tuple(line.player for line in self.lines)

    def games(self) -> Iterator[Game]:
        """All games that are planned or played, by rounds and tables."""
        return (game for each in self.rounds for game in each.games())


@dataclass(frozen=True, slots=True)
class TournamentReport:
    """How everything stands."""

    name: str
    state: TournamentState
    why: str
    started_at: datetime
    events: tuple[EventReport, ...]
    notes: tuple[Note, ...]
    """Those that concern no single event."""


def report_tournament(file: TournamentFile, contents: Source) -> TournamentReport:
    """How all events of a tournament stand. Raises StoreError if what is stored belongs to another file.

    Its rounds can be looked at for as long as the games of ``contents`` can be read.
    """
    return TournamentReport(
        name=file.name,
        state=contents.state,
        why=contents.why,
        started_at=contents.created_at,
        events=tuple(report_event(event, contents, file.concurrency) for event in file.events),
        notes=tuple(note for note in contents.notes if not note.event),
    )


def report_event(
    event: Event, contents: Source, concurrency: int = 1, pairing: CountedFormat | None = None
) -> EventReport:
    """How one event stands. Raises StoreError ``unknown_event`` or ``result_disagrees``.

    ``pairing`` is the event's format, for who has it already.
    """
    stored = contents.event(event.slug)
    played = contents.played(event.slug)
    pairing = pairing or format_of(event)
    plan = pairing.plan(played)
    check_agreement(event.name, plan, played)
    tries = contents.tries(event.slug)
    placing = pairing.placing(played)
    decisions = pairing.decisions(played) if isinstance(pairing, Knockout) else ()
    rows = standings(event.names, plan, played, event.points, event.tie_breaks, event.seed, placing=placing)
    ratings = rate(event.names, played.values()) if played else None
    names = tuple(row.player for row in rows)
    over = stored.state in ("finished", "stopped")
    ranks = _ranks(rows, over=over) if played else [None] * len(rows)
    reached = _reached(pairing, played, over=over) if isinstance(pairing, Knockout) else {}
    ladder = pairing.ratings(played) if isinstance(pairing, Ladder) else None
    return EventReport(
        event=event,
        stored=stored,
        state=contents.state if stored.state == "running" and contents.state != "finished" else stored.state,
        progress=_progress(
            stored,
            plan,
            played,
            tries,
            pairing.number_of_games()[0],
            concurrency,
            ended=stored.state in ENDED or contents.state == "cancelled",
            runs=contents.state == "running",
        ),
        placed=placing is not None,
        tie_breaks=event.tie_breaks,
        lines=tuple(
            Line(
                row=row,
                rating=ratings.estimates.get(row.player) if ratings is not None else None,
                failures=tuple(irregular(row.forfeits, kind) for kind in FAILURES),
                rank=rank,
                ladder=None if ladder is None else ladder[row.player],
                over=over,
                reached=reached.get(row.player),
            )
            for row, rank in zip(rows, ranks, strict=True)
        ),
        ratings=ratings,
        cells=cross_table(names, played, event.points),
        latest=contents.latest(event.slug),
        absences=any(each.reason in UNPLAYED for each in played.values()),
        newest_round=tries.newest_round,
        rounds=Rounds(plan.rounds, event.points, decisions, partial(contents.games_of, event.slug)),
        notes=tuple(note for note in contents.notes if note.event == event.slug),
    )


def _ranks(rows: Sequence[Row], *, over: bool) -> list[int]:
    """Everybody's rank; as long as it is not over, equals share theirs, for no lot has to part them yet."""
    ranks: list[int] = []
    for at, row in enumerate(rows):
        equal = at > 0 and row.by_lot and rows[at - 1].by_lot and _merits(rows[at - 1]) == _merits(row)
        ranks.append(ranks[-1] if equal and not over else row.rank)
    return ranks


def _merits(row: Row) -> tuple[object, ...]:
    return row.points, dict(row.tie_breaks)


def _reached(knockout: Knockout, played: Mapping[str, Played], *, over: bool) -> dict[str, str]:
    """The latest round of a knockout in which each has a place; of the winner, that it has won."""
    reached = {
        player: f"{title[:1].lower()}{title[1:]}" if title else f"round {number}"
        for player, (number, title) in knockout.reached(played).items()
    }
    decisions = knockout.decisions(played)
    if over and decisions:
        reached[max(decisions, key=lambda decision: decision.round).winner] = "winner"
    return reached


def _progress(
    stored: StoredEvent,
    plan: Plan,
    played: Mapping[str, Played],
    tries: Tries,
    least: int,
    concurrency: int,
    *,
    ended: bool,
    runs: bool,
) -> Progress:
    planned = sum(1 for _ in plan.fixtures())
    at_once = min(concurrency, max(1, len(_playing(plan)) // 2))
    # Nobody waits for games that were lost by absence: they say nothing of those that are played, and are not timed.
    left = 0 if ended else max(planned, least) - len(played)
    return Progress(
        done=len(played),
        running=tries.running if runs else 0,
        left=left,
        more=not (plan.complete or ended),
        repeated=tries.repeated,
        seconds_left=_by_games(left, stored, tries, at_once) if _tells(len(played), left) and tries.timed else None,
    )


def _playing(plan: Plan) -> frozenset[str]:
    """Everybody who has a game in a plan."""
    return frozenset(name for fixture in plan.fixtures() for name in fixture.players)


def _by_games(left: int, stored: StoredEvent, tries: Tries, at_once: int) -> float:
    """By the pace of the whole event once that tells something, at first by the length of its games."""
    if left == 0:
        return 0.0
    if stored.seconds > 0 and tries.timed >= 2 * at_once:
        return left * stored.seconds / tries.timed
    return left * tries.seconds / tries.timed / at_once


def _tells(done: int, left: int) -> bool:
    return done >= TELLING_SHARE * (done + left)
