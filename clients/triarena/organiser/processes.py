"""Processes that a tournament starts (bots, the server), each under a guard; see ``guard`` for what that means.

``async with open_guarded(...) as process:`` runs a command as long as the block lasts. However the block is left, by
its end, an error, a cancellation or the death of this whole program, the command and all its descendants end with it.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio

from .endings import GARBLED, LOST, Ended, Limits, Why, ended

__all__ = ["Ended", "GuardedProcess", "Limits", "Why", "open_guarded"]

DEFAULT_LIMITS = Limits()
LOG_HEAD = LOG_TAIL = 256 << 10
GRACE_SECONDS = 1.0
GUARD_SECONDS = 10.0
"""For a guard to start, or to end a command beyond its grace, before it is given up itself."""
TELL_SECONDS = 1.0
"""For a guard to take what it is told: only one that does not read at all keeps its pipe full."""
LAST_WORDS_SECONDS = 1.0
"""For the end of what a guard says, when it has gone; somebody else may hold the pipe."""
LONGEST_EVENT = 64 << 10
TAIL_READ = 64 << 10
LONGEST_LINE = 500


class GuardedProcess:
    """A running command, or one that has ended; made by ``open_guarded``."""

    def __init__(self, guard: trio.Process, order: Mapping[str, Any], limits: Limits) -> None:
        self._guard = guard
        self._order = order
        self._limits = limits
        self._log = Path(order["log"])
        self._pid: int | None = None
        self._ended: Ended | None = None
        self._known = trio.Event()
        """Whether the command could be started."""
        self._gone = trio.Event()
        self._answered = trio.Event()
        """Whether the guard has said since it was asked that the command runs."""
        self._sending = trio.Lock()

    @property
    def pid(self) -> int | None:
        """The id of the command's first process; None if it could not be started."""
        return self._pid

    @property
    def ended(self) -> Ended | None:
        """How it ended; None while it runs."""
        return self._ended

    @property
    def log(self) -> Path:
        """The file with what it says."""
        return self._log

    async def wait(self) -> Ended:
        """Wait until it and all its descendants have ended."""
        await self._gone.wait()
        assert self._ended is not None
        return self._ended

    async def kill(self, grace: float | None = None) -> Ended:
        """End it: SIGTERM, ``grace`` seconds (None: those it was started with), SIGKILL; does nothing if it has ended.

        A second call with a shorter grace hastens the end.
        """
        seconds = self._order["grace"] if grace is None else grace
        with trio.move_on_after(seconds + GUARD_SECONDS) as patience:
            await self._tell({"kill": True, "grace": seconds})
            await self._gone.wait()
        if patience.cancelled_caught:  # the guard does not answer
            self._kill_guard()
        return await self.wait()

    async def reset_limits(self) -> None:
        """Count processor time from now on."""
        await self._tell({"reset": True})

    async def is_known(self, seconds: float) -> bool:
        """Whether it is known how it fares: it has ended, or its guard says within ``seconds`` that it runs."""
        if self._gone.is_set():
            return True
        self._answered = trio.Event()
        with trio.move_on_after(seconds):
            await self._tell({"ask": True})
            await self._answered.wait()
        return self._answered.is_set()

    def tail(self, lines: int = 10) -> tuple[str, ...]:
        """The last lines it has said, fit for being shown: bounded, and without control characters.

        Complete once it has ended; up to a second late before.
        """
        try:
            with self._log.open("rb") as file:
                start = max(0, file.seek(0, os.SEEK_END) - TAIL_READ)
                file.seek(start)
                data = file.read(TAIL_READ)
        except OSError:
            return ()
        said = data.decode("utf-8", errors="replace").splitlines()
        if start and len(said) > 1:
            del said[0]  # of which the beginning is missing
        return tuple(
            "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line)
            for line in (line[:LONGEST_LINE] for line in said[-lines:])
        )

    async def begin(self) -> None:
        """Give the guard its order; wait until it is known whether the command could be started.

        The command may stop its guard before that has said so: it is given up then.
        """
        await self._tell(self._order, GUARD_SECONDS)
        for _ in range(2):  # if this program itself is stopped, only one of the two runs out meanwhile
            with trio.move_on_after(GUARD_SECONDS / 2):
                await self._known.wait()
        if not self._known.is_set():
            self._kill_guard()
            await self._known.wait()

    async def _tell(self, message: Mapping[str, object], seconds: float | None = None) -> None:
        """Tell the guard something, within ``seconds`` (None: ``TELL_SECONDS``); one that does not take it is killed.

        Its command may have stopped it, and filled its pipe.
        """
        assert self._guard.stdin is not None
        with trio.move_on_after(TELL_SECONDS if seconds is None else seconds) as patience:
            async with self._sending:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # it may have ended
                    line = json.dumps({**message, "nonce": self._order["nonce"]}).encode() + b"\n"
                    await self._guard.stdin.send_all(line)
        if patience.cancelled_caught:
            self._kill_guard()

    async def _listen(self) -> None:
        """Hear what the guard says, until it has gone; whatever is wrong with it concerns its own command only."""
        with trio.CancelScope(shield=True):  # whoever leaves the block sees to it that the guard ends
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._outlast_guard, nursery.cancel_scope)
                    await self._hear_all()
                    nursery.cancel_scope.cancel()
            except Exception:  # no fault of the command: what that may have said there is told apart
                self._ended = LOST
            finally:
                try:
                    await self._end_guard()  # noqa: ASYNC102 - shielded, and its waits are bounded
                finally:
                    self._ended = self._ended or LOST
                    self._known.set()
                    self._gone.set()
                    self._answered.set()

    async def _outlast_guard(self, hearing: trio.CancelScope) -> None:
        """The end of what a guard says is not told by the pipe if its command holds that open."""
        await self._guard.wait()
        await trio.sleep(LAST_WORDS_SECONDS)
        hearing.cancel()

    async def _hear_all(self) -> None:
        """Until the guard's last word, the end of the pipe, or words that are not its own."""
        assert self._guard.stdout is not None
        waiting = b""
        async for chunk in self._guard.stdout:
            *lines, waiting = (waiting + chunk).split(b"\n")
            for line in lines:
                try:
                    self._hear(json.loads(line))
                except Exception:  # whatever comes of words that are not its own: the command has written there
                    self._ended = GARBLED
                if self._ended is not None:
                    return
            if len(waiting) > LONGEST_EVENT:  # a guard never says so much
                self._ended = GARBLED
                return

    def _hear(self, event: dict[str, Any]) -> None:
        if event["nonce"] != self._order["nonce"]:
            raise ValueError("somebody pretends to be the guard")
        if self._pid is not None and (event["event"] == "started" or event.get("why") == "cannot_start"):
            raise ValueError("it has started already")
        if event["event"] == "started":
            self._pid = event["pid"]
            self._known.set()
        elif event["event"] == "runs":
            self._answered.set()
        else:
            self._ended = ended(event, self._order, self._limits)

    async def _end_guard(self) -> None:
        """See that the guard has gone: by itself, as it does after its last word, or by being told, or by force."""
        assert self._guard.stdin is not None
        assert self._guard.stdout is not None
        with trio.move_on_after(GUARD_SECONDS):
            await self._guard.stdout.aclose()  # a full pipe holds up nobody any more
            await self._tell({"kill": True, "grace": 0.0})
            await self._guard.stdin.aclose()  # of which the command cannot keep the guard from hearing
            await self._guard.wait()
        if self._guard.returncode is None:
            self._kill_guard()
            with trio.move_on_after(GUARD_SECONDS):
                await self._guard.wait()
        if self._guard.returncode != 0 and self._pid is not None and sys.platform != "win32":
            with suppress(OSError):  # its first process died with the guard; others may not have
                os.killpg(self._pid, signal.SIGKILL)

    def _kill_guard(self) -> None:
        with suppress(OSError):
            self._guard.kill()

    async def _close(self) -> None:
        with trio.CancelScope(shield=True):
            if self._ended is None:
                await self.kill()
            await self._gone.wait()


@asynccontextmanager
async def open_guarded(
    command: Sequence[str | os.PathLike[str]],
    *,
    log: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    grace: float = GRACE_SECONDS,
) -> AsyncIterator[GuardedProcess]:
    """Run a command, and end it with all its descendants when the block is left.

    ``env`` is its whole environment (None: ours). ``log`` is overwritten. A command that cannot be started is no
    exception: its ``ended`` says why. An exception from the block comes out as it is.
    """
    order = {
        "command": [os.fspath(word) for word in command],
        "cwd": None if cwd is None else str(cwd),
        "env": None if env is None else dict(env),
        "log": str(log),
        "head": LOG_HEAD,
        "tail": LOG_TAIL,
        "grace": grace,
        "nonce": secrets.token_hex(16),
        "limits": {"memory": limits.memory, "cpu": limits.cpu_seconds}
        | {"processes": limits.processes, "threads": limits.threads},
    }
    guard = await trio.lowlevel.open_process(
        guard_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **apart()
    )
    process = GuardedProcess(guard, order, limits)
    error: BaseException | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process._listen)
        try:
            await process.begin()
            yield process
        except (Exception, KeyboardInterrupt) as raised:
            error = raised  # raised below: the nursery would wrap it into a group
        finally:
            await process._close()  # noqa: ASYNC102 - it shields itself, and its waits are bounded
    if error is not None:
        raise error


def apart() -> dict[str, Any]:
    """How to start a guard so that what a terminal sends to its programs does not reach it.

    It gets a process group, and no session: if its parent dies while it is stopped, the system makes it go on, as it
    does with every such group of the session, and so it notices. A death signal would not do: it would come when the
    thread ends in which trio has started the guard.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}


def guard_command() -> list[str]:
    """How a guard is started: without the environment's say, and fast."""
    root = str(Path(__file__).parents[2])
    code = f"import sys; sys.path.append({root!r}); from triarena.organiser.guard import main; main()"
    # Without -S where psutil, an installed package, is needed.
    return [sys.executable, "-I", *(["-S"] if sys.platform == "linux" else []), "-c", code]
