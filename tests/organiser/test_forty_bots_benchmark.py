"""The benchmark of an evening of forty counts what it says that it counts, with a few bots."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert forty_bots.main() == 0
    told = capsys.readouterr().out
    assert "12 matches" in told
    for role in forty_bots.ROLES:
        assert f"{role} 0.0" not in told, "every role has used the processor"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as Linux tells them")
def test_a_process_that_has_ended_and_was_not_waited_for_keeps_its_role() -> None:
    usage = forty_bots.Usage()
    process = subprocess.Popen([sys.executable, "-c", "sum(range(5_000_000)); input()", "serve"], stdin=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 20
        while usage.cpu.get(process.pid, ("guards", 0.0))[0] != "server" and time.monotonic() < deadline:
            usage.look(os.getpid())
        assert process.stdin is not None
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie from now on
        assert Path(f"/proc/{process.pid}/cmdline").read_bytes() == b""
        usage.look(os.getpid())
    finally:
        process.kill()
        process.wait()
    assert usage.cpu[process.pid][0] == "server"
    assert usage.seconds("server") > 0
