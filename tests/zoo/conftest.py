"""A real server for the zoo, in which patience is short, and matches beside the cages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fleet.server import ServerProcess

SETTINGS = {
    "limits.greeting_seconds": 1,
    "limits.heartbeat_seconds": 1,
    "limits.flood_seconds": 1,
    "clock.move_seconds": 30,
    "clock.startup_seconds": 2,
    "rooms.grace_seconds": 0.5,
    "server.log_level": "warning",
}
NEIGHBOURS = Path(__file__).parents[2] / "benchmarks" / "neighbours.py"
MOVES = 150
"""For one percentile."""


@dataclass(frozen=True)
class Waiting:
    """What moves of the matches beside waited for, in milliseconds."""

    moves: int
    median: float
    p99: float


class Neighbours:
    """Matches beside the cages, in a process of their own."""

    def __init__(self, server: ServerProcess) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(NEIGHBOURS), str(server.port), str(server.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            self.ask()
            self.quiet = self.told()
            """Without any animal."""
        except BaseException:
            self.end()
            raise

    def ask(self) -> None:
        """Measure from now on."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{MOVES}\n")
        self._process.stdin.flush()

    def told(self) -> Waiting:
        """What was measured since ``ask``."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "a match beside the cages was spoilt"
        return Waiting(**json.loads(line))

    def end(self) -> None:
        """Let them go."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="session")
def zoo_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("zoo"), SETTINGS) as server:
        yield server


@pytest.fixture(scope="session")
def neighbours(zoo_server: ServerProcess) -> Iterator[Neighbours]:
    beside = Neighbours(zoo_server)
    yield beside
    beside.end()
