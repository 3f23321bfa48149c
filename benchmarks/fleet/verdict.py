"""How a benchmark ends: as promised, not as promised, or with too little to tell. Its value is the exit code.

Others are ``BROKE``, and 128 and the number of the signal that ended it.
"""

from __future__ import annotations

import io
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Final, NoReturn, Self

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
            code = _run(main)
    except (Exception, KeyboardInterrupt, BaseExceptionGroup) as error:
        interrupted = isinstance(error, KeyboardInterrupt) or (
            isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt) is not None
        )
        if came or interrupted:  # in a group, as trio's nurseries hand it on
            by = signal.Signals(came[0]).name if came else "Ctrl-C"
            print(f"stopped by {by} before all was measured", file=sys.stderr, flush=True)
            code = STOPPED
        else:
            traceback.print_exception(error)
            code = BROKE
    sys.exit(128 + came[0] if came else code)


def _run(main: Callable[[], int | None]) -> int:
    """The exit code, where it is not by a signal that the benchmark ends, nor by something unforeseen."""
    try:
        return main() or 0
    except Broken as broken:
        print(broken, file=sys.stderr, flush=True)
    except SystemExit as ending:
        if ending.code is None or isinstance(ending.code, int):
            return ending.code or 0
        print(ending.code, file=sys.stderr, flush=True)
    return BROKE


@contextmanager
def _interrupted_by(came: list[int]) -> Iterator[None]:
    """The first of the ending signals interrupts as Ctrl-C does, and is noted; more of them don't hinder the ending."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        if not came:
            came.append(number)
            handler = signal.getsignal(signal.SIGINT)  # trio's own knows what may be interrupted
            assert callable(handler)
            handler(signal.SIGINT, frame)

    before = {}
    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has one ignored
            before[number] = signal.signal(number, interrupt)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As shells have it for what they start in the background; our processes, which Ctrl-C ends, would inherit that.
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
