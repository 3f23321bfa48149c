"""When a tournament is over before all its games are played: its stopping rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from triarena.tournament.values import Fixture, History, Plan

from .spec import Event


def why_stop(event: Event, plan: Plan, played: History, seconds: float) -> str | None:
    """Why no further game is to be started, in a clause; None as long as there is no reason.

    ``seconds`` is for how long the tournament has been played.
    """
    stop = event.stop
    if stop.max_games is not None and len(played) >= stop.max_games:
        return f"{len(played)} games were played, and {stop.max_games} were wanted"
    if stop.max_minutes is not None and seconds >= 60 * stop.max_minutes:
        return f"it was played for {seconds / 60:.0f} minutes, and {stop.max_minutes:g} were wanted"
    if stop.sprt is not None:
        return decided(event, plan, played)
    return None


def decided(event: Event, plan: Plan, played: History) -> str | None:
    """The decision of the sequential test between two bots, as a clause; None while it is open."""
    raise NotImplementedError


def finished_pairs(plan: Plan, played: History) -> Iterator[tuple[Fixture, Fixture]]:
    """The pairs of games that are over, in the plan's order, up to the first one that is not.

    A test that looked at pairs in the order of their ends would be biased: short games end first.
    """
    pairs: dict[str, list[Fixture]] = defaultdict(list)
    for fixture in plan.fixtures():
        pairs[fixture.pair].append(fixture)
    for first, second in _whole(pairs.values()):
        if first.id not in played or second.id not in played:
            return
        yield first, second


def _whole(pairs: Iterable[list[Fixture]]) -> Iterator[tuple[Fixture, Fixture]]:
    for games in pairs:
        if len(games) == 2:
            yield games[0], games[1]
