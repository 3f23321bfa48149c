"""A server that stands still now and then: ``python stalling.py KIND EVERY SECONDS serve ...``.

The product has no hook for this; its event loop is held from outside, by a trio instrument or by a second thread:

* ``loop``: a task computes for too long. Bytes that come meanwhile are found when it is done.
* ``read``: as ``loop``, but exactly between the moment when the loop has seen bytes and the moment when they are read.
* ``thread``: another thread keeps the interpreter's lock, so that not even the look for input comes back.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from functools import partial

import trio

KINDS = ("loop", "read", "thread")


class Stall(trio.abc.Instrument):
    """Holds the loop before a step of a task, again and again."""

    def __init__(self, task: str, every: float, seconds: float) -> None:
        self._task, self._every, self._seconds = task, every, seconds
        self._next = time.monotonic() + every

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Stand still if it is time and the right task is about to run."""
        if time.monotonic() >= self._next and self._task in task.name:
            time.sleep(self._seconds)
            self._next = time.monotonic() + self._every


def hold_the_lock(every: float, seconds: float) -> None:
    """For ever: keep the interpreter's lock for a while, then leave it alone for a while."""
    sleep = ctypes.PyDLL(None).usleep  # unlike CDLL, PyDLL does not give the lock away
    while True:
        time.sleep(every)
        sleep(int(seconds * 1e6))


def main() -> None:
    """Make the server stall, then run it as its command would."""
    kind, every, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    sys.argv[1:4] = []
    if kind == "thread":
        threading.Thread(target=hold_the_lock, args=(every, seconds), daemon=True).start()
    else:
        stall = Stall("Connection._read" if kind == "read" else "", every, seconds)
        vars(trio)["run"] = partial(trio.run, instruments=[stall])
    from triarena.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
