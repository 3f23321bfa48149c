"""The organiser's desk: an administrator's connection to a server, shared by many tasks, in trio.

It greets, authenticates, hands each answer to whoever asked, and every piece of news to one listener. When the
connection is lost, everybody who waits is told so by ``DeskLost``; whoever runs the desk opens it again.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, Final, TypeAlias

import trio

from triarena.clients.tls import plain
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.session import PIPELINE, Fault, client_session
from triarena.protocol.values import PROTOCOL

from .bell import LATE_SECONDS

READ_SIZE: Final = 65536
GREETING_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 30.0
"""A server whose database hangs answers late; one that says nothing for so long is taken for lost."""
SEND_SECONDS: Final = 5.0
"""How long a server may take to take in a message, all of which are small; one that does not read is lost."""
HEARTBEAT_SECONDS: Final = 10.0
"""How often a quiet server is asked whether it is there."""

News: TypeAlias = s.RoomEvent | s.PlayerEvent | s.MatchOver | s.Snapshot | s.Notice


class DeskError(Exception):
    """Something about the server that the organiser must know; ``code`` is stable, the text a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class DeskLost(DeskError):
    """There is no connection (any more): try again when there is one."""


class DeskRefused(DeskError):
    """The server answered a request with ``error``; or it refused to let the organiser in."""


class _Answer:
    """Somebody waits for it."""

    __slots__ = ("arrived", "message")

    def __init__(self) -> None:
        self.arrived = trio.Event()
        self.message: Any = None


class Desk:
    """An authenticated connection. Make it with ``open_desk``."""

    def __init__(self, stream: trio.abc.Stream, listener: Callable[[News], None]) -> None:
        self._stream = stream
        self._listener = listener
        self._session = client_session()
        self._sending = trio.Lock()
        self._slots = trio.Semaphore(PIPELINE // 2)  # the rest is for answers that were given up
        self._waiting: dict[int, _Answer] = {}
        self._greeting = _Answer()
        self._next_id = 1
        self._heard = trio.current_time()
        self.lost: DeskLost | None = None
        """Why nothing more will come, once nothing will."""
        self.ended = trio.Event()
        """Nothing more will come."""

    async def request(self, message: c.Request) -> Any:
        """The answer to a request. Raises DeskRefused if the server refuses it, DeskLost if none comes."""
        async with self._slots:
            number, answer = self._next_id, _Answer()
            self._next_id += 1
            self._waiting[number] = answer
            try:
                await self._send(message.model_copy(update={"id": number}))
                with trio.move_on_after(ANSWER_SECONDS):
                    await answer.arrived.wait()
            finally:
                del self._waiting[number]
        if answer.message is None:
            self.hang_up("no_answer", f"the server has not answered {message.__class__.__name__} for too long")
            raise self._why()
        if isinstance(answer.message, s.Error):
            raise DeskRefused(answer.message.code, answer.message.message)
        return answer.message

    def hang_up(self, code: str, sentence: str) -> None:
        """Everybody who waits is told that the connection is lost, and why."""
        if self.lost is not None:
            return
        self.lost = DeskLost(code, sentence)
        self.ended.set()
        for answer in (*self._waiting.values(), self._greeting):
            answer.arrived.set()

    async def read(self) -> None:
        """Take in what comes until the connection is lost; somebody must run this."""
        try:
            while self.lost is None:
                data = await self._stream.receive_some(READ_SIZE)
                self._heard = trio.current_time()
                if not data:
                    self.hang_up("connection_lost", "the server closed the connection")
                for item in self._session.receive(bytes(data)) if data else ():
                    await self._take(item)
        except (trio.BrokenResourceError, trio.ClosedResourceError, OSError) as error:
            self.hang_up("connection_lost", f"the connection to the server broke: {error}")

    async def heartbeat(self) -> None:
        """Ask a quiet server whether it is there; one that stays quiet is lost."""
        while self.lost is None:
            await self._rest_until(max(self._heard + HEARTBEAT_SECONDS, trio.current_time()))
            now = trio.current_time()
            if now >= self._heard + 3 * HEARTBEAT_SECONDS:
                quiet = now - self._heard
                self.hang_up("server_silent", f"the server has been silent for {quiet:.0f} s and answers no ping")
            elif now >= self._heard + HEARTBEAT_SECONDS:
                await self._quietly(c.Ping())
                await self._rest_until(now + HEARTBEAT_SECONDS)

    async def _rest_until(self, moment: float) -> None:
        await trio.sleep_until(moment)
        if trio.current_time() > moment + LATE_SECONDS:  # this program was stopped: it is we who were silent
            self._heard = trio.current_time()

    async def _greet(self, secret: str) -> None:
        """Say hello and become an administrator. Raises DeskRefused or DeskLost."""
        await self._send(c.Hello(protocol=PROTOCOL, software=f"triarena-organiser {version('triarena')}"))
        await self._greeting.arrived.wait()
        if isinstance(self._greeting.message, s.Refused):
            raise DeskRefused(self._greeting.message.code, self._greeting.message.message)
        if self._greeting.message is None:
            raise self._why()
        await self.request(c.Authenticate(secret=secret))

    async def _take(self, item: s.FromServer | Fault) -> None:
        match item:
            case s.Welcome() | s.Refused():
                self._greeting.message = item
                self._greeting.arrived.set()
            case s.Goodbye():
                self.hang_up(item.code, item.message)
            case Fault():
                if item.code != "unknown_type":  # news of a newer server
                    self.hang_up("server_fault", f"the server broke the protocol: {item.message}")
            case c.Ping():
                await self._quietly(c.Pong(number=item.number))
            case c.Pong() | s.Moved():
                pass
            case s.RoomEvent() | s.PlayerEvent() | s.MatchOver() | s.Snapshot() | s.Notice():
                self._listener(item)
            case _:
                answer = self._waiting.get(getattr(item, "id", None) or 0)
                if answer is not None:
                    answer.message = item
                    answer.arrived.set()
                elif isinstance(item, s.Prepared):  # whoever asked for the room was cancelled meanwhile
                    await self._quietly(c.Cancel(room=item.room, reason="nobody needs it any more"))

    async def _send(self, message: Any) -> None:
        if self.lost is not None:
            raise self._why()
        async with self._sending:
            if self.lost is not None:  # while we waited for our turn
                raise self._why()
            try:
                # Whoever is cancelled in the middle of a frame would leave a half one to all others.
                with trio.move_on_after(SEND_SECONDS, shield=True) as patience:
                    await self._stream.send_all(self._session.send(message))
            except (trio.BrokenResourceError, trio.ClosedResourceError, OSError) as error:
                self.hang_up("connection_lost", f"the connection to the server broke: {error}")
                raise self._why() from None
            except LocalProtocolError as error:  # a farewell has overtaken us
                raise DeskLost("connection_lost", str(error)) from None
        if patience.cancelled_caught:
            self.hang_up("server_silent", f"the server has not read what it was sent for {SEND_SECONDS:g} s")
            raise self._why()

    async def _quietly(self, message: Any) -> None:
        with suppress(DeskLost):  # whoever reads is told
            await self._send(message)

    def _why(self) -> DeskLost:
        return self.lost or DeskLost("no_greeting", "the server takes connections but does not greet")


@asynccontextmanager
async def open_desk(
    host: str,
    port: int,
    secret: str,
    listener: Callable[[News], None],
    *,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Desk]:
    """A desk at a server, whose news go to ``listener`` (which must not block), until the block is left.

    Raises DeskLost if there is no server, and DeskRefused if it does not let the organiser in.
    """
    stream = await _connect(host, port, tls)
    try:
        desk = Desk(stream, listener)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(desk.read)
            failure = await _failure_of_greeting(desk, secret)
            if failure is None:
                nursery.start_soon(desk.heartbeat)
                try:
                    yield desk
                except DeskError as error:
                    failure = error
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
            await stream.aclose()
    if failure is not None:
        raise failure


async def _failure_of_greeting(desk: Desk, secret: str) -> DeskError | None:
    """Greet; what went wrong comes back as a value, since it may not cross a nursery."""
    try:
        with trio.move_on_after(GREETING_SECONDS) as patience:
            await desk._greet(secret)
    except DeskError as error:
        return error
    return desk._why() if patience.cancelled_caught else None


async def _connect(host: str, port: int, tls: ssl.SSLContext | None) -> trio.abc.Stream:
    try:
        with trio.fail_after(GREETING_SECONDS):
            if tls is not None:
                secured = await trio.open_ssl_over_tcp_stream(host, port, ssl_context=tls)
                await secured.do_handshake()
                return secured
            return await trio.open_tcp_stream(host, port)
    except (OSError, ssl.SSLError, trio.BrokenResourceError, trio.TooSlowError) as error:
        said = (plain(error) if isinstance(error, OSError) else str(error)) or "no answer"
        raise DeskLost("cannot_connect", f"there is no server at {host}:{port}: {said}") from None
