"""One or several challengers meet every other player; the others do not meet each other.

The rounds turn two rows of players past each other (the circle method for two teams, as in Scheveningen matches):
in round r challenger i meets opponent i + r - 1, counted round. Who is left over in a round rests, which is no bye.
"""

from __future__ import annotations

from collections.abc import Sequence

from .meeting import check_games, check_players, meet
from .round_robin import berger_rounds, counted
from .seeds import Seeds
from .values import History, Plan, Round


class Gauntlet:
    """Challengers against all others: all rounds are known from the start."""

    def __init__(
        self,
        players: Sequence[str],
        challengers: Sequence[str],
        games_per_pairing: int,
        seeds: Seeds,
        *,
        challengers_meet: bool = False,
    ) -> None:
        check_players(players)
        check_games(games_per_pairing)
        opponents = _opponents(players, challengers)
        rounds = [*_scheveningen(challengers, opponents), *(_among(challengers) if challengers_meet else ())]
        self._plan = Plan(
            tuple(
                Round(number, tuple(meet(number, table, *each, games_per_pairing, seeds) for table, each in tables))
                for number, tables in ((number, enumerate(pairings, 1)) for number, pairings in enumerate(rounds, 1))
            ),
            complete=True,
        )

    def plan(self, played: History) -> Plan:
        """The whole schedule, whatever was played."""
        return self._plan

    def placing(self, played: History) -> None:
        """Points decide."""

    def number_of_games(self) -> tuple[int, int]:
        """At least and at most so many."""
        return counted(self._plan)


def _opponents(players: Sequence[str], challengers: Sequence[str]) -> list[str]:
    """Who is no challenger. Raises ValueError unless there are challengers, all of them players, and others."""
    if not challengers:
        raise ValueError("A gauntlet needs challengers: name at least one of the players as such.")
    check_players(challengers, least=1)
    strangers = [name for name in challengers if name not in players]
    if strangers:
        raise ValueError(f"{', '.join(strangers)} is named as a challenger, but is no player of this tournament.")
    opponents = [name for name in players if name not in challengers]
    if not opponents:
        raise ValueError("Every player is a challenger, so they have nobody to meet: use a round robin for that.")
    return opponents


def _scheveningen(challengers: Sequence[str], opponents: Sequence[str]) -> list[list[tuple[str, str]]]:
    """The pairings (red, blue) of every round. Everybody's colours differ by one at most."""
    size = max(len(challengers), len(opponents))
    rounds = []
    for turn in range(size):
        meetings = ((i, (i + turn) % size) for i in range(len(challengers)))
        met = [(i, j) for i, j in meetings if j < len(opponents)]
        rounds.append([_coloured(challengers[i], opponents[j], (i + j) % 2 == 0) for i, j in met])
    return rounds


def _coloured(challenger: str, opponent: str, challenger_is_red: bool) -> tuple[str, str]:
    return (challenger, opponent) if challenger_is_red else (opponent, challenger)


def _among(challengers: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The challengers' own round robin: no rounds at all for one of them.

    Of an odd number of opponents, every second challenger (the first, the third ...) has met one more as red. The
    second half of an even Berger table has one more blue, so these stand there.
    """
    return berger_rounds((*challengers[1::2], *challengers[0::2])) if len(challengers) > 1 else ()
