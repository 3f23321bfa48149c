"""The referee: one match, from its first position to a result.

It asks a side for a move, checks it against the rules, writes it to the journal, tells everybody. It knows no
sockets: a player is something messages can be posted to, and whatever happens outside lies in its mailbox.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

import structlog
import trio

from triarena.games import AnyGame, AnyPosition, MoveError, Side
from triarena.games.core import Options, Plain, shown
from triarena.protocol.from_server import Turned, YourTurn
from triarena.protocol.values import PerMove, Result, TimeControl, Updates

from . import results
from .clock import SideClock, ms
from .events import Cancelled, Event, Gate, Gone, HasMoved, IsReady, Mailbox, Nudge, Surrendered

log = structlog.get_logger()

AFTERTHOUGHT = 2
"""How often the loop may go round after a deadline, so that what has arrived is read before it is judged."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a match is played by; announced at its start and stored with it."""

    game: AnyGame
    options: Options
    seed: int
    clocks: Mapping[Side, TimeControl]
    startup: float
    """Seconds that a side has to answer ``match_started``."""


class Player(Protocol):
    """What the referee sees of a side."""

    @property
    def updates(self) -> Updates:
        """Whether ``your_turn`` carries the position."""
        ...

    def ask(self, message: YourTurn, sent: Callable[[float], None]) -> None:
        """Post a turn; ``sent`` is called with the time when it has been handed to the network."""
        ...


class Audience(Protocol):
    """To whom the referee tells what has happened, and where it is written down before."""

    async def started(self, position: AnyPosition) -> None:
        """The match begins: write it down, tell the players."""
        ...

    async def moved(self, turned: Turned, position: AnyPosition) -> None:
        """A ply was accepted: write it down, then tell everybody."""
        ...

    async def over(self, result: Result, position: AnyPosition) -> None:
        """The match has ended: write it down, then tell everybody."""
        ...


class StorageLost(Exception):
    """The journal can't be written; raised by an Audience."""


@dataclass(slots=True)
class _Turn:
    """A ``your_turn`` under way."""

    sent: float | None = None


@dataclass(slots=True)
class Referee:
    """Runs one match. ``position``, ``ply``, ``clocks`` may be read by anybody, at any time."""

    terms: Terms
    players: Mapping[Side, Player]
    audience: Audience
    mailbox: Mailbox
    gate: Gate
    room: str
    position: AnyPosition = field(init=False)
    ply: int = 0
    clocks: dict[Side, SideClock] = field(init=False)
    asked: bool = False
    """Whether the first turn has begun."""
    _arrived: float | None = None
    """When the previous move arrived."""

    def __post_init__(self) -> None:
        self.position = self.terms.game.start(self.terms.options, self.terms.seed)
        self.clocks = {side: SideClock(self.terms.clocks[side]) for side in Side}

    async def run(self) -> Result:
        """Play to the end, whatever happens; the result has been stored and told when this returns."""
        try:
            result = await self._result()
            await self.audience.over(result, self.position)
        except StorageLost as error:
            result = results.aborted("storage_lost", self.position, f"the match can't be stored any more: {error}")
            await self._say_the_end(result)
        except Exception:
            # A fault of ours (or of a game from elsewhere) ends this match and no other.
            log.exception("match_failed", room=self.room, ply=self.ply)
            result = results.aborted("internal_error", self.position, "the server made an error; nobody is to blame")
            await self._say_the_end(result)
        return result

    async def _say_the_end(self, result: Result) -> None:
        try:
            await self.audience.over(result, self.position)
        except Exception as error:
            log.error("result_not_stored", room=self.room, error=str(error))

    async def _result(self) -> Result:
        await self.audience.started(self.position)
        result = await self._wait_until_ready()
        while result is None:
            result = await self._next_ply()
        return result

    # -- before the first ply ------------------------------------------------------------------

    async def _wait_until_ready(self) -> Result | None:
        deadline = trio.current_time() + self.terms.startup
        missing = set(Side)
        while missing:
            event = await self._event(deadline)
            if event is None:
                return self._no_show(missing)
            if isinstance(event, IsReady):
                missing.discard(event.side)
            elif (result := self._end_by(event)) is not None:
                return result
        return None

    def _no_show(self, missing: set[Side]) -> Result:
        offenders = [side for side in Side if side in missing]
        who = " and ".join(side.value for side in offenders)
        sentence = f"{who} did not answer 'match_started' with 'ready' within {self.terms.startup:g} s"
        return results.forfeit("no_show", offenders, self.position, sentence)

    # -- a ply ---------------------------------------------------------------------------------

    async def _next_ply(self) -> Result | None:
        if self.position.outcome is not None:
            return results.by_the_rules(self.position.outcome)
        limit = self.terms.game.ply_limit(self.terms.options)
        if limit is not None and self.ply >= limit:
            return results.aborted("ply_limit", self.position, f"no side has won within {limit} plies")
        return await self._pass_the_gate() or await self._play()

    async def _pass_the_gate(self) -> Result | None:
        """Wait while paused. The clocks stand still meanwhile."""
        while not self.gate.open:
            self._arrived = None  # what follows is no overhead of the server's
            event = await self._event(math.inf)
            if event is not None and (result := self._end_by(event)) is not None:
                return result
        self.gate.passed()
        return None

    async def _play(self) -> Result | None:
        side = self.position.to_move
        answer, used = await self._ask(side)
        if isinstance(answer, Result):
            return answer
        try:
            move = self.terms.game.read_move(answer.move)
            position = self.position.play(move)
        except MoveError as error:
            return self._illegal(side, answer.move, error)
        self.clocks[side] = self.clocks[side].charge(used)
        self._arrived = answer.at
        game = self.terms.game
        turned = Turned.model_validate(
            {
                "ply": self.ply,
                "side": side.value,
                "move": game.write_move(move),
                "text": game.format(move),
                "used_ms": ms(used),
            }
        )
        self.position, self.ply = position, self.ply + 1
        await self.audience.moved(turned, position)
        return None

    async def _ask(self, side: Side) -> tuple[HasMoved | Result, float]:
        """Ask a side for its move: the move with the seconds it took, or how the match ends instead."""
        turn, clock, self.asked = _Turn(), self.clocks[side], True
        overhead = None if self._arrived is None else trio.current_time() - self._arrived
        message = YourTurn(
            room=self.room,
            ply=self.ply,
            clock=clock.tell(overhead),
            position=self._shown() if self.players[side].updates == "positions" else None,
        )

        def sent(now: float) -> None:
            turn.sent = now
            self.mailbox.put(Nudge())

        self.players[side].ask(message, sent)
        while True:
            deadline = math.inf if turn.sent is None else turn.sent + clock.patience()
            event = await self._event(deadline)
            if event is None:
                return self._timed_out(side, trio.current_time() - (turn.sent or 0.0), answered=False), 0.0
            if isinstance(event, HasMoved) and event.side is side and event.ply == self.ply:
                used = 0.0 if turn.sent is None else max(0.0, event.at - turn.sent)
                if used > clock.patience() or (clock.overrun(used) and not self._forgiven(clock)):
                    return self._timed_out(side, used, answered=True), used
                return event, used
            if (result := self._end_by(event)) is not None:
                return result, 0.0

    @staticmethod
    def _forgiven(clock: SideClock) -> bool:
        return isinstance(clock.control, PerMove) and clock.strikes < clock.control.strikes

    def _timed_out(self, side: Side, used: float, *, answered: bool) -> Result:
        control = self.clocks[side].control
        limit = control.move_ms if isinstance(control, PerMove) else 0.0
        return results.timeout(side, self.position, self.ply, limit_ms=limit, used=used, answered=answered)

    def _illegal(self, side: Side, wire: Plain, error: MoveError) -> Result:
        text = shown(wire, 300)
        with suppress(MoveError):  # no move of this game: shown as it came
            text = self.terms.game.format(self.terms.game.read_move(wire))
        why = error.message if error.message.startswith(text) else f"{text}: {error.message}"
        sentence = f"{side.value} made an illegal move at ply {self.ply}: {why}"
        return results.forfeit(
            "illegal_move", [side], self.position, sentence[:2000], ply=self.ply, code=error.code, move=text
        )

    def _shown(self) -> Plain:
        return self.terms.game.write_position(self.position)

    # -- what comes from outside ---------------------------------------------------------------

    async def _event(self, deadline: float) -> Event | None:
        """The next event, or None when the deadline has passed and nothing that came before it is left."""
        with trio.move_on_at(deadline):
            return await self.mailbox.get()
        for _ in range(AFTERTHOUGHT):
            await trio.lowlevel.checkpoint()
        return self.mailbox.get_nowait()

    def _end_by(self, event: Event) -> Result | None:
        """How the match ends by this event; None if it goes on."""
        match event:
            case Surrendered(side):
                sentence = f"{side.value} surrendered at ply {self.ply}"
                return results.forfeit("surrender", [side], self.position, sentence, ply=self.ply)
            case Gone(side, reason, message):
                offenders = [side, *self._gone_as_well(side)]
                offenders.sort(key=list(Side).index)
                return results.forfeit(reason, offenders, self.position, message, ply=self.ply)
            case Cancelled(reason, message):
                return results.aborted(reason, self.position, message)
            case _:
                return None  # a nudge, or the word of a side that isn't asked

    def _gone_as_well(self, first: Side) -> list[Side]:
        """The other side if it went at the same time: then nobody wins by having been read second."""
        while (event := self.mailbox.get_nowait()) is not None:
            if isinstance(event, Gone) and event.side is first.other:
                return [event.side]
        return []
