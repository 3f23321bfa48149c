"""What the tool holds at once of a tournament hardly grows with the games that were played."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from triarena.organiser.export.writing import export_all
from triarena.organiser.live import Live, live_view
from triarena.organiser.pairing import format_of
from triarena.organiser.report import report_event
from triarena.organiser.store import StoreReader
from triarena.tournament.formats import CountedFormat

from .staged_tournament import BEGIN, Staged, event_of, stage

FEW, MANY = 2, 20
"""Games of each two bots, who all have met in both tournaments."""
BOTS = [f"Bot {number:02}" for number in range(15)]
KEPT, EXPORTED = 600, 2_000
"""Bytes of each game: what is kept between redraws, its sporting result; what an export holds, with the plan."""
Staging = dict[int, Staged]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Staging:
    return {games: stage(tmp_path_factory.mktemp("of"), event_of(names=BOTS, games=games)) for games in (FEW, MANY)}


def memory(work: Callable[[], object]) -> tuple[int, int]:
    """Bytes that are held at most while something is done, and those of them that are held afterwards."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        most = tracemalloc.get_traced_memory()[1]
        gc.collect()
        return most, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def redraw(reader: StoreReader, staged: Staged, pairing: CountedFormat) -> None:
    report = report_event(staged.file.events[0], reader.summary(), pairing=pairing)
    live_view(Live(report, BEGIN + timedelta(hours=1)), 120, 50)


def export(staged: Staged) -> None:
    with StoreReader(staged.folder) as reader, reader.snapshot() as contents:
        export_all(staged.folder, staged.file, contents, BEGIN)


def number_of_games(staged: Staging) -> int:
    """How many more the long tournament has."""
    few, many = (format_of(each.file.events[0]).number_of_games()[0] for each in staged.values())
    assert many == 10 * few == 2_100
    return many - few


def test_a_redraw_takes_hardly_more_memory_after_ten_times_as_many_games(staged: Staging) -> None:
    most, kept = dict[int, int](), dict[int, int]()
    with StoreReader(staged[FEW].folder) as reader:  # what is made once is made by now
        redraw(reader, staged[FEW], format_of(staged[FEW].file.events[0]))
    for games, each in staged.items():
        with StoreReader(each.folder) as reader:
            again = partial(redraw, reader, each, format_of(each.file.events[0]))
            _, kept[games] = memory(again)
            most[games], _ = memory(again)
    assert most[MANY] < 1.5 * most[FEW]
    assert kept[MANY] - kept[FEW] < KEPT * number_of_games(staged)


def test_exports_hold_little_of_each_game(staged: Staging) -> None:
    most = {}
    for games, each in staged.items():
        export(each)  # what is made once is made by now
        most[games], left = memory(partial(export, each))
        assert left < 100_000
    assert most[MANY] - most[FEW] < EXPORTED * number_of_games(staged)
