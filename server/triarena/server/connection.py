"""One client: a stream, its session, and (in ``outbox``) the bytes that wait to be written.

A connection is two tasks, a reader and a writer. Posting a message is synchronous and never waits for the peer: the
session advances at once, so that wire order is state order, and the bytes queue. A peer that does not take its bytes
in time, or lets too many pile up, is cut off; one that sends too fast is read more slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import structlog
import trio

from triarena.protocol.codec import Encoded
from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.from_client import Move, Ping, Pong, Ready, Request
from triarena.protocol.from_server import Error, FromServer, Goodbye, Notice, Refused
from triarena.protocol.session import Fault
from triarena.protocol.table import Phase

from .handler import LOST, Handler, Loss, LossReason, Patience
from .hearing import Hearing
from .outbox import Outbox, Sent
from .rate import Meter
from .silence import Silence
from .transcript import Transcript
from .wire import GOODBYE, MSGPACK, Bye, Declined, Tongue

log = structlog.get_logger()

CHUNK = 2 * 1024
"""Bytes read at once: some 100 of the shortest messages are what the server works on before it is another's turn."""
THROWN_AWAY = 64 * 1024
"""Bytes read at once from a client that is only to hear our last words."""
FAREWELL_SECONDS = 2.0
"""How long a closing connection is kept, so that the peer can read why."""

REQUEST_COST = 5
"""A request counts as so many messages: it makes the server look things up, and write an answer that may be long."""


class Connection:
    """A client's connection, from accept to farewell. ``run`` returns when it is over."""

    __slots__ = (  # thousands may be idle: each shall be small
        "_aborted",
        "_arrival",
        "_bad_frames",
        "_came_at",
        "_closing",
        "_drained",
        "_ended",
        "_farewell_over",
        "_handler",
        "_header",
        "_hearing",
        "_meter",
        "_nursery",
        "_outbox",
        "_patience",
        "_session",
        "_silence",
        "_stream",
        "_transcript",
        "_wake",
        "address",
        "loss",
        "number",
        "on_drained",
        "terse",
    )

    def __init__(
        self,
        stream: trio.abc.HalfCloseableStream,
        number: str,
        address: str,
        patience: Patience,
        arrival: Callable[[int], float] = lambda messages: trio.current_time(),
        lag_since: Callable[[float], float] = lambda moment: 0.0,
        tongue: Tongue = MSGPACK,
    ) -> None:
        """``arrival`` tells when so many messages, read just now, came (see ``stamps``), ``lag_since``: see ``lag``."""
        self.number = number
        self.address = address
        self.loss = LOST
        """Why it ended, for whoever waits for its moves; meaningful once the handler was told ``gone``."""
        self.terse = tongue.terse
        self.on_drained: Callable[[], None] | None = None
        """Called when everything that was queued has been written."""
        self._session, self._header = tongue.session(), tongue.header
        self._stream = stream
        self._patience = patience
        self._arrival = arrival
        self._transcript: Transcript | None = None
        self._outbox = Outbox(lag_since)
        self._wake = trio.Event()
        self._drained: trio.Event | None = None
        self._ended = False
        self._farewell_over: trio.Event | None = None
        self._closing = False
        self._aborted = False
        self._nursery: trio.Nursery | None = None
        self._handler: Handler | None = None
        now = self._came_at = trio.current_time()
        self._silence = Silence(patience, lag_since, now)
        self._meter = Meter(patience.pace, now)
        self._hearing = Hearing()
        self._bad_frames = 0

    # -- what others may ask and say -----------------------------------------------------------

    @property
    def greeted(self) -> bool:
        """Whether the client has been welcomed."""
        return self._session.phase is Phase.OPEN

    def is_outside(self, room: str) -> bool:
        """Whether the client has had nothing to do with a room over this connection, as far as both remember."""
        return self._session.is_outside(room)

    @property
    def singly(self) -> bool:
        """Whether every message is to be posted by itself: for a record, or in another protocol."""
        return self.terse or self._transcript is not None

    @property
    def backlog(self) -> int:
        """How many messages wait to be written."""
        return self._outbox.messages

    def transcribe(self) -> Transcript:
        """From now on the last frames are kept; where they are."""
        if self._transcript is None:
            transcript = self._transcript = Transcript()
            self._session.on_payload = lambda payload: transcript.hear(payload, self._came_at)
        return self._transcript

    async def heard_out(self) -> None:
        """Return when all that has come has been read, or that takes too long; see ``Hearing``."""
        await self._hearing.out(lambda: self._closing)

    def post(self, message: FromServer, sent: Sent | None = None) -> None:
        """Queue a message; ``sent`` is called with the time when it has been handed to the network.

        A message to a connection that is closing goes nowhere.
        """
        self._post(partial(self._session.send, message), sent)

    def post_encoded(self, encoded: Encoded[Any], sent: Sent | None = None) -> None:
        """Like ``post``, for a message that was packed once for many."""
        self._post(partial(self._session.send_encoded, encoded), sent, encoded.messages)

    def _post(self, said: Callable[[], bytes], sent: Sent | None, messages: int = 1) -> None:
        if self._closing or self._session.phase is Phase.CLOSED:
            return
        try:
            data = said()
        except LocalProtocolError as error:
            log.error("server_fault", connection=self.number, error=str(error))
            self.close("internal_error", "the server made an error and closes this connection; nobody is to blame")
            return
        if data:
            self._queue(data, sent, messages)
        else:
            self._wake.set()  # an answer without words: the reader may have waited for it

    def close(self, code: str, message: str) -> None:
        """Say why, as far as the peer still listens, and hang up."""
        if self._closing:
            return
        if self._session.phase in (Phase.NEW, Phase.GREETED):
            self._append(self._session.send(Refused(code=code, message=message)), None)
        elif self._session.phase is Phase.OPEN:
            self._append(self._session.send(Goodbye(code=code, message=message)), None)
        self._end()
        self._wake.set()

    def abort(self, reason: LossReason, message: str) -> None:
        """Hang up at once: the peer does not listen."""
        if not self._closing:
            self.loss = Loss(reason, message)
        self._end()
        self._aborted = True
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()

    def _end(self) -> None:
        """Nothing more is posted or heard. The handler is told by a task of its own, since whoever posted what was too
        much for this peer may be in the middle of telling others.
        """
        if not self._closing:
            self._closing = True
            if self._nursery is not None:
                self._nursery.start_soon(self._report)

    async def _report(self) -> None:
        self._tell_gone()  # with no checkpoint before it, so that it is told although all is cancelled

    def _tell_gone(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None:
            handler.gone()

    def _queue(self, data: bytes, sent: Sent | None, messages: int) -> None:
        if self._outbox.size + len(data) > self._patience.queue_bytes:
            self._overflow()
        else:
            self._append(data, sent, messages)

    def _overflow(self) -> None:
        """Cut off a peer that takes nothing; should it read on, it finds the reason in the place of all that waited."""
        self._outbox.clear()
        self.loss = Loss("stalled", "the client did not read what the server sent")
        self.close("stalled", f"you did not read: {self._patience.queue_bytes} bytes wait for you, and no more may")

    def _append(self, data: bytes, sent: Sent | None, messages: int = 1) -> None:
        now = trio.current_time()
        if self._transcript is not None:
            sent = self._transcript.say(data, now, self._header).noting(sent)
        self._outbox.add(data, sent, messages, now)
        self._wake.set()

    # -- its tasks -----------------------------------------------------------------------------

    async def run(self, handler: Handler) -> None:
        """Serve until either side hangs up. Never raises because of the peer."""
        self._handler = handler
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                try:
                    if not self._aborted:
                        nursery.start_soon(self._read, handler)
                        await self._write()
                finally:
                    self._nursery = None  # it takes no new tasks once these have ended
                nursery.cancel_scope.cancel()
        finally:
            self._closing = True
            self._tell_gone()
            self.on_drained = self._session.on_payload = None  # these refer back: nothing is left to the collector
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(self._stream)

    async def _read(self, handler: Handler) -> None:
        try:
            while data := await self._receive():
                self._silence.broken(trio.current_time())
                if not self._closing:  # else it is read only to be thrown away, see _farewell
                    await self._take(bytes(data), handler)
                    await self._let_the_writer_catch_up()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort("disconnected", "the connection broke")
            return
        self._ended = True
        if self._farewell_over is not None:
            self._farewell_over.set()
        if not self._closing:
            fault = self._session.receive_eof()
            ended = "the client closed the connection"
            self.abort("disconnected", ended if fault is None else f"{ended} inside a message")

    async def _receive(self) -> bytes | bytearray:
        """The next bytes; empty at the end of the stream. Silence is noticed here."""
        while True:
            with trio.CancelScope(deadline=inf if self._closing else self._silence.until(greeted=self.greeted)):
                self._hearing.idle = True
                data = await self._stream.receive_some(THROWN_AWAY if self._closing else CHUNK)
                self._hearing.idle = False
                self._hearing.reads += 1
                return data
            if not self._closing:  # else see _farewell
                self._end_silence()

    def _end_silence(self) -> None:
        """Close what never greets; ping what is silent, and give up on what stays so."""
        match self._silence.verdict(trio.current_time(), greeted=self.greeted, owes=self._session.owes):
            case "ask":
                self.post(Ping())
            case "never greeted":
                greeting = f"no {self._session.greeting} came within {self._patience.greeting:g} s"
                self.close("greeting_timeout", greeting)
            case "gone":
                silent = 2 * self._patience.heartbeat
                self.abort("stalled", f"the client was silent for {silent:g} s and did not answer a ping")
            case "bear":
                pass

    async def _take(self, data: bytes, handler: Handler) -> None:
        at = self._came_at = self._arrival(1)
        items = self._session.receive(data)
        if len(items) > 1:
            at = self._arrival(len(items))
        cost = 0
        # What a clock waits for comes first: behind requests, which take turns, it could be too late after a stall.
        for item in sorted(items, key=lambda item: not isinstance(item, Move | Ready)):
            if self._closing:
                return
            if isinstance(item, Fault):
                cost += 1
                self._answer_fault(item, handler)
            elif isinstance(item, Declined):
                cost += REQUEST_COST
                handler.misread(item.answer)
            elif isinstance(item, Bye):
                self.loss = Loss("disconnected", "the client said goodbye", final=True)
                self.close(GOODBYE, "you said goodbye")
            elif isinstance(item, Ping | Pong):
                cost += 1
                if isinstance(item, Ping):
                    self.post(Pong(number=item.number))
            else:
                handler.heard(item, at)
                if isinstance(item, Request):
                    cost += REQUEST_COST
                    await trio.lowlevel.checkpoint()  # one that asks much at once takes its turns with the others
                elif not isinstance(item, Move):  # a move was asked for: the server itself sets that pace
                    cost += 1
        await self._keep_pace(cost, len(data))

    async def _keep_pace(self, messages: int, size: int) -> None:
        """Let a client that sends too fast wait; close one that goes on doing so."""
        now, warned = trio.current_time(), self._meter.held_back
        wait = self._meter.take(messages, size, now)
        if wait == 0 or self._closing:
            return
        pace = self._patience.pace
        if self._meter.flooding(now):
            self.loss = Loss("protocol_violation", f"the client {pace.flood_sentence}", final=True)
            self.close("too_fast", f"you {pace.flood_sentence}, although you were told to slow down")
            return
        if not warned:
            log.info("slowed_down", connection=self.number, address=self.address)
            self.post(Notice(code="slow_down", message=pace.warning))
        self._hearing.idle = True
        await trio.sleep(wait)

    def _answer_fault(self, fault: Fault, handler: Handler) -> None:
        if fault.late:
            self.post(Notice(code=fault.code, message=fault.message, room=fault.room))
            return
        self._bad_frames += fault.counts
        log.info("bad_frame", connection=self.number, code=fault.code, why=fault.message)
        if fault.fatal:
            self.loss = Loss("protocol_violation", fault.message, final=True)
            self.close(fault.code, fault.message)
            return
        answer = Error(code=fault.code, message=fault.message, request=fault.request, room=fault.room, id=fault.id)
        if fault.request is None:
            self.post(answer)
        else:
            handler.misread(answer)
        if fault.room is not None:
            handler.violated(fault)
        if self._bad_frames >= self._patience.bad_frames:
            sentence = f"{self._bad_frames} bad frames came over this connection; the last one: {fault.message}"
            self.loss = Loss("protocol_violation", sentence, final=True)
            self.close("too_many_bad_frames", sentence[:2000])

    async def _let_the_writer_catch_up(self) -> None:
        """A client that asks faster than it reads, or gets, the answers waits here, and costs nobody else anything."""
        while (self._outbox.size > self._patience.queue_bytes // 4 or self._session.full) and not self._closing:
            self._hearing.idle, self._drained = True, trio.Event()
            await self._drained.wait()

    async def _write(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake = trio.Event()
                while self._outbox:
                    await self._outbox.flush(self._stream, self._patience.write)
                if self._drained is not None:
                    self._drained.set()
                if self._closing:
                    await self._farewell()
                    return
                if self.on_drained is not None:
                    self.on_drained()
        except trio.TooSlowError:
            self.abort("stalled", f"the client did not read for {self._patience.write:g} s")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort("disconnected", "the connection broke")

    async def _farewell(self) -> None:
        """End our half and read on a little: a socket closed with unread data would destroy our last words."""
        with trio.move_on_after(FAREWELL_SECONDS):
            await self._stream.send_eof()
            if not self._ended:
                self._farewell_over = trio.Event()
                await self._farewell_over.wait()
