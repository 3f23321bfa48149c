"""One running tool per tournament: who writes to a folder holds a claim on it, which no dead process holds.

The operating system's lock on a file in the folder; a second file tells whose it is. Reading needs no claim.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from .records import StoreError


@contextmanager
def claim_folder(folder: Path, *, patience: float = 2.0) -> Iterator[None]:
    """Hold the claim on a tournament's folder, which is made if need be.

    Waits up to ``patience`` seconds for somebody else's: a killed process may need a moment to be gone.
    Raises StoreError ``folder_in_use`` or ``cannot_open``.
    """
    lock = filelock.FileLock(folder / "tournament.lock", thread_local=False)
    label = _label(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=patience, poll_interval=0.05)
    except filelock.Timeout:
        raise StoreError("folder_in_use", in_use(folder)) from None
    except OSError as error:
        raise StoreError("cannot_open", f"{folder} can't be written to: {error.strerror or error}.") from error
    try:
        with suppress(OSError):  # it only makes a refusal more helpful
            label.write_text(f"process {os.getpid()} on {platform.node()}\n", encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            label.unlink(missing_ok=True)
        lock.release()  # its file stays: to remove it could remove another's lock


def is_claimed(folder: Path) -> bool:
    """Whether some tool holds the claim on a tournament's folder; if that can't be asked, whether one said so."""
    lock = folder / "tournament.lock"
    try:
        if not lock.exists():
            return False
        with filelock.FileLock(lock, timeout=0, thread_local=False):
            return False
    except filelock.Timeout:
        return True
    except (OSError, NotImplementedError):  # it is somebody else's, or the disk knows no locks
        return _label(folder).exists()


def in_use(folder: Path) -> str:
    """That somebody holds the claim on a folder, and who, as a sentence."""
    return (
        f"Another tool ({_holder(_label(folder))}) is running the tournament in {folder}; "
        "wait until it has ended, or stop it."
    )


def _label(folder: Path) -> Path:
    return folder / "tournament.running"


def _holder(label: Path) -> str:
    with suppress(OSError, UnicodeError):
        return label.read_text(encoding="utf-8").strip()[:200] or "an unknown process"
    return "an unknown process"
