"""How the silence of a client is judged; a server that stood still has not listened."""

from __future__ import annotations

import pytest

from triarena.server.silence import Silence

from .conftest import PATIENCE

HEARTBEAT, GREETING = PATIENCE.heartbeat, PATIENCE.greeting


def test_who_is_silent_is_asked_once_and_then_gone() -> None:
    silence = Silence(PATIENCE, lambda since: 0.0, 0.0)
    assert silence.verdict(HEARTBEAT - 1, greeted=True, owes=False) == "bear"
    assert silence.verdict(HEARTBEAT, greeted=True, owes=False) == "ask"
    assert silence.verdict(HEARTBEAT + 1, greeted=True, owes=False) == "bear"
    assert silence.verdict(2 * HEARTBEAT, greeted=True, owes=False) == "gone"
    silence.broken(2 * HEARTBEAT)
    assert silence.verdict(3 * HEARTBEAT, greeted=True, owes=False) == "ask"


def test_who_thinks_is_not_asked() -> None:
    silence = Silence(PATIENCE, lambda since: 0.0, 0.0)
    for times in range(1, 5):
        assert silence.verdict(times * HEARTBEAT, greeted=True, owes=True) == "bear"


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("stood", [8.0, 35.0, 1e6])
def test_who_was_silent_while_the_server_stood_still_is_asked_again_before_it_is_given_up(
    asked: bool, stood: float
) -> None:
    lag = 0.0
    silence = Silence(PATIENCE, lambda since: lag, 0.0)
    now = HEARTBEAT
    if asked:
        assert silence.verdict(now, greeted=True, owes=False) == "ask"
        now += HEARTBEAT
    lag, now = stood, now + stood
    assert silence.verdict(now, greeted=True, owes=False) == "ask"
    lag = 0.0
    assert silence.verdict(now + HEARTBEAT - 1, greeted=True, owes=False) == "bear"


def test_who_could_not_be_heard_greeting_has_a_moment_more() -> None:
    lag = 35.0
    silence = Silence(PATIENCE, lambda since: lag, 0.0)
    assert silence.verdict(35.0, greeted=False, owes=False) == "bear"
    lag = 0.0
    assert silence.verdict(35.0 + GREETING, greeted=False, owes=False) == "never greeted"
