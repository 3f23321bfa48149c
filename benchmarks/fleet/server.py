"""``triarena serve`` as a process of our own on the loopback: started, killed, and started again on the same data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from .verdict import Broken

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 30.0
DYING_SECONDS: Final = 1.0
"""So long after its connections broke a process that dies has ended."""
PLAIN: Final = ("-m", "triarena.cli")
"""The server as users run it."""


def died(process: subprocess.Popen[Any]) -> bool:
    """Whether a process that nobody here ended is dead, or about to be."""
    try:
        process.wait(DYING_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


class ServerProcess:
    """One server's port, folder and settings; the process behind them comes and goes."""

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, object] | None = None,
        database: str | None = None,
        program: Sequence[str] = PLAIN,
    ) -> None:
        """``settings`` by their dotted names (``clock.move_seconds``); ``program`` is what Python is to run."""
        self.folder = folder
        self.port = 0
        """The same one after every start."""
        self._settings = dict(settings or {})
        if database is not None:
            self._settings["server.database"] = database
        self._program = tuple(program)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # Ctrl-C as well
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        guilty = isinstance(error, Exception) and self._process is not None and died(self._process)
        self.stop()
        if guilty:
            raise Broken(f"the server ended too early; its log ends with:\n{self.last_words()}") from error

    @property
    def pid(self) -> int:
        """The process's number. Raises RuntimeError if there is none."""
        if self._process is None:
            raise RuntimeError("the server is not running; start it first")
        return self._process.pid

    @property
    def secret(self) -> str:
        """The administrator's."""
        return (self.folder / "admin-secret").read_text(encoding="utf-8").strip()

    @property
    def log(self) -> Path:
        """What all processes of this server have said."""
        return self.folder / "server.log"

    def start(self) -> None:
        """Returns when clients can connect. Raises Broken with the log's end if it does not come to that.

        Of the environment it gets no settings: what is measured would depend on who measures.
        """
        port_file = self.folder / "port"
        port_file.unlink(missing_ok=True)
        arguments = ["--port", str(self.port), "--port-file", str(port_file), "--data-dir", str(self.folder)]
        settings = {f"TRIARENA_{name.upper().replace('.', '__')}": str(value) for name, value in self._settings.items()}
        inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith("TRIARENA_")}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self._program, "serve", *arguments, "--log-format", "console"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**inherited, "PYTHONUNBUFFERED": "1", **settings},
            )
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise Broken(f"the server did not start; its log ends with:\n{self.last_words()}")
            time.sleep(0.01)
        self.port = int(port_file.read_text(encoding="ascii"))

    def last_words(self, lines: int = 15) -> str:
        """The end of the log."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def signal(self, number: int) -> None:
        """Send the process a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as a power failure would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Ask it to stop, twice, so that it does not wait for matches; kill it if it does not listen."""
        if self._process is None:
            return
        try:
            for _ in range(2):
                self._process.send_signal(signal.SIGINT)
                time.sleep(0.1)
            self._process.wait(STOP_SECONDS)
            self._process = None
        except subprocess.TimeoutExpired:
            self.kill()

    def resident_kb(self) -> int:
        """Its resident memory (Linux)."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])
