"""A small program that runs one command, and outlives nobody: neither its parent, nor the command, nor its children.

Its parent writes JSON lines to its standard input and reads JSON lines from its standard output. The first line in
is the order (see ``Guard``); then ``{"kill": true, "grace": 1.0}`` ends the command, ``{"reset": true}`` counts
its processor time from now on, and ``{"ask": true}`` is answered by ``{"event": "runs"}`` as long as it runs. Out come
``{"event": "started", "pid": 1}`` and ``{"event": "ended", "why": ...}``. The end of its standard input means that the
parent is gone, however it died: all is killed then. Every line in both directions carries the order's ``nonce``: a
command can open its guard's streams, but can't speak for either side as long as it has not read the nonce from its
guard's memory, as the same user may where the system allows that; it is killed if it tries without.

What the command says, on both its streams, goes into one bounded log. Its end comes by SIGTERM, a grace, and SIGKILL;
at once by SIGKILL if it has passed a limit, or if its first process has ended and others are left.

The guard is started for every process, so it imports little. It is no sandbox: a command that means harm and runs as
the same user can kill its guard. Its first process dies with the guard then (on Linux); more is not promised.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue

from triarena.organiser.bounded_log import BoundedLog
from triarena.organiser.process_tree import LinuxTree, Usage, make_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

LOOK_SECONDS = 0.2
"""Between two looks at what the command uses."""
FLUSH_SECONDS = 1.0
KILL_AGAIN_SECONDS = 0.02
ORPHAN_GRACE_SECONDS = 1.0
"""The longest grace when the parent has gone: whoever starts it again finds the ports and files free."""
LAST_WORDS_SECONDS = 1.0
"""For the end of the output, when nobody is left who could write more; somebody else may hold the pipe."""
READ_SIZE = 1 << 16
NEVER = float("inf")


class Guard:
    """One command under guard.

    The order has the keys ``command`` (words), ``cwd``, ``env`` (null: the guard's own), ``log`` (a path), ``head`` and
    ``tail`` (bytes), ``grace`` (seconds), ``nonce`` (a text) and ``limits``: ``memory`` (bytes), ``cpu`` (seconds),
    ``processes``, ``threads``, each null for none.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._parent = os.getppid()
        self._limits: dict[str, Any] = order["limits"]
        self._events: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._began = time.monotonic()
        self._why = ""
        """How the end began; empty as long as the command is to run."""
        self._forged = False
        """Whether ``why`` is ``lost`` since somebody else than the parent gave orders."""
        self._kill_at = NEVER
        self._left: tuple[int | None, int | None] | None = None
        """Exit code and signal of the command's first process, once it has ended."""
        self._alone = False
        self._peak = Usage()
        self._used = Usage()
        """At the last look before the end began, which may have shown that a limit was passed."""
        self._cpu_before = 0.0

    def run(self) -> None:
        """Run the command until nothing is left of it; says so, and says how it ended."""
        try:
            self._start()
        except (OSError, ValueError, ImportError, subprocess.SubprocessError) as error:
            facts = {"error": type(error).__name__, "text": str(error), "errno": getattr(error, "errno", None)}
            self._say({"event": "ended", "why": "cannot_start", "filename": getattr(error, "filename", None)} | facts)
            return
        self._say({"event": "started", "pid": self._process.pid})
        try:
            self._guard()
        except Exception as error:  # a fault of ours must not set the command free
            self._tree.kill_all()
            text = f"{type(error).__name__}: {error}"
            self._say({"event": "ended", "why": "lost", "text": text, "forged": False})
            return
        self._log.close()
        self._say_how_it_ended()

    def _guard(self) -> None:
        threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._reap, self._pump)]
        for thread in threads:
            thread.start()
        self._watch()
        threads[-1].join(LAST_WORDS_SECONDS)

    def _say_how_it_ended(self) -> None:
        code, number = self._left or (None, None)
        used = self._used
        facts = {"why": self._why, "exit_code": code, "signal": number, "seconds": time.monotonic() - self._began}
        facts |= {"peak_memory": self._peak.memory, "dropped": self._log.dropped}
        facts |= {"memory": used.memory, "cpu": used.cpu - self._cpu_before}
        facts |= {"processes": used.processes, "threads": used.threads}
        self._say({"event": "ended", "forged": self._forged} | facts)

    def _say(self, event: dict[str, Any]) -> None:
        """Tell the parent, if there still is one."""
        with suppress(OSError):
            os.write(1, json.dumps(event | {"nonce": self._order["nonce"]}).encode() + b"\n")

    def _start(self) -> None:
        self._log = BoundedLog(self._order["log"], self._order["head"], self._order["tail"])
        self._tree = make_tree()
        bound_each_process(self._limits["memory"])
        reading, writing = os.pipe()
        self._output = reading
        self._process = subprocess.Popen(
            self._order["command"],
            cwd=self._order["cwd"],
            env=self._order["env"],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,  # means nothing on Windows
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            preexec_fn=self._tree.before_exec,  # noqa: PLW1509  # there are no threads yet
        )
        os.close(writing)
        if not isinstance(self._tree, LinuxTree):
            self._tree.adopt(self._process.pid)

    # What runs in threads: each only puts events into the queue, or output into the log.

    def _listen(self) -> None:
        waiting = b""
        while chunk := os.read(0, READ_SIZE):
            *lines, waiting = (waiting + chunk).split(b"\n")
            messages = [self._understood(line) for line in lines]
            if None in messages or len(waiting) > READ_SIZE:  # nor does the parent ever say so much
                self._events.put(("disturbed", None))
                return
            for message in messages:
                self._events.put(("told", message))
        self._events.put(("orphaned", None))

    def _understood(self, line: bytes) -> dict[str, Any] | None:
        """A message of the parent; None if the line is somebody else's."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return message if isinstance(message, dict) and message.get("nonce") == self._order["nonce"] else None

    def _reap(self) -> None:
        if sys.platform == "win32":
            self._events.put(("left", (self._process.wait(), None, 0.0, 0)))
            return
        everybody = isinstance(self._tree, LinuxTree)
        while True:
            try:
                pid, status, used = os.wait4(-1 if everybody else self._process.pid, 0)
            except ChildProcessError:
                if everybody:  # a subreaper without children has no descendants
                    self._events.put(("alone", None))
                return
            self._events.put(("reaped", (pid, status, used)))

    def _pump(self) -> None:
        while chunk := os.read(self._output, READ_SIZE):
            self._log.write(chunk)

    # What runs in the main thread.

    def _watch(self) -> None:
        look_at = time.monotonic() + LOOK_SECONDS
        flush_at = time.monotonic() + FLUSH_SECONDS
        while not self._alone:
            with suppress(Empty):
                self._hear(*self._events.get(timeout=max(0.0, min(look_at, self._kill_at) - time.monotonic())))
            now = time.monotonic()
            if now >= self._kill_at:
                self._tree.kill()
                self._kill_at = now + KILL_AGAIN_SECONDS
                if not isinstance(self._tree, LinuxTree) and self._left and not self._tree.pids():
                    return
            if now >= look_at:
                self._look()
                look_at = time.monotonic() + LOOK_SECONDS
            if now >= flush_at:
                self._log.flush()
                flush_at = now + FLUSH_SECONDS

    def _hear(self, event: str, value: Any) -> None:
        if event == "told" and "reset" in value:
            self._cpu_before = self._tree.look().cpu
        elif event == "told" and "ask" in value:
            if not self._why:
                self._say({"event": "runs"})
        elif event == "told":
            self._end("killed", value.get("grace", self._order["grace"]))
        elif event == "orphaned":
            self._end("killed", min(self._order["grace"], ORPHAN_GRACE_SECONDS))
        elif event == "disturbed":  # by the command: who else would
            self._forged = self._forged or not self._why
            self._end("lost", 0.0)
        elif event == "reaped":
            pid, status, used = value
            if isinstance(self._tree, LinuxTree):
                self._tree.add_ended(used.ru_utime + used.ru_stime)
                self._peak.memory = max(self._peak.memory, used.ru_maxrss * 1024)
            if pid == self._process.pid:
                code = os.waitstatus_to_exitcode(status)
                self._first_has_left(code if code >= 0 else None, -code if code < 0 else None)
        elif event == "left":
            self._first_has_left(value[0], None)
        elif event == "alone":
            self._alone = True

    def _end(self, why: str, grace: float) -> None:
        """Begin the end, or hasten it."""
        self._why = self._why or why
        if self._kill_at == NEVER and grace > 0:
            self._tree.terminate()
        self._kill_at = min(self._kill_at, time.monotonic() + grace)

    def _first_has_left(self, code: int | None, number: int | None) -> None:
        self._process.returncode = -number if number else code or 0
        self._left = (code, number)
        self._why = self._why or "exited"
        self._kill_at = min(self._kill_at, time.monotonic() + KILL_AGAIN_SECONDS)  # mostly nobody is left to be killed

    def _look(self) -> None:
        if os.getppid() != self._parent:  # the end of the input does not tell if the command holds the pipe open
            self._hear("orphaned", None)
        memory = self._limits["memory"]
        usage = self._tree.look(memory)
        self._peak.memory = max(self._peak.memory, usage.memory)
        self._peak.processes = max(self._peak.processes, usage.processes)
        if self._why:
            return
        self._used = usage
        passed = {
            "memory": memory is not None and usage.memory > memory,
            "cpu": self._limits["cpu"] is not None and usage.cpu - self._cpu_before > self._limits["cpu"],
            "processes": self._limits["processes"] is not None and usage.processes > self._limits["processes"],
            "threads": self._limits["threads"] is not None and usage.threads > self._limits["threads"],
        }
        for why, is_passed in passed.items():
            if is_passed:
                self._end(why, 0.0)
                return


def bound_each_process(memory: int | None) -> None:
    """Have the system itself stop a process that takes memory faster than we look, and keep it from dumping it.

    Far above the limit, because a runtime may reserve what it never uses. Inherited by the command.
    """
    if sys.platform == "win32":
        return
    import resource

    bounds = [(resource.RLIMIT_CORE, 0)]
    if memory is not None and sys.platform == "linux":
        bounds.append((resource.RLIMIT_DATA, 2 * memory + (1 << 30)))
    for kind, bound in bounds:
        _, hard = resource.getrlimit(kind)
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def main() -> NoReturn:
    """Obey the order on standard input; what a terminal sends to its programs is for the parent alone."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK", "SIGPIPE"):
        if hasattr(signal, name):  # a handler, since being ignored would be inherited by the command
            signal.signal(getattr(signal, name), lambda *_: None)
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(0, READ_SIZE)
        if not chunk:
            os._exit(0)
        line += chunk
    Guard(json.loads(line)).run()
    os._exit(0)  # without waiting for the thread that reads standard input


if __name__ == "__main__":
    main()
