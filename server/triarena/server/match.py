"""The referee: one match, from its first position to a result.

It asks a side for a move, checks it against the rules, has it written down, tells everybody. It knows no sockets: a
player is something messages can be posted to, and whatever happens outside lies in its mailbox. What can't be written
down is told to nobody; the match waits, and only an administrator can end it then.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn

import structlog
import trio

from triarena.games import AnyPosition, MoveError, Side
from triarena.games.core import Plain
from triarena.protocol.from_server import YourTurn
from triarena.protocol.room_views import Turned
from triarena.protocol.values import ForfeitReason, Result

from . import results
from .absences import Absences
from .clock import SideClock, ms
from .events import (
    Cancelled,
    Event,
    Gate,
    Gone,
    HasMoved,
    IsReady,
    Lost,
    Mailbox,
    Nudge,
    Returned,
    Surrendered,
    Suspended,
)
from .terms import Audience, Book, LastTurn, Player, StorageLost, Terms, Timing
from .turn import Turn

log = structlog.get_logger()

AFTERTHOUGHT = 2
"""How often the loop may go round after a deadline, so that what has arrived is read before it is judged."""


@dataclass(slots=True)
class Referee:
    """Runs one match. ``position``, ``ply``, ``clocks``, ``absences`` may be read by anybody, at any time."""

    terms: Terms
    players: Mapping[Side, Player]
    book: Book
    audience: Audience
    mailbox: Mailbox
    gate: Gate
    room: str
    position: AnyPosition = field(init=False)
    ply: int = 0
    clocks: dict[Side, SideClock] = field(init=False)
    asked: bool = False
    """Whether the first turn has begun."""
    stopping: bool = False
    """Set when the server is about to stop: nobody is judged for a connection that is lost from then on."""
    absences: Absences = field(init=False)
    _resumed: bool = False
    _turn: Turn | None = None
    """The one under way."""
    _waiting: trio.CancelScope | None = None
    """Ends the wait for the next event."""
    _arrived: float | None = None
    """When the previous move arrived."""
    _postponed: deque[Event] = field(default_factory=deque)
    """What happened while nothing could be stored, and is to be judged now."""

    def __post_init__(self) -> None:
        self.position = self.terms.game.start(self.terms.options, self.terms.seed)
        self.clocks = {side: SideClock.of(self.terms.clocks[side]) for side in Side}
        self.absences = Absences(self.terms.grace, self.terms.startup)

    def resume(self, plies: Iterable[tuple[Plain, float]], patience: float) -> None:
        """Go on after a match that was broken off: ``plies`` are its moves in wire form, each with the seconds it
        took. Both sides are away, and excused, for ``patience`` seconds.

        Raises MoveError if the rules do not allow what was played.
        """
        for wire, used in plies:
            side = self.position.to_move
            self.position = self.position.play(self.terms.game.read_move(wire))
            self.clocks[side] = self.clocks[side].charge(used)
            self.ply += 1
        self.absences.not_resumed(patience, trio.current_time())
        self._resumed = True

    async def run(self) -> Result | None:
        """Play to the end, whatever happens; the result has been stored and told when this returns.

        None if the server stops before the end: the match is to be resumed.
        """
        try:
            result = await self._result()
            return None if result is None else await self._end(result)
        except Exception:
            # A fault of ours (or of a game from elsewhere) ends this match and no other.
            log.exception("match_failed", room=self.room, ply=self.ply)
            fault = results.aborted("internal_error", self.position, "the server made an error; nobody is to blame")
        try:
            return await self._end(fault)
        except Exception:
            log.exception("result_not_stored", room=self.room)
            self.audience.over(fault, self.position)  # nobody's win and nobody's loss may be told all the same
            return fault

    async def _end(self, result: Result) -> Result | None:
        """Have the result written down, then tell it; None if the server stops before that."""
        told = self.book.lost and result.reason == "cancelled"
        if told:  # an administrator's word needs no database
            self.audience.over(result, self.position)
        try:
            await self._keep(self.book.ended(result, announced=told, turn=self._last_turn()))
        except _Ended as ended:
            if told:
                return result
            return None if ended.result is None else await self._end(ended.result)
        if not told:
            self.audience.over(result, self.position)
        return result

    async def _result(self) -> Result | None:
        try:
            if not self._resumed:
                await self._keep(self.book.opened())
                self.audience.started(self.position)
                await self._wait_until_ready()
            while True:
                await self._next_ply()
        except _Ended as ended:
            return ended.result

    # -- before the first ply ------------------------------------------------------------------

    async def _wait_until_ready(self) -> None:
        """Both sides have the start-up time to say that they are ready."""
        for side in Side:
            self.absences.unready(side, trio.current_time())
        while self.absences:
            await self._event()

    # -- a ply ---------------------------------------------------------------------------------

    async def _next_ply(self) -> None:
        if self.position.outcome is not None:
            raise _Ended(results.by_the_rules(self.position.outcome))
        limit = self.terms.game.ply_limit(self.terms.options)
        if limit is not None and self.ply >= limit:
            raise _Ended(results.aborted("ply_limit", self.position, f"no side has won within {limit} plies"))
        await self._pass_the_gate()
        await self._play()

    async def _pass_the_gate(self) -> None:
        """Wait while paused. The clocks stand still meanwhile."""
        while not self.gate.open:
            self._arrived = None  # what follows is no overhead of the server's
            await self._event()
        self.absences.heed(trio.current_time(), paused=self.gate.paused)
        self.gate.passed()

    async def _play(self) -> None:
        side = self.position.to_move
        turn = self._turn = Turn(side, trio.current_time())
        answer = await self._ask(turn)
        game = self.terms.game
        try:
            move = game.read_move(answer.move)
            position = self.position.play(move)
        except MoveError as error:
            raise _Ended(results.illegal_move(side, self.position, self.ply, game, answer.move, error)) from None
        turned = Turned.model_validate(
            {
                "ply": self.ply,
                "side": side.value,
                "move": game.write_move(move),
                "text": game.format(move),
                "used_ms": ms(turn.used),
            }
        )
        timing = Timing(turn.asked, answer.at, limit_ms=self.clocks[side].left_ms, overhead=turn.overhead)
        self._turn = None
        await self._keep(self.book.played(turned, timing))
        self.clocks[side] = self.clocks[side].charge(turn.used)
        self._arrived = answer.at
        self.position, self.ply = position, self.ply + 1
        self.audience.moved(turned, position)

    async def _ask(self, turn: Turn) -> HasMoved:
        """Ask a side for its move, and note what the answer is charged."""
        side, self.asked = turn.side, True
        absence = self.absences.of(side)
        if absence is None:
            self._post(turn)
        elif not absence.untimed:
            turn.sent = trio.current_time()  # the clock runs on while it is away
        while True:
            event = await self._event(turn)
            if event is None:
                raise _Ended(self._out_of_time(turn, trio.current_time(), answered=False))
            if isinstance(event, HasMoved) and event.side is side and event.ply == self.ply:
                turn.arrived = event.at
                turn.used = 0.0 if turn.sent is None else max(0.0, event.at - turn.sent)
                if self.clocks[side].lost(turn.used):
                    raise _Ended(self._out_of_time(turn, event.at, answered=True))
                return event
            if isinstance(event, IsReady) and event.side is side:
                self._post(turn)  # it is back
            elif isinstance(event, Lost) and event.side is side and turn.sent is None:
                turn.sent = trio.current_time()  # it was lost before the turn reached it

    def _post(self, turn: Turn) -> None:
        """Hand a turn to its side; the clock starts when it is on its way, or runs on if it had started before."""
        now = trio.current_time()
        overhead = turn.overhead = None if self._arrived is None else now - self._arrived
        elapsed = 0.0 if turn.sent is None else now - turn.sent

        def sent(at: float) -> None:
            if turn.sent is None:
                turn.sent = at
                if self._turn is turn and self._waiting is not None:  # for the answer: until its clock runs out
                    self._waiting.deadline = min(self._waiting.deadline, self._runs_out(turn))

        player = self.players[turn.side]
        message = YourTurn(
            room=self.room,
            ply=self.ply,
            clock=self.clocks[turn.side].tell(overhead, elapsed),
            position=self._shown() if player.updates == "positions" else None,
        )
        player.ask(message, sent)

    def _runs_out(self, turn: Turn | None) -> float:
        """When the clock of a turn has run out; infinite while it does not run, or if nobody is asked."""
        if turn is None or turn.sent is None:
            return math.inf
        return turn.sent + self.clocks[turn.side].patience()

    def _out_of_time(self, turn: Turn, now: float, *, answered: bool) -> Result | None:
        """A side's clock has run out: by thinking, or because it was away."""
        side = turn.side
        if self.absences.of(side) is not None:
            return self.absences.out_of_time(side, self.position, self.ply)
        limit = self.clocks[side].left_ms or 0.0
        used = turn.used = 0.0 if turn.sent is None else now - turn.sent
        return results.timeout(side, self.position, self.ply, limit_ms=limit, used=used, answered=answered)

    def _last_turn(self) -> LastTurn | None:
        """The turn in which the match ends, if there is one."""
        turn = self._turn
        if turn is None:
            return None
        if turn.arrived is None and turn.sent is not None and not turn.used:
            turn.used = trio.current_time() - turn.sent
        limit_ms = self.clocks[turn.side].left_ms
        asked = turn.asked if turn.sent is None else turn.sent
        return LastTurn(turn.side, self.ply, asked, turn.arrived, turn.used, limit_ms, turn.overhead)

    def _shown(self) -> Plain:
        return self.terms.game.write_position(self.position)

    # -- a lost database -----------------------------------------------------------------------

    async def _keep(self, writing: Awaitable[None]) -> None:
        """Have something written down, however long it takes. While the database is lost, nobody's time runs.

        Raises _Ended if meanwhile an administrator cancels the match, or the server stops.
        """
        try:
            await writing
        except StorageLost:
            end = await self._insist()
            self.absences.renew(trio.current_time())
            if end is not None:
                self._heed(end)

    async def _insist(self) -> Cancelled | Suspended | None:
        """Try until it is stored: None; or else what made an end of it."""
        stored = False

        async def insist() -> None:
            nonlocal stored
            await self.book.insist()
            stored = True
            nursery.cancel_scope.cancel()

        end = next((event for event in self._postponed if isinstance(event, Cancelled | Suspended)), None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(insist)
            while end is None:
                event = await self.mailbox.get()
                if isinstance(event, Cancelled | Suspended):
                    end = event
                else:
                    self._postpone(event)
            nursery.cancel_scope.cancel()
        if stored and end is not None:
            self._postponed.appendleft(end)
        return None if stored else end

    def _postpone(self, event: Event) -> None:
        """Nobody wins or loses what can't be stored: it is judged afterwards. Who comes and goes is noted at once."""
        if isinstance(event, Surrendered | Gone) or (isinstance(event, Lost) and self.terms.grace <= 0):
            if (type(event), event.side) not in ((type(e), getattr(e, "side", None)) for e in self._postponed):
                self._postponed.append(event)  # each once: nobody may fill our memory
        else:
            self._heed(event)

    # -- what comes from outside ---------------------------------------------------------------

    async def _event(self, turn: Turn | None = None) -> Event | None:
        """The next event, or None when the clock of ``turn`` has run out and nothing that came before that is left.

        Whatever ends the match raises _Ended here.
        """
        self.absences.heed(trio.current_time(), paused=self.gate.paused)
        away_too_long = self.absences.deadline()
        event: Event | None = self._postponed.popleft() if self._postponed else None
        if event is None:
            with trio.CancelScope(deadline=min(self._runs_out(turn), away_too_long)) as self._waiting:
                event = await self.mailbox.get()
        if event is None:
            for _ in range(AFTERTHOUGHT):
                await trio.lowlevel.checkpoint()
            event = self.mailbox.get_nowait()
        if event is not None:
            self._heed(event)
        elif away_too_long <= self._runs_out(turn):
            raise _Ended(self.absences.verdict(self.position, self.ply))
        return event

    def _heed(self, event: Event) -> None:
        """What an event means whoever is asked at the moment; raises _Ended if it ends the match."""
        match event:
            case Surrendered(side):
                sentence = f"{side.value} surrendered at ply {self.ply}"
                raise _Ended(results.forfeit("surrender", [side], self.position, sentence, ply=self.ply))
            case Gone(side, reason, message):
                self._end_without(side, reason, message)
            case Lost(side, reason, message):
                self._lost(side, reason, message)
            case Returned(side):
                self.absences.unready(side, trio.current_time())
            case IsReady(side):
                self.absences.ready(side)
            case Cancelled(message):
                raise _Ended(results.aborted("cancelled", self.position, message))
            case Suspended():
                raise _Ended(None)
            case HasMoved() | Nudge():
                pass

    def _lost(self, side: Side, reason: Literal["disconnected", "stalled"], message: str) -> None:
        """A side's connection is lost: its grace period begins, if there is one."""
        if self.stopping and self.terms.grace <= 0:
            raise _Ended(None)
        if self.terms.grace <= 0:
            self._end_without(side, reason, message)
        self.absences.lost(side, reason, message, trio.current_time())
        if self.stopping:
            self.absences.spare(side)

    def _end_without(self, side: Side, reason: ForfeitReason, message: str) -> NoReturn:
        """A side is gone for good; if the other went at the same time, nobody wins by having been read second."""
        offenders = [side]
        waiting = list(self._postponed)
        while (event := self.mailbox.get_nowait()) is not None:
            waiting.append(event)
        for event in waiting:
            if isinstance(event, Gone | Lost) and event.side is side.other:
                offenders.append(event.side)
                break
        offenders.sort(key=list(Side).index)
        raise _Ended(results.forfeit(reason, offenders, self.position, message, ply=self.ply))


class _Ended(Exception):
    """The match has ended with a result, or is to be resumed later (None). Never leaves the referee."""

    def __init__(self, result: Result | None) -> None:
        super().__init__()
        self.result = result
