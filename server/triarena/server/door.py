"""The door: connections are let in, or turned away politely and at little cost; running out of files is survived."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import structlog
import trio

from triarena.protocol.from_server import Refused

from .admission import Admission, Bounds, Visitor
from .connection import THROWN_AWAY, Connection
from .handler import Patience
from .keepalive import keep_alive
from .lag import LoopLag
from .refusal import Refusal
from .seldom import Seldom
from .stamps import StampClock, StampedStream
from .tls import NotTls, secured
from .wire import MSGPACK, Tongue

log = structlog.get_logger()

REFUSALS_AT_ONCE = 64
"""How many are being turned away with a sentence at one time; more are cut off without."""
REFUSAL_SECONDS = 1.0
"""How long one is given to take the sentence."""
RETRY_SECONDS = 0.1
"""How long the door waits when the system has no file left for a connection."""


@dataclass(frozen=True, slots=True)
class DoorRules:
    """Who may come in, and how."""

    bounds: Bounds
    patience: Patience
    tls: ssl.SSLContext | None = None
    """With it every connection must be a TLS one."""


@dataclass(frozen=True, slots=True)
class Reception:
    """What awaits those who come in at a listener."""

    tongue: Tongue
    serve: Callable[[Connection], Awaitable[None]]
    """Keeps a connection from the greeting to the farewell."""
    tls: ssl.SSLContext | None = None
    serve_on_trial: Callable[[Connection, Refusal, Callable[[], None]], Awaitable[None]] | None = None
    """The same for one beyond the bounds, with the reason why it should go, and what to call if it proves to be an
    administrator; None where nobody can.
    """


@dataclass(eq=False, slots=True)
class Handshake:
    """A connection that can't be talked to yet, and may never be: all that can be done is to hang up."""

    scope: trio.CancelScope = field(default_factory=trio.CancelScope)

    @property
    def greeted(self) -> bool:
        """Who is in the middle of a handshake has not said hello."""
        return False

    def close(self, code: str, message: str) -> None:
        """Hang up; there is no way yet to say why."""
        log.debug("handshake_broken_off", code=code)
        self.scope.cancel()


class Door:
    """Accepts on any number of listeners; whoever is let in is served in ``nursery``."""

    def __init__(
        self,
        rules: DoorRules,
        serve: Callable[[Connection], Awaitable[None]],
        nursery: trio.Nursery,
        lag: LoopLag,
        serve_on_trial: Callable[[Connection, Refusal, Callable[[], None]], Awaitable[None]] | None = None,
        usual: Tongue = MSGPACK,
    ) -> None:
        """``serve`` and ``serve_on_trial`` are for connections that speak our protocol (``usual``), see Reception."""
        self._rules = rules
        self._usual = Reception(usual, serve, rules.tls, serve_on_trial)
        self._nursery = nursery
        self._lag = lag
        self._clock = StampClock()
        self._admission = Admission(rules.bounds)
        self._numbers = count(1)
        self._refusing = 0
        self._seldom = Seldom()

    async def keep(self, listener: trio.SocketListener, reception: Reception | None = None) -> None:
        """Accept until cancelled."""
        while True:
            try:
                stream = await listener.accept()
            except OSError as error:
                # No file left, or a network error of the new connection itself: neither is a reason to close the door.
                if many := self._seldom("no_file"):
                    log.error("cannot_accept", why=error.strerror or str(error), times=many, open=self._admission.count)
                await trio.sleep(RETRY_SECONDS)
                continue
            self._open(stream, reception or self._usual)

    def _open(self, stream: trio.SocketStream, reception: Reception) -> None:
        """Let somebody in, or not."""
        address = "unknown"
        with suppress(OSError):
            address = str(stream.socket.getpeername()[0])
        keep_alive(stream, self._rules.patience.heartbeat, self._rules.patience.write)
        try:
            handshake = Handshake()
            visitor = self._admission.enter(address, handshake, on_trial=reception.serve_on_trial is not None)
        except Refusal as refusal:
            if many := self._seldom(refusal.code):
                log.warning("turned_away", code=refusal.code, address=address, times=many)
            if self._refusing >= REFUSALS_AT_ONCE:
                stream.socket.close()
                return
            self._refusing += 1
            self._nursery.start_soon(self._refuse, stream, reception, refusal)
        else:
            self._nursery.start_soon(self._receive, stream, reception, visitor, handshake.scope, address)

    async def _receive(
        self,
        plain: trio.SocketStream,
        reception: Reception,
        visitor: Visitor,
        handshake: trio.CancelScope,
        address: str,
    ) -> None:
        """Serve one client; its trouble, and ours with it, is nobody else's."""
        number = str(next(self._numbers))
        try:
            stamped = StampedStream(plain, self._clock, self._lag.arrival)
            stream = None
            with handshake:
                stream = await self._secured(stamped, reception, number, address)
            if stream is not None and not handshake.cancel_called:
                connection = Connection(
                    stream,
                    number,
                    address,
                    self._rules.patience,
                    stamped.arrival,
                    self._lag.worst_since,
                    reception.tongue,
                )
                visitor.connection = connection
                if visitor.doubt is None or reception.serve_on_trial is None:
                    await reception.serve(connection)
                else:
                    proven = partial(self._admission.proven, visitor)
                    await reception.serve_on_trial(connection, visitor.doubt, proven)
        except Exception:
            log.exception("connection_failed", connection=number)
        finally:
            self._admission.leave(visitor)
            plain.socket.close()

    async def _secured(
        self, plain: StampedStream, reception: Reception, number: str, address: str
    ) -> trio.abc.HalfCloseableStream | None:
        """The stream to talk over; None if the client could not agree on one in time."""
        if reception.tls is None:
            return plain
        try:
            with trio.fail_after(self._rules.patience.greeting):
                return await secured(plain, reception.tls)
        except NotTls as error:
            await _say(plain, reception.tongue, Refused(code="tls_required", message=str(error)))
        except (trio.TooSlowError, trio.BrokenResourceError, trio.ClosedResourceError) as error:
            why = str(error.__cause__ or error) or "it took too long"
            if many := self._seldom("no_tls"):
                log.info("no_tls", connection=number, address=address, why=why, times=many)
        return None

    async def _refuse(self, plain: trio.SocketStream, reception: Reception, refusal: Refusal) -> None:
        """Turn somebody away, with a sentence."""
        try:
            with trio.move_on_after(REFUSAL_SECONDS):
                stream = plain if reception.tls is None else await secured(plain, reception.tls)
                await _say(stream, reception.tongue, Refused(code=refusal.code, message=refusal.message))
        except (NotTls, trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self._refusing -= 1
            plain.socket.close()


async def _say(stream: trio.abc.HalfCloseableStream, tongue: Tongue, refused: Refused) -> None:
    """Say the only words, and let the client read them: a socket closed with unread data would destroy them."""
    with suppress(trio.BrokenResourceError), trio.move_on_after(REFUSAL_SECONDS):
        await stream.send_all(tongue.session().send(refused))
        await stream.send_eof()
        for _ in range(4):  # its own first words, and no endless flood
            if not await stream.receive_some(THROWN_AWAY):
                return
