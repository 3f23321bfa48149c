"""The floor of the referee: a bare relay that hands every move on at once. No typing, no rules, no clock, no journal.

``python -m speed.relay PORT_FILE`` listens on a free port of the loopback and writes its number to the file. A client's
first frame says in which pair it is and on which seat (``seated``), and is answered by an empty one. Each further one
is a ``move``, which says how long the two messages are that follow from it, and who gets the second.

With an ``assignment`` as a further argument (which may be empty) it does these duties of a referee as well, before it
hands a move on; with a file after that, how late its loop is goes there (``Probe``). It ends with its input.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import trio

from triarena.server.garbage import collect_when_idle

from .duties import Duty, Office, open_office
from .lifeline import end_with_the_benchmark
from .probed import Probe

LENGTH: Final = struct.Struct(">I")
SEATED: Final = struct.Struct(">IB")
MOVE: Final = struct.Struct(">IIB")
CHUNK: Final = 65536
MOVED, TURN = b"moved".ljust(CHUNK, b"."), b"your_turn".ljust(CHUNK, b".")
OVER: Final = LENGTH.pack(10) + b"match_over"


def seated(pair: int, seat: int) -> bytes:
    """The first frame: which pair, and which of the two seats."""
    return LENGTH.pack(SEATED.size) + SEATED.pack(pair, seat)


def move(size: int, moved: int, turn: int, *, again: bool) -> bytes:
    """A move of ``size`` bytes. Both seats are to get ``moved`` bytes for it, and then the next to move, which is the
    other or the same ``again``, ``turn`` bytes; 0 at the end.
    """
    return (LENGTH.pack(size - LENGTH.size) + MOVE.pack(moved, turn, again)).ljust(size, b"\0")


@dataclass(eq=False, slots=True)
class Peer:
    """One client."""

    stream: trio.SocketStream
    buffer: bytearray = field(default_factory=bytearray)
    over: trio.Event = field(default_factory=trio.Event)

    async def frame(self) -> bytearray | None:
        """The next frame without its length; None at the end."""
        buffer = self.buffer
        while len(buffer) < LENGTH.size or len(buffer) < LENGTH.size + LENGTH.unpack_from(buffer)[0]:
            data = await self.stream.receive_some(CHUNK)
            if not data:
                return None
            buffer += data
        end = LENGTH.size + LENGTH.unpack_from(buffer)[0]
        whole = buffer[LENGTH.size : end]
        del buffer[:end]
        return whole


async def attend(
    waiting: dict[int, Peer], office: Office | None, numbers: Iterator[int], stream: trio.SocketStream
) -> None:
    """Serve one client: the first of a pair waits for the second, whose task relays for both."""
    peer = Peer(stream)
    greeting = await peer.frame()
    if greeting is None:
        return
    pair, seat = SEATED.unpack(greeting)
    await stream.send_all(LENGTH.pack(0))
    other = waiting.pop(pair, None)
    if other is None:
        waiting[pair] = peer
        await peer.over.wait()
    else:
        duty = None if office is None else await office.match(next(numbers))
        await relay((peer, other) if seat == 0 else (other, peer), duty)
        other.over.set()


async def relay(peers: tuple[Peer, Peer], duty: Duty | None) -> None:
    """Hand on the moves of a match; the first one is the first seat's."""
    mover, other = peers
    while (frame := await mover.frame()) is not None:
        moved, turn, again = MOVE.unpack_from(frame)
        told = LENGTH.pack(moved - LENGTH.size) + MOVED[: moved - LENGTH.size]
        if turn:
            asked = told + LENGTH.pack(turn - LENGTH.size) + TURN[: turn - LENGTH.size]
        else:
            told = asked = told + OVER
        if duty is not None:
            await duty.done()
        await mover.stream.send_all(asked if again else told)
        await other.stream.send_all(told if again else asked)
        if not again:
            mover, other = other, mover


async def main(port_file: Path, assigned: str) -> None:
    """Relay until the process is ended."""
    async with AsyncExitStack() as stack:
        office = None
        if assigned:
            office = await stack.enter_async_context(open_office(assigned, port_file.parent))
        nursery = await stack.enter_async_context(trio.open_nursery())
        nursery.start_soon(collect_when_idle, lambda: 1)  # the server's collector looks no more often either
        handler = partial(attend, {}, office, count())
        listeners = await nursery.start(partial(trio.serve_tcp, handler, 0, host="127.0.0.1"))
        await trio.Path(port_file).write_text(str(listeners[0].socket.getsockname()[1]), encoding="ascii")


if __name__ == "__main__":
    path, assigned, *notes = sys.argv[1:]
    end_with_the_benchmark()
    trio.run(main, Path(path), assigned, instruments=[Probe(Path(name)) for name in notes])
