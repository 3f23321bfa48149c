"""The benchmark of an evening of forty counts what it says that it counts, with a few bots."""

from __future__ import annotations

import sys
from pathlib import Path

import forty_bots
import pytest


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as Linux tells them")
def test_the_benchmark_of_forty_bots_plays_all_matches_and_knows_every_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["forty_bots.py", "--bots", "4", "--concurrency", "2"])
    monkeypatch.setattr(forty_bots, "GROWTH", 10.0)  # a few matches tell nothing of it
    monkeypatch.setattr(forty_bots, "PER_MATCH", 10_000_000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert forty_bots.main() == 0
    told = capsys.readouterr().out
    assert "12 matches" in told
    for role in forty_bots.ROLES:
        assert f"{role} 0.0" not in told, "every role has used the processor"
