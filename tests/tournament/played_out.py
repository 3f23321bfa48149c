"""Tournaments played out with invented results, for tests."""

from __future__ import annotations

import random
from collections.abc import Callable

from triarena.tournament.formats import CountedFormat
from triarena.tournament.values import Fixture, Plan, Played

Results = Callable[[Fixture], Played]


def names(number: int) -> list[str]:
    """bot1, bot2, ... in seeding order."""
    return [f"bot{i}" for i in range(1, number + 1)]


def by_chance(draw: random.Random, draws: float = 0.2, slope: float = 0.1, failures: float = 0.05) -> Results:
    """Results in which the better seed wins more often; a few games are failed by one side or both."""

    def result(fixture: Fixture) -> Played:
        lead = int(fixture.blue[3:]) - int(fixture.red[3:])
        chance = 1 / (1 + 2.0 ** (-slope * lead))
        winner = None if draw.random() < draws else "red" if draw.random() < chance else "blue"
        failed = draw.random() < failures
        offenders = (
            (("red", "blue") if winner is None else ("blue",) if winner == "red" else ("red",)) if failed else ()
        )
        scores = (draw.randint(0, 3), draw.randint(0, 3))
        return Played(fixture, winner, "crash" if failed else "points", offenders, *scores)  # type: ignore[arg-type]  # names of sides

    return result


def play_out(
    format_: CountedFormat, result: Results, draw: random.Random, most_games: int = 10**6
) -> tuple[Plan, dict[str, Played]]:
    """Plays what is planned in any order until there is nothing left, and checks that no plan takes anything back."""
    played: dict[str, Played] = {}
    plan = format_.plan(played)
    while left := [each for each in plan.fixtures() if each.id not in played]:
        for fixture in draw.sample(left, min(len(left), draw.randint(1, 1 + len(left) // 2))):
            played[fixture.id] = result(fixture)
        later = format_.plan(played)
        assert_nothing_changed(plan, later)
        plan = later
        if len(played) >= most_games:
            break
    return plan, played


def assert_nothing_changed(plan: Plan, later: Plan) -> None:
    """What was planned once stays planned, unchanged."""
    rounds = {each.number: each for each in later.rounds}
    for each in plan.rounds:
        assert rounds[each.number].byes == each.byes
        tables = {encounter.table: encounter for encounter in rounds[each.number].encounters}
        for encounter in each.encounters:
            again = tables[encounter.table]
            assert (again.first, again.second) == (encounter.first, encounter.second)
            assert again.fixtures[: len(encounter.fixtures)] == encounter.fixtures
    if plan.complete:
        assert later == plan
