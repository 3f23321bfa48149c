"""What a guarded command may use, and how it ended, in values and in sentences."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

MIB, GIB = 1 << 20, 1 << 30
SHORTAGES = frozenset([errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EIO, errno.EROFS])
"""Errors at the start of a command for which the machine is to blame: it has no room for one more process."""

Why: TypeAlias = Literal["exited", "killed", "memory", "cpu", "processes", "threads", "cannot_start", "lost"]
"""``exited``: by itself, or by a signal that was not ours. ``killed``: we ended it. ``lost``: its guard failed it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may use, with all its descendants; None is no limit. Looked at five times a second."""

    memory: int | None = 2 * GIB
    """Resident bytes."""
    cpu_seconds: float | None = None
    """Since the start, or the last ``reset_limits``."""
    processes: int | None = 64
    threads: int | None = 1024
    """In all processes together, their first ones included."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command has ended."""

    why: Why
    exit_code: int | None
    """Of the command's first process; None if a signal ended it, or it never started."""
    signal: int | None
    """That ended the command's first process."""
    detail: str
    """A clause for a person, about "it": ``it was killed: it used 2.1 GiB of memory, the limit is 2 GiB``."""
    seconds: float = 0.0
    """Between its start and the end of its last descendant."""
    peak_memory: int = 0
    """The most resident bytes that were seen, of all descendants together."""
    dropped: int = 0
    """Bytes of its output that are not in its log."""
    blameless: bool = False
    """Whether it need not be a fault of the command: the machine had no room for it, or its guard failed it."""


LOST = Ended("lost", None, None, "it was given up: its guard was killed", blameless=True)
GARBLED = Ended("lost", None, None, "it was given up: its guard was harmed, most likely by it")
"""Somebody else spoke in the guard's place: no accident does that."""


def ended(event: Mapping[str, Any], order: Mapping[str, Any], limits: Limits) -> Ended:
    """The value of a guard's last event; ``order`` is what the guard was told."""
    return Ended(
        why=event["why"],
        exit_code=event.get("exit_code"),
        signal=event.get("signal"),
        detail=detail(event, order, limits),
        seconds=event.get("seconds", 0.0),
        peak_memory=event.get("peak_memory", 0),
        dropped=event.get("dropped", 0),
        blameless=(event["why"] == "lost" and not event.get("forged"))
        or (event["why"] == "cannot_start" and no_fault_of_it(event, order)),
    )


def no_fault_of_it(event: Mapping[str, Any], order: Mapping[str, Any]) -> bool:
    """Whether a command that could not be started would start on a machine in order."""
    ours = event["filename"] is not None and event["filename"] == order["log"]
    return ours or event["errno"] in SHORTAGES or event["error"] in ("ImportError", "ModuleNotFoundError")


def detail(event: Mapping[str, Any], order: Mapping[str, Any], limits: Limits) -> str:
    """How a command has ended, as a clause about "it"."""
    match event["why"]:
        case "cannot_start":
            return f"it could not be started: {obstacle(event, order)}"
        case "memory":
            return f"it was killed: it used {over(amount(event['memory']), amount(limits.memory or 0), ' of memory')}"
        case "cpu":
            used, limit = f"{event['cpu']:.3g} s", f"{limits.cpu_seconds:.3g} s"
            return f"it was killed: it used {over(used, limit, ' of processor time')}"
        case "processes":
            return f"it was killed: it had {over(event['processes'], limits.processes, ' processes')}"
        case "threads":
            return f"it was killed: it had {over(event['threads'], limits.threads, ' threads')}"
        case "killed" if event["signal"] == getattr(signal, "SIGKILL", None):
            return "it was told to end, did not, and was killed"
        case "killed":
            return f"it was told to end, and did ({left_by(event)})"
        case "lost" if event.get("forged"):
            return "it was given up: its guard was given false orders, most likely by it"
        case "lost":
            return f"it was given up: its guard failed ({event['text']})"
        case _:
            return f"it ended by itself ({left_by(event)})"


def obstacle(event: Mapping[str, Any], order: Mapping[str, Any]) -> str:
    """Why a command could not be started, and what to do."""
    program: str = order["command"][0]
    cwd: str | None = order["cwd"]
    named_by_path = bool(os.path.dirname(program))
    if event["error"] in ("ImportError", "ModuleNotFoundError"):
        return "guarding a process needs the package psutil on this system: install the extra 'tournament'"
    if event["filename"] == order["log"]:
        return f"its log cannot be written: {event['text']}"
    if cwd is not None and not os.path.isdir(cwd):
        return f"there is no folder {cwd!r} to start it in"
    match event["errno"]:
        case errno.ENOENT if named_by_path and os.path.exists(os.path.join(cwd or "", program)):
            return f"the program that the first line of {program!r} names does not exist"
        case errno.ENOENT:
            where = "" if named_by_path else " on the PATH"
            return f"there is no program {program!r}{where}: check its spelling, and that it is installed"
        case errno.EACCES:
            return f"{program!r} may not be run: is it a program, and is it marked as one (chmod +x)?"
        case errno.ENOEXEC:
            return (
                f"{program!r} is no program of this system; a script needs a first line such as #!/usr/bin/env python3"
            )
        case _:
            return f"the system refuses to start {program!r}: {event['text']}"


def over(used: object, limit: object, what: str) -> str:
    """``2.1 GiB of memory, the limit is 2 GiB``, also where rounding makes the two look the same."""
    return f"{'a little more than ' if used == limit else ''}{used}{what}, the limit is {limit}"


def left_by(event: Mapping[str, Any]) -> str:
    """``exit code 1``, or the name of the signal."""
    if event["signal"] is None:
        return f"exit code {event['exit_code']}"
    try:
        return signal.Signals(event["signal"]).name
    except ValueError:  # a real-time signal
        return f"signal {event['signal']}"


def amount(size: int) -> str:
    """``2.1 GiB``, ``310 MiB``."""
    return f"{size / GIB:.3g} GiB" if size >= GIB else f"{size / MIB:.3g} MiB"
