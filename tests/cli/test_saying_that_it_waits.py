"""Whoever waits for a server or a match sees that, for what, and that it goes on."""

from __future__ import annotations

import threading
from typing import Any

import click
import pytest
from click.testing import CliRunner
from tests.clients.scripted_server import Peer, serving
from tests.clients.test_attending_a_tournament import dismiss, in_turn, one_match, welcome

from triarena.cli import main
from triarena.cli.waiting import Waiting
from triarena.protocol import from_server as s


class Clock:
    """A time that passes when it is told to, or slept through."""

    def __init__(self) -> None:
        self.at = 100.0
        self.said: list[tuple[float, str]] = []

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds

    def say(self, sentence: str) -> None:
        self.said.append((self.at - 100, sentence))

    def pass_by(self, waiting: Waiting, seconds: int) -> None:
        for _ in range(seconds):
            self.at += 1
            waiting.look()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_it_is_said_once_and_then_at_growing_distances(clock: Clock) -> None:
    waiting = Waiting(clock.say, clock.now)
    waiting.begin("the next match")
    clock.pass_by(waiting, 3600)
    assert [at for at, _ in clock.said] == [0, 60, 120, 240, 480, 960, 1560, 2160, 2760, 3360]
    assert [sentence for _, sentence in clock.said[:3]] == [
        "waiting for the next match",
        "still waiting for the next match: 1 min by now",
        "still waiting for the next match: 2 min by now",
    ]


def test_what_is_over_soon_is_not_said_at_all(clock: Clock) -> None:
    waiting = Waiting(clock.say, clock.now)
    waiting.begin("the server", after=5)
    clock.pass_by(waiting, 4)
    waiting.end()
    clock.pass_by(waiting, 1000)
    assert clock.said == []


def test_to_begin_again_with_the_same_changes_nothing(clock: Clock) -> None:
    waiting = Waiting(clock.say, clock.now)
    for _ in range(50):
        waiting.begin("the server", after=5)
        clock.pass_by(waiting, 1)
    assert clock.said == [(5, "waiting for the server")]


def test_a_server_that_is_not_there_yet_is_said_to_be_waited_for(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr("time.monotonic", clock.now)
    monkeypatch.setattr("time.sleep", clock.sleep)
    done = CliRunner().invoke(main, ["join", "--game", "towerwars", "--port", "1", "--wait", "150"])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[:-1] == [
        f"{words} for the server at 127.0.0.1:1, which does not answer yet, for 150 s at most{so_long}"
        for words, so_long in (
            ("waiting", ""),
            ("still waiting", ": 1 min by now"),
            ("still waiting", ": 2 min by now"),
        )
    ]


def test_a_server_that_takes_the_connection_and_does_not_greet_is_said_to_be_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("triarena.cli.waiting.POLL_SECONDS", 0.01)
    monkeypatch.setattr("triarena.cli.options.SLOW_SECONDS", 0.05)
    said, echo = threading.Event(), click.echo

    def noted(*arguments: Any, **options: Any) -> None:
        echo(*arguments, **options)
        said.set()

    def busy(peer: Peer) -> None:
        assert said.wait(20)

    monkeypatch.setattr("click.echo", noted)
    with serving(busy) as server:
        done = CliRunner().invoke(main, ["join", "--game", "towerwars", "--port", str(server.port)])
    assert done.stderr.splitlines()[0] == f"waiting for the server at 127.0.0.1:{server.port} to answer"
    assert "[no_greeting]" in done.stderr


def test_a_server_that_greets_soon_is_not_said_to_be_waited_for() -> None:
    with serving(lambda peer: peer.send(s.Refused(code="kicked", message="go away"))) as server:
        done = CliRunner().invoke(main, ["join", "--game", "towerwars", "--port", str(server.port)])
    assert "waiting" not in done.stderr


def test_a_bot_in_the_lobby_of_a_tournament_says_that_it_waits_for_its_first_match() -> None:
    arguments = ["join", "--tournament", "random", "--name", "Ann", "--token", "secret"]
    with serving(in_turn(welcome, one_match, dismiss)) as server:
        done = CliRunner().invoke(main, [*arguments, "--port", str(server.port)])
    assert done.exit_code == 0, done.output
    lobby = f"in the lobby of the tournament at 127.0.0.1:{server.port}"
    assert done.stderr.splitlines() == [f"waiting for the first match, {lobby}"]
