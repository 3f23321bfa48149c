"""The collector does not look while matches run, and looks at everything once none does."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
import trio
from trio.testing import MockClock

from triarena.server.garbage import COLLECT_SECONDS, COUNT_EVERY, LITTLE, MUCH, YOUNG, collect_when_idle


class Circle:
    """Refers to itself, so that only the collector finds that nobody needs it."""

    def __init__(self, size: int = 0) -> None:
        self.me = self
        self.rest: list[list[None]] = [[] for _ in range(size)]


@pytest.fixture
def looks() -> Iterator[list[int]]:
    """Of each look of the collector, which generation it was at; its settings are put back afterwards."""
    generations: list[int] = []

    def noted(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations.append(info["generation"])

    thresholds = gc.get_threshold()
    gc.callbacks.append(noted)
    yield generations
    gc.callbacks.remove(noted)
    gc.set_threshold(*thresholds)
    gc.unfreeze()


async def test_while_matches_run_nothing_is_looked_at_however_much_they_keep(
    looks: list[int], autojump_clock: MockClock
) -> None:
    kept: list[list[list[None]]] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: 1)
        await trio.sleep(0.5)
        looks.clear()
        for _ in range(MUCH // YOUNG):
            kept.append([[] for _ in range(YOUNG // 2)])
            await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert looks == []
    assert len(kept) == MUCH // YOUNG


async def test_a_circle_goes_when_the_last_match_has_ended_even_if_it_was_put_out_of_sight(
    looks: list[int], autojump_clock: MockClock
) -> None:
    running = 1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: running)
        await trio.sleep(0.5)
        circle = weakref.ref(Circle(2 * LITTLE))
        await trio.sleep(5)
        assert circle() is not None
        running = 0
        await trio.sleep(2)
        assert circle() is None
        nursery.cancel_scope.cancel()


async def test_what_waits_out_of_sight_while_matches_run_is_bounded(
    looks: list[int], autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: 1)
        await trio.sleep(0.5)
        circles = []
        for _ in range(2 * MUCH // YOUNG):
            circles.append(weakref.ref(Circle(YOUNG // 2)))
            await trio.sleep(1)
        await trio.sleep(2)
        assert not any(circle() for circle in circles)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("size", [YOUNG // 2, YOUNG + 10_000], ids=["unseen", "seen once while in use"])
async def test_what_was_in_use_until_it_was_put_out_of_sight_is_bounded_as_well(
    size: int, looks: list[int], autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: 1)
        await trio.sleep(0.5)
        circles = []
        for _ in range(2 * MUCH // size + 1):
            circle = Circle(size)
            circles.append(weakref.ref(circle))
            await trio.sleep(1)
            del circle
        await trio.sleep(2)
        assert sum(circle() is not None for circle in circles) * size <= MUCH
        nursery.cancel_scope.cancel()


async def test_what_an_idle_look_found_in_use_counts_as_well_once_it_is_put_out_of_sight(
    looks: list[int], autojump_clock: MockClock
) -> None:
    running = 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: running)
        await trio.sleep(0.5)
        circle = Circle(MUCH + LITTLE)
        seen = weakref.ref(circle)
        await trio.sleep(1)
        running = 1
        await trio.sleep(1)
        del circle
        await trio.sleep(COUNT_EVERY)
        assert seen() is None
        nursery.cancel_scope.cancel()


async def test_matches_that_ended_since_the_latest_look_make_no_room_for_garbage(
    looks: list[int], autojump_clock: MockClock
) -> None:
    running = 1
    in_use: list[list[None]] = [[] for _ in range(MUCH)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: running)
        await trio.sleep(0.5)
        in_use.clear()
        await trio.sleep(COUNT_EVERY)
        circle = weakref.ref(Circle(2 * LITTLE))
        await trio.sleep(1)
        running = 0
        await trio.sleep(2)
        assert circle() is None
        nursery.cancel_scope.cancel()


async def test_circles_of_an_idle_server_go_at_once(looks: list[int], autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: 0)
        await trio.sleep(0.5)
        circle = weakref.ref(Circle())
        await trio.sleep(1)
        assert circle() is None
        nursery.cancel_scope.cancel()


async def test_a_server_that_is_never_idle_looks_at_everything_after_a_long_while(
    looks: list[int], autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: 1)
        await trio.sleep(0.5)
        circle = weakref.ref(Circle())
        await trio.sleep(COLLECT_SECONDS + 2)
        assert circle() is None
        nursery.cancel_scope.cancel()


async def test_circles_that_pile_up_between_two_moments_are_not_kept_until_memory_ends(
    looks: list[int], autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_idle, lambda: 1)
        await trio.sleep(0.5)
        first = weakref.ref(Circle())
        for _ in range(YOUNG + 1000):
            Circle()
        assert first() is None
        nursery.cancel_scope.cancel()
