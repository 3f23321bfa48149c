"""A connection that says whatever it is told to: frames of plain msgpack, no models, no session, no manners."""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Self, TypeAlias

import msgpack
import trio

from triarena.protocol.frames import TO_CLIENT, FrameReader, frame
from triarena.protocol.values import PROTOCOL

Message: TypeAlias = dict[str, Any]

SO_TIMESTAMPNS: Final = 35
"""Linux: tell with what is read when it came. The socket module has no name for it."""


class HungUp(Exception):
    """The server closed the connection, or it broke."""


class Line:
    """A client's end. Pings are answered while it listens."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.received_at = 0.0
        """When the latest bytes came, by this process's monotonic clock: by the system's own stamp where it gives one,
        since a process that gets no processor reads late.
        """
        self.on_message: Callable[[Message], None] = lambda message: None
        """Sees everything that comes, in order."""
        self.read_size = 65536
        """How many bytes are read at once."""
        self._reader = FrameReader(TO_CLIENT)
        self._inbox: deque[Message] = deque()

    @classmethod
    async def dial(cls, port: int) -> Self:
        """Connect, and say nothing. Raises OSError."""
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        if sys.platform == "linux":
            stream.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        return cls(stream)

    @classmethod
    async def open(cls, port: int, name: str | None = None) -> Self:
        """Connect and greet. Raises OSError or HungUp."""
        line = await cls.dial(port)
        try:
            await line.greet(name)
        except BaseException:
            await line.aclose()
            raise
        return line

    async def greet(self, name: str | None = None) -> None:
        """Say hello, and be welcomed. Raises HungUp."""
        named = {} if name is None else {"name": name}
        await self.say(type="hello", protocol=PROTOCOL, software="fleet 1", **named)
        await self.hear("welcome")

    async def say(self, **fields: Any) -> None:
        """Send a message. Raises HungUp."""
        await self.send(packed(fields))

    async def send(self, data: bytes) -> None:
        """Send bytes. Raises HungUp."""
        try:
            await self.stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise HungUp("the connection broke") from None

    async def hear(self, *types: str) -> Message:
        """The next message of one of these types, or the next at all; others are skipped. Raises HungUp."""
        while True:
            message = await self._next()
            if message["type"] == "ping":
                await self.say(type="pong", number=message.get("number"))
            elif not types or message["type"] in types:
                return message

    async def hear_all(self) -> list[Message]:
        """Everything until the server hangs up."""
        messages = []
        try:
            while True:
                messages.append(await self.hear())
        except HungUp:
            return messages

    async def request(self, answer: str, **fields: Any) -> Message:
        """Ask, and wait for the answer of that type. Raises Refused with the server's code."""
        await self.say(**fields)
        message = await self.hear(answer, "error")
        if message["type"] == "error":
            raise Refused(message["code"], message["message"])
        return message

    async def aclose(self) -> None:
        """Hang up."""
        await trio.aclose_forcefully(self.stream)

    async def _next(self) -> Message:
        while not self._inbox:
            self._reader.feed(await self._read())
            while (payload := self._reader.next_payload()) is not None:
                message = msgpack.unpackb(payload)
                self.on_message(message)
                self._inbox.append(message)
        return self._inbox.popleft()

    async def _read(self) -> bytes:
        try:
            data, ancillary, _, _ = await self.stream.socket.recvmsg(self.read_size, socket.CMSG_SPACE(16))
        except OSError:
            raise HungUp("the connection broke") from None
        if not data:
            raise HungUp("the server closed the connection")
        self.received_at = time.monotonic()
        for level, kind, stamp in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, nanoseconds = struct.unpack("qq", stamp)
                self.received_at -= max(0.0, time.time() - seconds - nanoseconds / 1e9)
        return data


class Refused(Exception):
    """The server answered ``error``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code


def packed(message: Any) -> bytes:
    """A value as a frame, whether or not it is a message."""
    return frame(msgpack.packb(message))
