"""Bringing both players of a game to their seats, and who did not come, and whose fault that was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from triarena.protocol import from_client as c
from triarena.protocol.values import SideName

from .crew import Bot, Crew, Place
from .desk import DeskError
from .last_words import last_words
from .link import Link, Watch
from .spec import Player

SERVER_SECONDS: Final = 120.0
"""How long a server that has gone is waited for."""
MOST_STARTS: Final = 3
"""How often a kept bot is started for one match."""
AGAIN_SECONDS: Final = 0.5
"""Until a refused invitation is tried again."""
TOLD_LINES: Final = 3
"""Among its last ones, of which one may be the client's own."""
WRONG_TOKEN: Final = "[wrong_token]"
"""How the client's sentence ends if the server does not know its player by its token."""
HOPELESS: Final = tuple(
    f"[{code}]"
    for code in ("bot_syntax_error", "no_choose_move", "bot_not_found", "bot_unreadable", "bot_import_error")
)
"""How the client's sentences end about files that no second look makes better."""
MOST_ABSENCES: Final = 3
"""So many matches in a row that a local player did not come to are enough."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a player will not come."""

    why: str
    blameless: bool = False
    """Whether that is no fault of its own: the game does not count then."""
    reason: Literal["no_show", "start_failed"] = "no_show"
    """``start_failed``: its process could not be started, or ended before the match began."""
    lost: bool = False
    """Whether its process was lost with its guard."""
    robbed: bool = False
    """Whether its name belongs to somebody else on the server by now."""


class Bench:
    """Local players that cannot be brought to a match: the evening shall not wait for them again and again.

    It lasts as long as this program runs; a resumed tournament gives everybody a new chance.
    """

    def __init__(self) -> None:
        self._absences: Counter[str] = Counter()
        self._why: dict[str, Missing] = {}
        self._news: list[tuple[str, str]] = []

    def absent(self, player: Player, missing: Missing) -> None:
        """A local player did not come to its match."""
        if not player.local or player.name in self._why:
            return
        self._absences[player.name] += 1
        if self._absences[player.name] == MOST_ABSENCES:
            sentence = f"it did not come to {MOST_ABSENCES} matches before, the last time since {missing.why}"
            self._why[player.name] = Missing(sentence, reason=missing.reason)
            self._news.append(
                (
                    player.name,
                    f"{player.name} could not be brought to {MOST_ABSENCES} matches in a row, and loses its other "
                    f"games until the tournament is resumed: {missing.why}",
                )
            )

    def came(self, player: Player) -> None:
        """It has played."""
        del self._absences[player.name]

    def why(self, name: str) -> Missing | None:
        """Why a player is not waited for any more; None if it is."""
        return self._why.get(name)

    def news(self) -> list[tuple[str, str]]:
        """Who has been put on the bench since the last call: names, and sentences about it."""
        news, self._news = self._news, []
        return news


@dataclass(slots=True, eq=False)
class Arrivals:
    """Both players of a room are awaited. Run ``bring`` for each of them, at the same time."""

    watch: Watch
    link: Link
    crew: Crew
    place: Callable[[], Place | None]
    """Where local bots find the server."""
    seconds: float
    """How long a player may take."""
    bots: dict[SideName, Bot]
    """Filled with the processes of local players."""
    missing: dict[SideName, Missing] = field(default_factory=dict)
    """Who will not come."""
    _deadline: float = field(init=False)
    _losses: int = field(init=False)

    def __post_init__(self) -> None:
        self._deadline = self.link.bell.now() + self.seconds
        self._losses = self.link.losses

    def settled(self, side: SideName) -> bool:
        """Whether a player is not to be waited for any more: the match goes on without us, or can't begin.

        Where the other one has failed, it is looked on until this one sits: who could not come either shall not win.
        """
        begun = self.watch.started or self.watch.over
        return begun or side in self.missing or (bool(self.missing) and self.watch.sits(side))

    @property
    def undisturbed(self) -> bool:
        """Whether the server was there all the time, so that who did not come could have."""
        return self.link.open and self.link.losses == self._losses

    async def bring(self, side: SideName, player: Player, code: str, seed: int) -> None:
        """Bring a player to its seat, and see that it stays until the match starts."""
        bring = self._invite if player.kept else self._launch
        reason = await bring(side, player, code, seed)
        if reason is not None:
            self.missing[side] = reason
        self.link.bell.ring()

    async def _launch(self, side: SideName, player: Player, code: str, seed: int) -> Missing | None:
        """Start the program of a player that plays one match."""
        await self._until(side, lambda: self.place() is not None)
        place = self.place()
        if self.settled(side):
            return None
        if place is None:
            return Missing("there was no server for its program to join", blameless=True)
        bot = self.bots[side] = self.crew.play_once(player, place, code, seed)
        await self._until(side, lambda: not bot.running)
        if self.watch.started or self.watch.over:
            return None
        if bot.ended is not None:
            return _dead(bot, "its program ended before the match began: ")
        if not self._late(side):
            return None
        await self.crew.dismiss(bot, 0)
        return Missing(f"its program had not taken its seat after {self.seconds:g} s{_said(bot)}")

    async def _invite(self, side: SideName, player: Player, code: str, seed: int) -> Missing | None:
        """Invite a player that waits in the lobby; a local one is started if it is not there."""
        starts, refusal = 0, ""
        invited: tuple[int, str] | None = None
        while not self.settled(side):
            bot, here = self.crew.kept(player), self._presence(player)
            if here is not None and here != invited and not self.watch.sits(side):
                refusal = await self._refusal(player.name, code, seed)
                if not refusal:
                    invited = here
                    await self._plays(side, bot)
                elif self.link.bell.now() < self._deadline:
                    await self.link.bell.rung(AGAIN_SECONDS)  # it has just gone, or is held by a room that is closing
                else:
                    return Missing(f"it could not be invited: {refusal}", blameless=True)
                continue
            if player.local and bot is None and (place := self.place()) is not None:
                if starts and (robbed := await self._robbed(player)) is not None:
                    return robbed
                if starts >= MOST_STARTS or (starts and self._hopeless(player)):
                    return self._why_dead(player, starts)
                starts += 1
                self.bots[side] = bot = self.crew.keep(player, place)
            seen = self._seen(player, bot)
            if not await self._until(side, lambda bot=bot, seen=seen: self._seen(player, bot) != seen):  # type: ignore[misc]
                break
        return await self._too_late(player, invited is not None) if self._late(side) else None

    async def _until(self, side: SideName, condition: Callable[[], bool]) -> bool:
        """Wait for it, or until all is settled; False if time was up before."""
        return await self.link.bell.until(lambda: self.settled(side) or condition(), self._deadline)

    async def _robbed(self, player: Player) -> Missing | None:
        """Why a player that the server has turned away for its token will not come, if that is no fault of its own.

        Its own word is not enough: whoever writes the bot could have it say so.
        """
        bot = self.crew.last(player)
        if bot is None or not turned_away(bot) or await self.link.still_owns(player.name):
            return None
        return Missing("its name belongs to somebody else on this server by now", blameless=True, robbed=True)

    def _presence(self, player: Player) -> tuple[int, str] | None:
        """Which of a player's connections waits in the lobby; a restarted server counts them anew."""
        connection = self.link.waiting.get(player.name)
        return None if connection is None else (self.link.losses, connection)

    def _seen(self, player: Player, bot: Bot | None) -> tuple[object, ...]:
        """All that may call for doing something."""
        return self._presence(player), bot is not None and not bot.running, self.place() is None

    async def _plays(self, side: SideName, bot: Bot | None) -> None:
        """A kept process begins a match: what it may use is counted from here."""
        if bot is not None:
            self.bots[side] = bot
            if bot.process is not None:
                await bot.process.reset_limits()

    async def _refusal(self, name: str, code: str, seed: int) -> str:
        """Invite a player; why the server would not, or empty."""
        patience = max(0.0, self._deadline - self.link.bell.now())
        try:
            await self.link.request(c.Invite(player=name, reservation=code, seed=seed), within=patience)
        except DeskError as error:
            return error.message
        return ""

    def _late(self, side: SideName) -> bool:
        """Whether a player's time is up, also if the other one's was first."""
        begun = self.watch.started or self.watch.over
        return not begun and not self.watch.sits(side) and self.link.bell.now() >= self._deadline

    async def _too_late(self, player: Player, invited: bool) -> Missing:
        bot = self.crew.kept(player)
        if bot is not None:
            await self.crew.dismiss(bot, 0)  # it may hang: its next match gets a fresh process
            return Missing(f"it had not taken its seat after {self.seconds:g} s{_said(bot)}")
        if player.local:
            return Missing("there was no server for it to join", blameless=True)
        if invited:
            return Missing("it did not take the seat that it was invited to")
        return Missing("it went away before it could be invited")

    def _hopeless(self, player: Player) -> bool:
        """Whether a player's process has ended for a reason that will be there the next time, too."""
        bot = self.crew.last(player)
        if bot is None or bot.ended is None or bot.ended.blameless:
            return False
        return any(line.rstrip().endswith(HOPELESS) for line in bot.last_words()[-TOLD_LINES:])

    def _why_dead(self, player: Player, starts: int) -> Missing:
        bot, often = self.crew.last(player), "once" if starts == 1 else f"{starts} times"
        if bot is None or bot.ended is None:
            return Missing(f"it was started {often}, and ended", reason="start_failed")
        return _dead(bot, f"it was started {often}, and ")

    async def refresh(self) -> None:
        """Ask the server whether the match has begun after all: its news may be slower than those of a process."""
        with suppress(DeskError):
            await self.link.look(self.watch)


def turned_away(bot: Bot) -> bool:
    """Whether a bot's process says that the server took its token for a wrong one."""
    return any(WRONG_TOKEN in line for line in bot.last_words()[-TOLD_LINES:])


def _dead(bot: Bot, intro: str) -> Missing:
    """Why a player whose process has ended will not come: how that ended, and its last words."""
    assert bot.ended is not None
    why = intro + bot.ended.detail + _said(bot)
    return Missing(why, bot.ended.blameless, "start_failed", bot.ended.why == "lost")


def _said(bot: Bot) -> str:
    """The last lines that a process has printed, standard error included."""
    words = last_words(bot.last_words())
    return f"; it said: {words}" if words else ""
