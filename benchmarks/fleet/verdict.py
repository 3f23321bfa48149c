"""How a benchmark ends: as promised, not as promised, or with too little to tell. Its value is the exit code.

Others are ``BROKE``, and 128 and the number of the signal that ended it.
"""

from __future__ import annotations

import io
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Any, Final, NoReturn, Self

import trio

_trio_run: Final = trio.run

STOPPED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""
BROKE: Final = 3
"""The exit code when something went wrong that says nothing about the promise."""
ENDING: Final = ("SIGTERM", "SIGHUP")
"""Signals that end a benchmark as Ctrl-C does, with all that it has started; not every system has them all."""


class Broken(RuntimeError):
    """It can't go on; ``str(error)`` says why, so that nobody needs the traceback."""


class Verdict(IntEnum):
    """What the figures say."""

    KEPT = 0
    BROKEN = 1
    UNJUDGED = 2
    """Too few to judge, or nothing could be measured."""

    @classmethod
    def of(cls, *, broken: bool, enough: bool) -> Self:
        """What was wrong once is wrong, however little was measured."""
        return cls.BROKEN if broken else cls.KEPT if enough else cls.UNJUDGED

    @classmethod
    def worst(cls, verdicts: Iterable[Self]) -> Self:
        """That of a whole from those of its parts."""
        parts = set(verdicts)
        return cls.of(broken=cls.BROKEN in parts, enough=bool(parts) and cls.UNJUDGED not in parts)


def too_few(what: str) -> None:
    """Say that the promise was not put to the test."""
    print(f"TOO FEW to judge: {what}")


def ended(main: Callable[[], int | None]) -> NoReturn:
    """Run a benchmark as this process. Ctrl-C and other signals end it with a line in the place of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # figures have signs that not every alphabet has
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    came: list[int] = []
    try:
        with _interrupted_by(came):
            code = main() or 0
    except BaseException as error:  # noqa: ASYNC103 - the program ends here, and says why
        code = _told(error, came)
    sys.exit(128 + came[0] if came else code)


def _told(error: BaseException, came: list[int]) -> int:
    """Say why a benchmark has not come to its end: the exit code, where it is not by a signal that it ends."""
    if isinstance(error, SystemExit) and isinstance(error.code, int | None) and (not came or error.code == STOPPED):
        return error.code or 0  # it has said why
    interrupted = isinstance(error, KeyboardInterrupt) or (
        isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt) is not None
    )
    if came or interrupted:  # whatever else went wrong while it was ending
        by = "Ctrl-C" if not came or came[0] == signal.SIGINT else signal.Signals(came[0]).name
        print(f"stopped by {by} before all was measured", file=sys.stderr, flush=True)
        return STOPPED
    if isinstance(error, (Broken, SystemExit)):
        print(error, file=sys.stderr, flush=True)
    else:
        traceback.print_exception(error)
    return BROKE


class _Ear(trio.abc.Instrument):
    """Hears the signals: the first interrupts as Ctrl-C does, and is noted; more of them don't hinder the ending."""

    def __init__(self, came: list[int]) -> None:
        self._came = came
        self._interrupt: Callable[[int, FrameType | None], object] = signal.default_int_handler

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The handler of them all."""
        if not self._came:
            self._came.append(number)
            self._interrupt(signal.SIGINT, frame)

    def run(self, *args: Any, **options: Any) -> Any:
        """Stands in for ``trio.run``: trio puts its own handler only in the place of Python's."""
        if self._came or threading.current_thread() is not threading.main_thread():
            return _trio_run(*args, **options)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return _trio_run(*args, **{**options, "instruments": [*options.get("instruments", ()), self]})
        finally:
            self._interrupt = signal.default_int_handler
            signal.signal(signal.SIGINT, self.hear)

    def before_run(self) -> None:
        """Hear also what trio's handler would, which knows what may be interrupted, and leave that to it."""
        handler = signal.getsignal(signal.SIGINT)
        assert callable(handler)
        self._interrupt = handler
        signal.signal(signal.SIGINT, self.hear)


@contextmanager
def _interrupted_by(came: list[int]) -> Iterator[None]:
    """Have the signals heard, by trio too. Ctrl-C is heard even where it was ignored, as shells have it for what they
    start in the background: our processes, which it ends, would inherit that.
    """
    ear = _Ear(came)
    before = {signal.SIGINT: signal.signal(signal.SIGINT, ear.hear)}
    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has one ignored
            before[number] = signal.signal(number, ear.hear)
    vars(trio)["run"] = ear.run
    try:
        yield
    finally:
        vars(trio)["run"] = _trio_run
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if came else handler)  # one that comes late changes nothing any more
