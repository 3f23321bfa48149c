"""An evening of forty: what does a tournament cost besides its bots' thinking?

    uv run python benchmarks/forty_bots.py

Runs a double round robin of instant bots (40 of them play 1,560 matches) with ``triarena tournament run``, and prints
its wall time, the matches per minute, the share of time and of the processors spent outside the bots, and the memory
of the tool and of its server after a tenth of the matches, before the last one, and at the end, with all exports.
Exit code 1 if it did not play all its matches, if one was irregular, or if the memory of the tool or of its server grew
by more than ``GROWTH`` in between.
Needs Linux's ``/proc``.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fleet.arguments import at_least, count, reader
from fleet.figures import machine
from fleet.verdict import ended
from tournament_crashes import descendants

GROWTH = 0.10
LOOK_SECONDS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
ROLES = ("tool", "server", "bots", "guards")


@dataclass(slots=True)
class Usage:
    """What the processes of a tournament have used."""

    cpu: dict[int, tuple[str, float]] = field(default_factory=dict)
    """By process: its role and processor seconds."""
    memory: dict[str, int] = field(default_factory=dict)
    """By role, in bytes, at the latest look."""

    def look(self, tool: int) -> None:
        """Note what all of them have used so far."""
        memory = dict.fromkeys(ROLES, 0)
        for pid in {tool} | descendants(tool):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            role = self._role(pid, tool, words)
            self.cpu[pid] = (role, (int(stat[11]) + int(stat[12])) / TICKS)
            memory[role] += int(stat[21]) * PAGE
        self.memory |= {role: size for role, size in memory.items() if size}  # the server ends before the tool

    def _role(self, pid: int, tool: int, words: list[bytes]) -> str:
        if pid == tool:
            return "tool"
        if words == [b""] and pid in self.cpu:
            return self.cpu[pid][0]  # it has ended and waits to be asked for its exit code: its words are gone
        if b"join" in words:
            return "bots"
        return "server" if b"serve" in words else "guards"

    def seconds(self, role: str) -> float:
        """Of all the processes that had this role."""
        return sum(seconds for each, seconds in self.cpu.values() if each == role)


def write_file(path: Path, bots: int, size: int, concurrency: int) -> None:
    """Everybody meets everybody twice, sides swapped."""
    lines = ['name = "Forty"', 'game = "towerwars"', f"options = {{ size = {size} }}", "games_per_pairing = 2"]
    lines += ["seed = 40", f"concurrency = {concurrency}"]
    for number in range(1, bots + 1):
        lines += ["[[bots]]", f'name = "Bot{number:02}"', 'shipped = "random"']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def watched(command: list[str], folder: Path, matches: int) -> tuple[Usage, list[dict[str, int]], float, int]:
    """Run a tournament; its usage, the memory after a tenth of its matches and before its last one had ended, seconds,
    and its exit code.
    """
    usage, early, late = Usage(), dict[str, int](), dict[str, int]()
    began = told = time.monotonic()
    with _complaints(folder).open("wb") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
    try:
        while process.poll() is None:
            usage.look(process.pid)
            played = _played(folder)
            if not early and played >= matches / 10:
                early = dict(usage.memory)
            if played < matches:
                late = dict(usage.memory)
            if time.monotonic() - told > 20:
                told = time.monotonic()
                print(f"{played} of {matches} matches after {told - began:.0f} s", flush=True)
            time.sleep(LOOK_SECONDS)
    finally:
        process.terminate()
        process.wait()
    return usage, [early or usage.memory, late or usage.memory], time.monotonic() - began, process.returncode


def _complaints(folder: Path) -> Path:
    """Where the tool's words about a tournament go, which are of interest only if it fails."""
    return folder.with_name("complaints")


def _played(folder: Path) -> int:
    """How many matches the folder knows the end of."""
    try:
        with closing(sqlite3.connect(f"{(folder / 'tournament.sqlite').as_uri()}?mode=ro", uri=True)) as store:
            count: int = store.execute("SELECT count(*) FROM attempts WHERE state = 'played'").fetchone()[0]
            return count
    except sqlite3.Error:  # it is not there yet
        return 0


def report(
    usage: Usage, memory: list[dict[str, int]], seconds: float, games: list[dict[str, Any]], matches: int, lanes: int
) -> list[str]:
    """Print the figures; what is wrong with them."""
    thinking = sum(game["red_ms"] + game["blue_ms"] for game in games) / 1000
    processors = {role: usage.seconds(role) for role in ROLES}
    others = sum(processors.values()) - processors["bots"]
    plies = sum(game["plies"] for game in games)
    print(f"on {machine()}")
    pace = len(games) / seconds * 60
    print(f"{len(games)} matches, {plies} plies, {lanes} at a time: {seconds:.0f} s, {pace:.0f} a minute")
    print(f"outside the bots' clocks: {1 - thinking / (seconds * lanes):.0%} of the time")
    print("processor seconds: " + ", ".join(f"{role} {spent:.1f}" for role, spent in processors.items()), end="; ")
    print(f"outside the bots {others / max(others + processors['bots'], 0.01):.0%}")
    wrong = []
    early, late = memory
    for role in ("tool", "server"):
        before, after = early[role], usage.memory[role]
        print(f"memory of the {role}: {before / 1e6:.1f} MB after a tenth", end=", ")
        print(f"{late[role] / 1e6:.1f} MB before the last match had ended, {after / 1e6:.1f} MB at the end", end="; ")
        print(f"{after / max(before, 1) - 1:+.1%}, {(after - before) / (0.9 * matches) / 1000:+.1f} kB a match")
        if max(late[role], after) > before * (1 + GROWTH):
            wrong.append(f"the memory of the {role} grew")
    if len(games) != matches:
        wrong.append(f"{len(games)} matches instead of {matches}")
    wrong += [f"{game['red']} against {game['blue']}: {game['message']}" for game in games if game["offenders"]]
    return wrong


def main() -> int:
    """Run it and print; the exit code."""
    parser = reader(__doc__)
    parser.add_argument("--bots", type=at_least(2), default=40)
    parser.add_argument("--size", type=at_least(4), default=4)
    parser.add_argument("--concurrency", type=count, default=max(1, (os.cpu_count() or 2) - 1), help="games at a time")
    options = parser.parse_args()
    matches = options.bots * (options.bots - 1)
    with tempfile.TemporaryDirectory() as name:
        file, folder = Path(name, "forty.toml"), Path(name, "forty")
        write_file(file, options.bots, options.size, options.concurrency)
        command = [sys.executable, "-m", "triarena.cli", "tournament", "run", str(file), "--folder", str(folder)]
        usage, memory, seconds, code = watched(command, folder, matches)
        ending = []
        if code:
            why = _complaints(folder).read_text(encoding="utf-8", errors="replace").strip()[-500:]
            ending = [f"the tool ended with {code}: {why}"]
        played = folder / "games.jsonl"
        if not played.exists():
            print(f"WRONG: {(ending or ['the tool left no games'])[0]}")
            return 1
        games = [json.loads(line) for line in played.read_text(encoding="utf-8").splitlines()]
    wrong = report(usage, memory, seconds, games, matches, options.concurrency) + ending
    for sentence in wrong[:10]:
        print(f"WRONG: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    ended(main)
