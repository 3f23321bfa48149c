"""Our server with a second port for clients of the Software-Challenge, as a process of its own on free ports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from triarena.protocol.replay import Replay
from triarena.server.journal import list_matches, read_match
from triarena.server.replays import replay_of

START_SECONDS = 30.0
_PORT = re.compile(r"^Software-Challenge: .*:(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Host:
    """A running server."""

    process: subprocess.Popen[bytes]
    folder: Path
    port: int
    """For our own protocol."""
    xml_port: int

    def cpu_seconds(self) -> float:
        """What the process has used so far; Linux only."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def replays(self) -> list[Replay]:
        """The matches that have ended, from the journal."""
        url = f"sqlite:///{(self.folder / 'journal.sqlite3').as_posix()}"
        ended = list_matches(url, limit=100_000, finished=True)
        return [replay_of(read_match(url, match.match)) for match in ended]


@contextmanager
def host(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Host]:
    """Serve until the block ends. ``settings`` are further variables of the environment."""
    log, port_file = folder / "server.log", folder / "port"
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "triarena.cli", "serve", "--socha", "--port", "0", "--port-file", str(port_file)]
    environment = {**os.environ, "TRIARENA_SOCHA__PORT": "0", "PYTHONUNBUFFERED": "1", **(settings or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--data-dir", str(folder)], stdout=output, stderr=subprocess.STDOUT, env=environment
        )
    try:
        yield _started(process, folder, log, port_file)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _started(process: subprocess.Popen[bytes], folder: Path, log: Path, port_file: Path) -> Host:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = _PORT.search(log.read_text(encoding="utf-8"))
        if found is not None and port_file.exists():
            return Host(process, folder, int(port_file.read_text(encoding="ascii")), int(found[1]))
        time.sleep(0.02)
    raise RuntimeError(f"the server did not start: {log.read_text(encoding='utf-8')[-500:]}")
