"""Processes of our own: a server and bots, started, watched, and ended with whoever started them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from .options import Failure

STOP_SECONDS = 15.0
START_SECONDS = 60.0


class Children:
    """A context in which ``triarena`` commands run as processes; none outlives it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for _, process in reversed(self._running):  # the server, which was started first, goes last
            self._end(process)

    def start(self, name: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        """Run ``triarena ARGUMENTS``; what it says is kept in ``NAME.log``."""
        with self.log(name).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "triarena.cli", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        self._running.append((name, process))
        return process

    def log(self, name: str) -> Path:
        """The file with what a process has said."""
        return self._folder / f"{name}.log"

    def check(self) -> None:
        """Raises Failure if a process has failed, with the last thing it said."""
        for name, process in self._running:
            if process.poll() not in (None, 0):
                said = self.log(name).read_text(encoding="utf-8", errors="replace").strip().splitlines()
                last = said[-1] if said else "it said nothing"
                raise Failure("process_failed", f"{name} ended with exit code {process.returncode}: {last}")

    def serve(self, data_dir: Path) -> int:
        """Start a server on a free port, and return the port once it listens."""
        port_file = self._folder / "port"
        port_file.unlink(missing_ok=True)
        self.start("server", ["serve", "--port", "0", "--port-file", str(port_file), "--data-dir", str(data_dir)])
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            self.check()
            if time.monotonic() > deadline:
                raise Failure("server_slow", f"the server did not listen within {START_SECONDS:g} s")
            time.sleep(0.02)
        return int(port_file.read_text(encoding="ascii"))

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until a process that is about to end has done so."""
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._end(process)
        self._running[:] = [(name, other) for name, other in self._running if other is not process]

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
