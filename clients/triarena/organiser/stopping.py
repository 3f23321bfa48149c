"""When a tournament is over before all its games are played: its stopping rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from triarena.tournament.sprt import SCORES, Sprt, Verdict, pentanomial
from triarena.tournament.values import Fixture, History, Plan, Played

from .spec import Event
from .wording import counted

PAIR: Final = 2
"""Games of a pair."""


def why_stop(event: Event, plan: Plan, played: History, seconds: float) -> str | None:
    """Why no further game is to be started, in a clause; None as long as there is no reason.

    ``seconds`` is for how long the tournament has been played.
    """
    stop = event.stop
    if stop.max_games is not None and len(played) >= stop.max_games:
        return f"it was to end after {counted(stop.max_games, 'game')}"
    if stop.max_minutes is not None and seconds >= 60 * stop.max_minutes:
        return f"it was to end after {stop.max_minutes:g} min of playing"
    if stop.sprt is not None:
        return decided(event, plan, played)
    return None


def verdict(event: Event, plan: Plan, played: History) -> Verdict:
    """What the sequential test between the event's two bots says of the pairs so far; the first over the second.

    Pairs count in the plan's order, up to the first one that is not over: taken as they end, short games would count
    sooner, and the test would be biased. A decision, once made, is not unmade by pairs that ended after it.
    """
    rule = event.stop.sprt
    assert rule is not None, "asked of events with such a rule only"
    test = Sprt(rule.elo0, rule.elo1, rule.alpha, rule.beta)
    first = event.names[0]
    counts = [0] * len(SCORES)
    for pair in finished_pairs(plan, played):
        counts = [old + new for old, new in zip(counts, pentanomial(pair, first), strict=True)]
        judged = test.judge(counts)
        if judged.decision is not None:
            return judged
    return test.judge(counts)


def decided(event: Event, plan: Plan, played: History) -> str | None:
    """The decision of the sequential test as a clause; None while it is open."""
    found, rule = verdict(event, plan, played), event.stop.sprt
    if found.decision is None or rule is None:
        return None
    first, second = event.names
    pairs = f"after {counted(found.pairs, 'pair')}, LLR {found.llr:.2f} outside {found.lower:.2f} to {found.upper:.2f}"
    if found.decision == "elo1":
        return f"{first} over {second} is {rule.elo1:g} Elo rather than {rule.elo0:g} ({pairs})"
    return f"{first} over {second} is {rule.elo0:g} Elo rather than {rule.elo1:g} ({pairs})"


def finished_pairs(plan: Plan, played: History) -> Iterator[tuple[Played, Played]]:
    """The pairs of games that are over, in the plan's order, up to the first one that is not."""
    pairs: dict[str, list[Fixture]] = defaultdict(list)
    for fixture in plan.fixtures():
        pairs[fixture.pair].append(fixture)
    for games in pairs.values():
        results = [played[each.id] for each in games if each.id in played]
        if len(games) != PAIR or len(results) != PAIR:
            return
        yield results[0], results[1]
