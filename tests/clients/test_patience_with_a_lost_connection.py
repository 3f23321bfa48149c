"""For how long, and how often, a lost connection is sought; what is not sought at all; and what is told of it."""

from __future__ import annotations

import random
import re
from contextlib import ExitStack

import pytest
from tests.clients.lost_connections import (
    FakeTime,
    Thinker,
    begin,
    half_a_frame,
    moved,
    play_against,
    play_from_the_start,
    play_from_the_start_once_back,
    resume,
    take_seat_back,
    your_turn,
)
from tests.clients.scripted_server import Peer, Script, over, serving

from triarena.cli.join import join
from triarena.clients import Backoff, ConnectionLost, Farewell, play
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.settings import Settings


def test_coming_back_is_told_in_two_short_lines() -> None:
    _, _, (lost, back) = play_against(begin, play_from_the_start_once_back)
    where = r"the server at 127\.0\.0\.1:\d+ closed the connection"
    assert re.fullmatch(rf"connection lost: {where} \[connection_lost\]; trying to come back \.\.\.", lost)
    assert back == "back in the match after 0.0 s"


def test_a_server_that_is_gone_for_three_seconds_is_waited_for() -> None:
    time = FakeTime()
    reports: list[str] = []

    def vanish(peer: Peer) -> None:
        begin(peer)
        server.stop_listening()

    with ExitStack() as stack:
        server = stack.enter_context(serving(vanish))
        again = serving(play_from_the_start_once_back, port=server.port)
        time.alarms.append((3.0, lambda: stack.enter_context(again)))
        play(Thinker().choose_move, game="towerwars", port=server.port, backoff=time.backoff(), report=reports.append)
    assert time.naps == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6])
    assert reports[-1] == "back in the match after 3.1 s"


def test_when_patience_has_run_out_the_sentence_says_why() -> None:
    time = FakeTime()

    def vanish(peer: Peer) -> None:
        begin(peer)
        server.stop_listening()

    with serving(vanish) as server, pytest.raises(ConnectionLost) as caught:
        play(
            Thinker().choose_move, game="towerwars", port=server.port, backoff=time.backoff(5), report=lambda line: None
        )
    assert time.seconds == 5.0
    assert caught.value.code == "connection_lost"
    assert "no way back was found within 5 s: nobody listens on 127.0.0.1" in caught.value.message
    assert caught.value.message.endswith("the match in room r1 was not over, only match_over ends one")


def test_without_patience_a_loss_is_final() -> None:
    reports: list[str] = []
    with pytest.raises(ConnectionLost, match="only match_over ends one"):
        play_against(begin, backoff=Backoff(patience=0), report=reports.append)
    assert reports == []


def test_a_connection_that_always_breaks_again_is_given_up_some_time() -> None:
    time = FakeTime()

    def again(peer: Peer) -> None:
        resume(peer, 0)
        peer.send(your_turn(0))

    with pytest.raises(ConnectionLost, match="no way back was found within 5 s"):
        play_against(begin, *[again] * 20, backoff=time.backoff(5))
    assert time.seconds == 5.0


def test_the_default_patience_outlasts_a_restart_of_the_server_and_its_waiting_for_players() -> None:
    options = {option.name: option.default for option in join.params}
    assert Backoff().patience == options["rejoin_patience"] == 600
    assert Backoff().patience > 2 * Settings().rooms.resume_seconds


def test_each_ply_that_is_played_renews_the_patience() -> None:
    time = FakeTime()

    def one_ply(ply: int) -> Script:
        def script(peer: Peer) -> None:
            resume(peer, ply)
            peer.send(moved(ply))

        return script

    def busy(peer: Peer) -> None:
        peer.send(s.Refused(code="server_full", message="no more connections"))

    def end(peer: Peer) -> None:
        take_seat_back(peer)
        peer.send(over())

    play_against(begin, busy, one_ply(0), busy, one_ply(1), busy, one_ply(2), busy, end, backoff=time.backoff(0.15))
    assert time.seconds == pytest.approx(0.4), "longer than the patience, but never at a stretch"


@pytest.mark.parametrize("code", ["displaced", "kicked", "too_many_bad_frames"])
def test_who_was_displaced_or_thrown_out_stays_away(code: str) -> None:
    def first(peer: Peer) -> None:
        begin(peer)
        peer.send(s.Goodbye(code=code, message="and do not come back"))

    with pytest.raises(Farewell, match="and do not come back") as caught:
        play_against(first)
    assert caught.value.code == code


@pytest.mark.parametrize("code", ["server_stopping", "internal_error"])
def test_a_server_that_says_goodbye_for_a_while_is_come_back_to(code: str) -> None:
    def first(peer: Peer) -> None:
        begin(peer)
        peer.send(s.Goodbye(code=code, message="for a while"))

    end, _, reports = play_against(first, play_from_the_start_once_back)
    assert end.result.reason == "base"
    assert reports[0] == f"connection lost: for a while [{code}]; trying to come back ..."


def test_a_refusal_before_any_seat_is_not_told_as_a_loss() -> None:
    def refuse(peer: Peer) -> None:
        peer.greet()
        peer.expect(c.Join)
        peer.send(s.Goodbye(code="server_full", message="the server is full"))

    _, _, reports = play_against(refuse, refuse, play_from_the_start)
    assert reports == ["no way in: the server is full [server_full]; trying again ...", "let in after 0.1 s"]


def test_a_connection_that_is_lost_before_any_seat_is_told_as_one() -> None:
    def hang_up(peer: Peer) -> None:
        peer.greet()

    _, _, (lost, back) = play_against(hang_up, play_from_the_start)
    assert lost.startswith("connection lost: ")
    assert back == "back after 0.0 s"


@pytest.mark.parametrize("code", ["server_full", "server_stopping"])
def test_a_server_that_refuses_for_a_while_is_asked_again(code: str) -> None:
    def refuse(peer: Peer) -> None:
        peer.send(s.Refused(code=code, message="not now"))

    _, _, (_, back) = play_against(begin, refuse, refuse, play_from_the_start_once_back)
    assert back == "back in the match after 0.3 s"


def test_an_attempt_may_be_cut_anywhere_and_is_made_again() -> None:
    def no_greeting(peer: Peer) -> None:
        pass

    def half_a_greeting(peer: Peer) -> None:
        peer.expect(c.Hello)
        half_a_frame(peer)

    def nothing_after_the_greeting(peer: Peer) -> None:
        peer.greet()

    def no_answer_to_rejoin(peer: Peer) -> None:
        peer.greet()
        peer.expect(c.Rejoin)

    cuts = (no_greeting, half_a_greeting, nothing_after_the_greeting, no_answer_to_rejoin)
    _, bot, reports = play_against(begin, *cuts, play_from_the_start_once_back)
    assert bot.told == ["get_ready", "come_back"]
    assert reports[1:] == ["back in the match after 1.5 s"]


def test_a_token_that_is_throttled_is_tried_again() -> None:
    def wait(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Rejoin, s.Error(code="throttled", message="too many unknown tokens", request="rejoin"))

    end, _, _ = play_against(begin, wait, play_from_the_start_once_back)
    assert end.result.reason == "base"


def test_ctrl_c_while_away_stops_at_once() -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    def refuse(peer: Peer) -> None:
        peer.send(s.Refused(code="server_full", message="not now"))

    with pytest.raises(KeyboardInterrupt):
        play_against(begin, refuse, backoff=Backoff(sleep=interrupt))


def test_events_tell_of_the_seat_and_the_match_once_more() -> None:
    events: list[str] = []
    play_against(begin, play_from_the_start_once_back, on_event=lambda message: events.append(message.type))
    start = ["joined", "match_started"]
    assert events == [*start, *start, "your_turn", "moved", "match_over"]


def test_pauses_grow_up_to_a_bound_and_differ_by_up_to_a_half() -> None:
    def pauses(drawn: float) -> list[float]:
        endless = Backoff(first_pause=1, longest_pause=5, random=lambda: drawn).pauses()
        return [next(endless) for _ in range(6)]

    assert pauses(0.0) == [0, 1, 2, 4, 5, 5]
    assert pauses(1.0) == [0, 0.5, 1, 2, 2.5, 2.5]


def test_coming_back_draws_nothing_from_the_bots_own_randomness() -> None:
    random.seed(7)
    state = random.getstate()
    endless = Backoff().pauses()
    assert {next(endless) for _ in range(10)}
    assert random.getstate() == state
