"""The tournament's own server: ``triarena serve`` as a process under guard, started again if it dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Final

import trio

from .bell import Bell
from .crew import Place
from .desk import DeskLost
from .link import Access
from .processes import GuardedProcess, Limits, open_guarded

START_SECONDS: Final = 60.0
MOST_DEATHS: Final = 5
"""How often in a row the server is started again before it is given up."""
SETTLED_SECONDS: Final = 30.0
"""A server that has run so long is sound: its death is not one of a row."""
DEFAULTS: Final[Mapping[str, str]] = {
    "TRIARENA_LIMITS__CONNECTIONS_PER_ADDRESS": "1000",  # all local bots come from one
    "TRIARENA_ROOMS__GRACE_SECONDS": "15",
    "TRIARENA_ROOMS__IDLE_SECONDS": "300",
}


@dataclass(slots=True, eq=False)
class EmbeddedServer:
    """Run ``keep`` in a nursery. The server's data are in ``folder``; matches go on after its death."""

    folder: Path
    log: Path
    host: str
    port: int
    """0 takes any free one, and keeps it."""
    settings: Mapping[str, str]
    """Environment variables that hold its settings."""
    bell: Bell
    trouble: Callable[[str], None]
    listens: Callable[[Place], None]
    """Told where local bots find it, whenever it has been started."""
    failed: str | None = None
    """Why there is no server any more."""
    _has_listened: bool = field(default=False, init=False)
    _listening: int | None = field(default=None, init=False)
    _listens_since: float = field(default=inf, init=False)
    """In trio's time; infinite before."""

    @property
    def secret_file(self) -> Path:
        """Where the server keeps the administrator's secret."""
        return self.folder / "admin-secret"

    def access(self) -> Access | None:
        """How to administer it; None while it does not listen."""
        if self._listening is None:
            return None
        try:
            secret = self.secret_file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise DeskLost("no_server", f"the server's secret can't be read: {error}") from None
        return Access(_reached_at(self.host), self._listening, secret)

    def place(self) -> Place | None:
        """Where bots on this machine find it."""
        return None if self._listening is None else Place(_reached_at(self.host), self._listening)

    async def keep(self) -> None:
        """Run the server until cancelled; if it dies, start it again on the same port with the same data.

        One that ends by itself before it has ever listened would do so again: its settings or its port are wrong.
        """
        deaths = 0
        while True:
            self._listens_since = inf
            hopeless = False
            try:
                sentence, by_itself = await self._run()
                hopeless = by_itself and not self._has_listened
            except OSError as error:  # the machine has no room for it
                sentence = f"it could not be started: {error.strerror or error}"
            deaths = 1 if trio.current_time() - self._listens_since > SETTLED_SECONDS else deaths + 1
            if hopeless or deaths >= MOST_DEATHS:
                what = "could not be started" if hopeless else "does not stay alive"
                self.failed = f"the server {what}: {sentence}"
                self.bell.ring()
                return
            self.trouble(f"the server has ended and is started again: {sentence}")
            await trio.sleep(0.2 * deaths)

    async def _run(self) -> tuple[str, bool]:
        """Run it once; how it ended, and whether with an exit code of its own."""
        port_file = self.folder / "port"
        port_file.unlink(missing_ok=True)
        words = [sys.executable, "-m", "triarena.cli", "serve", "--host", self.host, "--port", str(self.port)]
        words += ["--port-file", str(port_file), "--data-dir", str(self.folder), "--log-format", "console"]
        own = {key: value for key, value in os.environ.items() if not key.startswith("TRIARENA_")}
        async with open_guarded(
            words,
            cwd=self.folder,
            env={**own, **DEFAULTS, **self.settings},
            limits=Limits(None, None, None, None),
            log=self.log,
            grace=0,  # as if killed, which it survives: nobody shall lose because bots were ended before it
        ) as process:
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._announce, process, port_file)
                    ended = await process.wait()
                    nursery.cancel_scope.cancel()
            finally:
                self._listening = None
        last = process.tail(1)
        sentence = f"{ended.detail}; it said: {last[0]}" if last else ended.detail
        return sentence, ended.why == "exited" and ended.exit_code is not None

    async def _announce(self, process: GuardedProcess, port_file: Path) -> None:
        """Wait until the server listens; one that does not in time is ended, and so started again."""
        file = trio.Path(port_file)
        with trio.move_on_after(START_SECONDS) as patience:
            while not await file.exists():  # noqa: ASYNC110 (another process makes it)
                await trio.sleep(0.02)
            self.port = self._listening = int(await file.read_text(encoding="ascii"))
            self._listens_since, self._has_listened = trio.current_time(), True
            self.listens(Place(_reached_at(self.host), self.port))
            self.bell.ring()
        if patience.cancelled_caught:
            await process.kill()


def _reached_at(host: str) -> str:
    """Under which address this machine reaches a server that listens there."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
