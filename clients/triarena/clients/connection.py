"""A connection to a server: blocking, without threads, one write per flush.

Pings are answered whenever messages are received. Between two calls nobody answers, and nobody needs to: the
server tolerates the silence of a client that owes it a move.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from importlib.metadata import version
from types import TracebackType
from typing import Any, Final, Self, overload

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.session import Fault, client_session
from triarena.protocol.table import ANSWERS, CROSSING, Phase, Place
from triarena.protocol.values import PROTOCOL

from .errors import CannotConnect, ConnectionLost, NoAnswer, ServerError

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 13055
DEFAULT_TIMEOUT: Final = 10.0
"""Seconds to wait for a connection, the greeting, and the answer to a request."""
READ_SIZE: Final = 65536


class Connection:
    """A greeted connection. Make one with ``open``; use it in a ``with`` block or ``close`` it."""

    welcome: s.Welcome
    """What the server said of itself: its games, limits and the number of this connection."""

    def __init__(self, stream: socket.socket, address: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        """Prefer ``open``; this takes a connected socket that has not greeted."""
        self.address = address
        """``host:port``, as an error sentence names it."""
        self._stream = stream
        self._timeout = timeout
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
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Self:
        """Connect and greet.

        Raises CannotConnect if there is no server that greets within ``timeout`` seconds, and ServerError if it
        refuses (another protocol, a bad name, too many connections).
        """
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        hello = c.Hello(protocol=PROTOCOL, software=software or f"triarena-client {version('triarena')}", name=name)
        connection = cls(_connect(host, port, address, timeout), address, timeout)
        try:
            connection.greet(hello)
        except BaseException:
            connection.close()
            raise
        return connection

    def greet(self, hello: c.Hello) -> None:
        """Say hello and wait for the welcome. Raises CannotConnect or ServerError."""
        self.send(hello)
        try:
            answer = self._arrival(time.monotonic() + self._timeout)
        except (ConnectionLost, NoAnswer) as error:
            sentence = f"{self.address} takes connections but does not greet: {error.message}; is it a TriArena server?"
            raise CannotConnect("no_greeting", sentence) from None
        if isinstance(answer, Fault):
            sentence = f"{self.address} is no TriArena server: {answer.message}; check host and port"
            raise CannotConnect("not_triarena", sentence)
        if isinstance(answer, s.Refused):
            raise ServerError(answer.code, answer.message)
        assert isinstance(answer, s.Welcome), "the session lets nothing else pass before the greeting"
        self.welcome = answer

    def send(self, *messages: c.FromClient) -> None:
        """Write the messages, all at once.

        What the end of its match (or of the connection) has overtaken is dropped: the next ``receive`` tells.
        So is the news that the server has gone, since it may have said why before. Raises LocalProtocolError
        for a message that may not be sent now.
        """
        data = b"".join(self._session.send(message) for message in messages if not self._overtaken(message))
        if not data:
            return
        self._stream.settimeout(self._timeout)
        try:
            self._stream.sendall(data)
        except TimeoutError:
            sentence = f"the server at {self.address} has read nothing for {self._timeout:g} s"
            raise ConnectionLost("server_stalled", sentence) from None
        except OSError:
            pass  # reading goes on: what the server said before it hung up is worth more than this error

    def receive(self, timeout: float | None = None) -> s.FromServer:
        """The next message, in the order of arrival; None waits for as long as the server lives.

        Raises ServerError for ``error`` and ``goodbye``, ConnectionLost when the stream ends or the server does
        not answer a ping, NoAnswer after ``timeout`` seconds.
        """
        if self._kept:
            return self._checked(self._kept.popleft())
        return self._checked(self._arrival(None if timeout is None else time.monotonic() + timeout))

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
    def request(self, message: c.Pause | c.Resume | c.Step | c.Cancel | c.Kick) -> s.Done: ...

    def request(self, message: Any) -> Any:
        """The answer to ``message``, which is sent with a number of its own.

        What else arrives meanwhile is kept for ``receive``. Raises ServerError if the server refuses.
        """
        assert isinstance(message, c.Request)
        numbered: Any = message.model_copy(update={"id": self._next_id})
        self._next_id += 1
        self.send(numbered)
        deadline = time.monotonic() + self._timeout
        while True:
            item = self._arrival(deadline)
            if isinstance(item, ANSWERS[type(message)] | s.Error) and item.id == numbered.id:
                return self._checked(item)
            if isinstance(item, s.Goodbye | Fault):
                return self._checked(item)  # raises: no answer will come
            self._kept.append(item)

    def close(self) -> None:
        """Hang up. A seat in a running match is then lost to the server's grace period; ``leave`` says goodbye."""
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
        if isinstance(item, s.Error | s.Goodbye):
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
        """What the socket gives; empty at its end. A server that stays silent is pinged once, then given up."""
        patience = 2 * self.welcome.heartbeat_seconds if deadline is None else 0.0
        for last in (False, True):
            self._stream.settimeout(max(0.001, patience if deadline is None else deadline - time.monotonic()))
            try:
                return self._stream.recv(READ_SIZE)
            except TimeoutError:
                if deadline is not None:
                    sentence = f"the server at {self.address} has not answered in time"
                    raise NoAnswer("no_answer", sentence) from None
            except OSError as error:
                sentence = f"the connection to {self.address} broke: {error.strerror or error}"
                raise ConnectionLost("connection_lost", sentence) from None
            if not last:
                self.send(c.Ping())
        sentence = f"the server at {self.address} has been silent for {2 * patience:g} s and answers no ping"
        raise ConnectionLost("server_silent", sentence)


def _connect(host: str, port: int, address: str, timeout: float) -> socket.socket:
    """A socket connected over IPv4 or IPv6. Raises CannotConnect."""
    try:
        stream = socket.create_connection((host, port), timeout=timeout)
    except (socket.gaierror, UnicodeError):
        sentence = f"there is no host called {host!r}; check the spelling of --host"
        raise CannotConnect("unknown_host", sentence) from None
    except ConnectionRefusedError:
        sentence = f"nobody listens on {address}: start a server with 'triarena serve', or check --host and --port"
        raise CannotConnect("connection_refused", sentence) from None
    except TimeoutError:
        sentence = f"{address} did not answer within {timeout:g} s: check --host and --port, and any firewall between"
        raise CannotConnect("connect_timeout", sentence) from None
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CannotConnect("cannot_connect", f"cannot connect to {address}: {reason}; check --host") from None
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream
