"""When bytes came, by the system's own stamp: exact however late this process gets round to reading them.

The event loop can only say when it found bytes (``lag``). If another thread kept the interpreter's lock, or the whole
process got no processor for a while, that is later than they came, and a client would pay for it. Linux stamps every
packet as it comes, and tells the stamp of the last byte with what is read.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import trio

SO_TIMESTAMPNS: Final = 35
"""Linux: hand over the stamp with what is read. The socket module has no name for it."""
TIMESPEC: Final = struct.Struct("@ll")
"""The stamp: seconds and nanoseconds of the time of day."""
ANCILLARY: Final = socket.CMSG_SPACE(TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0
STEP: Final = 0.002
"""By how many seconds the time of day may differ from where a steady clock expects it before it has been set anew."""
DRIFT: Final = 0.001
"""And how many more for each second since it was last looked at: more than any clock is disciplined by."""
UNSURE: Final = 0.05
"""By how many seconds a stamp may be later than the loop's last look before it is asked what else has come."""
CHUNK: Final = 64 * 1024
CLOSED: Final = (errno.EBADF, errno.ENOTSOCK)
WRITES_SOCKETS: Final = os.name == "posix"
"""Whether ``os.write`` writes to sockets, too."""


class StampClock:
    """Turns stamps, which are times of day, into trio's time. One per server.

    The time of day may be set anew at any moment. Stamps from before that can't be trusted, nor can those until it is
    noticed; for them there is no answer.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = trio.current_time) -> None:
        self._wall, self._steady = wall, steady
        self._offset, self._looked = self._look()
        self._trusted_from = float("-inf")

    def arrival(self, stamp: float) -> float | None:
        """A stamp (seconds, time of day) in trio's time; None if the time of day was set anew meanwhile."""
        offset, now = self._look()
        if abs(offset - self._offset) > STEP + DRIFT * (now - self._looked):
            self._trusted_from = offset + now
        self._offset, self._looked = offset, now
        arrived = stamp - offset
        return min(arrived, now) if stamp >= self._trusted_from and arrived <= now + STEP else None

    def _look(self) -> tuple[float, float]:
        """The time of day less trio's, and trio's; read together, or at least not a whole pause apart."""
        for _ in range(3):
            before = self._steady()
            wall = self._wall()
            now = self._steady()
            if now - before < STEP / 4:
                break
        return wall - (before + now) / 2, now


class StampedStream(trio.abc.HalfCloseableStream):
    """A TCP stream that knows when what was read latest had come."""

    __slots__ = ("_clock", "_otherwise", "_stamp", "_stamps", "_stream", "socket")

    def __init__(self, stream: trio.SocketStream, clock: StampClock, otherwise: Callable[[], float]) -> None:
        """``otherwise`` tells when bytes that were read just now came where the system does not; see ``lag``."""
        self.socket = stream.socket
        self._stream = stream
        self._clock = clock
        self._otherwise = otherwise
        self._stamp: float | None = None
        self._stamps = sys.platform == "linux" and _switched_on(stream)

    def arrival(self, messages: int = 1) -> float:
        """When what the latest ``receive_some`` gave had come, in trio's time. To be asked right after it.

        The stamp is that of the last byte. If that ended several ``messages``, the others came before it, and if the
        loop did not look meanwhile, they have the benefit of the doubt. So has a single one if anything came after it,
        even the end of the stream: the system may have put both together, under the later stamp.
        """
        seen = self._otherwise()
        arrived = None if self._stamp is None else self._clock.arrival(self._stamp)
        if arrived is None:
            return seen
        doubtful = messages > 1 or (arrived - seen > UNSURE and self._more_came())
        return min(arrived, seen) if doubtful else arrived

    def _more_came(self) -> bool:
        """Whether there is something behind what was read; the end of the stream counts."""
        ready = select.poll()
        ready.register(self.socket.fileno(), select.POLLIN)
        return bool(ready.poll(0))

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """See trio.abc.ReceiveStream."""
        if not self._stamps:
            return await self._stream.receive_some(max_bytes)
        try:
            data, ancillary, _, _ = await self.socket.recvmsg(max_bytes or CHUNK, ANCILLARY)
        except OSError as error:
            raise _broken(error) from error
        self._stamp = _stamp(ancillary)
        return data

    def send_now(self, data: bytes) -> int:
        """Hand to the network what it takes at once, without waiting: how many of the bytes; perhaps none.

        Most messages fit. For them this saves the ways round the event loop that waiting takes. Raises as ``send_all``.
        """
        if not WRITES_SOCKETS:
            return 0
        try:
            return os.write(self.socket.fileno(), data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise _broken(error) from error

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """See trio.abc.SendStream."""
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        """See trio.abc.SendStream."""
        await self._stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        """See trio.abc.HalfCloseableStream."""
        await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()


def _broken(error: OSError) -> trio.ClosedResourceError | trio.BrokenResourceError:
    if error.errno in CLOSED:
        return trio.ClosedResourceError("this stream was closed")
    return trio.BrokenResourceError(f"the connection broke: {error}")


def _switched_on(stream: trio.SocketStream) -> bool:
    try:
        stream.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def _stamp(ancillary: Sequence[tuple[int, int, bytes]]) -> float | None:
    for level, kind, data in ancillary:
        if (level, kind, len(data)) == (socket.SOL_SOCKET, SO_TIMESTAMPNS, TIMESPEC.size):
            seconds, nanoseconds = TIMESPEC.unpack(data)
            return float(seconds + nanoseconds / 1e9)
    return None
