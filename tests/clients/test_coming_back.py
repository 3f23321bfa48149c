"""A lost connection is sought again: wherever it was cut, the match goes on, and nothing is thought twice."""

from __future__ import annotations

import pytest
from tests.clients.lost_connections import (
    CUTS,
    GAME,
    MOVES,
    POSITIONS,
    Cut,
    ask,
    begin,
    finish,
    hang_up,
    moved,
    play_against,
    play_from_the_start,
    play_from_the_start_once_back,
    resume,
    started,
    take_move,
    take_seat,
    take_seat_back,
    your_turn,
)
from tests.clients.scripted_server import Peer, joined, over

from triarena.clients import ServerError
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s


@pytest.mark.parametrize("cut", CUTS)
def test_cut_before_joined_it_joins_again(cut: Cut) -> None:
    def first(peer: Peer) -> None:
        peer.greet()
        peer.expect(c.Join)
        cut(peer)

    end, bot, _ = play_against(first, play_from_the_start)
    assert (end.result.reason, bot.asked, bot.told) == ("base", [0], ["get_ready"])


@pytest.mark.parametrize("cut", CUTS)
def test_cut_after_joined_its_token_brings_the_seat_back(cut: Cut) -> None:
    def first(peer: Peer) -> None:
        take_seat(peer)
        cut(peer)

    def second(peer: Peer) -> None:
        if cut is hang_up:  # else it may have been cut before the client saw its seat
            resume(peer, 0)
        else:
            peer.greet()
            request = peer.receive()
            assert isinstance(request, c.Join | c.Rejoin)
            peer.send(joined(id=request.id), started())
            peer.expect(c.Ready)
        finish(peer, 0)

    end, bot, _ = play_against(first, second)
    assert (end.result.reason, bot.told) == ("base", ["get_ready"])


def test_before_the_match_an_unknown_token_means_to_join_as_at_first() -> None:
    def second(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Rejoin, s.Error(code="unknown_token", message="no seat", request="rejoin"))
        peer.answer(c.JoinReserved, joined(room="r2", token="t2"))
        peer.send(over().model_copy(update={"room": "r2"}))

    def first(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinReserved, joined())

    end, _, _ = play_against(first, second, game=None, reservation="CODE")
    assert end.room == "r2"


def test_a_reservation_whose_seat_our_lost_connection_still_holds_is_tried_again() -> None:
    def first(peer: Peer) -> None:
        peer.greet()
        peer.expect(c.JoinReserved)

    def used(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinReserved, s.Error(code="reservation_used", message="used", request="join_reserved"))

    def noticed(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinReserved, joined())
        peer.send(over())

    end, _, _ = play_against(first, used, used, noticed, game=None, reservation="CODE")
    assert end.result.reason == "base"


def test_during_the_match_an_unknown_token_is_the_end_of_it() -> None:
    def second(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Rejoin, s.Error(code="unknown_token", message="no seat of yours", request="rejoin"))

    with pytest.raises(ServerError, match="no seat of yours"):
        play_against(begin, second)


@pytest.mark.parametrize("cut", CUTS)
def test_cut_before_ready_it_says_so_again_but_gets_ready_once(cut: Cut) -> None:
    def first(peer: Peer) -> None:
        take_seat(peer)
        peer.send(started())
        if cut is not hang_up:
            peer.expect(c.Ready)  # it has seen the start
        cut(peer)

    _, bot, _ = play_against(first, play_from_the_start_once_back)
    assert bot.told == ["get_ready", "come_back"]


@pytest.mark.parametrize("cut", CUTS)
def test_cut_in_its_own_turn_it_thinks_once(cut: Cut) -> None:
    def first(peer: Peer) -> None:
        begin(peer)
        peer.send(your_turn(0))
        cut(peer)

    end, bot, _ = play_against(first, play_from_the_start_once_back)
    assert (end.result.reason, bot.asked) == ("base", [0])


@pytest.mark.parametrize("cut", CUTS)
def test_a_move_that_was_sent_into_the_void_is_sent_again_when_asked_again(cut: Cut) -> None:
    def first(peer: Peer) -> None:
        begin(peer)
        ask(peer, 0)
        cut(peer)

    end, bot, _ = play_against(first, play_from_the_start_once_back)
    assert (end.result.reason, bot.asked) == ("base", [0])


@pytest.mark.parametrize("cut", CUTS)
def test_a_move_that_did_arrive_is_not_sent_again(cut: Cut) -> None:
    def first(peer: Peer) -> None:
        begin(peer)
        ask(peer, 0)
        cut(peer)

    def second(peer: Peer) -> None:
        resume(peer, 1)
        peer.send(moved(1))
        finish(peer, 2)

    _, bot, _ = play_against(first, second)
    assert bot.asked == [0, 2]


@pytest.mark.parametrize("cut", CUTS)
def test_cut_in_the_others_turn_it_goes_on_with_the_next_of_its_own(cut: Cut) -> None:
    def first(peer: Peer) -> None:
        begin(peer)
        ask(peer, 0)
        peer.send(moved(0))
        cut(peer)

    def second(peer: Peer) -> None:
        resume(peer, 2)
        finish(peer, 2)

    _, bot, _ = play_against(first, second)
    assert bot.asked == [0, 2]
    assert bot.matches[-1].position == POSITIONS[2], "come_back is told where the match stands"


def test_the_same_ply_of_another_position_is_thought_about_anew() -> None:
    other = POSITIONS[2]

    def second(peer: Peer) -> None:
        resume(peer, 0)
        turn = {"room": "r1", "ply": 0, "clock": {}, "position": GAME.write_position(other)}
        peer.send(s.YourTurn.model_validate(turn))
        assert take_move(peer, 0).move.model_dump(exclude_none=True) == GAME.write_move(MOVES[2])
        peer.send(over())

    def first(peer: Peer) -> None:
        begin(peer)
        ask(peer, 0)

    _, bot, _ = play_against(first, second)
    assert bot.asked == [0, 2]


def test_a_room_that_was_renamed_at_the_restart_gets_the_move() -> None:
    def first(peer: Peer) -> None:
        begin(peer)
        ask(peer, 0)

    def second(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Rejoin, joined(room="r9"))
        peer.send(started().model_copy(update={"room": "r9"}))
        peer.expect(c.Ready)
        peer.send(your_turn(0, room="r9"))
        assert take_move(peer, 0).room == "r9"
        peer.send(over().model_copy(update={"room": "r9"}))

    end, bot, _ = play_against(first, second)
    assert (end.room, bot.asked) == ("r9", [0])


def test_a_match_that_ended_meanwhile_has_its_result_all_the_same() -> None:
    def second(peer: Peer) -> None:
        take_seat_back(peer)
        peer.send(over(kind="forfeit", reason="disconnected", winner="blue", offenders=["red"]))

    end, _, _ = play_against(begin, second)
    assert end.result.reason == "disconnected"
