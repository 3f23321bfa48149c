"""Lines from standard input for a program that has something else to listen to meanwhile."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

import click

POLL_SECONDS: Final = 0.05
"""How long a typed line waits at most until it is seen."""


class Keyboard:
    """Reads a file descriptor in a thread, which works on every system, and for a pipe as for a terminal."""

    def __init__(self, descriptor: int, encoding: str = "utf-8") -> None:
        self._descriptor = descriptor
        self._encoding = encoding
        self._lines: SimpleQueue[str | None] = SimpleQueue()  # None: the input has ended
        self._thread: threading.Thread | None = None

    @classmethod
    def of_standard_input(cls) -> Keyboard | None:
        """That of standard input; None if that is no file."""
        try:
            return cls(sys.stdin.fileno(), sys.stdin.encoding)
        except (OSError, ValueError, AttributeError):
            return None

    def ask(self, prompt: str, listen: Callable[[float], bool]) -> str:
        """The next line. Raises EOFError at the end of the input, or when ``listen`` says that nobody waits for it.

        ``listen(seconds)`` is called again and again until there is a line.
        """
        if self._thread is None:  # not before the first question: whoever does not ask leaves the input to others
            self._thread = threading.Thread(target=self._read, name="keyboard", daemon=True)
            self._thread.start()
        click.echo(prompt, nl=False)
        while True:
            if not listen(POLL_SECONDS):
                click.echo()
                raise EOFError
            try:
                line = self._lines.get_nowait()
            except Empty:
                continue
            if line is None:
                raise EOFError
            return line

    def _read(self) -> None:
        """Not by way of ``sys.stdin``: at the end of the program it would be waited for."""
        rest = b""
        while chunk := self._chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._lines.put(line.decode(self._encoding, "replace").rstrip("\r"))
        if rest:
            self._lines.put(rest.decode(self._encoding, "replace"))
        self._lines.put(None)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, 4096)
        except OSError:
            return b""
