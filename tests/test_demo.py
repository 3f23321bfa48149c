"""The demo as a person runs it: on a terminal, where it slows matches down, and into a pipe."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


def run_on_a_terminal(arguments: list[str], seconds: float) -> tuple[int, str]:
    """Run a ``triarena`` command under a pseudo-terminal: its exit code and what it drew."""
    import pty
    import select
    import subprocess
    import time

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "triarena.cli", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"},
    )
    os.close(theirs)
    drawn = bytearray()
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    drawn += os.read(ours, 65536)
                except OSError:  # the other end was closed
                    break
            elif process.poll() is not None:
                break
        return process.wait(timeout=10), drawn.decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal on Windows")
def test_the_demo_on_a_terminal_plays_three_matches(tmp_path: Path) -> None:
    code, drawn = run_on_a_terminal(["demo", "--data-dir", str(tmp_path)], seconds=120)
    assert code == 0, drawn[-2000:]
    assert drawn.count("verified") == 3
