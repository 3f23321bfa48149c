"""What a comparison of two bots has found, in sentences."""

from __future__ import annotations

from math import ceil

from triarena.tournament.sprt import Sprt, pentanomial
from triarena.tournament.standings import Row

from .pairing import format_of
from .report import EventReport
from .stopping import verdict
from .wording import counted

CLEARLY = 2
"""So many times as many wins as losses need no reservations."""
POINTS = ("0", "0.5", "1", "1.5", "2")


def said(report: EventReport) -> str:
    """Pairs, difference and the test's verdict, always the first bot over the second."""
    event, rule = report.event, report.event.stop.sprt
    first, second = event.names
    played = {game.fixture.id: game.played for game in report.games() if game.played is not None}
    counts = pentanomial(played.values(), first)
    lines = [
        f"{counted(sum(counts), 'pair')}, by the points of {first}: "
        + ", ".join(f"{points}: {count}" for points, count in zip(POINTS, counts, strict=True))
    ]
    if report.ratings is not None and {first, second} <= set(report.ratings.estimates):
        lines.append(str(report.ratings.over(first, second)))
    if rule is None:
        return "\n".join(lines)
    found = verdict(event, format_of(event).plan(played), played)
    bounds = f"LLR {found.llr:.2f}, decided at {found.lower:.2f} or {found.upper:.2f}"
    if found.decision is None:
        outlook = Sprt(rule.elo0, rule.elo1, rule.alpha, rule.beta).outlook(counts)
        # Undecided means that one more pair is needed at least.
        expected, worst = (max(1, ceil(pairs)) for pairs in (outlook.as_it_looks, outlook.at_worst))
        more = f"about {counted(expected, 'more pair')} if it goes on like this, {max(expected, worst)} at worst"
        lines.append(f"undecided between {rule.elo0:g} and {rule.elo1:g} Elo, {first} over {second} ({bounds}); {more}")
        lines.append(_so_far(report))
    else:
        likelier, other = (rule.elo1, rule.elo0) if found.decision == "elo1" else (rule.elo0, rule.elo1)
        lines.append(f"decided: {first} over {second} is {likelier:g} Elo rather than {other:g} ({bounds})")
        lines.append(_plainly(report, found.decision))
    return "\n".join(lines)


def _so_far(report: EventReport) -> str:
    """Who is ahead where nothing is decided, by what score."""
    first, second = report.event.names
    row = next(line.row for line in report.lines if line.player == first)
    if row.wins == row.losses:
        return f"undecided: nobody is ahead so far {_score(row)}"
    return f"undecided: {first if row.wins > row.losses else second} is ahead so far {_score(row)}, which may be chance"


def _score(row: Row) -> str:
    """What who is ahead has won and lost."""
    score = f"{max(row.wins, row.losses)}\N{EN DASH}{min(row.wins, row.losses)}"
    return f"({score}, {row.draws} drawn)" if row.draws else f"({score})"


def _plainly(report: EventReport, decision: str) -> str:
    """What a person wants to know: who is better, by what score."""
    (first, second), rule = report.event.names, report.event.stop.sprt
    assert rule is not None
    row = next(line.row for line in report.lines if line.player == first)
    score = _score(row)
    ahead = first if row.wins > row.losses else second
    if max(row.wins, row.losses) >= CLEARLY * max(1, min(row.wins, row.losses)):
        return f"{ahead} is clearly better {score}"
    if decision == "elo1":
        return f"{first} is better {score}"
    if row.losses > row.wins:
        return f"{second} is better, or {first} no more than {rule.elo0:g} Elo ahead {score}"
    return f"{first} is hardly better, if at all: {rule.elo0:g} Elo rather than {rule.elo1:g} {score}"
