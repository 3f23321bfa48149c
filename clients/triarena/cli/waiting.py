"""Saying that a command waits, for what, and every now and then that it still does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

import click

FIRST_SECONDS: Final = 60.0
LONGEST_SECONDS: Final = 600.0
POLL_SECONDS: Final = 1.0


def to_stderr(sentence: str) -> None:
    """Where it is said; nobody may be there to read it."""
    with suppress(OSError, ValueError):
        click.echo(sentence, err=True)


@dataclass(slots=True)
class Waiting:
    """What is waited for, told at growing distances; whoever waits calls ``look``, or lets a thread do so."""

    say: Callable[[str], object] = to_stderr
    now: Callable[[], float] = time.monotonic
    _what: str = field(default="", init=False)
    _since: float = field(default=0.0, init=False)
    _due: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def begin(self, what: str, after: float = 0.0) -> None:
        """From now on ``what`` is waited for, which is said if it lasts for more than ``after`` seconds."""
        with self._lock:
            if what != self._what:
                self._what, self._since = what, self.now()
                self._due = self._since + after
        self.look()

    def end(self) -> None:
        """Nothing is waited for any more."""
        with self._lock:
            self._what = ""

    def look(self) -> None:
        """Say it, if it is time to."""
        with self._lock:
            now = self.now()
            if not self._what or now < self._due:
                return
            waited = now - self._since
            sentence = f"still waiting for {self._what}: {_for_so_long(waited)}" if waited >= FIRST_SECONDS else ""
            self._due = now + min(LONGEST_SECONDS, max(FIRST_SECONDS, waited))
        self.say(sentence or f"waiting for {self._what}")


class WaitingThread:
    """Looks now and then, for whoever is held up in a call."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="waiting", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(POLL_SECONDS):
            self._waiting.look()


def _for_so_long(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min by now" if minutes < 120 else f"{minutes / 60:.0f} h by now"
