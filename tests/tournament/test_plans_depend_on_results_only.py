"""What holds for every format: a plan is a function of what was played, whatever was asked before."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.tournament.formats import FORMATS, CountedFormat, make_format
from triarena.tournament.progressive import RoundByRound, RoundResults
from triarena.tournament.values import Played, Round

from .played_out import assert_nothing_changed, by_chance, names, play_out


def some(name: str, size: int) -> CountedFormat:
    return make_format(
        name,
        names(size),
        seed=7,
        rounds=3 if name in {"swiss", "ladder"} else None,
        challengers=["bot2"] if name == "gauntlet" else (),
    )


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=25)
@given(st.integers(4, 20), st.integers(0, 2**32), st.data())
def test_the_order_of_arrival_and_earlier_questions_make_no_difference(
    name: str, size: int, seed: int, data: st.DataObject
) -> None:
    chance = random.Random(seed)
    asked = some(name, size)
    plan, played = play_out(asked, by_chance(chance), chance)
    shuffled = dict(chance.sample(list(played.items()), len(played)))
    assert asked.plan(shuffled) == some(name, size).plan(played) == plan
    part = {id_: played[id_] for id_ in data.draw(st.sets(st.sampled_from(sorted(played)), max_size=len(played)))}
    assert asked.plan(part) == some(name, size).plan(part)
    assert asked.placing(part) == some(name, size).placing(part)
    assert_nothing_changed(asked.plan(part), plan)
    assert asked.plan(played) == plan


@pytest.mark.parametrize("name", ["swiss", "ladder"])
def test_a_round_is_paired_once_however_often_the_plan_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    paired: list[int] = []

    def count(self: RoundByRound, rounds: Sequence[Round], results: Sequence[RoundResults]) -> Round:
        paired.append(len(rounds) + 1)
        return pair(self, rounds, results)

    format_ = some(name, 12)
    pair: Callable[[RoundByRound, Sequence[Round], Sequence[RoundResults]], Round] = vars(type(format_))["next_round"]
    monkeypatch.setattr(type(format_), "next_round", count)
    played: dict[str, Played] = {}
    result = by_chance(random.Random(1))
    while left := [each for each in format_.plan(played).fixtures() if each.id not in played]:
        played[left[0].id] = result(left[0])
    assert paired == [1, 2, 3]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_counts_its_games(name: str) -> None:
    format_ = some(name, 9)
    _, played = play_out(format_, by_chance(random.Random(1), draws=0), random.Random(1))
    least, most = format_.number_of_games()
    assert most is not None
    assert least <= len(played) <= most


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_explained(name: str) -> None:
    kind = FORMATS[name]
    assert kind.title
    assert kind.summary.endswith(".")
    assert not kind.needs & kind.heeds
