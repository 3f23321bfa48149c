"""A loop that is watched: a server's, with ``python probed.py FILE serve ...``, or the relay's.

Five milliseconds at a time a task of the loop itself sleeps, and notes how much later than it should it went on. FILE
has a line for each: when that was (the monotonic clock), and by how many milliseconds.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import trio

EVERY = 0.005


class Probe(trio.abc.Instrument):
    """Starts the task as soon as the loop runs."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("w", encoding="ascii", buffering=1)
        self._passes = 0

    def after_io_wait(self, timeout: float) -> None:
        """The loop runs; in its first pass it can't take tasks of others yet."""
        self._passes += 1
        if self._passes == 2:
            trio.lowlevel.spawn_system_task(self._watch)

    async def _watch(self) -> None:
        with self._file:
            while True:
                due = trio.current_time() + EVERY
                await trio.sleep_until(due)
                late = (trio.current_time() - due) * 1000
                self._file.write(f"{time.monotonic()} {late}\n")


def main() -> None:
    """Run the server as its command would, and write down what is noted."""
    probe = Probe(Path(sys.argv.pop(1)))
    vars(trio)["run"] = partial(trio.run, instruments=[probe])
    from triarena.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
