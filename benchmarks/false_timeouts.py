"""Does anybody lose on time who was in time? Many bots that answer shortly before their limit, under load.

    uv run python benchmarks/false_timeouts.py --seconds 20

Bots note by their own clocks what they took, from receiving ``your_turn`` to having sent the move; the server says in
``moved`` what it charged. The margin for the network is 0, so nothing hides behind it. A bot that was late by its own
clock, since this machine did not let it run, is counted apart: it lost rightly. Exit code 1 if anybody lost wrongly, 2
if no match has ended.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

import trio
from fleet.arguments import count, count_or_none, duration, duration_or_none, reader
from fleet.crew import Played, after, play_both, timed_out
from fleet.figures import machine, spread
from fleet.host import Host
from fleet.line import Line
from fleet.load import busy, undisturbed
from fleet.scripts import Script, small_scripts
from fleet.server import ServerProcess
from fleet.verdict import Verdict, ended, too_few

from triarena.protocol.values import PerMove


@dataclass(slots=True)
class Tally:
    """What all bots noted."""

    control: PerMove
    matches: int = 0
    moves: int = 0
    true: list[float] = field(default_factory=list)
    difference: list[float] = field(default_factory=list)
    """Charged minus true."""
    false: list[str] = field(default_factory=list)
    """Forfeits of bots that were in time."""
    late: int = 0
    """Forfeits of bots that were late by their own clocks."""
    others: list[str] = field(default_factory=list)
    """Ends that have nothing to do with time, and should not have happened."""

    def add(self, script: Script, red: Played, blue: Played) -> None:
        """A match has ended."""
        self.matches += 1
        for played in (red, blue):
            self.moves += len(played.notes)
            self.true.extend(note.true for note in played.notes)
            self.difference.extend(note.charged - note.true for note in played.notes)
        if (loser := timed_out((red, blue))) is not None and loser.over is not None:
            if loser.was_late(self.control):
                self.late += 1
            else:
                sentence = loser.over["result"]["detail"]["message"]
                self.false.append(f"{sentence}; by its own clock the bot took {loser.unanswered} ms")
        elif red.reason != script.reason:
            self.others.append(f"{red.reason} instead of {script.reason}")


async def table(server: ServerProcess, host: Host, scripts: Iterator[Script], spare: float, tally: Tally) -> None:
    """Two bots that play one match after the other, until they are cancelled."""
    control = tally.control.model_dump(exclude_none=True)
    think = after((tally.control.move_ms - spare) / 1000)
    lines = [await Line.open(server.port) for _ in range(2)]
    while True:
        script = next(scripts)
        codes = await host.prepare(script, control)
        tally.add(script, *await play_both(lines, codes, script, (think, think)))


async def measure(server: ServerProcess, options: argparse.Namespace) -> Tally:
    """All tables at once, for the time given."""
    tally = Tally(PerMove(move_ms=options.limit_ms))
    scripts = cycle(small_scripts(12))  # before anybody's clock runs
    host = await Host.of(server)
    with trio.move_on_after(options.seconds):
        async with trio.open_nursery() as nursery:
            for _ in range(options.matches):
                nursery.start_soon(table, server, host, scripts, options.spare_ms, tally)
    return tally


def main() -> int:
    """Runs the measurement and prints it."""
    parser = reader(__doc__)
    parser.add_argument("--seconds", type=duration, default=20.0)
    parser.add_argument("--matches", type=count, default=40, help="at once")
    parser.add_argument("--limit-ms", type=duration, default=100.0)
    parser.add_argument("--spare-ms", type=duration_or_none, default=50.0, help="how long before the limit bots answer")
    parser.add_argument("--load", type=count_or_none, default=1, help="processes that compute meanwhile; 0: none")
    options = parser.parse_args()
    if options.spare_ms > options.limit_ms:
        parser.error("bots can't answer earlier than at once: --spare-ms must be --limit-ms or less")
    with tempfile.TemporaryDirectory() as folder, busy(options.load), ServerProcess(Path(folder)) as server:
        undisturbed()
        began = time.monotonic()
        tally = trio.run(partial(measure, server, options))
        took = time.monotonic() - began
    print(f"{machine()}; {options.load} computing processes beside")
    print(
        f"{options.matches} matches at once, limit {options.limit_ms:g} ms, margin 0, answers after "
        f"{options.limit_ms - options.spare_ms:g} ms, for {took:.0f} s"
    )
    print(f"matches ended      {tally.matches}")
    print(f"moves              {tally.moves} ({tally.moves / took:.0f} a second)")
    print(f"false time-outs    {len(tally.false)}")
    print(f"late by own clock  {tally.late}")
    print(f"true times         {spread(tally.true)}")
    print(f"charged minus true {spread(tally.difference)}")
    for sentence in (*tally.false[:10], *tally.others[:10]):
        print(f"WRONG: {sentence}")
    if not tally.matches:
        too_few("no match has ended; give --seconds more")
    return Verdict.of(broken=bool(tally.false or tally.others), enough=bool(tally.matches))


if __name__ == "__main__":
    ended(main)
