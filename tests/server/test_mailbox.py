"""The referee's mailbox: nothing of the server's own is lost in it, and nobody can fill it."""

from __future__ import annotations

import random

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.games import Side
from triarena.server.events import (
    Cancelled,
    Event,
    Gone,
    HasMoved,
    IsReady,
    Lost,
    Mailbox,
    Nudge,
    Returned,
    Surrendered,
    Suspended,
)

RED, BLUE = Side


def lost(side: Side, why: str = "") -> Lost:
    return Lost(side, "disconnected", why)


def moved(side: Side, ply: int = 0) -> HasMoved:
    return HasMoved(side, ply, {}, 0.0)


def left_in(*events: Event) -> list[Event]:
    """What a referee finds that looks after all of these."""
    mailbox, found = Mailbox(), []
    for event in events:
        assert mailbox.put(event)
    while (event_or_none := mailbox.get_nowait()) is not None:
        found.append(event_or_none)
    return found


async def test_events_come_out_in_their_order(autojump_clock: MockClock) -> None:
    events: list[Event] = [
        IsReady(RED), moved(RED), lost(BLUE), Returned(BLUE), IsReady(BLUE), Surrendered(RED),
        Cancelled(""), Suspended(),
    ]  # fmt: skip
    mailbox, found = Mailbox(), []

    async def read() -> None:
        for _ in events:
            found.append(await mailbox.get())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        for event in events:
            await wait_all_tasks_blocked()
            assert mailbox.put(event)
    assert found == events
    assert left_in(*events) == events


async def test_an_event_is_not_lost_to_a_reader_whose_time_is_over(autojump_clock: MockClock) -> None:
    mailbox, found = Mailbox(), []
    for number in range(100):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            nursery.start_soon(_put_later, mailbox, moved(RED, number), 1)
            with trio.move_on_after(1):
                found.append(await mailbox.get())
    while (event := mailbox.get_nowait()) is not None:
        found.append(event)
    assert found == [moved(RED, number) for number in range(100)]


async def _put_later(mailbox: Mailbox, event: Event, seconds: float) -> None:
    await trio.sleep(seconds)
    mailbox.put(event)


def test_who_comes_back_a_hundred_times_unread_has_come_back() -> None:
    events: list[Event] = [lost(RED, "first")]
    for _ in range(100):
        events += [Returned(RED), IsReady(RED), lost(RED)]
    assert left_in(*events) == [lost(RED, "first"), lost(RED)]
    assert left_in(*events, Returned(RED)) == [lost(RED, "first"), Returned(RED)]
    assert left_in(*events, Returned(RED), IsReady(RED)) == [lost(RED, "first"), Returned(RED), IsReady(RED)]


def test_that_a_connection_was_ready_says_nothing_of_the_one_that_took_its_place() -> None:
    assert left_in(IsReady(RED), IsReady(BLUE), Returned(RED)) == [IsReady(BLUE), Returned(RED)]


def test_what_one_side_does_says_nothing_of_the_other() -> None:
    events: list[Event] = []
    for _ in range(3):
        events += [lost(RED), Returned(BLUE)]
    assert left_in(*events) == [lost(RED), Returned(BLUE), lost(RED), Returned(BLUE)]


@pytest.mark.parametrize("event", [Surrendered(RED), IsReady(RED), Cancelled(""), Suspended(), Nudge(), lost(RED)])
def test_what_was_said_once_need_not_be_said_again(event: Event) -> None:
    assert left_in(*[event] * 5) == [event] * (2 if isinstance(event, Lost) else 1)


def test_the_first_reason_why_a_side_is_gone_counts() -> None:
    first, second = Gone(RED, "left", "red left"), Gone(RED, "protocol_violation", "red shouted")
    assert left_in(first, second, Gone(BLUE, "left", "")) == [first, Gone(BLUE, "left", "")]


def test_a_flood_of_moves_is_refused_and_all_else_still_fits() -> None:
    mailbox = Mailbox(moves=64)
    assert [mailbox.put(moved(RED, ply)) for ply in range(200)] == [True] * 64 + [False] * 136
    assert mailbox.put(moved(BLUE))
    for event in (Returned(RED), IsReady(RED), Gone(BLUE, "left", ""), Cancelled(""), Suspended()):
        assert mailbox.put(event)


def test_nobody_fills_it_and_the_last_word_on_each_side_is_there() -> None:
    for seed in range(200):
        draw, mailbox, last = random.Random(seed), Mailbox(), dict[Side, Event]()
        for _ in range(1000):
            side = draw.choice((RED, BLUE))
            events: list[Event] = [
                lost(side), Returned(side), IsReady(side), Surrendered(side), Gone(side, "left", ""),
                Cancelled(""), Suspended(), Nudge(), moved(side),
            ]  # fmt: skip
            event = draw.choice(events)
            taken = mailbox.put(event)
            assert taken or isinstance(event, HasMoved)
            if isinstance(event, Lost | Returned):
                last[side] = event
        found = []
        while (event_or_none := mailbox.get_nowait()) is not None:
            found.append(event_or_none)
        assert len(found) <= 2 * (64 + 5) + 3
        for side in Side:
            assert [e for e in found if isinstance(e, Lost | Returned) and e.side is side][-1] == last[side]
