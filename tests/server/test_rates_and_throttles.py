"""How fast a client may speak, and how often somebody may be wrong about a secret. Pure: time is a number."""

from __future__ import annotations

import pytest

from triarena.server.addresses import neighbourhood
from triarena.server.rate import BURST_SECONDS, Bucket, Meter, Pace
from triarena.server.throttle import (
    FORGIVEN_SECONDS,
    FREE_TRIES,
    LONGEST_WAIT,
    REMEMBERED,
    WRONG_AT_ONCE,
    Gate,
    Throttle,
)

PACE = Pace(messages=100, bytes=10_000, flood=10.0)


def test_a_full_bucket_gives_its_capacity_at_once_and_then_lets_wait() -> None:
    bucket = Bucket(per_second=10, capacity=20, now=5.0)
    assert bucket.take(20, 5.0) == 0
    assert bucket.take(5, 5.0) == pytest.approx(0.5)
    assert bucket.take(0, 5.5) == 0


def test_a_bucket_never_holds_more_than_its_capacity() -> None:
    bucket = Bucket(per_second=10, capacity=20, now=0.0)
    assert bucket.take(21, 1e6) == pytest.approx(0.1)


def test_a_client_at_its_pace_never_waits() -> None:
    meter = Meter(PACE, 0.0)
    waits = [meter.take(1, 100, step / 100) for step in range(10_000)]
    assert set(waits) == {0.0}
    assert not meter.held_back


@pytest.mark.parametrize(("messages", "size"), [(50, 1), (0, 5000)])
def test_a_flood_of_messages_or_of_bytes_is_slowed_to_the_pace_and_then_found_out(messages: int, size: int) -> None:
    meter, now, taken = Meter(PACE, 0.0), 0.0, 0
    while not meter.flooding(now):
        now += meter.take(messages, size, now)
        taken += 1
    assert PACE.flood <= now < PACE.flood + 2
    assert taken <= 2 * (now + BURST_SECONDS) + 2  # half a second's worth each


def test_a_burst_after_a_silence_is_no_flood() -> None:
    meter = Meter(PACE, 0.0)
    for begin in range(0, 1000, 50):
        assert meter.take(3.9 * PACE.messages, 100, float(begin)) == 0
        assert not meter.flooding(float(begin))


def test_who_pauses_for_as_long_as_a_burst_is_forgiven() -> None:
    meter = Meter(PACE, 0.0)
    for begin in range(0, 100, 10):
        wait = meter.take(5 * PACE.messages, 100, float(begin))
        assert wait > 0
        assert meter.held_back
        assert not meter.flooding(float(begin))


def wrong(throttle: Throttle, tries: int, now: float = 0.0, address: str = "10.0.0.1") -> None:
    """Wrong secrets, each as soon as it is heard."""
    for _ in range(tries):
        now += throttle.wait(address, now)
        assert throttle.wrong(address, now) == 0


def test_free_tries_then_ever_longer_waits_up_to_a_bound() -> None:
    throttle, waits, now = Throttle(), [], 0.0
    for _ in range(100):
        throttle.wrong("10.0.0.1", now)
        waits.append(throttle.wait("10.0.0.1", now))
        now += waits[-1]
    assert waits[: FREE_TRIES - 1] == [0.0] * (FREE_TRIES - 1)
    assert waits[FREE_TRIES - 1] == 1.0
    assert waits[FREE_TRIES : FREE_TRIES + 3] == pytest.approx([2.0, 4.0, 8.0], rel=0.1)
    assert 30 < max(waits) <= LONGEST_WAIT
    assert throttle.wait("10.0.0.2", now) == 0


def test_no_wait_is_longer_than_the_longest() -> None:
    throttle = Throttle()
    throttle._wrong["10.0.0.1"] = (1000.0, 0.0, 0.0)
    throttle.wrong("10.0.0.1", 0.0)
    assert throttle.wait("10.0.0.1", 0.0) == LONGEST_WAIT


def test_what_comes_too_early_is_told_the_wait_and_makes_it_no_longer() -> None:
    throttle = Throttle()
    wrong(throttle, FREE_TRIES)
    assert [throttle.wrong("10.0.0.1", 0.25) for _ in range(100)] == [0.75] * 100
    assert throttle.wait("10.0.0.1", 1.0) == 0


def test_wrong_secrets_of_long_ago_are_forgotten() -> None:
    throttle = Throttle()
    for n in range(100):  # e.g. players who come back too late, one every minute
        assert throttle.wrong("10.0.0.1", n * FORGIVEN_SECONDS) == 0
        assert throttle.wait("10.0.0.1", n * FORGIVEN_SECONDS) == 0


def test_the_right_secret_ends_the_waiting() -> None:
    throttle = Throttle()
    wrong(throttle, 8)
    throttle.right("10.0.0.1")
    wrong(throttle, FREE_TRIES - 1)
    assert throttle.wait("10.0.0.1", 0.0) == 0


def test_what_is_wrong_about_one_name_counts_for_this_name_alone() -> None:
    throttle = Throttle()
    for _ in range(FREE_TRIES):
        throttle.wrong("10.0.0.1", 0.0, "ada")
    assert throttle.wait("10.0.0.1", 0.0, "ada") > 0
    assert throttle.wait("10.0.0.1", 0.0, "bob") == 0


def test_strangers_cannot_make_anybody_wait_nor_fill_the_memory() -> None:
    throttle = Throttle()
    for n in range(10_000):
        throttle.wrong(f"10.0.{n >> 8}.{n & 255}", 0.0)
    assert throttle.wait("192.168.0.1", 0.0) == 0
    assert len(throttle._wrong) == REMEMBERED


def test_behind_a_gate_many_addresses_together_get_no_further_and_lock_nobody_out_who_was_right_before() -> None:
    gate = Gate()
    gate.right("10.1.1.1")
    tries = 0
    for n in range(100_000):
        address, now = f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}", n / 10_000
        if address != "10.1.1.1" and gate.wait(address, now) == 0:
            gate.wrong(address, now)
            tries += 1
    assert WRONG_AT_ONCE <= tries <= WRONG_AT_ONCE + 10 * 5 + 1
    gate.wrong("10.200.0.1", 10.0)
    assert gate.wait("192.168.0.1", 10.0) > 0
    assert gate.wait("10.1.1.1", 10.0) == 0
    assert gate.wait("192.168.0.1", 100.0) == 0


def test_a_gate_stays_open_where_the_right_secret_came_from_whatever_the_neighbours_say() -> None:
    gate = Gate()
    gate.right("10.0.0.1")
    for _ in range(1000):
        gate.wrong("10.0.0.1", 0.0)
    assert gate.wait("10.0.0.1", 0.0) == 0
    assert gate.wait("10.0.0.2", 0.0) == 0


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::1", "::1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::1"),
        ("unknown", "unknown"),
    ],
)
def test_what_counts_as_one_address(address: str, counted: str) -> None:
    assert neighbourhood(address) == counted
