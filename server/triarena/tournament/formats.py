"""The formats by name, and what each of them wants to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from .bracket import double_elimination, single_elimination
from .gauntlet import Gauntlet
from .knockout import Knockout
from .ladder import Ladder
from .meeting import check_players, pairs_of
from .points import STANDARD, PointTable
from .round_robin import DoubleRoundRobin, RoundRobin
from .seeds import Seeds, by_lot
from .swiss import Swiss
from .values import Format

Seeding: TypeAlias = Literal["given", "lot"]
"""The order in which a format takes the players: as they are given, the strongest first, or drawn by lot."""


class CountedFormat(Format, Protocol):
    """A format that can say beforehand how many games it will have."""

    def number_of_games(self) -> tuple[int, int | None]:
        """At least and at most so many; None: there is no end."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a format can be told; each format heeds what concerns it."""

    players: tuple[str, ...]
    """In seeding order: the strongest first."""
    games_per_pairing: int
    seeds: Seeds
    rounds: int | None
    challengers: tuple[str, ...]
    challengers_meet: bool
    tie_pairs: int
    points: PointTable
    drawn: bool
    """Whether the order of the players was drawn by lot."""


@dataclass(frozen=True, slots=True)
class FormatKind:
    """A format as the table of formats has it."""

    title: str
    """For people."""
    summary: str
    """One sentence."""
    needs: frozenset[str]
    """Settings without which it cannot be made."""
    heeds: frozenset[str]
    """Further settings that make a difference to it."""
    make: Callable[[Settings], CountedFormat]


def _round_robin(s: Settings) -> CountedFormat:
    return RoundRobin(s.players, s.games_per_pairing, s.seeds)


def _double_round_robin(s: Settings) -> CountedFormat:
    return DoubleRoundRobin(s.players, s.games_per_pairing, s.seeds)


def _gauntlet(s: Settings) -> CountedFormat:
    return Gauntlet(s.players, s.challengers, s.games_per_pairing, s.seeds, challengers_meet=s.challengers_meet)


def _swiss(s: Settings) -> CountedFormat:
    assert s.rounds is not None, "a Swiss tournament needs rounds"
    return Swiss(s.players, s.games_per_pairing, s.seeds, s.rounds, s.points)


def _knockout(s: Settings) -> CountedFormat:
    return Knockout(single_elimination(s.players), s.games_per_pairing, s.seeds, s.tie_pairs, drawn=s.drawn)


def _double_knockout(s: Settings) -> CountedFormat:
    return Knockout(double_elimination(s.players), s.games_per_pairing, s.seeds, s.tie_pairs, drawn=s.drawn)


def _ladder(s: Settings) -> CountedFormat:
    return Ladder(s.players, s.games_per_pairing, s.seeds, s.rounds)


FORMATS: Final[Mapping[str, FormatKind]] = {
    "round_robin": FormatKind("Round robin", "Everybody meets everybody.", frozenset(), frozenset(), _round_robin),
    "double_round_robin": FormatKind(
        "Double round robin",
        "Everybody meets everybody in two legs, the second with sides swapped.",
        frozenset(),
        frozenset(),
        _double_round_robin,
    ),
    "gauntlet": FormatKind(
        "Gauntlet",
        "The challengers meet everybody else; the others do not meet each other.",
        frozenset({"challengers"}),
        frozenset({"challengers_meet"}),
        _gauntlet,
    ),
    "swiss": FormatKind(
        "Swiss system",
        "In every round those meet who have the same number of points.",
        frozenset({"rounds"}),
        frozenset({"points", "seeding"}),
        _swiss,
    ),
    "knockout": FormatKind(
        "Knockout",
        "Who loses an encounter is out.",
        frozenset(),
        frozenset({"tie_pairs", "seeding"}),
        _knockout,
    ),
    "double_knockout": FormatKind(
        "Double knockout",
        "Who loses for the second time is out.",
        frozenset(),
        frozenset({"tie_pairs", "seeding"}),
        _double_knockout,
    ),
    "ladder": FormatKind(
        "Ladder",
        "In every round those meet who are rated next to each other, until it is stopped.",
        frozenset(),
        frozenset({"rounds", "seeding"}),
        _ladder,
    ),
}
"""By the name that stands in a tournament's file."""


def make_format(
    name: str,
    players: Sequence[str],
    *,
    seed: int,
    games_per_pairing: int = 2,
    rounds: int | None = None,
    seeds: Sequence[int] = (),
    challengers: Sequence[str] = (),
    challengers_meet: bool = False,
    tie_pairs: int = 1,
    points: PointTable = STANDARD,
    seeding: Seeding = "given",
) -> CountedFormat:
    """A format for these players, who come in seeding order (or are brought into one by lot).

    ``seed`` is the tournament's, from which boards and lots are drawn; ``seeds`` are the boards to be taken in turn
    instead. Raises ValueError, with a sentence, for settings that do not fit: a format that does not exist, too few
    players or one of them twice, a setting that the format lacks or does not know, more rounds than there are.
    """
    kind = FORMATS.get(name)
    if kind is None:
        raise ValueError(f"There is no format {name!r}; there are {', '.join(FORMATS)}.")
    given = {
        "rounds": rounds is not None,
        "challengers": bool(challengers),
        "challengers_meet": challengers_meet,
        "seeding": seeding != "given",
    }
    for setting, is_given in given.items():
        if setting in kind.needs and not is_given:
            raise ValueError(f"The format {name} needs {setting}.")
        if is_given and setting not in kind.needs | kind.heeds:
            raise ValueError(f"The format {name} knows no {setting}: leave it out.")
    if tie_pairs < 0:
        raise ValueError(f"tie_pairs must be 0 or more, not {tie_pairs}.")
    check_players(players)
    boards = _boards(kind, seed, tuple(seeds), games_per_pairing, tie_pairs)
    order = by_lot(seed, "seeding", players) if seeding == "lot" else tuple(players)
    return kind.make(
        Settings(
            order,
            games_per_pairing,
            boards,
            rounds,
            tuple(challengers),
            challengers_meet,
            tie_pairs,
            points,
            drawn=seeding == "lot",
        )
    )


def _boards(kind: FormatKind, seed: int, given: tuple[int, ...], games: int, tie_pairs: int) -> Seeds:
    """Where boards come from. Raises ValueError for a list too short for one encounter, or with a seed twice."""
    pairs = pairs_of(games)
    if given:
        most = pairs + (tie_pairs if "tie_pairs" in kind.heeds else 0)
        if len(set(given)) < len(given):
            raise ValueError("seeds names a seed twice: two players would meet twice on the same board.")
        if len(given) < most:
            raise ValueError(
                f"seeds must name at least {most}, as many as two players may need when they meet, not {len(given)}."
            )
    return Seeds(seed, given, pairs)
