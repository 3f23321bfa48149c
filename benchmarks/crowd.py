"""What do many connections cost, and does memory grow? Idle clients in thousands, then matches in thousands.

    uv run python benchmarks/crowd.py --idle 2000 --matches 10000

First idle clients connect, which do nothing but answer pings; 50 matches beside them must play to their ends. Then
matches are played one after another through a server, whose resident memory after all of them must be that after a
tenth of them, within 5 %. Exit code 1 if not, or if an idle connection costs more than 12 kB; 2 if there were too few
connections or matches to tell.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

import trio
from fleet.arguments import count, count_or_none, reader
from fleet.crew import after, play_both
from fleet.figures import machine, spread
from fleet.host import Host
from fleet.line import Line
from fleet.load import undisturbed
from fleet.scripts import Script, script, small_scripts
from fleet.server import ServerProcess
from fleet.verdict import Verdict, ended, too_few

BAR_KB = 12.0
"""What an idle connection may cost."""
GROWTH = 0.05
"""By which share memory may differ after ten times as many matches."""
ENOUGH_IDLE = 500
"""With fewer of them what the server itself takes meanwhile hides what they cost."""
DIALLING = 32
"""How many connect at the same time."""
SETTLING_SECONDS = 2.0
QUICK = after(0.005)
TINY: Sequence[tuple[str, Mapping[str, int | str], int]] = (
    ("flowerwars", {"size": 4}, 1),
    ("towerwars", {"size": 4}, 6),
    ("mississippi_queen", {}, 4),
)
"""Matches of few plies, of all games: with their seeds."""


@dataclass(slots=True)
class Tally:
    """What the bots saw."""

    matches: int = 0
    waited: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    hung_up: int = 0
    """How many idle connections the server closed."""


async def table(port: int, host: Host, scripts: Iterator[Script], matches: int, tally: Tally) -> None:
    """Two bots that stay connected and play so many matches in all, together with the other tables."""
    lines = [await Line.open(port) for _ in range(2)]
    while tally.matches < matches:
        tally.matches += 1
        script = next(scripts)
        ends = await play_both(lines, await host.prepare(script), script, (QUICK, QUICK))
        tally.waited.extend(note.waited for played in ends for note in played.notes)
        tally.wrong.extend(f"{p.side} saw {p.reason}, not {script.reason}" for p in ends if p.reason != script.reason)
    for line in lines:
        await line.aclose()


async def idle(port: int, many: int, dialling: trio.CapacityLimiter, connected: trio.Semaphore, tally: Tally) -> None:
    """Connect so many clients that only answer pings."""

    async def one() -> None:
        async with dialling:
            line = await Line.open(port)
        connected.release()
        await line.hear_all()
        tally.hung_up += 1

    async with trio.open_nursery() as nursery:
        for _ in range(many):
            nursery.start_soon(one)


async def crowd(server: ServerProcess, options: argparse.Namespace) -> Verdict:
    """Idle connections, and matches beside them. Prints the figures."""
    scripts, host = cycle(small_scripts(12)), await Host.of(server)
    alone, beside = Tally(), Tally()
    async with trio.open_nursery() as nursery:
        for _ in range(options.tables):
            nursery.start_soon(table, server.port, host, scripts, options.tables, alone)
    before = server.resident_kb()
    async with trio.open_nursery() as crowd_:
        connected = trio.Semaphore(0)
        crowd_.start_soon(idle, server.port, options.idle, trio.CapacityLimiter(DIALLING), connected, beside)
        for _ in range(options.idle):
            await connected.acquire()
        await trio.sleep(SETTLING_SECONDS)
        each = (server.resident_kb() - before) / options.idle
        async with trio.open_nursery() as nursery:
            for _ in range(options.tables):
                nursery.start_soon(table, server.port, host, scripts, options.tables, beside)
        crowd_.cancel_scope.cancel()
    print(f"idle connections      {options.idle}, {beside.hung_up} of them closed by the server")
    print(f"memory of each        {each:.1f} kB (bar: {BAR_KB:g} kB)")
    print(f"matches beside them   {beside.matches} at once, {len(beside.wrong)} with a wrong end")
    print(f"overhead of a move    {spread(beside.waited)}")
    print(f"  without the crowd   {spread(alone.waited)}")
    for sentence in (*alone.wrong, *beside.wrong)[:5]:
        print(f"WRONG: {sentence}")
    enough = options.idle >= ENOUGH_IDLE
    if not enough:
        too_few(f"what a connection costs shows with {ENOUGH_IDLE} of them and more (--idle)")
    heavy = enough and each > BAR_KB
    return Verdict.of(broken=bool(heavy or alone.wrong or beside.wrong or beside.hung_up), enough=enough)


async def endurance(server: ServerProcess, options: argparse.Namespace) -> Verdict:
    """Many matches, and the memory that they leave behind. Prints the figures."""
    scripts = cycle([script(game, rules, seed) for game, rules, seed in TINY])
    host, tally = await Host.of(server), Tally()
    memory = []
    began = time.monotonic()
    for matches in (options.matches // 10, options.matches):
        async with trio.open_nursery() as nursery:
            for _ in range(options.tables):
                nursery.start_soon(table, server.port, host, scripts, matches, tally)
        await trio.sleep(SETTLING_SECONDS)
        memory.append(server.resident_kb())
        tally.waited.clear()
    growth, took = memory[1] / memory[0] - 1, time.monotonic() - began
    print(f"matches               {tally.matches} in {took:.0f} s, {len(tally.wrong)} with a wrong end")
    print(f"memory after a tenth  {memory[0]} kB")
    print(f"memory after all      {memory[1]} kB ({growth:+.1%}; bar: {GROWTH:.0%})")
    for sentence in tally.wrong[:5]:
        print(f"WRONG: {sentence}")
    enough = options.matches >= 10 * options.rooms
    if not enough:
        too_few(
            f"a tenth of the matches (--matches) must fill the {options.rooms} rooms that the server keeps (--rooms)"
        )
    return Verdict.of(broken=bool(tally.wrong) or (enough and abs(growth) > GROWTH), enough=enough)


def main() -> int:
    """Runs both parts, each against a server of its own."""
    parser = reader(__doc__)
    parser.add_argument(
        "--idle", type=count_or_none, default=2000, help="connections that do nothing; 0: leave them out"
    )
    parser.add_argument("--tables", type=count, default=50, help="matches at once")
    parser.add_argument("--matches", type=count_or_none, default=10_000, help="for the second part; 0: leave it out")
    parser.add_argument("--rooms", type=count, default=500, help="how many the server keeps, over or not")
    options = parser.parse_args()
    if options.rooms < options.tables:
        parser.error(f"--tables {options.tables} need as many rooms, and --rooms allows {options.rooms}")
    room_for_all = options.idle + 4 * options.tables + 16
    settings = {
        "limits.connections": room_for_all,
        "limits.connections_per_address": room_for_all,
        "limits.rooms": options.rooms,
        "limits.rooms_per_connection": 1,  # with any number of rooms
        "limits.prepared_rooms": options.rooms,
        "server.log_level": "warning",
        "clock.move_seconds": 30,
    }
    verdicts = []
    for part, wanted in ((crowd, options.idle), (endurance, options.matches)):
        if wanted:
            with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder), settings) as server:
                undisturbed()
                verdicts.append(trio.run(partial(part, server, options)))
    print(machine())
    return Verdict.worst(verdicts)


if __name__ == "__main__":
    ended(main)
