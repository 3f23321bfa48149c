"""Something else for the processors to do."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

BUSY = "import hashlib\nwhile True: hashlib.sha256(b'x' * 4096).digest(); sum(range(1000))"


def undisturbed() -> None:
    """Keep this process's own troubles out of what it measures: no collections, and the processor when it wants it."""
    gc.collect()
    gc.disable()
    with suppress(OSError):  # not everybody may
        os.nice(-10)


@contextmanager
def busy(processes: int = 1) -> Iterator[None]:
    """So many processes that compute all the time, the first on the last processor."""
    processors = sorted(os.sched_getaffinity(0))
    running: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(processes):
            process = subprocess.Popen([sys.executable, "-c", BUSY], process_group=0)  # Ctrl-C is not for it
            running.append(process)
            os.sched_setaffinity(process.pid, {processors[-1 - number % len(processors)]})
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
