"""A server whose loop is watched: ``python probed.py FILE serve ...``.

Five milliseconds at a time a task of the server's own loop sleeps, and notes how much later than it should it went on.
When the server stops, FILE has a line for each: when that was (the monotonic clock), and by how many milliseconds.
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

    def __init__(self) -> None:
        self.late: list[tuple[float, float]] = []
        self._passes = 0

    def after_io_wait(self, timeout: float) -> None:
        """The loop runs; in its first pass it can't take tasks of others yet."""
        self._passes += 1
        if self._passes == 2:
            trio.lowlevel.spawn_system_task(self._watch)

    async def _watch(self) -> None:
        while True:
            due = trio.current_time() + EVERY
            await trio.sleep_until(due)
            self.late.append((time.monotonic(), (trio.current_time() - due) * 1000))


def main() -> None:
    """Run the server as its command would, and write down what was noted."""
    file = Path(sys.argv.pop(1))
    probe = Probe()
    vars(trio)["run"] = partial(trio.run, instruments=[probe])
    from triarena.cli import main as command_line

    try:
        command_line()
    finally:
        file.write_text("".join(f"{at} {late}\n" for at, late in probe.late), encoding="ascii")


if __name__ == "__main__":
    main()
