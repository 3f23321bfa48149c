"""How a tournament stands, as values: what the page, the tables, the terminal and the exports all show.

A pure function of the tournament's file and of what its store holds. Whatever shows it computes nothing of its own, so
all that is shown agrees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from triarena.tournament.cross_table import Cell, cross_table
from triarena.tournament.glicko2 import Rating
from triarena.tournament.knockout import Decision, Knockout
from triarena.tournament.ladder import Ladder
from triarena.tournament.points import total
from triarena.tournament.ratings import Estimate, Ratings, rate
from triarena.tournament.standings import Row, standings
from triarena.tournament.tally import IRREGULAR, irregular
from triarena.tournament.values import Encounter, Fixture, Plan, Played

from .pairing import format_of
from .records import Attempt, Contents, EventState, Note, StoredEvent, StoredResult, TournamentState
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
class Game:
    """One fixture with what came of it."""

    fixture: Fixture
    result: StoredResult | None
    attempts: tuple[Attempt, ...]
    """The first one first."""

    @property
    def played(self) -> Played | None:
        """Its result for mathematics."""
        return None if self.result is None else self.result.played

    @property
    def last(self) -> Attempt | None:
        """The attempt that counts, or the newest."""
        return self.attempts[-1] if self.attempts else None


@dataclass(frozen=True, slots=True)
class Meeting:
    """One encounter with its games; ``first`` has ``first_points`` from them."""

    first: str
    second: str
    games: tuple[Game, ...]
    first_points: float
    second_points: float
    decision: Decision | None = None
    """Of a knockout, once it is decided: who goes on."""

    @property
    def over(self) -> bool:
        """Whether all its games have results."""
        return all(game.result is not None for game in self.games)


@dataclass(frozen=True, slots=True)
class RoundReport:
    """One round."""

    number: int
    title: str
    """``Round 3``, or the name that the format gives it."""
    meetings: tuple[Meeting, ...]
    byes: tuple[str, ...]

    def games(self) -> Iterator[Game]:
        """All its games, by tables."""
        return (game for meeting in self.meetings for game in meeting.games)


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
    rounds: tuple[RoundReport, ...]
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


def report_tournament(file: TournamentFile, contents: Contents) -> TournamentReport:
    """How all events of a tournament stand. Raises StoreError if what is stored belongs to another file."""
    return TournamentReport(
        name=file.name,
        state=contents.state,
        why=contents.why,
        started_at=contents.created_at,
        events=tuple(report_event(event, contents, file.concurrency) for event in file.events),
        notes=tuple(note for note in contents.notes if not note.event),
    )


def report_event(event: Event, contents: Contents, concurrency: int = 1) -> EventReport:
    """How one event stands. Raises StoreError ``unknown_event`` or ``result_disagrees``."""
    stored = contents.event(event.slug)
    played = contents.played(event.slug)
    pairing = format_of(event)
    plan = pairing.plan(played)
    check_agreement(event.name, plan, played)
    attempts = [attempt for attempt in contents.attempts if attempt.event == event.slug]
    placing = pairing.placing(played)
    decisions = pairing.decisions(played) if isinstance(pairing, Knockout) else ()
    rows = standings(event.names, plan, played, event.points, event.tie_breaks, event.seed, placing=placing)
    ratings = rate(event.names, played.values()) if played else None
    names = tuple(row.player for row in rows)
    rounds = tuple(_rounds(event, plan, contents, attempts, decisions))
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
            attempts,
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
        rounds=rounds,
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
    attempts: Sequence[Attempt],
    least: int,
    concurrency: int,
    *,
    ended: bool,
    runs: bool,
) -> Progress:
    planned = sum(1 for _ in plan.fixtures())
    at_once = min(concurrency, max(1, len(_playing(plan)) // 2))
    known = [each for each in attempts if each.state == "played" and each.spent.seconds is not None]
    # Nobody waits for games that were lost by absence: they say nothing of those that are played.
    lengths = [each.spent.seconds or 0.0 for each in known if each.match]
    left = 0 if ended else max(planned, least) - len(played)
    return Progress(
        done=len(played),
        running=sum(attempt.state == "running" for attempt in attempts) if runs else 0,
        left=left,
        more=not (plan.complete or ended),
        repeated=sum(attempt.went_wrong for attempt in attempts),
        seconds_left=_by_games(left, stored, lengths, at_once) if _tells(len(played), left) and lengths else None,
    )


def _playing(plan: Plan) -> frozenset[str]:
    """Everybody who has a game in a plan."""
    return frozenset(name for fixture in plan.fixtures() for name in fixture.players)


def _by_games(left: int, stored: StoredEvent, lengths: Sequence[float], at_once: int) -> float:
    """By the pace of the whole event once that tells something, at first by the length of its games."""
    if left == 0:
        return 0.0
    if stored.seconds > 0 and len(lengths) >= 2 * at_once:
        return left * stored.seconds / len(lengths)
    return left * sum(lengths) / len(lengths) / at_once


def _tells(done: int, left: int) -> bool:
    return done >= TELLING_SHARE * (done + left)


def _rounds(
    event: Event, plan: Plan, contents: Contents, attempts: Iterable[Attempt], decisions: Iterable[Decision]
) -> Iterator[RoundReport]:
    decided = {(each.round, each.table): each for each in decisions}
    results = {each.played.fixture.id: each for each in contents.results if each.event == event.slug}
    tries: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        tries[attempt.fixture].append(attempt)

    def meeting(number: int, e: Encounter) -> Meeting:
        games = tuple(Game(each, results.get(each.id), tuple(tries[each.id])) for each in e.fixtures)
        over = [game.result.played for game in games if game.result is not None]
        first, second = (total(event.points.points(each, player) for each in over) for player in (e.first, e.second))
        return Meeting(e.first, e.second, games, first, second, decided.get((number, e.table)))

    for each in plan.rounds:
        title = each.title or f"round {each.number}"
        meetings = tuple(meeting(each.number, encounter) for encounter in each.encounters)
        yield RoundReport(each.number, title[:1].upper() + title[1:], meetings, each.byes)
