"""Bots of the 2024 season, on the package ``socha`` 2.2.2, against our server: do both see the same games?

    python benchmarks/old_clients.py [GAMES] [FOLDER]

Two such bots play GAMES games (50) with each other by plain joins, then one of them as many against a bot of ours.
Whatever the package listed as legal, and every state that it saw and foretold, is compared
with our journal. The package is installed into FOLDER, in an environment of its own. Exits with 1 for a difference.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fleet.arguments import count, new_folder, reader
from fleet.verdict import ended
from software_challenge.comparing import Comparison, compare
from software_challenge.environment import socha_python
from software_challenge.hosting import Host, host

OLD_BOT = Path(__file__).parent / "software_challenge" / "old_bot.py"
GAME_SECONDS = 60.0
"""More than any game takes."""
UNHURRIED = {"TRIARENA_CLOCK__MOVE_SECONDS": "60"}
"""The rules are compared, not the speed of a bot that shares its processor with others."""


def against_each_other(python: Path, server: Host, games: int) -> Comparison:
    """Two old bots in every room; the comparison of all that they saw."""
    logs = [server.folder / f"old-{number}.jsonl" for number in range(2)]
    wait_for([old_bot(python, server, games, number, log) for number, log in enumerate(logs)], games)
    return compare(logs, server.replays())


def against_ours(python: Path, server: Host, games: int, bot: str = "greedy") -> Comparison:
    """An old bot and one of ours in every room."""
    log = server.folder / "old.jsonl"
    ours = [sys.executable, "-m", "triarena.cli", "join", "--game", "mississippi_queen", bot, "--name", "ours"]
    ours += ["--option", "rules=server-24.2.5", "--port", str(server.port), "--matches", str(games), "--json"]
    joined = started(ours, server.folder / "ours.log")
    wait_for([joined, old_bot(python, server, games, 7, log)], games)
    return compare([log], server.replays())


def old_bot(python: Path, server: Host, games: int, seed: int, log: Path) -> subprocess.Popen[bytes]:
    """Start an old bot that plays so many games."""
    arguments = [str(python), str(OLD_BOT), str(server.xml_port), str(games), str(seed), str(log)]
    return started(arguments, log.with_suffix(".out"))


def started(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a program; what it says is kept."""
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)


def wait_for(processes: Sequence[subprocess.Popen[bytes]], games: int) -> None:
    """Wait until all have ended. After so long, or when one has failed, the others are ended, too."""
    deadline = time.monotonic() + games * GAME_SECONDS
    try:
        while any(process.poll() is None for process in processes):
            if time.monotonic() > deadline or any(process.poll() not in (None, 0) for process in processes):
                return
            time.sleep(0.1)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def main() -> None:
    """See above."""
    parser = reader(__doc__)
    parser.add_argument("games", metavar="GAMES", type=count, nargs="?", default=50)
    parser.add_argument("folder", metavar="FOLDER", type=new_folder, nargs="?", help="(default: a temporary one)")
    options = parser.parse_args()
    games, folder = options.games, options.folder or Path(tempfile.mkdtemp())
    python = socha_python(folder / "socha")
    differences: list[str] = []
    for name, play in (("old bots with each other", against_each_other), ("old bots against ours", against_ours)):
        with host(folder / name.replace(" ", "-"), UNHURRIED) as server:
            found = play(python, server, games)
        print(f"{name}: {found}", flush=True)
        differences += found.differences
    for difference in differences[:20]:
        print(difference)
    if differences:
        sys.exit(1)


if __name__ == "__main__":
    ended(main)
