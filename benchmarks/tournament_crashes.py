"""Does a tournament whose tool is killed again and again end as one that was left alone?

    uv run python benchmarks/tournament_crashes.py --kills 50

A tournament of deterministic bots is run once without interruption. Then the same one, with the same seeds, is run
again; its tool gets SIGKILL at random instants, and is resumed, until it was killed as often as asked and is over.
After each kill it is looked, by their ids, whether any process that the tool had started is still there after a few
seconds, and whether its server's port can be bound. In the end every game and the standings of both must be the same.
Exit code 1 if anything was not as it should be.
"""

from __future__ import annotations

import csv
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fleet.arguments import at_least, count, duration, reader
from fleet.verdict import ended

GAMES = ("winner", "reason", "red_score", "blue_score", "plies")
PATIENCE = 10.0
"""Seconds within which the orphans of a killed tool must be gone."""
LONGEST = 600.0


@dataclass(slots=True)
class Findings:
    """What was seen."""

    kills: int = 0
    finished: int = 0
    """Whole tournaments that were compared."""
    seen: int = 0
    """Processes that killed tools had running."""
    slowest: float = 0.0
    """The longest that orphans took to go, in seconds."""
    wrong: list[str] = field(default_factory=list)


def write_file(path: Path, bots: int, games: int, game: str, size: int) -> None:
    """A round robin of shipped bots, so deterministic given the seed."""
    lines = ['name = "Killed"', f'game = "{game}"', f"options = {{ size = {size} }}", f"games_per_pairing = {games}"]
    lines += ["seed = 11", "concurrency = 2", 'tie_breaks = ["direct_encounter", "game_scores"]']
    for number in range(bots):
        lines += ["[[bots]]", f'name = "Bot{number}"', f'shipped = "{("random", "greedy")[number % 2]}"']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def tool(*words: str) -> subprocess.Popen[bytes]:
    """The tool as a process; what it says is of no interest unless it fails."""
    return subprocess.Popen(
        [sys.executable, "-m", "triarena.cli", "tournament", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def descendants(pid: int) -> set[int]:
    """All processes below one, by their ids, as Linux tells them."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    found, new = set[int](), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def kill(process: subprocess.Popen[bytes], folder: Path, found: Findings) -> None:
    """End the tool as a power cut would, and look what is left of it."""
    below = descendants(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.stderr is not None:
        process.stderr.close()
    began = time.monotonic()
    while left := {pid for pid in below if alive(pid)}:
        if time.monotonic() - began > PATIENCE:
            found.wrong.append(f"after kill {found.kills} the processes {sorted(left)} are still there")
            break
        time.sleep(0.01)
    found.kills += 1
    found.seen += len(below)
    found.slowest = max(found.slowest, time.monotonic() - began)
    port_file = folder / "server" / "port"
    if port_file.exists() and not can_bind(int(port_file.read_text())):
        found.wrong.append(f"after kill {found.kills} the server's port is still taken")


def can_bind(port: int) -> bool:
    """Whether somebody else may listen there now."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def killed_run(file: Path, folder: Path, kills: int, longest: float, rng: random.Random, found: Findings) -> None:
    """Run a tournament to its end, and kill its tool up to ``kills`` times on the way."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        begun = (folder / "tournament.sqlite").exists()
        process = tool("resume", str(folder)) if begun else tool("run", str(file), "--folder", str(folder))
        try:
            _, said = process.communicate(timeout=rng.uniform(0, longest) if found.kills < kills else LONGEST)
        except subprocess.TimeoutExpired:
            kill(process, folder, found)
            continue
        except BaseException:  # Ctrl-C: the tool ends its own processes, as after every kill
            process.kill()
            process.wait()
            raise
        if process.returncode != 0:
            found.wrong.append(f"the tool ended with {process.returncode}: {said.decode(errors='replace')[-300:]}")
        return
    found.wrong.append("the tournament did not end")


def games_of(folder: Path) -> Iterator[tuple[str, ...]]:
    """What was played, without times and ids."""
    for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines():
        game = json.loads(line)
        yield tuple(str(game.get(key)) for key in ("event", "game", "red", "blue", "seed", *GAMES))


def standings_of(folder: Path) -> list[list[str]]:
    """The table as it was exported."""
    with (folder / "standings.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def compare(quiet: Path, killed: Path, found: Findings) -> None:
    """Note every difference between a tournament that was left alone and one that was not."""
    found.finished += 1
    left, right = sorted(games_of(quiet)), sorted(games_of(killed))
    if left != right:
        odd = next((pair for pair in zip(left, right, strict=False) if pair[0] != pair[1]), (len(left), len(right)))
        found.wrong.append(f"the games differ: {odd}")
    if standings_of(quiet) != standings_of(killed):
        found.wrong.append("the standings differ")


def main() -> int:
    """Run it, print what was found; the exit code."""
    parser = reader(__doc__)
    parser.add_argument("--kills", type=count, default=50)
    parser.add_argument("--bots", type=at_least(2), default=6)
    parser.add_argument("--games", type=count, default=4, help="per pairing; 6 bots and 4 games make 60 matches")
    parser.add_argument("--game", choices=("towerwars", "flowerwars"), default="towerwars")
    parser.add_argument("--size", type=count, default=5)
    parser.add_argument("--longest", type=duration, default=6.0, help="seconds until a kill, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, found = random.Random(options.seed), Findings()
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        file = base / "killed.toml"
        write_file(file, options.bots, options.games, options.game, options.size)
        quiet = base / "quiet"
        killed_run(file, quiet, 0, 0, rng, found)
        if found.wrong:
            print(f"WRONG: {found.wrong[0]}")
            return 1
        played = len(list(games_of(quiet)))
        print(f"{played} matches without interruption", flush=True)
        while found.kills < options.kills and not found.wrong:
            folder = base / f"killed-{found.finished}"
            killed_run(file, folder, options.kills, options.longest, rng, found)
            compare(quiet, folder, found)
            print(f"{found.kills} kills, {found.finished} tournaments compared", flush=True)
    print(
        f"{found.kills} kills at random instants; "
        f"{found.finished} tournaments of {played} matches ended like the quiet one"
    )
    print(f"{found.seen} processes of killed tools, the last of them gone {found.slowest:.2f} s after a kill at most")
    for sentence in found.wrong:
        print(f"WRONG: {sentence}")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    ended(main)
