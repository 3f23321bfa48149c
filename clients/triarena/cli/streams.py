"""Standard input and output as the commands need them: open, able to take any text, and their failures told.

A file descriptor that was closed before the start is filled, so that no socket takes its number and is written to.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Final, TextIO, cast

UNWRITABLE: Final = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF])
"""What goes wrong with an output of which nothing is known but that writing to it failed."""


def prepare() -> None:
    """Fill the standard streams that were closed; let none fail because its encoding lacks a character."""
    for number in range(3):
        _fill(number)
    sys.stdin, sys.stdout, sys.stderr = sys.stdin or _text(0), sys.stdout or _text(1), sys.stderr or _text(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _text(number: int) -> TextIO:
    return cast(TextIO, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def _fill(number: int) -> None:
    """Open the null device in the place of a closed descriptor.

    That of standard output can only be read: writing fails then and is told, since what was asked for is lost.
    """
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)


def unwritten(error: BaseException | None = None) -> OSError | None:
    """Why standard output could not be written, if that is so; ``error`` is what was caught, if anything was."""
    try:
        sys.stdout.flush()  # what could not be written is still waiting
    except OSError as reason:
        return reason
    except (ValueError, AttributeError):  # a bot closed it, or put something else in its place
        return OSError(errno.EBADF, "somebody has closed it")
    if isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE:
        return error  # without a buffer nothing waits
    return None


def forget() -> None:
    """Send what could not be written nowhere, so that the interpreter does not fail with it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
