"""How players with equal points are told apart: the tie-breaks by name.

Sources: FIDE Handbook C.07, Tie-Break Regulations (effective from April 2024): direct encounter, article 6; wins, 7.1;
Buchholz, 8.1, and Sonneborn-Berger, 9.1, with the modifier cut 1, 14.1; unplayed rounds, 16. Three things are ours:

* A round's encounter may be several games. Its opponent counts once, and the points against him are those of all.
* *Unplayed* are a bye and an encounter to which somebody never came or could not be started (the reasons in
  ``tally.UNPLAYED``). As article 16.4 has it, the player meets a dummy in that round who ends with the player's own
  points; an opponent's points count as they are.
  There are no requested byes, so the other parts of article 16 never apply.
* *Game scores* is the sum over all games of the game's own points, the player's less the opponent's, since what a
  point is worth differs from board to board while the difference on one board is fair. Who failed never gains by it.

A higher value is better, always. After the last tie-break comes the lot (`standings`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from .points import PointTable, total
from .tally import Meeting, Tally

TieBreak: TypeAlias = Callable[[Sequence[str], Mapping[str, Tally], PointTable], dict[str, float]]
"""The values of players who are equal so far, given everybody's results."""


def wins(tied: Sequence[str], tallies: Mapping[str, Tally], table: PointTable) -> dict[str, float]:
    """Games won, those by forfeit included, byes not."""
    return {player: float(tallies[player].wins) for player in tied}


def game_scores(tied: Sequence[str], tallies: Mapping[str, Tally], table: PointTable) -> dict[str, float]:
    """The games' own points, the player's less the opponents'."""
    return {p: total(meeting.score_difference for meeting in tallies[p].meetings) for p in tied}


def buchholz(tied: Sequence[str], tallies: Mapping[str, Tally], table: PointTable) -> dict[str, float]:
    """The sum of the opponents' points."""
    return {player: total(_strengths(tallies[player], tallies)) for player in tied}


def buchholz_cut_1(tied: Sequence[str], tallies: Mapping[str, Tally], table: PointTable) -> dict[str, float]:
    """Buchholz without the opponent who has the fewest points."""
    return {player: total(sorted(_strengths(tallies[player], tallies))[1:]) for player in tied}


def sonneborn_berger(tied: Sequence[str], tallies: Mapping[str, Tally], table: PointTable) -> dict[str, float]:
    """The sum over the opponents of their points times the points that the player made against them."""
    return {player: total(_sonneborn_berger(tallies[player], tallies)) for player in tied}


def direct_encounter(tied: Sequence[str], tallies: Mapping[str, Tally], table: PointTable) -> dict[str, float]:
    """The points made against the others who are tied, if all of them met equally often (article 6.1).

    If not, only what no result of the missing games could change counts (6.2): the tied are split where everybody above
    is ahead of everybody below even if he lost, and they won, all that is missing; each has the points that his part
    is sure of. Where nothing is sure, all have 0: the next tie-break decides.
    """
    met = dict.fromkeys(combinations(sorted(tied), 2), 0)
    made = dict.fromkeys(tied, 0.0)
    for player in tied:
        for meeting in tallies[player].meetings:
            if meeting.opponent in made:
                made[player] = total([made[player], meeting.points])
                met[min(player, meeting.opponent), max(player, meeting.opponent)] += meeting.games
    most = max(met.values(), default=0) // 2  # each game was counted from both sides
    if most == 0:
        return dict.fromkeys(tied, 0.0)
    missing = dict.fromkeys(tied, 0)
    for pair, games in met.items():
        for player in pair:
            missing[player] += most - games // 2
    if not any(missing.values()):
        return made
    least = {player: made[player] + missing[player] * min(table.loss, table.forfeit_loss) for player in tied}
    return _sure(least, {player: made[player] + missing[player] * table.win for player in tied})


def _sure(least: Mapping[str, float], most: Mapping[str, float]) -> dict[str, float]:
    """The least of one's part, where the players are parted as finely as is sure; 0 for all if they aren't."""
    order = sorted(least, key=lambda player: (-least[player], -most[player], player))
    parts: list[list[str]] = [[]]
    for index, player in enumerate(order):
        parts[-1].append(player)
        rest = order[index + 1 :]
        if rest and min(least[p] for p in parts[-1]) > max(most[p] for p in rest):
            parts.append([])
    if len(parts) == 1:
        return dict.fromkeys(order, 0.0)
    return {player: total([min(least[p] for p in part)]) for part in parts for player in part}


def _strength(tally: Tally, meeting: Meeting, tallies: Mapping[str, Tally]) -> float:
    return tally.points if meeting.unplayed else tallies[meeting.opponent].points


def _strengths(tally: Tally, tallies: Mapping[str, Tally]) -> list[float]:
    """What each of the player's rounds brings to Buchholz."""
    return [_strength(tally, meeting, tallies) for meeting in tally.meetings] + [tally.points] * tally.byes


def _sonneborn_berger(tally: Tally, tallies: Mapping[str, Tally]) -> list[float]:
    """What each of the player's rounds brings to Sonneborn-Berger; the byes together."""
    met = [meeting.points * _strength(tally, meeting, tallies) for meeting in tally.meetings]
    return [*met, tally.bye_points * tally.points]


TIE_BREAKS: Final[Mapping[str, TieBreak]] = {
    "direct_encounter": direct_encounter,
    "buchholz": buchholz,
    "buchholz_cut_1": buchholz_cut_1,
    "sonneborn_berger": sonneborn_berger,
    "wins": wins,
    "game_scores": game_scores,
}
"""All that a tournament may name, in the order in which an organiser reads of them."""
