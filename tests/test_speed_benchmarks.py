"""The speed benchmarks work: each runs in its short mode, in which it judges no times."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .benchmark_runs import run_benchmark


@pytest.mark.slow
def test_the_benchmark_of_the_rules_measures_every_game(tmp_path: Path) -> None:
    told = run_benchmark("rules.py", "--short", "--json", str(tmp_path / "rules.json"))
    assert "ratio" in told
    figures = json.loads((tmp_path / "rules.json").read_text(encoding="utf-8"))
    assert figures["golden"].keys() == {"towerwars", "flowerwars", "mississippi_queen"}
    assert all(figure > 0 for board in figures["boards"].values() for figure in board.values())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="bots on epoll, times by the system's stamps")
def test_the_benchmark_of_the_referee_plays_beside_the_relay(tmp_path: Path) -> None:
    told = run_benchmark("referee.py", "--short", "--game", "towerwars", "--json", str(tmp_path / "referee.json"))
    assert "relay" in told
    figures = json.loads((tmp_path / "referee.json").read_text(encoding="utf-8"))
    assert [(one["game"], one["matches"]) for one in figures] == [("towerwars", 1), ("towerwars", 3)]
    assert all(one["p50"] > 0 and one["pace"] > 0 and one["cpu_ms"] > 0 for one in figures)
