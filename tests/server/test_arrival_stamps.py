"""When bytes came is the system's to say: the process may have been busy, stopped, or its clock set anew."""

from __future__ import annotations

import ctypes
import socket
import sys
import time
from collections.abc import Callable

import pytest
import trio

from triarena.server.stamps import StampClock, StampedStream

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps what comes over TCP")


class Clocks:
    """A wall clock and a steady one, both moved by hand."""

    def __init__(self) -> None:
        self.steady = 50.0
        self.wall = 1_000_000.0

    def pass_(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds

    def stamps(self) -> StampClock:
        return StampClock(lambda: self.wall, lambda: self.steady)


def test_a_stamp_is_turned_into_the_steady_clocks_time() -> None:
    clocks = Clocks()
    stamps = clocks.stamps()
    stamp = clocks.wall
    clocks.pass_(0.5)
    assert stamps.arrival(stamp) == pytest.approx(50.0)


@pytest.mark.parametrize("step", [3600.0, 0.05, -0.05, -3600.0])
def test_stamps_from_before_the_time_of_day_was_set_are_not_believed(step: float) -> None:
    clocks = Clocks()
    stamps = clocks.stamps()
    before = clocks.wall
    clocks.wall += step
    clocks.pass_(0.01)
    assert stamps.arrival(before) is None
    assert stamps.arrival(before) is None, "the second of the same moment neither"
    clocks.pass_(0.01)
    after = clocks.wall
    clocks.pass_(0.25)
    assert stamps.arrival(after) == pytest.approx(clocks.steady - 0.25)


def test_a_clock_that_is_slowly_set_right_is_believed() -> None:
    clocks = Clocks()
    stamps = clocks.stamps()
    for _ in range(100):
        clocks.pass_(1.0)
        clocks.wall += 0.0005  # 500 ppm, as much as is usual
        stamp = clocks.wall
        clocks.pass_(0.1)
        assert stamps.arrival(stamp) == pytest.approx(clocks.steady - 0.1)


async def stamped_pair(
    otherwise: Callable[[], float] = trio.current_time,
) -> tuple[StampedStream, socket.socket]:
    """A stamped stream and the plain socket at its other end, over TCP."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    other = socket.create_connection(listener.socket.getsockname())
    stream = await listener.accept()
    await listener.aclose()
    return StampedStream(stream, StampClock(), otherwise), other


@ON_LINUX
async def test_bytes_that_come_while_the_whole_interpreter_stands_still_are_stamped_when_they_came() -> None:
    stream, other = await stamped_pair()
    sent: list[float] = []

    def send_and_keep_the_lock() -> None:
        sent.append(time.perf_counter())
        other.send(b"x")
        ctypes.PyDLL(None).usleep(200_000)  # unlike CDLL, PyDLL does not give the interpreter's lock away

    offset = trio.current_time() - time.perf_counter()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, send_and_keep_the_lock)
        assert await stream.receive_some() == b"x"
        assert abs(stream.arrival() - (sent[0] + offset)) < 0.05
    assert time.perf_counter() - sent[0] >= 0.2
    other.close()
    await stream.aclose()


@ON_LINUX
async def test_of_bytes_that_came_in_pieces_the_last_ones_stamp_counts() -> None:
    stream, other = await stamped_pair()
    other.send(b"ab")
    await trio.sleep(0.1)
    other.send(b"cd")
    last = trio.current_time()
    await trio.sleep(0.1)
    assert await stream.receive_some() == b"abcd"
    assert abs(stream.arrival() - last) < 0.03
    other.close()
    await stream.aclose()


@ON_LINUX
async def test_of_messages_that_came_in_one_read_none_is_dated_by_the_last_if_the_loop_knows_better() -> None:
    stream, other = await stamped_pair(otherwise=lambda: 5.0)
    other.send(b"two messages")
    await stream.receive_some()
    assert stream.arrival(2) == 5.0 < stream.arrival(1)
    other.close()
    await stream.aclose()


@ON_LINUX
@pytest.mark.parametrize("behind", ["the end of the stream", "more than was read"])
async def test_a_message_is_not_dated_by_what_came_behind_it_while_the_loop_did_not_look(behind: str) -> None:
    looked = trio.current_time()
    stream, other = await stamped_pair(otherwise=lambda: looked)
    other.send(b"move")
    await trio.sleep(0.2)
    if behind == "the end of the stream":
        other.close()
    else:
        other.send(b"ping")
    await trio.sleep(0.01)
    assert await stream.receive_some(4) == b"move"
    assert stream.arrival() == looked
    other.close()
    await stream.aclose()


@ON_LINUX
async def test_a_single_message_with_nothing_behind_it_keeps_its_stamp_however_long_the_loop_did_not_look() -> None:
    stream, other = await stamped_pair(otherwise=lambda: 5.0)
    other.send(b"move")
    sent = trio.current_time()
    await trio.sleep(0.2)
    assert await stream.receive_some() == b"move"
    assert abs(stream.arrival() - sent) < 0.05
    other.close()
    await stream.aclose()


async def test_where_the_system_gives_no_stamp_the_loops_own_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "elsewhere")
    stream, other = await stamped_pair()
    other.send(b"x")
    assert await stream.receive_some() == b"x"
    assert abs(stream.arrival() - trio.current_time()) < 1.0
    other.close()
    assert await stream.receive_some() == b""
    await stream.aclose()


async def test_a_broken_or_closed_stream_says_so_as_every_stream_does() -> None:
    stream, other = await stamped_pair()
    other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    other.close()
    with pytest.raises(trio.BrokenResourceError):
        await stream.receive_some()
    await stream.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await stream.receive_some()
