"""A bot in a tournament: it enlists, is invited to match after match, survives losses, and goes home when told to."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.clients.lost_connections import FakeTime, finish, moved, reset, started, take_move, your_turn
from tests.clients.scripted_server import Peer, Script, ScriptedServer, joined, one_after_another, over, serving

from triarena.clients import BotError, ConnectionLost, Farewell, NoAnswer, ServerError
from triarena.clients.bots import Bot, FreshBot
from triarena.clients.connection import Connection
from triarena.clients.tournament import attend
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

GOODBYE = s.Goodbye(code="dismissed", message="it is over")


ADVICE = "; check --name and --port (and --host); I go on trying"


def invitation(room: str = "r1", seed: int | None = 7) -> s.Invitation:
    return s.Invitation(room=room, game="towerwars", options={"size": 4}, reservation=f"code of {room}", seed=seed)


def welcome(peer: Peer, answer: Any = None) -> None:
    """The script's part of coming to the lobby."""
    assert peer.greet().token == "secret"
    peer.answer(c.Enlist, answer or s.Enlisted(name="Ann"))


def invite(peer: Peer, number: int = 1) -> None:
    """The beginning of a match in a room of its own, up to the client's ``ready``."""
    room = f"r{number}"
    peer.send(invitation(room))
    assert peer.answer(c.JoinReserved, joined(room=room)).reservation == f"code of {room}"
    peer.send(started(match=f"m{number}").model_copy(update={"room": room}))
    peer.expect(c.Ready)


def one_match(peer: Peer, number: int = 1) -> None:
    invite(peer, number)
    room = f"r{number}"
    peer.send(your_turn(0, room))
    take_move(peer, 0)
    peer.send(*(message.model_copy(update={"room": room}) for message in (moved(0), over())))


def next_match(peer: Peer) -> None:
    one_match(peer, 2)


def dismiss(peer: Peer) -> None:
    peer.send(GOODBYE)


def refusal(code: str, request: str = "enlist") -> s.Error:
    return s.Error(code=code, message="no", request=request)


class Bots:
    """Makes a new bot for each match, and notes what was asked for."""

    def __init__(self, *failing: int) -> None:
        self.invitations: list[s.Invitation] = []
        self.events: list[str] = []
        self.failures: list[BotError] = []
        self._failing = failing

    def load(self, message: s.Invitation) -> Bot:
        self.invitations.append(message)
        if len(self.invitations) in self._failing:
            raise BotError("bot_failed", "it raised ValueError")
        return Bot(lambda position, clock: "A2->A3")


def attending(*scripts: Script, bots: Bots | None = None, **options: Any) -> tuple[Farewell, Bots, list[str]]:
    """A whole stay over as many connections as there are scripts: the farewell, the bots, and what was reported."""
    bots = bots or Bots()
    reports: list[str] = []
    chosen: dict[str, Any] = {"backoff": FakeTime().backoff(600), "report": reports.append, **options}
    with (
        serving(one_after_another(*scripts)) as server,
        Connection.open(port=server.port, name="Ann", token="secret") as connection,
    ):
        farewell = attend(
            connection,
            bots.load,
            on_event=lambda message: bots.events.append(message.type),
            on_failure=bots.failures.append,
            **chosen,
        )
    return farewell, bots, reports


def in_turn(*parts: Callable[[Peer], object]) -> Script:
    """A script of several parts over one connection."""

    def script(peer: Peer) -> None:
        for part in parts:
            part(peer)

    return script


def test_a_bot_plays_match_after_match_until_it_is_dismissed() -> None:
    farewell, bots, reports = attending(in_turn(welcome, one_match, next_match, dismiss))
    assert (farewell.code, farewell.message) == ("dismissed", "it is over")
    assert [message.seed for message in bots.invitations] == [7, 7], "a new bot for each"
    assert bots.events.count("invitation") == bots.events.count("match_over") == 2
    assert reports == []


def test_pings_are_answered_while_it_waits() -> None:
    def ping(peer: Peer) -> None:
        for number in range(3):
            peer.send(c.Ping(number=number))
            assert peer.expect(c.Pong).number == number

    attending(in_turn(welcome, ping, dismiss))


def test_who_is_not_enrolled_yet_asks_again_over_the_same_connection() -> None:
    def twice_too_early(peer: Peer) -> None:
        welcome(peer, refusal("not_enrolled"))
        peer.answer(c.Enlist, refusal("not_enrolled"))
        peer.answer(c.Enlist, s.Enlisted(name="Ann"))

    _, _, reports = attending(in_turn(twice_too_early, dismiss))
    assert reports == [f"waiting to be admitted: no{ADVICE} [not_enrolled]"]


def test_who_is_never_enrolled_gives_up_when_patience_has_run_out() -> None:
    time = FakeTime()

    def never(peer: Peer) -> None:
        peer.greet()
        while peer.receive() is not None:
            peer.send(refusal("not_enrolled").model_copy(update={"id": peer._heard[-1].id}))

    reports: list[str] = []
    with pytest.raises(ServerError) as refused:
        attending(never, backoff=time.backoff(600), report=reports.append)
    assert refused.value.code == "not_enrolled"
    assert 600 <= time.seconds < 610
    assert max(time.naps) == 2.0, "asked every few seconds"
    assert reports[0] == f"waiting to be admitted: no{ADVICE} [not_enrolled]"
    assert set(reports[1:]) == {"still waiting to be admitted: no [not_enrolled]"}, "told about every minute"
    assert 8 <= len(reports) <= 10


def test_a_wrong_token_is_final() -> None:
    with pytest.raises(ServerError) as refused:
        attending(lambda peer: welcome(peer, refusal("wrong_token")))
    assert refused.value.code == "wrong_token"


@pytest.mark.parametrize("code", ["displaced", "kicked"])
def test_who_is_thrown_out_stays_away(code: str) -> None:
    with pytest.raises(Farewell) as farewell:
        attending(in_turn(welcome, lambda peer: peer.send(s.Goodbye(code=code, message="so it is"))))
    assert farewell.value.code == code


def test_a_lost_connection_is_sought_and_the_bot_enlists_again() -> None:
    stopping = s.Goodbye(code="server_stopping", message="later")
    farewell, bots, reports = attending(
        in_turn(welcome, reset),
        in_turn(welcome, lambda peer: peer.send(stopping)),
        in_turn(welcome, one_match, dismiss),
    )
    assert farewell.code == "dismissed"
    assert len(bots.invitations) == 1
    assert sum(line.startswith("back in the lobby") for line in reports) == 2


def test_a_server_that_was_started_again_may_know_the_player_a_little_later() -> None:
    def later(peer: Peer) -> None:
        welcome(peer, refusal("not_enrolled"))
        peer.answer(c.Enlist, s.Enlisted(name="Ann"))

    farewell, _, _ = attending(in_turn(welcome, reset), in_turn(later, dismiss))
    assert farewell.code == "dismissed"


def test_a_server_that_does_not_come_back_is_waited_for_as_long_as_patience_lasts() -> None:
    time = FakeTime()
    servers: list[ScriptedServer] = []

    def vanish(peer: Peer) -> None:
        welcome(peer)
        servers[0].stop_listening()

    with serving(vanish) as server:
        servers.append(server)
        connection = Connection.open(port=server.port, name="Ann", token="secret")
        with connection, pytest.raises(ConnectionLost, match="within 600 s"):
            attend(connection, Bots().load, report=lambda line: None, backoff=time.backoff(600))
    assert 600 <= time.seconds < 610


@pytest.mark.parametrize("silent_about", [c.Enlist, c.JoinReserved])
def test_a_server_that_does_not_answer_is_left_and_sought_again(
    silent_about: type[c.Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first such request stays without an answer."""
    request, silent = Connection.request, [silent_about]

    def first_in_vain(self: Connection, message: Any) -> Any:
        if silent and isinstance(message, silent[0]):
            silent.clear()
            raise NoAnswer("no_answer", "the server has not answered in time")
        return request(self, message)

    monkeypatch.setattr(Connection, "request", first_in_vain)
    first = {
        c.Enlist: lambda peer: peer.greet(),
        c.JoinReserved: in_turn(welcome, lambda peer: peer.send(invitation())),
    }[silent_about]

    def back(peer: Peer) -> None:
        welcome(peer)
        if silent_about is c.JoinReserved:
            peer.answer(c.Enlist, s.Enlisted(name="Ann"))

    farewell, bots, _ = attending(in_turn(first, wait_for_the_end), in_turn(back, one_match, dismiss))
    assert farewell.code == "dismissed"
    assert len(bots.invitations) == 1


def wait_for_the_end(peer: Peer) -> None:
    assert peer.receive() is None


def test_a_connection_that_breaks_whenever_it_is_taken_up_is_not_taken_up_for_ever() -> None:
    time = FakeTime()
    with serving(in_turn(welcome, reset)) as server:
        connection = Connection.open(port=server.port, name="Ann", token="secret")
        with connection, pytest.raises(ConnectionLost):
            attend(connection, Bots().load, report=lambda line: None, backoff=time.backoff(60))
    assert 60 <= time.seconds < 70


def test_a_connection_lost_in_a_match_comes_back_to_the_match_and_then_enlists() -> None:
    def back(peer: Peer) -> None:
        assert peer.greet().name == "Ann"
        assert peer.answer(c.Rejoin, joined()).token == "t"
        peer.send(started())
        peer.expect(c.Ready)
        finish(peer, 0)
        peer.answer(c.Enlist, s.Enlisted(name="Ann"))

    farewell, bots, reports = attending(in_turn(welcome, invite, reset), in_turn(back, next_match, dismiss))
    assert farewell.code == "dismissed"
    assert len(bots.invitations) == 2
    assert [line for line in reports if line.startswith("back in the match")] != []


def test_a_match_that_is_gone_when_the_bot_comes_back_is_no_reason_to_go_home() -> None:
    def gone(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Rejoin, refusal("unknown_token", "rejoin"))
        peer.answer(c.Enlist, s.Enlisted(name="Ann"))

    farewell, _, reports = attending(in_turn(welcome, invite, reset), in_turn(gone, next_match, dismiss))
    assert farewell.code == "dismissed"
    assert any("no match in room r1" in line for line in reports)


def test_a_seat_that_is_there_no_more_is_no_reason_to_go_home() -> None:
    def too_late(peer: Peer) -> None:
        peer.send(invitation())
        peer.answer(c.JoinReserved, refusal("unknown_reservation", "join_reserved"))

    farewell, bots, reports = attending(in_turn(welcome, too_late, next_match, dismiss))
    assert farewell.code == "dismissed"
    assert len(bots.invitations) == 1
    assert reports == ["no match in room r1: no [unknown_reservation]; waiting for the next one"]


def test_a_match_that_is_cancelled_before_it_begins_costs_nothing() -> None:
    def cancelled(peer: Peer) -> None:
        peer.send(invitation())
        peer.answer(c.JoinReserved, joined())
        peer.send(over(kind="aborted", reason="cancelled", winner=None))

    farewell, bots, _ = attending(in_turn(welcome, cancelled, next_match, dismiss))
    assert farewell.code == "dismissed"
    assert len(bots.invitations) == 1, "the bot was not even loaded for the first"


def test_a_bot_that_fails_loses_that_match_and_plays_the_next() -> None:
    def failing(peer: Peer) -> None:
        peer.send(invitation())
        peer.answer(c.JoinReserved, joined())
        peer.send(started())
        assert peer.expect(c.Leave).room == "r1"
        peer.send(over(kind="forfeit", reason="left", winner="blue", offenders=["red"]))

    farewell, bots, _ = attending(in_turn(welcome, failing, next_match, dismiss), bots=Bots(1))
    assert farewell.code == "dismissed"
    assert [(error.code, error.match_over is not None) for error in bots.failures] == [("bot_failed", True)]
    assert bots.events.count("match_over") == 2


# -- a bot that is loaded anew ---------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "memory_of_bot.py").write_text("seen = []\n")
    (tmp_path / "fresh_bot.py").write_text(
        "import os, random\nimport memory_of_bot\n"
        "drawn = random.random()\nmemory_of_bot.seen.append(drawn)\nos.chdir('/')\n"
        "def choose_move(position):\n    return (drawn, len(memory_of_bot.seen))\n"
    )
    known, path, state = set(sys.modules), sys.path[:], random.getstate()
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]
    sys.path[:] = path
    random.setstate(state)


def test_nothing_of_one_match_is_left_in_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    fresh = FreshBot("fresh_bot.py")
    answers = [fresh.load("towerwars", seed).choose_move(None, None) for seed in (1, 2, 1)]
    assert [seen for _, seen in answers] == [1, 1, 1], "its neighbours are run again as well"
    assert answers[0] == answers[2] != answers[1], "its randomness is the invitation's"


def test_a_bot_that_comes_along_plays_the_same_with_the_same_seed() -> None:
    from triarena.games import find_game

    fresh, position = FreshBot("random"), find_game("towerwars").start({})
    moves = [fresh.load("towerwars", seed).choose_move(position, None) for seed in (1, 2, 1)]
    assert moves[0] == moves[2]
