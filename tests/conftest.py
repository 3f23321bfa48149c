"""A real server for the tests that need one: processes of our own on a free port of the loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from triarena.cli.children import Children

START_SECONDS = 60.0


@dataclass(frozen=True)
class RunningServer:
    """A server process, and how to run commands against it."""

    children: Children
    port: int
    data_dir: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """In which commands find the server, its secret and its journal by themselves."""
        secret = (self.data_dir / "admin-secret").read_text(encoding="utf-8").strip()
        return {
            **os.environ,
            "TRIARENA_PORT": str(self.port),
            "TRIARENA_SECRET": secret,
            "TRIARENA_SERVER__DATA_DIR": str(self.data_dir),
            "PYTHONIOENCODING": "utf-8",
        }

    def run(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a ``triarena`` command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "triarena.cli", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=self.environment,
            timeout=timeout,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a ``triarena`` command; the caller waits for it."""
        process = subprocess.Popen(
            [sys.executable, "-m", "triarena.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            env=self.environment,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """End what a failed test has left."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def start_server(
    children: Children, folder: Path, name: str, port: int
) -> tuple[RunningServer, subprocess.Popen[bytes]]:
    """A server on a certain port (0: any), once it listens."""
    port_file = folder / f"{name}.port"
    where = ["--port", str(port), "--port-file", str(port_file), "--data-dir", str(folder)]
    process = children.start(name, ["serve", *where])
    deadline = time.monotonic() + START_SECONDS
    while not port_file.exists():
        assert time.monotonic() < deadline, children.log(name).read_text()
        time.sleep(0.01)
    return RunningServer(children, int(port_file.read_text(encoding="ascii")), folder), process


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server process for all tests that only talk to it."""
    folder = tmp_path_factory.mktemp("server")
    with Children(folder) as children:
        server = RunningServer(children, children.serve(folder), folder)
        yield server
        server.end()


@pytest.fixture(scope="session", autouse=True)
def _children_that_can_be_interrupted() -> None:
    """A shell that starts us in the background makes us ignore Ctrl-C, and every child of ours would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
