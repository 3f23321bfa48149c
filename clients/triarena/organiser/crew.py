"""The local bots' processes: those that are kept between matches, and those that play one match."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from .bell import Bell
from .endings import LOST
from .processes import Ended, GuardedProcess, Limits, open_guarded
from .spec import BotLimits, Player

FAREWELL_SECONDS: Final = 5.0
"""How long a program whose match is over may take to end by itself."""
ANSWER_SECONDS: Final = 5.0
"""How long a guard may take to say how its process fares."""
STARTING_SECONDS: Final = 10.0
"""How long a program that is not wanted any more may take to be started."""
SHOWN_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where the bots find the server."""

    host: str
    port: int


@dataclass(slots=True, eq=False)
class Bot:
    """A process of a player, from its start to its end."""

    player: Player
    log: Path
    process: GuardedProcess | None = None
    """None before it is started."""
    ended: Ended | None = None
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    """In which it is run."""

    @property
    def running(self) -> bool:
        """Whether it may still do something."""
        return self.ended is None

    def last_words(self) -> tuple[str, ...]:
        """The last lines that it has printed."""
        return self.process.tail(SHOWN_LINES) if self.process is not None else ()


class Crew:
    """Starts and ends the processes of local bots; they all end with its nursery."""

    def __init__(
        self,
        nursery: trio.Nursery,
        bell: Bell,
        limits: BotLimits,
        logs: Path,
        tokens: dict[str, str],
        tls: bool = False,
    ) -> None:
        self._nursery = nursery
        self._bell = bell
        self._limits = limits
        self._logs = logs
        self._tokens = tokens
        self._kept: dict[str, Bot] = {}
        self._last: dict[str, Bot] = {}
        self._starts: dict[str, int] = {}

    def kept(self, player: Player) -> Bot | None:
        """The process that plays one match after another for this player, if it runs."""
        bot = self._kept.get(player.name)
        return bot if bot is not None and bot.running else None

    def last(self, player: Player) -> Bot | None:
        """The latest process of this player, whether it runs or not."""
        return self._last.get(player.name)

    def keep(self, player: Player, place: Place) -> Bot:
        """Start the process of a player that waits in the lobby for its matches."""
        words = [sys.executable, "-m", "triarena.cli", "join", "--tournament", str(player.source)]
        words += ["--name", player.name, "--host", place.host, "--port", str(place.port)]
        bot = self._start(player, words, {"TRIARENA_TOKEN": self._tokens[player.name]})
        self._kept[player.name] = bot
        return bot

    def play_once(self, player: Player, place: Place, reservation: str, seed: int) -> Bot:
        """Start the program of a player for one match."""
        assert isinstance(player.source, tuple), "a command"
        words = [*player.source, "--host", place.host, "--port", str(place.port), "--reservation", reservation]
        return self._start(player, words, {"TRIARENA_SEED": str(seed)})

    async def dismiss(self, bot: Bot, patience: float = FAREWELL_SECONDS) -> None:
        """See a process to its end: for a while by itself, then by force."""
        if await self._bell.until(lambda: not bot.running, self._bell.now() + patience):
            return
        # It may be just being started; that need not succeed.
        begun_by = self._bell.now() + STARTING_SECONDS
        if not await self._bell.until(lambda: bot.process is not None or not bot.running, begun_by):
            bot.scope.cancel()
        elif bot.process is not None:
            await bot.process.kill()

    async def knows(self, bot: Bot) -> bool:
        """Whether it is known how a process fares: it has ended (as ``bot.ended`` tells then), or certainly runs."""
        if bot.process is None or not await bot.process.is_known(ANSWER_SECONDS):
            return not bot.running
        if bot.process.ended is not None:
            await self._bell.until(lambda: not bot.running)
        return True

    def _start(self, player: Player, words: Sequence[str], env: dict[str, str]) -> Bot:
        bot = self._last[player.name] = Bot(player, self._next_log(player))
        self._nursery.start_soon(self._run, bot, list(words), {**os.environ, **player.env, **env})
        return bot

    def _next_log(self, player: Player) -> Path:
        """One that no process writes, nor has written before an interruption."""
        while True:
            number = self._starts[player.name] = self._starts.get(player.name, 0) + 1
            log = self._logs / f"{player.name}-{number}.log"
            if not log.exists():
                return log

    async def _run(self, bot: Bot, words: list[str], env: dict[str, str]) -> None:
        memory = self._limits.memory_mb
        limits = Limits(
            memory=None if memory is None else memory << 20,
            cpu_seconds=self._limits.cpu_seconds,
            processes=self._limits.processes,
        )
        try:
            with bot.scope:
                async with open_guarded(words, cwd=bot.player.cwd, env=env, limits=limits, log=bot.log) as process:
                    bot.process = process
                    self._bell.ring()
                    bot.ended = await process.wait()
            bot.ended = bot.ended or LOST
        except OSError as error:  # not even its guard could be started: the machine has no room for it
            sentence = f"it could not be started: {error.strerror or error}"
            bot.ended = Ended("cannot_start", None, None, sentence, blameless=True)
        self._bell.ring()
