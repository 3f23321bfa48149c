"""Running a benchmark as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def run_benchmark(script: str, *arguments: str, timeout: float = 120) -> str:
    """What a benchmark prints; its exit code must be 0."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
