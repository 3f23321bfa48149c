"""A connection to a server: blocking, without threads, one write per flush.

Pings are answered whenever messages are received. Between two calls nobody answers, and nobody needs to: the
server tolerates the silence of a client that owes it a move.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from types import TracebackType
from typing import Any, Final, Self, overload

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.frames import XML
from triarena.protocol.session import Fault, client_session
from triarena.protocol.table import ANSWERS, CROSSING, Phase, Place
from triarena.protocol.values import PROTOCOL

from .address import Address
from .errors import CannotConnect, ConnectionLost, Farewell, NoAnswer, ServerError
from .tls import plain

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 13055
DEFAULT_TIMEOUT: Final = 10.0
"""Seconds to wait for a connection, the greeting, and the answer to a request."""
READ_SIZE: Final = 65536


class Connection:
    """A greeted connection. Make one with ``open``; use it in a ``with`` block or ``close`` it."""

    welcome: s.Welcome
    """What the server said of itself: its games, limits and the number of this connection."""

    def __init__(self, stream: socket.socket, address: Address, hello: c.Hello, timeout: float) -> None:
        """Prefer ``open``; this takes a connected socket that has not greeted."""
        self.address = str(address)
        """``host:port``, as an error sentence names it."""
        self.timeout = timeout
        """Seconds to wait for a connection, the greeting, and the answer to a request; may be changed."""
        self._address = address
        self._hello = hello
        self._stream = stream
        self._session = client_session()
        self._kept: deque[s.FromServer | Fault] = deque()  # seen by a request that waited for something else
        self._arrived: deque[s.FromServer | Fault] = deque()  # seen by nobody
        self._next_id = 1

    @classmethod
    def open(
        cls,
        host: str = DEFAULT_HOST,
        port: int = DEFAULT_PORT,
        *,
        name: str | None = None,
        software: str | None = None,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Self:
        """Connect and greet.

        ``token`` proves a ``name`` that belongs to a bot; ``tls`` comes from ``tls_context``.

        Raises CannotConnect if there is no server that greets within ``timeout`` seconds, and ServerError if it
        refuses (another protocol, a bad name, too many connections).
        """
        software = software or f"triarena-client {version('triarena')}"
        hello = c.Hello(protocol=PROTOCOL, software=software, name=name, token=token)
        address = Address(host, port, tls)
        connection = cls(address.connect(timeout), address, hello, timeout)
        connection._greet()
        return connection

    def reopen(self) -> None:
        """Hang up, then connect and greet again under the same name.

        The server takes it for a new connection: seats come back with ``rejoin``, an administrator authenticates
        again, and what had arrived but was not received is gone. Raises what ``open`` raises; the connection is
        closed then, and may be reopened later.
        """
        self.close()
        self._stream = self._address.connect(self.timeout)
        self._session = client_session()
        self._kept.clear()
        self._arrived.clear()
        self._greet()

    def _greet(self) -> None:
        """Say hello and wait for the welcome; hang up if there is none. Raises CannotConnect or ServerError."""
        try:
            self.send(self._hello)
            self.welcome = self._welcome()
        except BaseException:
            self.close()
            raise

    def _welcome(self) -> s.Welcome:
        try:
            answer = self._arrival(time.monotonic() + self.timeout)
        except (ConnectionLost, NoAnswer) as error:
            sentence = f"{self.address} takes connections but does not greet: {error.message}; is it a TriArena server?"
            raise CannotConnect("no_greeting", sentence) from None
        if isinstance(answer, Fault) and answer.code == XML:
            sentence = f"{self.address} speaks XML: that port is for clients of the Software-Challenge"
            raise CannotConnect("not_triarena", f"{sentence}; ours is another, usually {DEFAULT_PORT} (--port)")
        if isinstance(answer, Fault):
            sentence = f"{self.address} is no TriArena server: {answer.message}; check host and port"
            raise CannotConnect("not_triarena", sentence)
        if isinstance(answer, s.Refused):
            raise Farewell(answer.code, answer.message)
        assert isinstance(answer, s.Welcome), "the session lets nothing else pass before the greeting"
        return answer

    def send(self, *messages: c.FromClient) -> None:
        """Write the messages, all at once.

        What the end of its match (or of the connection) has overtaken is dropped: the next ``receive`` tells.
        So is the news that the server has gone, since it may have said why before. Raises LocalProtocolError
        for a message that may not be sent now.
        """
        data = b"".join(self._session.send(message) for message in messages if not self._overtaken(message))
        if not data:
            return
        self._stream.settimeout(self.timeout)
        try:
            self._stream.sendall(data)
        except TimeoutError:
            sentence = f"the server at {self.address} has read nothing for {self.timeout:g} s"
            raise ConnectionLost("server_stalled", sentence) from None
        except OSError:
            pass  # reading goes on: what the server said before it hung up is worth more than this error

    def receive(self, timeout: float | None = None) -> s.FromServer:
        """The next message, in the order of arrival; None waits for as long as the server lives.

        Raises ServerError for ``error``, Farewell for ``goodbye``, ConnectionLost when the stream ends or the
        server does not answer a ping, NoAnswer after ``timeout`` seconds.
        """
        if self._kept:
            return self._checked(self._kept.popleft())
        return self._checked(self._arrival(None if timeout is None else time.monotonic() + timeout))

    def listen(self, timeout: float) -> None:
        """Take in what arrives next, within ``timeout`` seconds; see ``waiting``. Pings are answered.

        For whoever does something else meanwhile. Raises ConnectionLost, and so will ``receive`` in its turn.
        """
        with suppress(NoAnswer):
            self._read(time.monotonic() + timeout)

    @property
    def waiting(self) -> Sequence[s.FromServer | Fault]:
        """What has arrived and was not received yet, in order."""
        return (*self._kept, *self._arrived)

    @overload
    def request(self, message: c.Join | c.JoinRoom | c.JoinReserved | c.Rejoin) -> s.Joined: ...
    @overload
    def request(self, message: c.Observe) -> s.Observing: ...
    @overload
    def request(self, message: c.ListRooms) -> s.Rooms: ...
    @overload
    def request(self, message: c.Authenticate) -> s.Authenticated: ...
    @overload
    def request(self, message: c.Prepare) -> s.Prepared: ...
    @overload
    def request(self, message: c.Enlist) -> s.Enlisted: ...
    @overload
    def request(self, message: c.ListPlayers) -> s.PlayerList: ...
    @overload
    def request(
        self, message: c.Pause | c.Resume | c.Step | c.Cancel | c.Kick | c.Enrol | c.Invite | c.Dismiss
    ) -> s.Done: ...

    def request(self, message: Any) -> Any:
        """The answer to ``message``, which is sent with a number of its own.

        What else arrives meanwhile is kept for ``receive``. Raises ServerError if the server refuses.
        """
        assert isinstance(message, c.Request)
        numbered: Any = message.model_copy(update={"id": self._next_id})
        self._next_id += 1
        self.send(numbered)
        deadline = time.monotonic() + self.timeout
        while True:
            item = self._arrival(deadline)
            if isinstance(item, ANSWERS[type(message)] | s.Error) and item.id == numbered.id:
                return self._checked(item)
            if isinstance(item, s.Goodbye | Fault):
                return self._checked(item)  # raises: no answer will come
            self._kept.append(item)

    def close(self) -> None:
        """Hang up. A seat in a running match is then lost to the server's grace period; ``leave`` says goodbye."""
        self._session.receive_eof()
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _overtaken(self, message: c.FromClient) -> bool:
        if self._session.phase is Phase.CLOSED:
            return True
        return type(message) in CROSSING and self._session.place(getattr(message, "room", "")) is Place.OVER

    def _checked(self, item: s.FromServer | Fault) -> s.FromServer:
        """``item``, unless it is bad news."""
        if isinstance(item, Fault):
            raise ServerError("server_fault", f"the server at {self.address} broke the protocol: {item.message}")
        if isinstance(item, s.Goodbye):
            raise Farewell(item.code, item.message)
        if isinstance(item, s.Error):
            raise ServerError(item.code, item.message)
        return item

    def _arrival(self, deadline: float | None) -> s.FromServer | Fault:
        """The next message that nobody has seen."""
        while not self._arrived:
            self._read(deadline)
        return self._arrived.popleft()

    def _read(self, deadline: float | None) -> None:
        """Wait for bytes and sort what they complete: pings are answered, the rest is queued."""
        data = self._read_bytes(deadline)
        if not data:
            self._session.receive_eof()
            raise ConnectionLost("connection_lost", f"the server at {self.address} closed the connection")
        pongs = []
        for item in self._session.receive(data):
            if isinstance(item, c.Ping):
                pongs.append(c.Pong(number=item.number))
            elif not isinstance(item, c.Pong) and not (isinstance(item, Fault) and item.code == "unknown_type"):
                self._arrived.append(item)  # a type that we do not know is news of a newer server: not for us
        self.send(*pongs)

    def _read_bytes(self, deadline: float | None) -> bytes:
        """What the socket gives; empty at its end.

        A server that lives pings us after one heartbeat of silence. One that stays silent for two is pinged, and
        given up after a third: early enough to come back before it has given *us* up.
        """
        heartbeat = 0.0 if deadline is not None else self.welcome.heartbeat_seconds
        for patience, pinged in ((2 * heartbeat, False), (heartbeat, True)):
            try:
                self._stream.settimeout(max(0.001, patience if deadline is None else deadline - time.monotonic()))
                return self._stream.recv(READ_SIZE)
            except TimeoutError:
                if deadline is not None:
                    sentence = f"the server at {self.address} has not answered in time"
                    raise NoAnswer("no_answer", sentence) from None
            except OSError as error:
                sentence = f"the connection to {self.address} broke: {plain(error)}"
                raise ConnectionLost("connection_lost", sentence) from None
            if not pinged:
                self.send(c.Ping())
        sentence = f"the server at {self.address} has been silent for {3 * heartbeat:g} s and answers no ping"
        raise ConnectionLost("server_silent", sentence)
