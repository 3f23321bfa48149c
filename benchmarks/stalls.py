"""Who pays when the server stands still? Stalls of half a second, in every time control, of every kind.

    uv run python benchmarks/stalls.py --seconds 10

Bots answer after 50 ms, by clocks that one stall charged to them would overrun. All must play to the end, and be
charged their own time only. Beside them slow bots must lose in every mode, stalls or not. Exit code 1 if not. Who was
late by its own clock, since this machine did not let it run, is counted apart: it lost rightly. Exit code 2 if no move
met a stall, or no slow bot got to play its match in some mode.

The kinds of stall are those of ``fleet/stalling.py``, and ``stopped``: the whole process gets no processor for a while.
"""

from __future__ import annotations

import argparse
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

import trio
from fleet import stalling
from fleet.arguments import count, duration, reader
from fleet.crew import Noted, Played, after, play_both, timed_out
from fleet.figures import machine, spread
from fleet.host import Host
from fleet.line import Line
from fleet.load import undisturbed
from fleet.scripts import Script, small_scripts
from fleet.server import PLAIN, ServerProcess
from fleet.verdict import Verdict, ended, too_few

from triarena.protocol.values import Budget, PerMove, TimeControl, Unlimited

KINDS = (*stalling.KINDS, "stopped")
TOLERANCE_MS = 10.0
"""What may be charged beyond the bot's own time: a rounding, a busy machine, but never a stall."""

STALLED_MS = 200.0
"""A move that waited so long for its ``moved`` went through a stall."""
SLOW_ATTEMPTS = 5
"""How often a slow bot may play again because its opponent did not get to run in time."""
PLIES = range(20, 60)
"""Shorter matches leave the slow ones no time to lose, longer ones would need a longer budget."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A time control, and an answer that overruns it."""

    name: str
    control: TimeControl
    slow: float | None
    """Seconds; None where nothing is too slow."""


MODES = (
    Mode("per move", PerMove(move_ms=300), 0.4),
    Mode("with a strike", PerMove(move_ms=300, strikes=1, hard_ms=450), 0.4),
    Mode("budget", Budget(budget_ms=2000), 0.3),
    Mode("increment", Budget(budget_ms=400, increment_ms=60), 0.3),
    Mode("unlimited", Unlimited(), None),
)
UNTIMED = frozenset(mode.name for mode in MODES if mode.slow is None)


@dataclass(slots=True)
class Tally:
    """What the bots of one mode noted."""

    notes: list[Noted] = field(default_factory=list)
    matches: int = 0
    wrong: list[str] = field(default_factory=list)
    late: int = 0
    """Matches lost by bots that were late by their own clocks."""
    slow_lost: int = 0

    def add(self, script: Script, ends: tuple[Played, Played], control: TimeControl) -> None:
        """A match of bots that were in time, if this machine let them."""
        self.matches += 1
        self.notes.extend(note for played in ends for note in played.notes)
        if (loser := timed_out(ends)) is not None and loser.was_late(control):
            self.late += 1
            return
        for played in ends:
            if played.over is not None and played.reason != script.reason:
                self.wrong.append(f"{played.side} was told: {played.over['result']['detail']['message']}")

    def add_slow(self, ends: tuple[Played, Played], control: TimeControl) -> bool:
        """A match that red should have lost on time; False if blue did before, rightly."""
        loser = timed_out(ends)
        if loser is not None and loser.side == "blue" and loser.was_late(control):
            self.late += 1
            return False
        for played in ends:
            result = {} if played.over is None else played.over["result"]
            if (result.get("reason"), result.get("winner")) != ("timeout", "blue"):
                self.wrong.append(f"a slow bot did not lose, {played.side} was told: {result}")
        self.slow_lost += 1
        return True


async def play(
    server: ServerProcess, host: Host, mode: Mode, script: Script, seconds: tuple[float, float]
) -> tuple[Played, Played]:
    """One match between bots that answer after so many seconds: red's and blue's records."""
    lines = [await Line.open(server.port) for _ in range(2)]
    codes = await host.prepare(script, mode.control.model_dump(exclude_none=True))
    ends = await play_both(lines, codes, script, [after(answer) for answer in seconds])
    for line in lines:
        await line.aclose()
    return ends


async def table(
    server: ServerProcess, host: Host, mode: Mode, scripts: Iterator[Script], end: float, tally: Tally
) -> None:
    """A slow bot's match, then matches of bots that are in time, at least one and until the time is over."""
    if mode.slow is not None:
        for _ in range(SLOW_ATTEMPTS):
            if tally.add_slow(await play(server, host, mode, next(scripts), (mode.slow, 0.02)), mode.control):
                break
    while True:
        script = next(scripts)
        tally.add(script, await play(server, host, mode, script, (0.05, 0.05)), mode.control)
        if trio.current_time() >= end:
            return


async def stop_and_go(server: ServerProcess, every: float, seconds: float) -> None:
    """Take the processor away from the server, again and again."""
    try:
        while True:
            await trio.sleep(every)
            server.signal(signal.SIGSTOP)
            await trio.sleep(seconds)
            server.signal(signal.SIGCONT)
    finally:
        server.signal(signal.SIGCONT)


async def measure(server: ServerProcess, kind: str, options: argparse.Namespace) -> dict[str, Tally]:
    """All modes at once, through one kind of stall."""
    tallies = {mode.name: Tally() for mode in MODES}
    scripts = cycle(small_scripts(60, PLIES))
    host = await Host.of(server)
    end = trio.current_time() + options.seconds
    async with trio.open_nursery() as disturbance:
        if kind == "stopped":
            disturbance.start_soon(stop_and_go, server, options.every, options.stall)
        async with trio.open_nursery() as matches:
            for mode in MODES:
                for _ in range(options.matches):
                    matches.start_soon(table, server, host, mode, scripts, end, tallies[mode.name])
        disturbance.cancel_scope.cancel()
    return tallies


def report(kind: str, tallies: dict[str, Tally]) -> Verdict:
    """Prints the figures of one kind of stall."""
    verdicts = []
    for mode, tally in tallies.items():
        over = [note.charged - note.true for note in tally.notes]
        hit = sum(note.waited > STALLED_MS for note in tally.notes)
        slow = f"{tally.slow_lost} slow ones lost" if tally.slow_lost else "nobody is too slow"
        late = f"; {tally.late} lost that were late by their own clocks" if tally.late else ""
        print(
            f"{kind:8} {mode:14} {tally.matches:3} matches, {len(over):5} moves, {hit:4} through a stall; {slow}{late}"
        )
        print(f"{'':23} charged minus true {spread(over)}")
        for sentence in tally.wrong[:5]:
            print(f"WRONG: {sentence}")
        overcharged = max(over, default=0.0) > TOLERANCE_MS
        if overcharged:
            print(f"WRONG: {max(over):.0f} ms were charged that were not the bot's")
        enough = hit > 0 and (tally.slow_lost > 0 or mode in UNTIMED)
        if not enough:
            too_few("no move went through a stall, or no slow bot played its match; give --seconds more")
        verdicts.append(Verdict.of(broken=bool(tally.wrong) or overcharged, enough=enough))
    return Verdict.worst(verdicts)


def main() -> int:
    """Runs every kind of stall against a server of its own."""
    parser = reader(__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--seconds", type=duration, default=10.0, help="for each kind; matches under way are finished")
    parser.add_argument("--matches", type=count, default=4, help="at once, in each time control")
    parser.add_argument("--stall", type=duration, default=0.5, help="seconds of one stall")
    parser.add_argument("--every", type=duration, default=0.7, help="seconds between two stalls")
    options = parser.parse_args()
    verdicts = []
    for kind in options.kinds:
        program = PLAIN if kind == "stopped" else (stalling.__file__, kind, str(options.every), str(options.stall))
        with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder), program=program) as server:
            undisturbed()
            verdicts.append(report(kind, trio.run(partial(measure, server, kind, options))))
    print(machine())
    return Verdict.worst(verdicts)


if __name__ == "__main__":
    ended(main)
