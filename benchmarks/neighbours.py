"""Matches that go on and on beside whatever else happens, and tell what their moves waited.

    python benchmarks/neighbours.py PORT FOLDER

Plays until its input ends. For each number that it reads there it answers, once it has seen so many more moves, with
a line of JSON: the moves, and the median and 99th percentile of what they waited for ``moved``, in milliseconds. Used
by the zoo of the tests, in a process of its own so that nothing but the server is shared.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from itertools import cycle
from math import inf
from pathlib import Path

import trio
from fleet.arguments import count, reader
from fleet.crew import after, play_both
from fleet.figures import percentile
from fleet.host import Host
from fleet.line import Line
from fleet.load import undisturbed
from fleet.scripts import small_scripts
from fleet.server import ServerProcess

TABLES = 4
ANSWER = after(0.01)


async def table(server: ServerProcess, host: Host, number: int, notes: trio.MemorySendChannel[list[float]]) -> None:
    """One match after the other. A match that does not end as it should ends all, with an error."""
    lines = [await Line.open(server.port) for _ in range(2)]
    for script in cycle(small_scripts(6)[number:]):
        for played in await play_both(lines, await host.prepare(script), script, (ANSWER, ANSWER)):
            if played.reason != script.reason:
                raise RuntimeError(f"a match beside ended with {played.over}, not by {script.reason}")
            notes.send_nowait([note.waited for note in played.notes])


async def measure(moves: int, notes: trio.MemoryReceiveChannel[list[float]]) -> list[float]:
    """What so many moves from now on waited."""
    with suppress(trio.WouldBlock):
        while True:
            notes.receive_nowait()
    waited: list[float] = []
    while len(waited) < moves:
        waited.extend(await notes.receive())
    return waited


async def main() -> None:
    """Play, and answer."""
    parser = reader(__doc__)
    parser.add_argument("port", metavar="PORT", type=count, help="of a server that runs here")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="of its data, with the administrator's secret")
    options = parser.parse_args()
    server = ServerProcess(options.folder)
    server.port = options.port
    host = await Host.of(server)
    undisturbed()
    put, get = trio.open_memory_channel[list[float]](inf)
    async with trio.open_nursery() as nursery:
        for number in range(TABLES):
            nursery.start_soon(table, server, host, number, put)
        while line := await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
            waited = await measure(int(line), get)
            figures = {"moves": len(waited), "median": percentile(waited, 0.5), "p99": percentile(waited, 0.99)}
            print(json.dumps(figures), flush=True)
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main)
