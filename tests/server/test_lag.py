"""The loop's lag: measured, and never charged to a client."""

from __future__ import annotations

import socket
import threading
import time

import trio

from triarena.server.lag import LoopLag


async def test_bytes_that_come_while_the_loop_is_busy_are_stamped_before_the_stall() -> None:
    lag = LoopLag()
    lag.align(trio.current_time())
    trio.lowlevel.add_instrument(lag)
    ours, theirs = socket.socketpair()
    sent: list[float] = []

    def send_later() -> None:
        time.sleep(0.05)
        sent.append(time.perf_counter())
        theirs.send(b"x")

    stamped: list[float] = []

    async def read(stream: trio.SocketStream) -> None:
        await stream.receive_some(1)
        stamped.append(lag.arrival())

    stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
    offset = trio.current_time() - time.perf_counter()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, stream)
        await trio.sleep(0.01)
        sender = threading.Thread(target=send_later)
        sender.start()
        time.sleep(0.3)  # noqa: ASYNC251 - the stall that is the point
    sender.join()
    theirs.close()
    await stream.aclose()
    trio.lowlevel.remove_instrument(lag)
    late = stamped[0] - (sent[0] + offset)
    assert -0.1 < late <= 0, "not later than they came, although they were read 250 ms later"
    assert 0.3 <= lag.worst_since(trio.current_time() - 1) < 1


async def test_bytes_that_are_waited_for_are_stamped_when_they_come() -> None:
    lag = LoopLag()
    lag.align(trio.current_time())
    trio.lowlevel.add_instrument(lag)
    left, right = trio.socket.socketpair()
    offset = trio.current_time() - time.perf_counter()
    sent: list[float] = []

    def send_later() -> None:
        time.sleep(0.1)
        sent.append(time.perf_counter())
        raw.send(b"x")

    raw = socket.socket(fileno=right.detach())
    raw.setblocking(True)
    sender = threading.Thread(target=send_later)
    sender.start()
    stream = trio.SocketStream(left)
    await stream.receive_some(1)
    late = lag.arrival() - (sent[0] + offset)
    sender.join()
    raw.close()
    await stream.aclose()
    trio.lowlevel.remove_instrument(lag)
    assert -0.001 < late < 0.05


def test_the_worst_of_a_while_is_forgotten_after_it() -> None:
    now = 100.0
    lag = LoopLag(lambda: now)
    lag.align(0.0)  # trio's time is 100 s behind
    lag.after_io_wait(0)
    now += 2.0
    lag.before_io_wait(0)
    lag.after_io_wait(0)
    assert lag.worst_since(0.0) == 2.0
    now += 10.0
    lag.before_io_wait(10)
    lag.after_io_wait(10)
    now += 0.25
    lag.before_io_wait(0)
    lag.after_io_wait(0)
    assert lag.worst_since(11.5) == 0.25
    assert lag.worst == 10.0
