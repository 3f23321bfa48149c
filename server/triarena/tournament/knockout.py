"""Knockouts: the bracket with its results, ties broken, and who is still in.

An encounter is won by more wins in its games; draws and games that both failed count for nobody. If that is a tie
after the games planned, further pairs of games are planned, one at a time and up to a number; then the sums of the
games' own scores decide; then the seeding. Which of these it was stands in the `Decision`.

An encounter is planned as soon as both players are known, whatever else is still being played. Further pairs are
added to its games; none that was planned ever changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Literal, TypeAlias

from .bracket import Bracket, Entry, Seeded, Sent, Slot
from .colours import first_is_red
from .meeting import check_games, meet, pair_of_games, pairs_of
from .seeds import Seeds
from .values import Encounter, History, Plan, Played, Round, SideName

Ground: TypeAlias = Literal["wins", "further games", "game scores", "seed", "lot"]
"""What decided an encounter."""

_WORDS: dict[Ground, str] = {
    "wins": "by wins",
    "further games": "by wins in further games, after a tie",
    "game scores": "by the sum of the games' scores, after a tie in wins",
    "seed": "by the better place in the seeding, after a tie in everything else",
    "lot": "by lot, after a tie in everything else",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """Who won an encounter, and why."""

    round: int
    table: int
    winner: str
    loser: str
    ground: Ground

    def __str__(self) -> str:
        return f"{self.winner} beat {self.loser} {_WORDS[self.ground]}."


class Knockout:
    """Single or double elimination: the bracket makes the difference."""

    def __init__(
        self, bracket: Bracket, games_per_pairing: int, seeds: Seeds, tie_pairs: int = 1, *, drawn: bool = False
    ) -> None:
        """``drawn`` says that the seeding is no merit but a lot, so that a decision by it is named rightly."""
        check_games(games_per_pairing)
        self._bracket = bracket
        self._games = games_per_pairing
        self._seeds = seeds
        self._tie_pairs = tie_pairs
        self._last_resort: Ground = "lot" if drawn else "seed"
        entries = (entry for slot in bracket.slots() for entry in (slot.first, slot.second))
        self._second_chances = {entry for entry in entries if isinstance(entry, Sent) and entry.what == "loser"}
        self._repeated = {slot.if_second_wins for slot in bracket.slots()}

    def plan(self, played: History) -> Plan:
        """All encounters whose players are known."""
        state = self._follow(played)
        rounds = []
        for stage in self._bracket.stages:
            known = (state.encounters.get((stage.number, slot.table)) for slot in stage.slots)
            encounters = tuple(each for each in known if each is not None)
            if encounters or stage.byes:
                rounds.append(Round(stage.number, encounters, stage.byes, stage.title))
        return Plan(tuple(rounds), complete=state.complete)

    def placing(self, played: History) -> tuple[tuple[str, ...], ...]:
        """First those who are not out (at the end the winner alone), then by the round in which they went out."""
        out = self._follow(played).out
        still_in = tuple(player for player in self._bracket.players if player not in out)
        by_round = {
            number: tuple(player for player in self._bracket.players if out.get(player) == number)
            for number in out.values()
        }
        return still_in, *(by_round[number] for number in sorted(by_round, reverse=True))

    def decisions(self, played: History) -> tuple[Decision, ...]:
        """All encounters that are decided, by rounds and tables."""
        return tuple(self._follow(played).decisions.values())

    def reached(self, played: History) -> dict[str, tuple[int, str]]:
        """The latest round, with its title, in which each player has a place, whether or not the opponent is known."""
        state = self._follow(played)
        reached: dict[str, tuple[int, str]] = {}
        for stage in self._bracket.stages:
            entries = (
                entry for slot in stage.slots if self._takes_place(slot, state) for entry in (slot.first, slot.second)
            )
            here = (player for entry in entries if (player := state.who(entry)) is not None)
            reached |= dict.fromkeys((*stage.byes, *here), (stage.number, stage.title))
        return reached

    def _takes_place(self, slot: Slot, state: _State) -> bool:
        """Whether that is sure: of a second final it is not, before the first one was won by the one who needs both."""
        if slot.if_second_wins is None:
            return True
        final = state.decisions.get((slot.if_second_wins.round, slot.if_second_wins.table))
        return final is not None and final.winner != state.who(slot.first)

    def number_of_games(self) -> tuple[int, int]:
        """At least and at most so many: ties add pairs, and a second final may be needed."""
        certain = [slot.if_second_wins is None for slot in self._bracket.slots()]
        return sum(certain) * self._games, len(certain) * (self._games + 2 * self._tie_pairs)

    def _follow(self, played: History) -> _State:
        """Goes through the bracket with the results so far."""
        state = _State({player: [] for player in self._bracket.players})
        for slot in self._bracket.slots():
            self._follow_slot(slot, state, played)
        return state

    def _follow_slot(self, slot: Slot, state: _State, played: History) -> None:
        if slot.if_second_wins is not None:
            final = state.decisions.get((slot.if_second_wins.round, slot.if_second_wins.table))
            if final is None:
                state.complete = False
                return
            if final.winner == state.who(slot.first):
                return  # the undefeated one has won: there is no second final
        first, second = state.who(slot.first), state.who(slot.second)
        if first is None or second is None:
            state.complete = False
            return
        red, blue = self._sides(first, second, state)
        encounter, decision = self._encounter(slot, red, blue, played)
        state.encounters[slot.round, slot.table] = encounter
        if decision is not None:
            state.decisions[slot.round, slot.table] = decision
            if not self._comes_back(slot, decision, second):
                state.out[decision.loser] = slot.round
        elif len(encounter.fixtures) < self._most_games:
            state.complete = False  # it may get further ones

    def _sides(self, first: str, second: str, state: _State) -> tuple[str, str]:
        """Who begins as red: whoever did so less often, else the better seed."""
        better = min(first, second, key=self._bracket.players.index)
        other = second if better == first else first
        red, blue = (better, other) if first_is_red(state.sides[better], state.sides[other], True) else (other, better)
        state.sides[red].append("red")
        state.sides[blue].append("blue")
        return red, blue

    def _comes_back(self, slot: Slot, decision: Decision, second: str) -> bool:
        """Whether the loser has another encounter to come."""
        return Sent("loser", slot.round, slot.table) in self._second_chances or (
            slot in self._repeated and decision.winner == second
        )

    def _encounter(self, slot: Slot, red: str, blue: str, played: History) -> tuple[Encounter, Decision | None]:
        """An encounter with all its games so far, and how it was decided, if it is."""
        encounter = meet(slot.round, slot.table, red, blue, self._games, self._seeds)
        fixtures = encounter.fixtures
        while True:
            results = [played[fixture.id] for fixture in fixtures if fixture.id in played]
            if len(results) < len(fixtures):
                return replace(encounter, fixtures=fixtures), None
            balance = sum((game.winner_name == red) - (game.winner_name == blue) for game in results)
            if balance or len(fixtures) >= self._most_games:
                return replace(encounter, fixtures=fixtures), self._decided(slot, red, blue, balance, results)
            index = pairs_of(self._games) + (len(fixtures) - self._games) // 2
            fixtures += pair_of_games(slot.round, slot.table, red, blue, len(fixtures) + 1, index, self._seeds)

    def _decided(self, slot: Slot, red: str, blue: str, balance: float, results: Sequence[Played]) -> Decision:
        """The winner by the first ground that makes a difference; ``red`` and ``blue`` are so in the first game."""
        ground: Ground = "wins" if len(results) == self._games else "further games"
        if not balance:
            ground = "game scores"
            balance = fsum(_lead(game, red) for game in results)
        if not balance:
            ground = self._last_resort
            balance = self._bracket.players.index(blue) - self._bracket.players.index(red)
        winner, loser = (red, blue) if balance > 0 else (blue, red)
        return Decision(slot.round, slot.table, winner, loser, ground)

    @property
    def _most_games(self) -> int:
        return self._games + 2 * self._tie_pairs


@dataclass(slots=True)
class _State:
    """What follows from the results so far; encounters by round and table."""

    sides: dict[str, list[SideName]]
    """What each player was in the first game of each encounter."""
    encounters: dict[tuple[int, int], Encounter] = field(default_factory=dict)
    decisions: dict[tuple[int, int], Decision] = field(default_factory=dict)
    out: dict[str, int] = field(default_factory=dict)
    """In which round each of those who are out lost the last time."""
    complete: bool = True

    def who(self, entry: Entry) -> str | None:
        """The player who comes there, if that is known."""
        if isinstance(entry, Seeded):
            return entry.player
        decision = self.decisions.get((entry.round, entry.table))
        if decision is None:
            return None
        return decision.winner if entry.what == "winner" else decision.loser


def _lead(game: Played, player: str) -> float:
    """By how many of the game's own points a player is ahead."""
    lead = game.red_score - game.blue_score
    return lead if game.fixture.red == player else -lead
