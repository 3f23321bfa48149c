"""What do a referee's duties take by themselves? Between the bare relay and the server, duty by duty.

    uv run python benchmarks/floor.py
    uv run python benchmarks/floor.py --short     # proves that it works; its figures mean nothing

The relay of ``referee.py`` hands on every move at once. Here it takes on the referee's duties, one after another, with
our own libraries, and has nothing else: no rooms, no clocks, no connections that may get lost, no limits
(``speed/duties.py``). So the line with all duties is the least that a server which does them can take, and the rest of
the way to the server's own line is what else it is for. All are measured in turns, between the same bots: how long a
ply takes, and how late the loop is while a crowd of bots thinks.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from fleet.arguments import new_file, reader
from fleet.figures import leave, machine, percentile
from fleet.scripts import Script, script
from fleet.server import ServerProcess
from fleet.verdict import ended
from referee import FULL, LONG, SETTINGS, SHORT, THINKING, TINY, Effort
from speed.arena import HERE, Figures, lag_while, relay, round_at_the_relay, round_at_the_server
from speed.bars import table
from speed.duties import DUTIES

MATCHES: Final = (1, 10)
PLIES: Final = 1500
HEADINGS: Final = ["game, matches at once", "", "p50 ms", "ratio", "plies/s", "ratio", "CPU ms/ply"]
SERVER: Final = "the server"


def steps() -> list[tuple[str, ...]]:
    """From no duty to all of them."""
    return [DUTIES[:count] for count in range(len(DUTIES) + 1)]


def called(duties: tuple[str, ...]) -> str:
    """The line of a relay with these duties."""
    return f"+ {duties[-1]}" if duties else "bare relay"


def staircase(match: Script, matches: int, plies: int) -> dict[str, Figures]:
    """What each step takes, bare relay first, server last."""
    found = {called(duties): Figures() for duties in steps()}
    ours = Figures()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        server = stack.enter_context(ServerProcess(_folder(name, SERVER), SETTINGS))
        relays = {
            called(duties): stack.enter_context(relay(_folder(name, called(duties)), match if duties else None, duties))
            for duties in steps()
        }
        while ours.plies < plies:
            shape = round_at_the_server(server, match, matches, ours)
            for step, (port, pid) in relays.items():
                round_at_the_relay(port, pid, shape, matches, found[step])
    return {**found, SERVER: ours}


def lags(match: Script, effort: Effort) -> dict[str, list[float]]:
    """By how many milliseconds the loop of each step was late while a crowd of bots thought."""
    late: dict[str, list[float]] = {called(duties): [] for duties in steps()}
    ours: list[float] = []
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        notes = {step: _folder(name, step) / "late" for step in (*late, SERVER)}
        program = (str(HERE / "probed.py"), str(notes[SERVER]))
        server = stack.enter_context(ServerProcess(notes[SERVER].parent, SETTINGS, program=program))
        relays = {}
        for duties in steps():
            file = notes[called(duties)]
            process = relay(file.parent, match if duties else None, duties, file)
            relays[called(duties)] = stack.enter_context(process)
        shape = round_at_the_server(server, match, 1, Figures())
        at_the_server = partial(round_at_the_server, server, match, effort.crowd, think=THINKING)
        while len(ours) < effort.looks:
            ours += lag_while(notes[SERVER], at_the_server)
            for step, (port, pid) in relays.items():
                play = partial(round_at_the_relay, port, pid, shape, effort.crowd, think=THINKING)
                late[step] += lag_while(notes[step], play)
    return {**late, SERVER: ours}


def lag_table(late: Mapping[str, Mapping[str, Sequence[float]]], effort: Effort) -> str:
    """How late the loops were, by game and step."""
    headings = [f"loop lag, {effort.crowd} matches of bots that think 50 ms", "", "p50 ms", "p99 ms"]
    cells = [
        ["" if number else game, step, f"{percentile(ms, 0.5):.2f}", f"{percentile(ms, 0.99):.2f}"]
        for game, found in late.items()
        for number, (step, ms) in enumerate(found.items())
    ]
    return table(headings, cells)


def _folder(parent: str, name: str) -> Path:
    folder = Path(parent) / name.replace(" ", "-")
    folder.mkdir()
    return folder


def cells(first: str, found: dict[str, Figures]) -> list[list[str]]:
    """The lines of a table, with the ratios to the first."""
    bare = next(iter(found.values()))
    return [
        [
            first if figures is bare else "",
            step,
            f"{figures.p50:.3f}",
            f"{figures.p50 / bare.p50:.2f}",
            f"{figures.pace:.0f}",
            f"{figures.pace / bare.pace:.2f}",
            f"{figures.cpu_ms:.3f}",
        ]
        for step, figures in found.items()
    ]


def main() -> int:
    """Measures and prints; the exit code."""
    parser = reader(__doc__)
    parser.add_argument("--short", action="store_true", help="prove that it works, in a minute or two")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="leave the figures there, as JSON")
    parser.add_argument("--game", choices=[name for name, *_ in LONG], help="play only this one (all three)")
    options = parser.parse_args()
    effort = SHORT if options.short else FULL
    lines, figures, late = [], [], {}
    for name, settings, seed in TINY if options.short else LONG:
        if options.game not in (None, name):
            continue
        match = script(name, settings, seed)
        for matches in MATCHES[:1] if options.short else MATCHES:
            found = staircase(match, matches, 1 if options.short else PLIES)
            lines += cells(f"{name}, {matches}", found)
            figures += [
                {"game": name, "matches": matches, "step": step, "p50": one.p50, "pace": one.pace, "cpu_ms": one.cpu_ms}
                for step, one in found.items()
            ]
            print(f"{name}, {matches} at once: done", file=sys.stderr, flush=True)
        late[name] = lags(match, effort)
        print(f"{name}, lag: done", file=sys.stderr, flush=True)
    print(table(HEADINGS, lines), "\n")
    print(lag_table(late, effort), "\n")
    print(machine(short=options.short))
    leave(figures, options.json)
    return 0


if __name__ == "__main__":
    ended(main)
