"""A plain blocking connection, and observers that read and forget: ``python -m speed.raw PORT ROOM OBSERVERS``.

They end with their input, and all together when one of them is hung up on: then nobody is watched by so many.
"""

from __future__ import annotations

import select
import socket
import struct
import sys
from typing import Any, Final

import msgpack

from triarena.protocol.frames import HEADER, frame
from triarena.protocol.values import PROTOCOL

from .lifeline import end_with_the_benchmark

SO_TIMESTAMPNS: Final = 35
"""Linux: tell with what is read when it came. The socket module has no name for it."""
ANCILLARY: Final = socket.CMSG_SPACE(16)
CHUNK: Final = 1 << 20


class Line:
    """Sends bytes, reads frames, and knows when they came."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.came = 0.0
        """When the latest bytes came, by the system's own stamp: seconds, time of day."""
        self._buffer = b""
        self._unheard: list[bytes] = []

    def send(self, data: bytes) -> None:
        """Send a few bytes, for which there is always room."""
        self.socket.sendall(data)

    def say(self, **fields: Any) -> None:
        """Send a message."""
        self.send(frame(msgpack.packb(fields)))

    def frames(self) -> list[bytes]:
        """Read once: the frames that are whole then, headers included. Raises ConnectionError at the end."""
        data, ancillary, _, _ = self.socket.recvmsg(CHUNK, ANCILLARY)
        if not data:
            raise ConnectionError("the server hung up")
        for level, kind, stamp in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, nanoseconds = struct.unpack("qq", stamp)
                self.came = seconds + nanoseconds / 1e9
        buffer = self._buffer + data
        begin, found = 0, []
        while len(buffer) - begin >= HEADER:
            end = begin + HEADER + int.from_bytes(buffer[begin : begin + HEADER], "big")
            if end > len(buffer):
                break
            found.append(buffer[begin:end])
            begin = end
        self._buffer = buffer[begin:]
        return found

    def hear_frame(self) -> None:
        """Wait for a frame, whatever it is."""
        while not self.frames():
            pass

    def hear(self, kind: str) -> dict[str, Any]:
        """Wait for a message of that type, and skip others. Raises RuntimeError if the server refuses."""
        while True:
            while self._unheard:
                message: dict[str, Any] = msgpack.unpackb(self._unheard.pop(0)[HEADER:])
                if message["type"] == kind:
                    return message
                if message["type"] in ("error", "refused", "goodbye"):
                    raise RuntimeError(message["message"])
            self._unheard += self.frames()


def greeted(port: int) -> Line:
    """A line that has said hello."""
    line = Line(port)
    line.say(type="hello", protocol=PROTOCOL, software="speed 1")
    line.hear("welcome")
    return line


def main() -> None:
    """Observe until the process is ended; print a line when everybody watches. Raises OSError or RuntimeError."""
    end_with_the_benchmark()
    port, room, observers = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    poll, lines = select.epoll(), {}
    for _ in range(observers):
        line = greeted(port)
        line.say(type="observe", room=room)
        line.hear("observing")
        lines[line.socket.fileno()] = line
        poll.register(line.socket.fileno(), select.EPOLLIN)
    print("watching", flush=True)
    while True:
        for number, _ in poll.poll():
            if not lines[number].socket.recv(CHUNK):
                raise ConnectionError("the server hung up")


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError) as error:
        sys.exit(f"observers: {error}")
