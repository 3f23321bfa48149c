"""How long a move and the end of a match wait for the journal: one writer alone, and many at once.

In SQLite an end waits for the disk, a move does not; so the last lines tell what that costs matches of 40 plies.

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
from fleet.arguments import reader
from fleet.verdict import Verdict, ended

from triarena.server.journal import Journal, JournalError, MatchEnded, MatchOpened, PlyPlayed, open_journal

PLIES = 2000
MATCHES_AT_ONCE = 200
SHORT = 40
"""Plies of a match that is played to its end."""
AT = datetime(2031, 5, 4, tzinfo=UTC)


async def play(journal: Journal, match: str, plies: int, micros: list[float]) -> None:
    """Writes a match's opening and plies, and notes the microseconds that each ply waited."""
    await journal.write(MatchOpened(match, "room", "flowerwars", 1, {"size": 8}, 7, {}, "a", "b", {}, AT))
    move = {"type": "plant", "flowers": [[[1, 2], [1, 3], [2, 3]], [[4, 5], [5, 5], [6, 5]]]}
    for ply in range(plies):
        started = time.perf_counter_ns()
        await journal.write(PlyPlayed(match, ply, "red", move, "A2 A3 B3, D5 E5 F5", 12.5, AT))
        micros.append((time.perf_counter_ns() - started) / 1000)


async def play_matches(journal: Journal, name: str, matches: int, plies: list[float], ends: list[float]) -> None:
    """Plays short matches one after the other, and notes the microseconds that each ply and each end waited."""
    for number in range(matches):
        match = f"{name}-{number}"
        await play(journal, match, SHORT, plies)
        started = time.perf_counter_ns()
        await journal.write(MatchEnded(match, {"kind": "outcome"}, "outcome", "red", "points", AT, {"red": {}}))
        ends.append((time.perf_counter_ns() - started) / 1000)


def report(title: str, micros: list[float], seconds: float, what: str = "plies") -> None:
    """Prints one line of figures."""
    cuts = statistics.quantiles(micros, n=100)
    print(
        f"{title:<28} median {cuts[49]:6.0f} µs   p90 {cuts[89]:6.0f} µs   p99 {cuts[98]:6.0f} µs"
        f"   worst {max(micros):7.0f} µs   {len(micros) / seconds:6.0f} {what}/s"
    )


async def measure(url: str) -> None:
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
        for tables in (1, 40):
            plies: list[float] = []
            ends: list[float] = []
            started = time.perf_counter()
            async with trio.open_nursery() as nursery:
                for number in range(tables):
                    nursery.start_soon(play_matches, journal, f"{run}-{tables}-{number}", 400 // tables, plies, ends)
            seconds = time.perf_counter() - started
            report(f"{tables} to the end: a ply", plies, seconds)
            report(f"{tables} to the end: the end", ends, seconds, "matches")


def main() -> int:
    """Reads where the database is; the exit code."""
    parser = reader(__doc__)
    parser.add_argument("url", metavar="URL", nargs="?", help="of a database (default: a temporary SQLite file)")
    url = parser.parse_args().url
    try:
        with tempfile.TemporaryDirectory() as folder:
            trio.run(measure, url or f"sqlite:///{folder}/journal.sqlite3")
    except JournalError as error:
        print(error.message, file=sys.stderr)
        return Verdict.UNJUDGED
    return 0


if __name__ == "__main__":
    ended(main)
