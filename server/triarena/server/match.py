"""The referee: one match, from its first position to a result.

It asks a side for a move, checks it against the rules, has it written down, tells everybody. It knows no sockets: a
player is something messages can be posted to, and whatever happens outside lies in its mailbox. What can't be written
down is told to nobody; the match waits, and only an administrator can end it then.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import structlog
import trio

from triarena.games import AnyPosition, MoveError, Side
from triarena.games.core import Plain
from triarena.protocol.from_server import YourTurn
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
from .storing import Storing
from .terms import Audience, Book, LastTurn, Played, Player, Terms
from .turn import StoodStill, Turn, never
from .wording import worded_move, worded_position

log = structlog.get_logger()

WAKING_SECONDS = 1.0
"""What who is away gets beside the time for which the server stood still: it may have dialled in vain."""
LOOKS = 12
"""How often the loop looks for input before a side counts as away for too long: it may be at the door already."""


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
    stood_still: StoodStill = never
    position: AnyPosition = field(init=False)
    ply: int = 0
    clocks: dict[Side, SideClock] = field(init=False)
    asked: bool = False
    """Whether the first turn has begun, or may have before a restart."""
    stopping: bool = False
    """Set when the server is about to stop: nobody is judged for a connection that is lost from then on."""
    absences: Absences = field(init=False)
    pending: Result | None = None
    """The result that is being written down; nothing that happens from then on changes it."""
    _resumed: bool = False
    _turn: Turn | None = None
    """The one under way."""
    _waiting: trio.CancelScope | None = None
    """Ends the wait for the next event."""
    _arrived: float | None = None
    """When the previous move arrived."""
    _storing: Storing = field(init=False)
    _looked: float = 0.0
    """Until when it is known whether the server stood still."""

    def __post_init__(self) -> None:
        self.position = self.terms.game.start(self.terms.options, self.terms.seed)
        self.clocks = {side: SideClock.of(self.terms.clocks[side]) for side in Side}
        self.absences = Absences(self.terms.grace, self.terms.startup)
        self._storing = Storing(self.book, self.mailbox, self.absences)

    def resume(self, plies: Iterable[tuple[Plain, float]], patience: float) -> None:
        """Go on after a match that was broken off: ``plies`` are its moves in wire form, each with the seconds it
        took. Both sides are away, and excused, for ``patience`` seconds; nobody is asked before both are back.

        Raises MoveError if the rules do not allow what was played.
        """
        for wire, used in plies:
            side = self.position.to_move
            self.position = self.position.play(self.terms.game.read_move(wire))
            self.clocks[side] = self.clocks[side].charge(used)
            self.ply += 1
        self.absences.not_resumed(patience, trio.current_time())
        self._resumed = self.asked = True

    async def run(self) -> Result | None:
        """Play to the end, whatever happens; the result has been stored and told when this returns.

        None if the server stops before the end: the match is to be resumed.
        """
        self._looked = trio.current_time()
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
        self.pending = result
        told = self.book.lost and result.reason == "cancelled"
        if told:  # an administrator's word needs no database
            self.audience.over(result, self.position)
        try:
            await self._keep(self.book.ended(result, announced=told, turn=self._last_turn()))
        except _Ended:  # the server stops; nothing else overrides a pending result
            return result if told else None
        if not told:
            self.audience.over(result, self.position)
        return result

    async def _result(self) -> Result | None:
        try:
            if not self._resumed:
                await self._keep(self.book.opened())
                self.audience.started(self.position)
                self.absences.opened(trio.current_time())
            while True:
                await self._next_ply()
        except _Ended as ended:
            return ended.result

    # -- a ply ---------------------------------------------------------------------------------

    async def _next_ply(self) -> None:
        if self.position.outcome is not None:
            raise _Ended(results.by_the_rules(self.position.outcome))
        limit = self.terms.game.ply_limit(self.terms.options)
        if limit is not None and self.ply >= limit:
            raise _Ended(results.aborted("ply_limit", self.position, f"no side has won within {limit} plies"))
        if self.absences.gathering:
            await self._gather()
        await self._pass_the_gate()
        await self._play()

    async def _gather(self) -> None:
        """Wait until both sides are there: before the first ply, and after a restart of the server."""
        while self.absences:
            await self._event()
        self.absences.gathered()

    async def _pass_the_gate(self) -> None:
        """Wait while paused. The clocks stand still meanwhile."""
        while not self.gate.open:
            self._arrived = None  # what follows is no overhead of the server's
            await self._event()
        self.absences.heed(trio.current_time(), paused=self.gate.paused)
        self.gate.passed()

    async def _play(self) -> None:
        side = self.position.to_move
        turn = self._turn = Turn(side, self.ply, self.clocks[side], trio.current_time(), stood_still=self.stood_still)
        answer = await self._ask(turn)
        game = self.terms.game
        try:
            move = game.read_move(answer.move)
            position = self.position.play(move)
        except MoveError as error:
            raise _Ended(results.illegal_move(side, self.position, self.ply, game, answer.move, error)) from None
        played = Played(self.ply, side.value, worded_move(game, move), game.format(move), ms(turn.used))
        self._turn = None
        await self._keep(self.book.played(played, turn.timing()))
        self.clocks[side] = self.clocks[side].charge(turn.used)
        self._arrived = answer.at
        self.position, self.ply = position, self.ply + 1
        self.audience.moved(played, position)

    async def _ask(self, turn: Turn) -> HasMoved:
        """Ask a side for its move, and note what the answer is charged."""
        self.asked = True
        while True:
            if not self._something_happened():  # what has happened before is heeded before anybody is asked
                self._reach(turn)
            event = await self._event(turn)
            if event is None:
                raise _Ended(self._out_of_time(turn, trio.current_time(), answered=False))
            if isinstance(event, HasMoved) and event.side is turn.side and event.ply == turn.ply:
                if not turn.answer(event.at):
                    raise _Ended(self._out_of_time(turn, event.at, answered=True))
                return event

    def _reach(self, turn: Turn) -> None:
        """Hand a turn to its side, once over each connection that is ready for it. While the side is away, its clock
        runs on, unless that stands still until it is back.
        """
        now, side = trio.current_time(), turn.side
        absence, visit = self.absences.of(side), self.absences.visit(side)
        if absence is not None:
            turn.waited = True
            if not absence.untimed:
                turn.start(now)
            return
        if turn.visit == visit:
            return
        overhead = None
        if turn.visit is None and not turn.waited and self._arrived is not None:
            overhead = turn.overhead = now - self._arrived
        turn.visit = visit

        def sent(at: float) -> None:
            if turn.start(at) and self._turn is turn and self._waiting is not None:
                # For the answer: until its clock runs out.
                self._waiting.deadline = min(self._waiting.deadline, turn.runs_out())

        player = self.players[side]
        message = YourTurn(
            room=self.room,
            ply=turn.ply,
            clock=turn.clock.tell(overhead, turn.elapsed(now)),
        )
        shown = worded_position(self.terms.game, self.position) if player.updates == "positions" else None
        player.ask(message, shown, sent)

    def _out_of_time(self, turn: Turn, now: float, *, answered: bool) -> Result | None:
        """A side's clock has run out: by thinking, or because it was away."""
        side = turn.side
        if self.absences.of(side) is not None:
            return self.absences.out_of_time(side, self.position, self.ply)
        limit, used = turn.clock.left_ms or 0.0, turn.elapsed(now)
        turn.used = used
        margin = turn.clock.margin_ms
        return results.timeout(
            side, self.position, self.ply, limit_ms=limit, margin_ms=margin, used=used, answered=answered
        )

    def _last_turn(self) -> LastTurn | None:
        """The turn in which the match ends, if there is one."""
        return None if self._turn is None else self._turn.last(trio.current_time())

    async def _keep(self, writing: Awaitable[None]) -> None:
        """Have something written down, however long it takes. While the database is lost, nobody's time runs.

        Raises _Ended if meanwhile the server stops, or an administrator cancels the match, unless that has ended: what
        is being written may be in the database already, and must not be contradicted.
        """
        self._notice_standstill()
        final = self.pending is not None
        end = await self._storing.keep(writing, self._heed, self._is_final, final=final)
        self._looked = trio.current_time()  # all of this time is given back, whatever the server waited for
        if end is not None:
            self._heed(end)

    # -- what comes from outside ---------------------------------------------------------------

    async def _event(self, turn: Turn | None = None) -> Event | None:
        """The next event, or None when the clock of ``turn`` has run out and nothing that came before that is left.

        Whatever ends the match raises _Ended here.
        """
        while True:
            self._notice_standstill()
            now, postponed = trio.current_time(), self._storing.postponed
            self.absences.heed(now, paused=self.gate.paused)
            if turn is not None:
                turn.hold(now, nobody=self.absences.nobody)
            event: Event | None = postponed.popleft() if postponed else None
            if event is None:
                with trio.CancelScope(deadline=min(self._due(turn))) as self._waiting:
                    event = await self.mailbox.get()
            if event is None:
                await self._hear_everybody_out()
                event = self.mailbox.get_nowait()
            self._notice_standstill()
            if event is not None:
                self._heed(event)
                return event
            now, (away_too_long, runs_out) = trio.current_time(), self._due(turn)
            if away_too_long <= min(now, runs_out):
                raise _Ended(self.absences.verdict(self.position, self.ply, now))
            if runs_out <= now:
                return None

    def _due(self, turn: Turn | None) -> tuple[float, float]:
        """When the first will have been away for too long, and when the clock of ``turn`` will have run out."""
        return self.absences.deadline(), math.inf if turn is None else turn.runs_out()

    async def _hear_everybody_out(self) -> None:
        """What has come in time counts, however late it is read; also who has come."""
        for player in self.players.values():
            await player.heard_out()
        if self.absences:
            for _ in range(LOOKS):
                await trio.lowlevel.checkpoint()

    def _notice_standstill(self) -> None:
        """Nobody's time to come back runs while the server stands still."""
        since, self._looked = self._looked, trio.current_time()
        if (stood := self.stood_still(since, self._looked)) > 0:
            self.absences.postpone(stood + WAKING_SECONDS)

    def _something_happened(self) -> bool:
        """Whether there is an event that nobody has heeded."""
        return bool(self.mailbox or self._storing.postponed)

    def _heed(self, event: Event) -> None:
        """What an event means whoever is asked at the moment; raises _Ended if it ends the match."""
        match event:
            case Surrendered(side):
                sentence = f"{side.value} surrendered at ply {self.ply}"
                raise _Ended(results.forfeit("surrender", [side], self.position, sentence, ply=self.ply))
            case Gone(side, reason, message):
                self._end_without(side, reason, message)
            case Lost():
                self._lost(event)
            case Returned(side, visit):
                self.absences.returned(side, visit, trio.current_time())
            case IsReady(side, visit):
                self.absences.ready(side, visit)
            case Cancelled(message):
                raise _Ended(results.aborted("cancelled", self.position, message))
            case Suspended():
                raise _Ended(None)
            case HasMoved() | Nudge():
                pass

    def _lost(self, loss: Lost) -> None:
        """A side's connection is lost: its grace period begins, if there is one."""
        if not self.absences.lost(loss.side, loss.visit, loss.reason, loss.message, trio.current_time()):
            return
        if self._is_final(loss):
            if self.stopping:
                raise _Ended(None)
            self._end_without(loss.side, loss.reason, loss.message)
        if self.stopping:
            self.absences.spare(loss.side)

    def _is_final(self, loss: Lost) -> bool:
        """Whether who is lost may not come back."""
        return self.terms.grace <= 0 and not self.absences.excused

    def _end_without(self, side: Side, reason: ForfeitReason, message: str) -> NoReturn:
        """A side is gone for good; if the other went at the same time, nobody wins by having been read second."""
        offenders = [side]
        waiting = list(self._storing.postponed)
        while (event := self.mailbox.get_nowait()) is not None:
            waiting.append(event)
        for event in waiting:
            if isinstance(event, Lost) and not self._is_final(event):
                continue
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
