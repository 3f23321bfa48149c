"""How long a move waits for the journal: one writer alone, and many at once.

    uv run python benchmarks/journal_latency.py [URL]

The database is a SQLite file in a temporary folder unless a URL is given.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime

import trio

from triarena.server.journal import Journal, MatchOpened, PlyPlayed, open_journal

PLIES = 2000
MATCHES_AT_ONCE = 200
AT = datetime(2031, 5, 4, tzinfo=UTC)


async def play(journal: Journal, match: str, plies: int, micros: list[float]) -> None:
    """Writes a match's opening and plies, and notes the microseconds that each ply waited."""
    await journal.write(MatchOpened(match, "room", "flowerwars", 1, {"size": 8}, 7, {}, "a", "b", {}, AT))
    move = {"type": "plant", "flowers": [[[1, 2], [1, 3], [2, 3]], [[4, 5], [5, 5], [6, 5]]]}
    for ply in range(plies):
        started = time.perf_counter_ns()
        await journal.write(PlyPlayed(match, ply, "red", move, "A2 A3 B3, D5 E5 F5", 12.5, AT))
        micros.append((time.perf_counter_ns() - started) / 1000)


def report(title: str, micros: list[float], seconds: float) -> None:
    """Prints one line of figures."""
    cuts = statistics.quantiles(micros, n=100)
    print(
        f"{title:<28} median {cuts[49]:6.0f} µs   p90 {cuts[89]:6.0f} µs   p99 {cuts[98]:6.0f} µs"
        f"   worst {max(micros):7.0f} µs   {len(micros) / seconds:6.0f} plies/s"
    )


async def main(url: str) -> None:
    """Measures a lone writer, then many matches at once."""
    run = datetime.now(UTC).isoformat()
    async with open_journal(url) as journal:
        for title, matches in (("one match", 1), (f"{MATCHES_AT_ONCE} matches at once", MATCHES_AT_ONCE)):
            micros: list[float] = []
            started = time.perf_counter()
            async with trio.open_nursery() as nursery:
                for number in range(matches):
                    nursery.start_soon(play, journal, f"{run}-{matches}-{number}", PLIES // min(matches, 40), micros)
            report(title, micros, time.perf_counter() - started)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        trio.run(main, sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            trio.run(main, f"sqlite:///{folder}/journal.sqlite3")
