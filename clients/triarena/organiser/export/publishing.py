"""Putting files in the place of older ones, so that nobody reads half of one, and nothing old replaces what is newer.

Several processes may export a tournament at once, and each may be stopped or killed at any moment. So each remembers
which files lay there before it read the store, and replaces these only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Final, TypeAlias

import filelock

LOCK_NAME: Final = ".exports.lock"
PATIENCE_SECONDS: Final = 2.0
"""For another process to put its files in place, which takes milliseconds, unless it was stopped meanwhile."""
UNFINISHED: Final = re.compile(r"\.(?P<name>.+)\.(?P<process>[0-9]+)")

Version: TypeAlias = tuple[int, int, int] | None
Versions: TypeAlias = Mapping[str, Version]
"""Which files lie there, by their names: no two that were put in place are the same."""


class Overtaken(Exception):
    """Somebody else has put files in place meanwhile, perhaps newer ones."""


class NotWritten(Exception):
    """Some files can't be written; all others were. Says which ones, and why, for people."""

    def __init__(self, faults: Mapping[Path, str]) -> None:
        """``faults`` has the cause for each file that was meant."""
        by_cause: dict[str, list[str]] = {}
        for path, cause in faults.items():
            by_cause.setdefault(cause, []).append(str(path))
        super().__init__("; ".join(f"{', '.join(paths)} can't be written: {why}" for why, paths in by_cause.items()))


def versions(folder: Path, names: Collection[str]) -> Versions:
    """Which files lie in a folder now; to be asked before that is read which is to replace them."""
    return {name: _version(folder / name) for name in names}


def publish(folder: Path, texts: Mapping[str, Iterable[str]], before: Versions) -> None:
    """Put files with these texts in place, all that can be written, each at once.

    Raises Overtaken if others lie there than ``before``, and NotWritten.
    """
    faults: dict[Path, str] = {}
    written: dict[str, Path] = {}
    with ExitStack() as stack:
        for name, pieces in texts.items():
            unfinished = folder / f".{name}.{os.getpid()}"
            stack.callback(_remove, unfinished)
            try:
                with unfinished.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(pieces)
                written[name] = unfinished
            except OSError as error:
                faults[folder / name] = _cause(error)
        with _turn(folder):
            _sweep(folder, texts)
            if versions(folder, before.keys()) != before:
                raise Overtaken
            for name, unfinished in written.items():
                if _version(folder / name) != before[name]:  # we were stopped, and others have not waited for ever
                    raise Overtaken
                try:
                    unfinished.replace(folder / name)
                except OSError as error:
                    faults[folder / name] = _cause(error)
    if faults:
        raise NotWritten(faults)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """One process after the other; where that can't be had, all the same."""
    lock = filelock.FileLock(folder / LOCK_NAME, thread_local=False)
    with suppress(filelock.Timeout, OSError, NotImplementedError):  # it is stopped, or the disk knows no locks
        lock.acquire(timeout=PATIENCE_SECONDS, poll_interval=0.02)
    try:
        yield
    finally:
        lock.release()


def _sweep(folder: Path, names: Collection[str]) -> None:
    """Remove what killed processes have left unfinished."""
    with suppress(OSError):
        for path in folder.iterdir():
            found = UNFINISHED.fullmatch(path.name)
            if found and found["name"] in names and not _is_there(int(found["process"])):
                _remove(path)


def _is_there(process: int) -> bool:
    if os.name != "posix":
        return bool(import_module("psutil").pid_exists(process))
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True


def _version(path: Path) -> Version:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _cause(error: OSError) -> str:
    return error.strerror or str(error)
