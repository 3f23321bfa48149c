"""A process and everything that descends from it: who is there, what they use, and their end.

Part of the guard, which has to start fast: only light imports here (no dataclasses, no typing).

On Linux the guard is a *child subreaper*: a descendant whose parent dies becomes the guard's own child, whatever
sessions and groups it has made for itself, so nobody can get out of the tree. Elsewhere psutil finds the children of
processes that are known; one that was made and orphaned between two looks stays unseen.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
STOP_PASSES = 20
"""How often newly found processes are frozen before all are killed: one that is frozen cannot fork."""


class Usage:
    """What a tree of processes uses at one moment."""

    __slots__ = ("cpu", "memory", "processes", "threads")

    def __init__(self, memory: int = 0, cpu: float = 0.0, processes: int = 0, threads: int = 0) -> None:
        self.memory = memory
        """Resident bytes, of all together."""
        self.cpu = cpu
        """Seconds since the start, of all together and of those that have ended."""
        self.processes = processes
        self.threads = threads
        """The processes' first threads included."""


class LinuxTree:
    """All descendants of this process, which is made their subreaper, read from /proc."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        if self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._tick = os.sysconf("SC_CLK_TCK")
        self._ended_cpu = 0.0
        self._guard = os.getpid()
        self._has_lists = os.path.exists(f"/proc/{self._guard}/task/{self._guard}/children")

    def before_exec(self) -> None:
        """Called in the child before it becomes the command: it shall not outlive a guard that is killed."""
        self._libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != self._guard:  # which has happened already
            os._exit(1)

    def add_ended(self, cpu: float) -> None:
        """Count the seconds of a descendant that the guard has reaped, and so can't be read any more."""
        self._ended_cpu += cpu

    def look(self, memory_limit: int | None = None) -> Usage:
        """What all descendants use now.

        Pages that several processes share count once for each, unless that would pass the limit: telling them apart
        takes the kernel much longer.
        """
        usage = Usage(cpu=self._ended_cpu)
        pids = self._descendants(children_by_list) if self._has_lists else self.pids()
        for pid in pids:
            try:
                with open(f"/proc/{pid}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:  # it has just ended
                continue
            usage.processes += 1
            usage.cpu += sum(map(int, fields[11:15])) / self._tick  # its own, and of its children that it has reaped
            usage.threads += int(fields[17])
            usage.memory += max(0, int(fields[21])) * self._page
        if memory_limit is not None and usage.memory > memory_limit and len(pids) > 1:
            usage.memory = sum(map(self._proportional, pids))
        return usage

    def pids(self) -> list[int]:
        """Every descendant, parents before their children; zombies too."""
        return self._descendants(children_by_scan().get)

    def terminate(self) -> None:
        """Ask everybody to end."""
        for pid in self.pids():
            send(pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill everybody there is; to be repeated until the guard has no child any more."""
        frozen: set[int] = set()
        for _ in range(STOP_PASSES):
            new = set(self.pids()) - frozen
            if not new:
                break
            for pid in new:
                send(pid, signal.SIGSTOP)
            frozen |= new
        for pid in self.pids():
            send(pid, signal.SIGKILL)

    def kill_all(self) -> None:
        """Kill everybody until nobody is left, without any help from outside."""
        while True:
            self.kill()
            try:
                os.wait()
            except ChildProcessError:
                return

    def _descendants(self, children: Callable[[int], list[int] | None]) -> list[int]:
        found: list[int] = []
        known = {self._guard}
        queue = [self._guard]
        while queue:
            for child in children(queue.pop()) or ():
                if child not in known:
                    known.add(child)
                    found.append(child)
                    queue.append(child)
        return found

    def _proportional(self, pid: int) -> int:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                for line in file:
                    if line.startswith(b"Pss:"):
                        return int(line.split()[1]) * 1024
        except OSError:  # it has ended, or doesn't let us look
            pass
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                return int(file.read().split()[1]) * self._page
        except OSError:
            return 0


class PortableTree:
    """One process and those of its descendants that psutil has come to know, on systems other than Linux."""

    def __init__(self) -> None:
        from importlib import import_module

        self._psutil = import_module("psutil")
        self._known: list[Any] = []
        self._cpu: dict[Any, float] = {}

    before_exec: Callable[[], None] | None = None

    def adopt(self, pid: int) -> None:
        """Watch the process with this id, just started, and its descendants."""
        with suppress(self._psutil.Error):  # it may have ended already
            self._known.append(self._psutil.Process(pid))

    def look(self, memory_limit: int | None = None) -> Usage:
        """What the known descendants use now; looks for new ones as well."""
        self._meet()
        usage = Usage()
        for process in self._alive():
            try:
                times = process.cpu_times()
                usage.memory += process.memory_info().rss
                usage.threads += process.num_threads()
            except self._psutil.Error:
                continue
            usage.processes += 1
            self._cpu[process] = times.user + times.system
        usage.cpu = sum(self._cpu.values())
        return usage

    def pids(self) -> list[int]:
        """Every known descendant that is there, the process itself first."""
        self._meet()
        return [process.pid for process in self._alive()]

    def terminate(self) -> None:
        """Ask everybody to end (on Windows there is no asking: it ends them)."""
        self._each("terminate")

    def kill(self) -> None:
        """Kill everybody who is known; to be repeated until nobody is left."""
        self._each("suspend")
        self._each("kill")
        if sys.platform != "win32" and self._known:
            with suppress(OSError):  # orphans that have stayed in the command's group
                os.killpg(self._known[0].pid, signal.SIGKILL)

    def kill_all(self) -> None:
        """Kill everybody who is known, until nobody is left."""
        while self.pids():
            self.kill()
            self._psutil.wait_procs(self._alive(), timeout=1)

    def _each(self, action: str) -> None:
        self._meet()
        for process in self._alive():
            try:
                getattr(process, action)()
            except self._psutil.Error:
                continue

    def _meet(self) -> None:
        alive = self._alive()
        pids = {process.pid for process in alive}
        for process in alive:
            with suppress(self._psutil.Error):
                if process.ppid() not in pids:  # the others are found through their parents
                    children = process.children(recursive=True)
                    self._known += [child for child in children if child not in self._known]

    def _alive(self) -> list[Any]:
        return [process for process in self._known if process.is_running()]


def children_by_list(pid: int) -> list[int]:
    """The children of a process as the kernel lists them: fast, but one may be missing while others end."""
    children: list[int] = []
    with suppress(OSError):  # it may just have ended
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    return children


def children_by_scan() -> dict[int, list[int]]:
    """The children of every process of the system, by looking at each one for its parent."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    return children


def send(pid: int, number: int) -> None:
    """Send a signal to a process, if it is still there and ours."""
    with suppress(OSError):
        os.kill(pid, number)


def make_tree() -> LinuxTree | PortableTree:
    """The tree below this process, as well as this system can show it. Raises ImportError where psutil is missing."""
    return LinuxTree() if sys.platform == "linux" else PortableTree()
