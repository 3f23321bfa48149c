"""Where does a ply's time go? The server's processor time by layer, from samples of its stacks.

    uv run --with py-spy python benchmarks/layers.py
    uv run --with py-spy python benchmarks/layers.py --short     # proves that it works; its figures mean nothing

Bots that answer at once play against a server whose stacks py-spy looks at 500 times a second, in every round from when
all seats are taken until the last match is over. What a sample is counted for is the innermost function that belongs to
a layer: packing that the journal does is the journal's, the event loop's work under a connection is the loop's. Needs
Linux and the right to look into other processes (root, as a rule). It takes about a minute, with ``--short`` six
seconds. Exit code 3 if py-spy is missing, or can't look.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from fleet.arguments import count, reader
from fleet.figures import machine
from fleet.scripts import script
from fleet.server import ServerProcess
from fleet.verdict import Broken, ended
from referee import LONG, SETTINGS, TINY, at_once
from speed.arena import Figures, round_at_the_server
from speed.bars import table

RATE: Final = 500
PATIENCE: Final = 30.0
"""Seconds that py-spy has to write down what it saw."""
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
    """Samples by layer, of py-spy's lines ``frame;frame;frame count``. Raises ValueError for others."""
    found: Counter[str] = Counter()
    for line in raw.splitlines():
        stack, _, samples = line.rpartition(" ")
        layer, number = layer_of(stack.split(";")), int(samples)
        if layer is not None:
            found[layer] += number
    return found


@contextmanager
def spying(pid: int, folder: Path, into: Counter[str]) -> Iterator[None]:
    """Look at a process's stacks, and add up the samples at the end. Raises Broken if py-spy does not do so."""
    raw, complaints = folder / "samples", folder / "complaints"
    raw.unlink(missing_ok=True)
    command = ["py-spy", "record", "-p", str(pid), "-f", "raw", "-o", str(raw), "-r", str(RATE), "-F"]
    with complaints.open("wb") as stream:
        spy = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stream, process_group=0)
    try:
        assert spy.stdout is not None
        if not spy.stdout.readline():  # it says so when it looks
            spy.wait()
            raise broken("can't look at the server's stacks", complaints)
        yield
        if spy.poll() is not None:
            raise broken("ended before the matches did", complaints)
        spy.send_signal(signal.SIGINT)
        try:
            spy.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise broken(f"did not end within {PATIENCE:g} seconds of being asked to", complaints) from None
    finally:
        spy.kill()
        spy.communicate()
    try:
        into.update(sampled(raw.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        raise broken("left no samples that can be read", complaints) from None


def broken(what: str, complaints: Path) -> Broken:
    """What py-spy did wrong, with its own words."""
    why = complaints.read_text(encoding="utf-8", errors="replace").strip()
    return Broken(f"py-spy {what}: {why or 'it did not say why'}")


def main() -> None:
    """Play, look, and print."""
    parser = reader(__doc__)
    games = [name for name, *_ in LONG]
    parser.add_argument("--game", choices=games, default="mississippi_queen", help="play this one (%(default)s)")
    parser.add_argument("--matches", type=at_once, default=10, help="so many at once (%(default)s)")
    parser.add_argument("--plies", type=count, default=20_000, help="look at so many, at least (%(default)s)")
    parser.add_argument(
        "--short",
        action="store_true",
        help="prove that it works by one round of short matches, whatever --matches and --plies say",
    )
    options = parser.parse_args()
    if shutil.which("py-spy") is None:
        raise Broken("py-spy is not installed: uv run --with py-spy python benchmarks/layers.py")
    if options.short:
        options.matches, options.plies = 10, 1
    [match] = [script(*game) for game in (TINY if options.short else LONG) if game[0] == options.game]
    layers: Counter[str] = Counter()
    figures = Figures()
    with tempfile.TemporaryDirectory() as name, ServerProcess(Path(name), SETTINGS) as server:
        looking = partial(spying, server.pid, Path(name), layers)
        round_at_the_server(server, match, options.matches, Figures())
        while figures.plies < options.plies:
            round_at_the_server(server, match, options.matches, figures, looking=looking)
        if not layers:
            raise broken("saw nothing of what the server did", Path(name) / "complaints")
    whole = sum(layers.values())
    lines = [
        [layer, f"{samples / whole:.0%}", f"{samples / whole * figures.cpu_ms * 1000:.0f}"]
        for layer, samples in layers.most_common()
    ]
    print(table([f"{options.game}, {options.matches} at once", "share", "µs/ply"], lines))
    print(f"{figures.cpu_ms:.3f} ms of processor per ply while it was looked at, {figures.pace:.0f} plies/s")
    print(machine(short=options.short))


if __name__ == "__main__":
    ended(main)
