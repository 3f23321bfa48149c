"""Rounds of matches between bots of another process: at a server, and at a bare relay with frames of the same sizes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import trio
from fleet.figures import percentile
from fleet.host import Host
from fleet.line import HungUp, Refused
from fleet.scripts import Script
from fleet.server import ServerProcess, died
from fleet.verdict import Broken

from .duties import assignment

HERE: Final = Path(__file__).parent


@dataclass(slots=True)
class Figures:
    """What several rounds gave together."""

    plies: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    """Seconds that the server's process computed, all its threads together."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """When each round was played, by the monotonic clock."""
    waited: list[float] = field(default_factory=list)
    """Milliseconds, by ply: from the move's first byte out to the last byte in of the turn that follows."""

    @property
    def p50(self) -> float:
        """The median wait."""
        return percentile(self.waited, 0.5)

    @property
    def p99(self) -> float:
        """What one of a hundred waits exceeds."""
        return percentile(self.waited, 0.99)

    @property
    def pace(self) -> float:
        """Plies per second."""
        return self.plies / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of the server's processor per ply."""
        return self.cpu / self.plies * 1000


@dataclass(frozen=True, slots=True)
class Shape:
    """How a match looks on the wire, as the bots saw it at the server."""

    sizes: list[list[int]]
    again: list[bool]


def _python(module: str, *arguments: str) -> subprocess.Popen[str]:
    """A module beside this one as a process, whose output can be read. Ctrl-C is not for it: who started it ends it, or
    the end of its input does.
    """
    command = [sys.executable, "-m", f"{HERE.name}.{module}", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=HERE.parent, stdin=pipe, stdout=pipe, text=True, process_group=0)


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


class Bots:
    """A process of bots that have taken their seats."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        """Raises Broken if they do not come that far."""
        self._process = _python("bots")
        try:
            self.room = self._told(json.dumps(task))
            """Of the first match."""
        except BaseException:
            self.kill()
            raise

    def play(self) -> dict[str, Any]:
        """What they saw. Raises Broken if they do not come to an end."""
        seen: dict[str, Any] = json.loads(self._told("go"))
        self._process.wait()
        return seen

    def kill(self) -> None:
        """End what is left of them."""
        _end(self._process)

    def _told(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            print(line, file=self._process.stdin, flush=True)
        told = self._process.stdout.readline()
        if not told.endswith("\n"):
            raise Broken("the bots ended too early, see above")
        return told.strip()


def round_at_the_server(
    server: ServerProcess,
    script: Script,
    matches: int,
    into: Figures,
    *,
    think: float = 0.0,
    observers: int = 0,
    looking: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Shape:
    """So many matches at once, all with the same moves. ``looking`` is entered when all seats are taken, and left when
    the last match is over.
    """
    codes = trio.run(_prepare, server, script, matches)
    task = {"port": server.port, "codes": codes, "moves": script.moves, "think": think}
    with _started(task) as bots, _watching(server.port, bots.room, observers), looking():
        return _played(bots, server.pid, into)


def round_at_the_relay(port: int, pid: int, shape: Shape, matches: int, into: Figures, *, think: float = 0.0) -> None:
    """The same at the bare relay."""
    wire = {"sizes": shape.sizes, "again": shape.again}
    task = {"port": port, "codes": [], "moves": [], "relay": matches, "think": think, **wire}
    with _started(task) as bots:
        _played(bots, pid, into)


def _played(bots: Bots, pid: int, into: Figures) -> Shape:
    before = cpu_seconds(pid)
    seen = bots.play()
    into.cpu += cpu_seconds(pid) - before
    into.plies += seen["plies"]
    into.seconds += seen["seconds"]
    into.spans.append((seen["began"], seen["began"] + seen["seconds"]))
    into.waited.extend(seen["waited"])
    return Shape(seen["sizes"], seen["again"])


def lag_while(notes: Path, play: Callable[[Figures], object]) -> list[float]:
    """Milliseconds by which a task of a probed loop went on too late, while a round was played."""
    seen = Figures()
    play(seen)
    [(begin, end)] = seen.spans
    lines = (
        line.split() for line in notes.read_text(encoding="ascii").splitlines(keepends=True) if line.endswith("\n")
    )
    return [float(late) for at, late in lines if begin <= float(at) <= end]


@contextmanager
def _started(task: Mapping[str, Any]) -> Iterator[Bots]:
    bots = Bots(task)
    try:
        yield bots
    finally:
        bots.kill()


@contextmanager
def _watching(port: int, room: str, observers: int) -> Iterator[None]:
    """So many observers of a room, in a process of their own."""
    if not observers:
        yield
        return
    process = _python("raw", str(port), room, str(observers))
    broken = Broken("the observers ended too early, see above")
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise broken
        yield
        if process.poll() is not None:  # so it was not watched to the end
            raise broken
    finally:
        _end(process)


@contextmanager
def relay(
    folder: Path, match: Script | None = None, duties: Sequence[str] = (), notes: Path | None = None
) -> Iterator[tuple[int, int]]:
    """A relay's port and process number; with a match it has ``duties``, without one it is bare. Its loop's lag goes to
    ``notes``.
    """
    port_file = folder / "relay-port"
    assigned = "" if match is None else assignment(match, duties)
    process = _python("relay", str(port_file), assigned, *([] if notes is None else [str(notes)]))
    try:
        while not (port_file.exists() and port_file.read_text(encoding="ascii")):
            if process.poll() is not None:
                raise Broken("the relay ended too early, see above")
            time.sleep(0.01)
        yield int(port_file.read_text(encoding="ascii")), process.pid
    except Exception as error:  # perhaps because of it
        if died(process):
            raise Broken("the relay ended too early, see above") from error
        raise
    finally:
        _end(process)


async def _prepare(server: ServerProcess, script: Script, matches: int) -> list[tuple[str, str]]:
    try:
        host = await Host.of(server)
        codes = [await host.prepare(script) for _ in range(matches)]
    except (HungUp, Refused, OSError) as error:
        raise Broken(f"the matches could not be prepared: {error}") from error
    await host.line.aclose()
    return codes


def cpu_seconds(pid: int) -> float:
    """What a process's threads have computed so far, those that have ended as well (Linux)."""
    return time.clock_gettime(~pid << 3 | 2)  # its clock's number, by the kernel's ABI; Python knows only our own
