"""Where does a ply's time go? The server's processor time by layer, from samples of its stacks.

    uv run --with py-spy python benchmarks/layers.py
    uv run --with py-spy python benchmarks/layers.py --short     # proves that it works; its figures mean nothing

Bots that answer at once play against a server whose stacks py-spy looks at 500 times a second. What a sample is counted
for is the innermost function that belongs to a layer: packing that the journal does is the journal's, the event loop's
work under a connection is the loop's. Needs Linux and the right to look into other processes (root, as a rule).
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from fleet.arguments import count, reader
from fleet.figures import machine
from fleet.scripts import script
from fleet.server import ServerProcess
from fleet.verdict import ended
from referee import LONG, SETTINGS, TINY
from speed.arena import Figures, round_at_the_server
from speed.bars import table

RATE: Final = 500
WAITING: Final = ("_next_batch", "get_events", "WorkerThread._work")
"""Functions in which threads wait for work: the journal's, the loop's, and those that trio keeps for later."""
LAYERS: Final[Mapping[str, str]] = {
    "journal": r"server/journal/|sqlalchemy/|server/scribe\.py|server/recap\.py",
    "logging": r"structlog/|server/logs\.py|/logging/",
    "transport: system calls": r"(send_now|_epoll_wait|wakeup_thread_and_signal_safe|drain) |trio/_socket\.py",
    "deadlines": r"CancelScope|CancelStatus|Deadlines|fail_after|move_on|_timeouts\.py|contextlib\.py|server/clock\.py"
    r"|server/absences\.py|current_time",
    "transport: loop and tasks": r"trio/|outcome/|server/lag\.py",
    "transport: connections": r"server/(connection|stamps|rate|door|transcript)\.py",
    "validation": r"(validate_python|model_validate|__init__|discriminate) .*(pydantic|protocol)/",
    "codec": r"pydantic/|msgpack/|protocol/(codec|frames)\.py",
    "session": r"protocol/",
    "rules": r"triarena/games/|games/(core|towerwars|flowerwars|mississippi_queen)",
    "referee and room": r"server/",
}
"""By layer: what its functions are called (name, blank, file). The first that fits counts."""


def layer_of(stack: Sequence[str]) -> str | None:
    """The layer of a sample, innermost function last; None if the thread was only waiting."""
    if any(wait in stack[-1] for wait in WAITING):
        return None
    for call in reversed(stack):
        where = call.replace("(", "").replace(")", "")
        for layer, pattern in LAYERS.items():
            if re.search(pattern, where):
                return layer
    return None


def sampled(raw: str) -> Counter[str]:
    """Samples by layer, of py-spy's lines ``frame;frame;frame count``."""
    found: Counter[str] = Counter()
    for line in raw.splitlines():
        stack, _, samples = line.rpartition(" ")
        layer = layer_of(stack.split(";"))
        if layer is not None:
            found[layer] += int(samples)
    return found


def main() -> None:
    """Play, look, and print."""
    parser = reader(__doc__)
    parser.add_argument("--game", choices=[name for name, *_ in LONG], default="mississippi_queen")
    parser.add_argument("--matches", type=count, default=10, help="at once")
    parser.add_argument("--plies", type=count, default=20_000, help="look at so many of them, at least")
    parser.add_argument(
        "--short",
        action="store_true",
        help="prove that it works by one short match, whatever --matches and --plies say",
    )
    options = parser.parse_args()
    spy = shutil.which("py-spy")
    if spy is None:
        sys.exit("py-spy is not installed: uv run --with py-spy python benchmarks/layers.py")
    if options.short:
        options.matches, options.plies = 1, 1
    [match] = [script(*game) for game in (TINY if options.short else LONG) if game[0] == options.game]
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder), SETTINGS) as server:
        round_at_the_server(server, match, options.matches, Figures())
        raw = Path(folder) / "samples"
        command = [spy, "record", "-p", str(server.pid), "-f", "raw", "-o", str(raw), "-r", str(RATE), "-F"]
        complaints = Path(folder) / "complaints"
        with complaints.open("wb") as stream:
            watcher = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stream, process_group=0)
        figures = Figures()
        try:
            time.sleep(1)
            if watcher.poll() is not None:
                why = complaints.read_text(encoding="utf-8", errors="replace").strip()
                sys.exit(f"py-spy can't look at the server's stacks: {why or watcher.returncode}")
            while figures.plies < options.plies:
                round_at_the_server(server, match, options.matches, figures)
        finally:
            watcher.send_signal(signal.SIGINT)
            watcher.wait()
        layers = sampled(raw.read_text(encoding="utf-8"))
    whole = max(1, sum(layers.values()))
    lines = [
        [layer, f"{samples / whole:.0%}", f"{samples / whole * figures.cpu_ms * 1000:.0f}"]
        for layer, samples in layers.most_common()
    ]
    print(table([f"{options.game}, {options.matches} at once", "share", "µs/ply"], lines))
    print(f"{figures.cpu_ms:.3f} ms of processor per ply while it was looked at, {figures.pace:.0f} plies/s")
    print(machine(short=options.short))


if __name__ == "__main__":
    ended(main)
