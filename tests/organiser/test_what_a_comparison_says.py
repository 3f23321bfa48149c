"""The last sentence of a comparison: for a person who wants to know which bot is better."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from triarena.organiser.comparison import said
from triarena.organiser.pairing import format_of
from triarena.organiser.records import StoredResult
from triarena.organiser.report import EventReport, report_event
from triarena.organiser.spec import Sprt, Stop
from triarena.organiser.store import Store
from triarena.organiser.wording import terms
from triarena.tournament.values import Played

from .staged_tournament import BEGIN, event_of, stage


def compared(folder: Path, points: Sequence[float]) -> EventReport:
    """Ann over Bob, by Ann's points in each game."""
    plain = event_of("Duel", names=("Ann", "Bob"), games=1000)
    event = replace(plain, stop=Stop(sprt=Sprt(0, 50, 0.05, 0.05)))
    staged = stage(folder, event, at_most=0)
    fixtures = list(format_of(event).plan({}).fixtures())
    with Store(staged.folder) as store:
        store.give_up_running("it was interrupted", BEGIN)
        for fixture, made in zip(fixtures, points, strict=False):
            first = "red" if fixture.red == "Ann" else "blue"
            second = "blue" if first == "red" else "red"
            winner = first if made == 1 else second if made == 0 else None
            played = Played(fixture, winner, "points", (), 3, 3, 9)  # type: ignore[arg-type]
            attempt = store.begin_attempt("duel", fixture.id, BEGIN)
            store.record_result(StoredResult("duel", played, attempt.number, "m", "so", BEGIN, BEGIN))
        return report_event(event, store.contents())


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ([0] * 42, "Bob is clearly better (42\N{EN DASH}0)"),
        ([1] * 80, "Ann is clearly better (80\N{EN DASH}0)"),
        ([1, 1, 1, 0.5] * 12, "Ann is clearly better (36\N{EN DASH}0, 12 drawn)"),
        ([1, 0] * 200, "Ann is hardly better, if at all: 0 Elo rather than 50 (200\N{EN DASH}200)"),
        ([1, 1, 1, 0, 1, 0] * 40, "Ann is clearly better (160\N{EN DASH}80)"),
        ([1, 1, 1, 0, 1, 0, 0, 1] * 40, "Ann is better (200\N{EN DASH}120)"),
        ([0, 1, 0, 1, 0, 0] * 40, "Bob is clearly better (160\N{EN DASH}80)"),
    ],
)
def test_the_last_line_says_who_is_better_and_by_what_score(tmp_path: Path, points: list[float], sentence: str) -> None:
    assert said(compared(tmp_path, points)).splitlines()[-1] == sentence


def test_an_undecided_comparison_names_nobody_as_better(tmp_path: Path) -> None:
    assert "undecided" in said(compared(tmp_path, [1, 0, 1, 1])).splitlines()[-1]


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ([1, 0, 1, 1], "undecided: Ann is ahead so far (3\N{EN DASH}1), which may be chance"),
        ([0, 0.5], "undecided: Bob is ahead so far (1\N{EN DASH}0, 1 drawn), which may be chance"),
        ([1, 0], "undecided: nobody is ahead so far (1\N{EN DASH}1)"),
    ],
)
def test_the_last_line_of_an_undecided_comparison_says_who_is_ahead(
    tmp_path: Path, points: list[float], sentence: str
) -> None:
    assert said(compared(tmp_path, points)).splitlines()[-1] == sentence


@pytest.mark.parametrize("points", [[1] * n for n in range(2, 40, 2)], ids=len)
def test_what_is_not_decided_needs_one_more_pair_at_least(tmp_path: Path, points: list[float]) -> None:
    told = said(compared(tmp_path, points))
    if found := re.search(r"about (\d+) more pairs? if it goes on like this, (\d+) at worst", told):
        assert 1 <= int(found[1]) <= int(found[2])
    else:
        assert "decided: Ann over Bob is 50 Elo" in told


def test_the_bound_of_a_test_is_not_told_as_the_games_that_are_played(tmp_path: Path) -> None:
    clauses = terms(compared(tmp_path, [1, 0]).event)
    assert "1000 games at most, as many as the test needs" in clauses
