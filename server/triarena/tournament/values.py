"""What all of tournament mathematics speaks of: rounds, encounters, games to be played, games played.

The words, used in this sense only:

* A *round* is a set of encounters in which every player appears at most once.
* An *encounter* is two players who meet in a round, for one or several games.
* A *fixture* is one game that is to be played: who is red, who is blue, which seed.
* A *pair* is two fixtures with the same seed, and so the same board, whose sides are swapped. Statistics count pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

SideName: TypeAlias = Literal["red", "blue"]


@dataclass(frozen=True, slots=True)
class Fixture:
    """One game that is to be played."""

    round: int
    """From 1."""
    table: int
    """From 1: the encounter within its round."""
    number: int
    """From 1: the game within its encounter."""
    red: str
    """A player's name; red moves first."""
    blue: str
    seed: int
    """Of the board; 0 <= seed < 2**53."""
    pair: str
    """The same for the two games of a pair, and for no other."""

    @property
    def id(self) -> str:
        """Names the game within its tournament, e.g. ``3.1.2``: round, table, game."""
        return f"{self.round}.{self.table}.{self.number}"

    @property
    def players(self) -> tuple[str, str]:
        """Red, then blue."""
        return self.red, self.blue

    def side_of(self, player: str) -> SideName:
        """The side that a player has. Raises ValueError for one who does not play here."""
        if player == self.red:
            return "red"
        if player == self.blue:
            return "blue"
        raise ValueError(f"{player!r} does not play in game {self.id}")


@dataclass(frozen=True, slots=True)
class Encounter:
    """Two players who meet in a round."""

    table: int
    """From 1, within the round."""
    first: str
    """Who is red in the first game."""
    second: str
    fixtures: tuple[Fixture, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """Encounters that can all be played at once."""

    number: int
    """From 1."""
    encounters: tuple[Encounter, ...]
    byes: tuple[str, ...] = ()
    """Who has nobody to play against in this round, and gets a bye's points."""
    title: str = ""
    """If it has a name of its own, e.g. ``semi-final``."""

    def fixtures(self) -> Iterator[Fixture]:
        """All games, by tables."""
        return (fixture for encounter in self.encounters for fixture in encounter.fixtures)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known of a tournament's schedule at some time."""

    rounds: tuple[Round, ...]
    complete: bool
    """Whether no further game can be added, whatever the results of the games that are left."""

    def fixtures(self) -> Iterator[Fixture]:
        """All games, by rounds and tables."""
        return (fixture for each in self.rounds for fixture in each.fixtures())


@dataclass(frozen=True, slots=True)
class Played:
    """A fixture with its sporting result. What failed for other reasons is no result, and is played again."""

    fixture: Fixture
    winner: SideName | None
    """None: drawn, or both sides forfeited."""
    reason: str
    """The rules' word, or that of the forfeit."""
    offenders: tuple[SideName, ...] = ()
    """Who forfeited: one side, both, or (a result of the rules) none."""
    red_score: float = 0.0
    """The game's own points."""
    blue_score: float = 0.0
    plies: int = 0
    reasons: tuple[str, ...] = ()
    """One for each of the offenders, if both forfeited for different reasons; else empty, for ``reason`` is all."""

    def reason_of(self, side: SideName) -> str:
        """Why a side forfeited. Raises ValueError if it did not."""
        place = self.offenders.index(side)
        return self.reasons[place] if self.reasons else self.reason

    @property
    def winner_name(self) -> str | None:
        """The player who won."""
        return None if self.winner is None else self.fixture.red if self.winner == "red" else self.fixture.blue


History: TypeAlias = Mapping[str, Played]
"""What was played so far, by the fixture's id. Order means nothing: games may end in any order."""


class Format(Protocol):
    """How a tournament is paired. A pure function of what was played: asked twice, it answers the same."""

    def plan(self, played: History) -> Plan:
        """The schedule as far as it is known. What was planned once stays planned, unchanged, as results are added."""
        ...

    def placing(self, played: History) -> tuple[tuple[str, ...], ...] | None:
        """The players by place, those who share one together, where the format itself decides (a knockout);
        None where points do.
        """
        ...
