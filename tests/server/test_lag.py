"""The loop's lag: measured, and never charged to a client."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable
from random import Random

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.connection import Connection
from triarena.server.lag import KEPT, KEPT_SECONDS, LoopLag

from .conftest import PATIENCE, Client, World, house


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
    assert lag.worst_since(12.0) == 0.25
    assert lag.worst == 10.0


def rounds(lag: LoopLag, now: list[float], lengths: Iterable[float], pause: float) -> list[tuple[float, float]]:
    """Let the loop be busy for so long each time, with pauses between; when each ended, and its length."""
    busy = []
    for length in lengths:
        lag.after_io_wait(pause)
        now[0] += length
        lag.before_io_wait(pause)
        busy.append((now[0], length))
        now[0] += pause
    lag.after_io_wait(pause)
    return busy


def test_a_stall_that_ended_before_the_question_does_not_count_and_one_that_reaches_into_it_does() -> None:
    now = [100.0]
    lag = LoopLag(lambda: now[0])
    lag.align(100.0)
    rounds(lag, now, [0.5, 0.01], 0.125)
    assert lag.worst_since(100.0) == 0.5
    assert lag.worst_since(100.375) == 0.125, "of the stall in which the question was asked, what came after it"
    assert lag.worst_since(100.51) == pytest.approx(0.01), "a moment after it, and within the same second"


def test_the_worst_since_any_moment_is_the_worst_of_all_lags_that_had_not_ended() -> None:
    now = [0.0]
    lag = LoopLag(lambda: now[0])
    lag.align(0.0)
    draw = Random(7)
    busy = rounds(lag, now, [draw.choice([0.001, 0.01, 0.05, draw.random()]) for _ in range(500)], 0.125)
    for _ in range(500):
        moment = draw.uniform(0, now[0])
        expected = max((min(length, end - moment) for end, length in busy if end >= moment), default=0.0)
        assert lag.worst_since(moment) == pytest.approx(expected)


def test_what_is_remembered_is_bounded_in_time_and_number() -> None:
    now = [0.0]
    lag = LoopLag(lambda: now[0])
    lag.align(0.0)
    rounds(lag, now, [5.0 - number / 1000 for number in range(3000)], 0.001)
    assert len(lag._lags) <= KEPT
    rounds(lag, now, [2.0], KEPT_SECONDS + 1)
    rounds(lag, now, [0.5, 0.25], 0.1)
    assert lag.worst_since(0.0) == 0.5
    assert lag.worst == 5.0


async def test_a_move_behind_many_requests_is_heeded_first_when_the_loop_comes_late(mock_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), PATIENCE)
        ours, theirs = trio.testing.memory_stream_pair()
        in_time = Connection(theirs, "9", "127.0.0.1", PATIENCE, arrival=lambda messages: 0.05)
        nursery.start_soon(world.lobby.serve, in_time)
        red, blue = await Client(ours).greet("ann"), await world.client("bob")
        await red.join(size=4)
        await blue.join(size=4)
        room = (await red.start()).room
        await blue.start()
        turn = await red.hear(s.YourTurn)
        await wait_all_tasks_blocked()
        step = {"type": "step", "start": "A2", "target": "B1"}
        move = c.Move.model_validate({"room": room, "ply": turn.ply, "move": step})
        requests = b"".join(red.session.send(c.ListRooms()) for _ in range(20))
        await ours.send_all(requests + red.session.send(move))
        mock_clock.jump(3.0)  # a stall: the bytes are there, and the limit of two seconds has passed
        while not isinstance(message := await red._next(), s.Moved):
            assert not isinstance(message, s.MatchOver), message.result.detail
        assert message.used_ms == 50.0
        nursery.cancel_scope.cancel()


def test_what_a_stopped_process_finds_when_it_goes_on_came_after_its_last_look_and_perhaps_soon() -> None:
    now = 100.0
    lag = LoopLag(lambda: now)
    lag.align(now)
    lag.after_io_wait(0)
    now += 0.010
    lag.before_io_wait(0.025)
    now += 2.0  # it should have woken after 25 ms at the latest
    lag.after_io_wait(0.025)
    assert lag.arrival() == 100.010


@pytest.mark.parametrize("stopped", [0.1, 2.0, 35.0, 1e5])
def test_nor_did_it_see_all_when_its_wait_was_interrupted_and_ended_without_a_look(stopped: float) -> None:
    now = 100.0
    lag = LoopLag(lambda: now)
    lag.align(now)
    lag.before_io_wait(0.025)
    now += stopped
    lag.after_io_wait(0.025)  # with nothing: the system call was interrupted when its time was over
    now += 0.001
    lag.before_io_wait(0.0)
    lag.after_io_wait(0.0)
    assert lag.arrival() == 100.0
    now += 0.001
    lag.before_io_wait(0.0)
    lag.after_io_wait(0.0)
    assert lag.arrival() == pytest.approx(100.001 + stopped)


def test_what_a_loop_finds_that_wakes_in_time_has_just_come() -> None:
    now = 100.0
    lag = LoopLag(lambda: now)
    lag.align(now)
    lag.before_io_wait(0.025)
    now += 0.024
    lag.after_io_wait(0.025)
    assert lag.arrival() == 100.024
