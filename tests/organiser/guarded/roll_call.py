"""Processes that tell a test that they are there, and, by the end of their connection, that they are gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import trio

DEADLINE_SECONDS = 20.0

PRELUDE = """
import os, signal, socket, sys, time
def report():
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connection.sendall(b"%d %d\\n" % (os.getpid(), os.getppid()))
    return connection
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""
"""What the scripts may use; ``report`` has to be called after a fork, by each process for itself."""


class RollCall:
    """A listener to which processes report, and the processes that have."""

    def __init__(self, listener: trio.SocketListener) -> None:
        self._listener = listener
        self.port: int = listener.socket.getsockname()[1]
        self.streams: list[trio.SocketStream] = []
        self.pids: list[int] = []
        self.parents: list[int] = []

    def script(self, text: str) -> list[str]:
        """A command that runs Python text, which may report here."""
        return [sys.executable, "-I", "-c", PRELUDE + text, str(self.port)]

    async def present(self, number: int = 1) -> Sequence[int]:
        """Wait until so many more processes have reported; the ids of all that ever did."""
        with trio.fail_after(DEADLINE_SECONDS):
            for _ in range(number):
                stream = await self._listener.accept()
                self.streams.append(stream)
                pid, parent = map(int, (await stream.receive_some()).split())
                self.pids.append(pid)
                self.parents.append(parent)
        return self.pids

    async def hang_up(self) -> None:
        """Wait until every process that reported has lost its connection, that is, is gone or about to be."""
        with trio.fail_after(DEADLINE_SECONDS):
            for stream in self.streams:
                with suppress(trio.BrokenResourceError):
                    while await stream.receive_some():
                        pass

    async def nobody_left(self) -> None:
        """Wait until there is none of those that reported, nor of their parents, not even as a zombie."""
        with trio.fail_after(DEADLINE_SECONDS):
            while any(map(exists, {*self.pids, *self.parents})):  # noqa: ASYNC110 - other processes set no event
                await trio.lowlevel.checkpoint()

    def survivors(self) -> list[int]:
        """Who reported and still exists, be it as a zombie."""
        return [pid for pid in self.pids if exists(pid)]


def exists(pid: int) -> bool:
    """Whether there is a process with this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
