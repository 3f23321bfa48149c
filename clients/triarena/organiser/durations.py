"""How long a tournament will take: estimated from the time control, the game and its size, and the schedule.

Three assumptions, all said to whoever reads the estimate: a game is as long as between two greedy bots; bots use a
quarter of their time, and those that come along hardly any; results fall as the seeding has it. As soon as games are
played, what they took is known, and nobody asks here any more. The longest duration needs none of them: all games as
long as they can be, every move at its limit. It leaves out what no clock bounds: bots that start slowly or are not
there, games that are repeated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triarena.games import find_game
from triarena.protocol.values import Budget, PerMove, Unlimited
from triarena.tournament.formats import CountedFormat
from triarena.tournament.schedule import playable
from triarena.tournament.values import Fixture, Plan, Played

from .pairing import format_of
from .spec import Event

SHARE_OF_TIME: Final = 0.25
"""Of its time that a bot uses. A guess: simple bots use nearly nothing, those that search use most of it."""
SHIPPED_SECONDS: Final = 0.02
"""What a bot that comes along thinks about a move, at most: they look one ply ahead, if at all."""
SECONDS_BETWEEN_GAMES: Final = 0.3
"""From the end of a game to the first move of the next: a room, two invitations, two bots freshly loaded."""
SECONDS_PER_PLY: Final = 0.01
"""What a ply costs beside the bot's thinking: two messages and a place in the journal, rounded up."""
TYPICAL_PLIES_ELSEWHERE: Final = 60
"""Of a game that is not one of the three. A guess."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What can be said of a tournament before it begins."""

    plan: Plan
    """The games known by now."""
    games_least: int
    games_most: int | None
    """None: there is no end."""
    plies: int
    """Of a typical game."""
    at_once: int
    """How many games run at the same time, at most."""
    expected_seconds: float | None
    """None where nothing bounds it: no clock, or no end."""
    longest_seconds: float | None


def estimate(event: Event, concurrency: int) -> Estimate:
    """The estimate for an event. Raises ValueError, with a sentence, for settings that don't fit together."""
    paired = format_of(event)
    least, most = paired.number_of_games()
    if event.stop.max_games is not None:
        least = min(least, event.stop.max_games)
        most = event.stop.max_games if most is None else min(most, event.stop.max_games)
    plan = paired.plan({})
    at_once = min(concurrency, len(event.names) // 2)
    turns = _turns(paired, event.names, at_once, most)
    expected = longest = None
    if turns is not None:
        plies, most_plies = typical_plies(event.game, event.options), longest_plies(event.game, event.options)
        expected = _times(turns, expected_game_seconds(event.time_control, plies, share_shipped(event)))
        further = most / least if most is not None and least else 1.0
        longest = _times(turns * further, longest_game_seconds(event.time_control, most_plies))
    if event.stop.max_minutes is not None:
        expected = _bounded(expected, 60 * event.stop.max_minutes)
        longest = _bounded(longest, 60 * event.stop.max_minutes + (_last_games(event) or 0))
    return Estimate(plan, least, most, typical_plies(event.game, event.options), at_once, expected, longest)


def typical_plies(game: str, options: Mapping[str, int | str]) -> int:
    """How many plies a game usually has, over both sides: measured between greedy bots, who mean to win.

    Means of 20 games each (30 of Mississippi Queen), and what the formulas make of them:
    FlowerWars of size 3, 4, 6, 8, 10, 12: 4, 6, 15, 28, 43, 62 (0.44 size^2: 4, 7, 16, 28, 44, 63).
    TowerWars of size 4, 5, 6, 8, 10, 12: 12, 28, 51, 119, 216, 358 (0.21 size^3: 13, 26, 45, 108, 210, 363);
    two random bots need several times as many, and are broken off from size 10 on.
    Mississippi Queen: 32, 31, 35 with 0, 1, 2 sandbanks.
    ``python benchmarks/typical_plies.py`` measures them again.
    """
    match game, options.get("size"):
        case "flowerwars", int(size):
            return round(0.44 * size**2)
        case "towerwars", int(size):
            plies = round(0.21 * size**3)
        case "mississippi_queen", _:
            return 32
        case _:
            plies = TYPICAL_PLIES_ELSEWHERE
    limit = find_game(game).ply_limit(options)
    return plies if limit is None else min(plies, limit)


def longest_plies(game: str, options: Mapping[str, int | str]) -> int | None:
    """How many plies a game can have at most; None if nothing bounds them."""
    match game, options.get("size"):
        case "flowerwars", int(size):  # two of size^2 fields, or two of the points, each; and the move that ends it
            return size**2 // 2 + (size + 1) * (size + 2) // 4 + 1
        case "mississippi_queen", _:
            return 60
        case _:
            return find_game(game).ply_limit(options)


def share_shipped(event: Event) -> float:
    """Which part of the bots come along, and so are quick."""
    return sum(player.kind == "shipped" for player in event.players) / len(event.players)


def expected_game_seconds(control: PerMove | Budget | Unlimited, plies: int, shipped: float = 0.0) -> float | None:
    """How long a game of so many plies usually takes; None without a clock. ``shipped``: see ``share_shipped``."""
    beside = SECONDS_BETWEEN_GAMES + plies * SECONDS_PER_PLY
    match control:
        case PerMove(move_ms=move):
            thinking = SHARE_OF_TIME * plies * move / 1000
        case Budget(budget_ms=budget, increment_ms=increment):
            thinking = SHARE_OF_TIME * (2 * budget + plies * increment) / 1000
        case Unlimited():
            return None
    return beside + (1 - shipped) * thinking + shipped * min(thinking, plies * SHIPPED_SECONDS)


def longest_game_seconds(control: PerMove | Budget | Unlimited, plies: int | None) -> float | None:
    """How long a game of at most so many plies can take; None if nothing bounds it."""
    if plies is None:
        return None
    beside = SECONDS_BETWEEN_GAMES + plies * SECONDS_PER_PLY
    match control:
        case PerMove(move_ms=move, margin_ms=margin, strikes=strikes, hard_ms=hard):
            forgiven = min(plies, 2 * strikes) * ((hard or move) - move)
            return beside + (plies * (move + margin) + forgiven) / 1000
        case Budget(budget_ms=budget, increment_ms=increment, margin_ms=margin):
            return beside + (2 * budget + plies * (increment + margin)) / 1000
        case Unlimited():
            return None


def _times(turns: float, seconds: float | None) -> float | None:
    return None if seconds is None else turns * seconds


def _bounded(seconds: float | None, bound: float) -> float:
    return bound if seconds is None else min(seconds, bound)


def _last_games(event: Event) -> float | None:
    """How long the games that run when the time is over can still take."""
    return longest_game_seconds(event.time_control, longest_plies(event.game, event.options))


def _turns(paired: CountedFormat, names: Sequence[str], at_once: int, most: int | None) -> float | None:
    """How many games long the tournament is if all games are equally long; None if it has no end."""
    plan = paired.plan({})
    if plan.complete:
        games = list(plan.fixtures())[:most]
        busiest = max(Counter(name for fixture in games for name in fixture.players).values(), default=0)
        return max(math.ceil(len(games) / at_once), busiest)
    if most is None:
        return None
    played: dict[str, Played] = {}
    rank = {name: place for place, name in enumerate(names)}
    turns = 0
    while len(played) < most:
        now = playable(paired.plan(played), played, ())[: min(at_once, most - len(played))]
        if not now:
            break
        played |= {fixture.id: _won_by_the_better(fixture, rank) for fixture in now}
        turns += 1
    return turns


def _won_by_the_better(fixture: Fixture, rank: Mapping[str, int]) -> Played:
    better = rank[fixture.red] < rank[fixture.blue]
    return Played(fixture, "red" if better else "blue", "points")
