"""How fast is the referee? Beside a bare relay, which is what the event loop and the network allow.

    uv run python benchmarks/referee.py
    uv run python benchmarks/referee.py --short     # proves that it works; its figures mean nothing

A server with its journal on, and bots that answer at once, as processes over the loopback; in turns with it, between
the same bots, a relay of a few lines (``speed/relay.py``) that hands on frames of the same sizes and knows neither
types nor rules nor a journal. What the server takes for a ply is measured from outside: from the first byte of a move
out to the last byte in of the turn that follows, by the system's own stamp. Needs Linux and a quiet machine. Exit code
1 if a bar is missed; other numbers of matches at once than 1, 10 and 100 have none.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from fleet.arguments import at_least, new_file, reader
from fleet.figures import leave, machine, percentile
from fleet.scripts import Script, script
from fleet.server import ServerProcess
from fleet.verdict import ended
from speed.arena import HERE, Figures, lag_while, relay, round_at_the_relay, round_at_the_server
from speed.bars import Bar, judged, table

Matches: TypeAlias = Sequence[tuple[str, Mapping[str, int | str], int]]
"""Each with its seed."""

LONG: Final[Matches] = (("mississippi_queen", {}, 20), ("flowerwars", {}, 0), ("towerwars", {}, 3))
TINY: Final[Matches] = (
    ("mississippi_queen", {}, 4),
    ("flowerwars", {"size": 4}, 1),
    ("towerwars", {"size": 4}, 6),
)
SETTINGS: Final = {
    "limits.connections": 4000,
    "limits.connections_per_address": 4000,
    "limits.rooms": 4000,
    "limits.prepared_rooms": 4000,
}
"""Those that a crowd from one address needs; else all is as it comes."""
at_once: Final = at_least(
    1,
    SETTINGS["limits.connections"] // 2 - 1,
    f"a match takes two of the {SETTINGS['limits.connections']} connections that the server measured here takes",
)
"""Reads a number of matches, and leaves a connection to who prepares them."""
THINKING: Final = 0.05
HEADINGS: Final = [
    "game, matches at once",
    *("p50 ms", "p99 ms", "plies/s", "CPU ms/ply", "relay p50", "p99", "plies/s", "CPU"),
    *("p50 ratio", "pace ratio", "memory MB"),
]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is played."""

    matches: Sequence[int]
    """At once."""
    plies: int
    """In all, at least, for each figure."""
    crowd: int
    """So many matches of bots that think, and so many observers."""
    looks: int
    """How often, at least, it is noted how late the loop is: one of a hundred decides."""


FULL: Final = Effort(matches=(1, 10, 100), plies=3000, crowd=100, looks=3000)
SHORT: Final = Effort(matches=(1, 3), plies=1, crowd=3, looks=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """The server's figures and the relay's, of the same rounds."""

    server: Figures
    relay: Figures
    memory_kb: int
    """What the server has resident after them."""

    @property
    def p50(self) -> float:
        """The server's median beside the relay's."""
        return self.server.p50 / self.relay.p50

    @property
    def pace(self) -> float:
        """The server's plies per second beside the relay's."""
        return self.server.pace / self.relay.pace

    def cells(self) -> list[str]:
        """Its part of the table."""
        ours = [
            f"{figures.p50:.3f} {figures.p99:.3f} {figures.pace:.0f} {figures.cpu_ms:.3f}".split()
            for figures in (self.server, self.relay)
        ]
        return [*ours[0], *ours[1], f"{self.p50:.2f}", f"{self.pace:.2f}", f"{self.memory_kb / 1024:.0f}"]


def beside_the_relay(match: Script, matches: int, effort: Effort) -> Pair:
    """Rounds of so many matches at once, in turns at a server of its own and at a relay."""
    ours, bare = Figures(), Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ServerProcess(folder, SETTINGS) as server, relay(folder) as (port, pid):
            while ours.plies < effort.plies:
                shape = round_at_the_server(server, match, matches, ours)
                round_at_the_relay(port, pid, shape, matches, bare)
            return Pair(ours, bare, server.resident_kb())


def loop_lag(match: Script, effort: Effort) -> list[float]:
    """Milliseconds by which a task of the server went on too late, while many matches of thinking bots were played."""
    late: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        notes = Path(name) / "late"
        program = (str(HERE / "probed.py"), str(notes))
        with ServerProcess(Path(name), SETTINGS, program=program) as server:
            play = partial(round_at_the_server, server, match, effort.crowd, think=THINKING)
            while len(late) < effort.looks:
                late += lag_while(notes, play)
    return late


def watched(match: Script, effort: Effort) -> tuple[Figures, Figures]:
    """One match that nobody watches, and one that many do, in turns at the same server."""
    alone, many = Figures(), Figures()
    with tempfile.TemporaryDirectory() as name, ServerProcess(Path(name), SETTINGS) as server:
        while alone.plies < effort.plies / 2:  # medians alone are compared
            round_at_the_server(server, match, 1, alone)
            round_at_the_server(server, match, 1, many, observers=effort.crowd)
    return alone, many


def lag_table(late: Mapping[str, Sequence[float]], effort: Effort) -> str:
    """How late the loop was."""
    cells = [[name, f"{percentile(ms, 0.5):.2f}", f"{percentile(ms, 0.99):.2f}"] for name, ms in late.items()]
    return table([f"loop lag, {effort.crowd} matches of bots that think 50 ms", "p50 ms", "p99 ms"], cells)


def crowd_table(crowds: Mapping[str, tuple[Figures, Figures]], effort: Effort) -> str:
    """What observers cost."""
    cells = [
        [name, *(f"{figures.p50:.3f} {figures.p99:.3f} {figures.cpu_ms:.3f}" for figures in both)]
        for name, both in crowds.items()
    ]
    return table(["p50 ms, p99 ms, CPU ms/ply", "nobody watches", f"{effort.crowd} observers"], cells)


def bars(
    pairs: Mapping[tuple[str, int], Pair],
    late: Mapping[str, Sequence[float]],
    crowds: Mapping[str, tuple[Figures, Figures]],
) -> Iterator[Bar]:
    """Everything that is asked for, of what was measured."""
    for (name, matches), pair in pairs.items():
        if matches == 1:
            yield Bar(f"{name}, 1 match: p50", pair.server.p50, "ms", pair.relay.p50, 4, 4, at_most=True)
        if matches == 10:
            yield Bar(f"{name}, 10 matches: plies/s", pair.server.pace, "/s", pair.relay.pace, 0.4, 0.4)
        if name == "mississippi_queen" and matches in FULL.matches:
            yield Bar(f"{name}, {matches} at once: CPU", pair.server.cpu_ms, "ms/ply", None, 0.4, 0.4, at_most=True)
    for name, milliseconds in late.items():
        p99 = percentile(milliseconds, 0.99)
        yield Bar(f"{name}, a crowd of thinkers: p99 of the lag", p99, "ms", None, 5, 5, at_most=True)
    for name, (alone, many) in crowds.items():
        yield Bar(f"{name}, watched by a crowd: p50", many.p50, "ms", alone.p50, 1.5, 1.5, at_most=True)


def main() -> int:
    """Measures and prints; the exit code."""
    parser = reader(__doc__)
    parser.add_argument("--short", action="store_true", help="prove that it works, in a minute, and judge nothing")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="leave the figures there, as JSON")
    parser.add_argument("--game", choices=[name for name, *_ in LONG], help="play only this one (all three)")
    parser.add_argument("--only-pace", action="store_true", help="leave out the loop's lag and the observers")
    parser.add_argument(
        "--matches", type=at_once, nargs="+", help="play so many at once, one number after another (1 10 100)"
    )
    arguments = parser.parse_args()
    effort = SHORT if arguments.short else FULL
    games = TINY if arguments.short else LONG
    scripts = {name: script(name, options, seed) for name, options, seed in games if arguments.game in (None, name)}

    pairs = {}
    for name, match in scripts.items():
        for matches in arguments.matches or effort.matches:
            pairs[name, matches] = beside_the_relay(match, matches, effort)
            print(f"{name}, {matches} at once: done", file=sys.stderr, flush=True)
    print(table(HEADINGS, [[f"{name}, {n}", *pair.cells()] for (name, n), pair in pairs.items()]), "\n")

    watched_too = {} if arguments.only_pace else scripts
    late = {name: loop_lag(match, effort) for name, match in watched_too.items()}
    crowds = {name: watched(match, effort) for name, match in watched_too.items()}
    if watched_too:
        print(lag_table(late, effort), "\n")
        print(crowd_table(crowds, effort), "\n")

    found = list(bars(pairs, late, crowds))
    verdicts, good = judged(found, meant=not arguments.short)
    if found:
        print(verdicts, "\n")
    print(machine(short=arguments.short))
    figures = [
        {"game": name, "matches": n, "p50": p.server.p50, "pace": p.server.pace, "cpu_ms": p.server.cpu_ms}
        for (name, n), p in pairs.items()
    ]
    plain = [bar.plain(meant=not arguments.short) for bar in found]
    leave({"short": arguments.short, "pace": figures, "bars": plain}, arguments.json)
    return 0 if good else 1


if __name__ == "__main__":
    ended(main)
