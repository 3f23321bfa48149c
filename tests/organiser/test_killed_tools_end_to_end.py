"""A tournament whose tool is killed by SIGKILL at random instants ends as one that was left alone."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from tournament_crashes import Findings, compare, killed_run, write_file

KILLS = 4


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as Linux tells them")
def test_a_tournament_whose_tool_is_killed_ends_like_a_quiet_one_and_leaves_no_process(tmp_path: Path) -> None:
    file, found = tmp_path / "killed.toml", Findings()
    write_file(file, bots=4, games=4, game="towerwars", size=5)
    killed_run(file, tmp_path / "quiet", 0, 0, random.Random(1), found)
    killed_run(file, tmp_path / "killed", KILLS, 5.0, random.Random(1), found)
    compare(tmp_path / "quiet", tmp_path / "killed", found)
    assert found.wrong == []
    assert found.kills >= 2, "the tournament was over before it could be killed"
