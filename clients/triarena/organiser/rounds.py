"""The rounds of an event with their games: each is put together when it is asked for, and held no longer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from triarena.tournament.knockout import Decision
from triarena.tournament.points import PointTable, total
from triarena.tournament.values import Encounter, Fixture, Played, Round

from .records import Attempt, RoundRecords, StoredResult


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


class Rounds(Sequence[RoundReport]):
    """An event's rounds. Of the games of thousands only those are in memory whose round is being looked at."""

    def __init__(
        self,
        rounds: Sequence[Round],
        points: PointTable,
        decisions: Iterable[Decision],
        games_of: Callable[[int], RoundRecords],
    ) -> None:
        self._rounds = rounds
        self._points = points
        self._decided = {(each.round, each.table): each for each in decisions}
        self._games_of = games_of

    def __len__(self) -> int:
        return len(self._rounds)

    @overload
    def __getitem__(self, at: int) -> RoundReport: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[RoundReport, ...]: ...

    def __getitem__(self, at: int | slice) -> RoundReport | tuple[RoundReport, ...]:
        if isinstance(at, slice):
            return tuple(map(self._report, self._rounds[at]))
        return self._report(self._rounds[at])

    def __iter__(self) -> Iterator[RoundReport]:
        return map(self._report, self._rounds)

    def _report(self, each: Round) -> RoundReport:
        records = self._games_of(each.number)
        title = each.title or f"round {each.number}"
        meetings = tuple(self._meeting(each.number, encounter, records) for encounter in each.encounters)
        return RoundReport(each.number, title[:1].upper() + title[1:], meetings, each.byes)

    def _meeting(self, number: int, e: Encounter, records: RoundRecords) -> Meeting:
        games = tuple(
            Game(each, records.results.get(each.id), tuple(records.attempts.get(each.id, ()))) for each in e.fixtures
        )
        over = [game.result.played for game in games if game.result is not None]
        first, second = (total(self._points.points(each, player) for each in over) for player in (e.first, e.second))
        return Meeting(e.first, e.second, games, first, second, self._decided.get((number, e.table)))
