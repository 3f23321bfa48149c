"""The loop of a bot: seat, start, moves, end; and what becomes of a bot's faults."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clients.scripted_server import GAMES, Peer, Script, joined, over, referee, serving

from triarena.clients import Backoff, BotError, ClientError, ConnectionLost, GiveUp, Match, play
from triarena.games import AnyPosition, Side
from triarena.games.towerwars import TowerWarsPosition
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s


def first(position: AnyPosition) -> Any:
    """A bot: the first legal move."""
    return next(position.legal_moves())


def play_against(script: Script, choose_move: Any, **options: Any) -> s.MatchOver:
    """One match of size 4 on a server that plays the script."""
    chosen = {"game": "towerwars", "options": {"size": 4}, **options}
    with serving(script) as server:
        return play(choose_move, host=server.host, port=server.port, **chosen)


SMALL = referee(options={"size": 4})


def test_a_bot_of_one_function_plays_a_match_to_its_end() -> None:
    seen: list[TowerWarsPosition] = []

    def choose_move(position: TowerWarsPosition) -> Any:
        seen.append(position)
        return first(position)

    end = play_against(SMALL, choose_move)
    assert end.result.kind == "outcome"
    assert {position.to_move for position in seen} == {Side.RED}
    assert seen[0].to_text() == "Rrr./rr.b/r.bb/.bbB R"


def test_a_move_may_be_returned_as_its_text() -> None:
    assert play_against(SMALL, lambda position: str(first(position))).result.kind == "outcome"


def test_a_bot_may_ask_for_the_clock() -> None:
    limits: set[float | None] = set()

    def choose_move(position: AnyPosition, clock: Any) -> Any:
        limits.add(clock.limit_ms)
        return first(position)

    play_against(SMALL, choose_move)
    assert limits == {2000}


def test_get_ready_is_told_of_the_match_before_the_first_move() -> None:
    calls: list[Any] = []

    def choose_move(position: AnyPosition) -> Any:
        calls.append("move")
        return first(position)

    play_against(SMALL, choose_move, get_ready=calls.append)
    match, *moves = calls
    assert isinstance(match, Match)
    assert (match.side, match.name, match.opponent, match.game) == (Side.RED, "Ann", "Bob", "towerwars")
    assert match.position.to_move is Side.RED
    assert set(moves) == {"move"}


def test_every_message_about_the_match_is_an_event() -> None:
    events: list[str] = []
    play_against(SMALL, first, on_event=lambda message: events.append(message.type))
    assert events[:3] == ["joined", "match_started", "your_turn"]
    assert events[-2:] == ["moved", "match_over"]


@pytest.mark.parametrize(
    ("choice", "request_"),
    [
        ({"reservation": "SECRET", "game": None}, c.JoinReserved(id=1, reservation="SECRET")),
        ({"room": "r1", "game": None}, c.JoinRoom(id=1, room="r1")),
        ({"options": {"size": 5}}, c.Join(id=1, game="towerwars", options={"size": 5})),
    ],
)
def test_a_seat_is_found_by_reservation_room_or_game(choice: dict[str, Any], request_: Any) -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        assert peer.answer(type(request_), joined()) == request_
        peer.send(over(kind="aborted", reason="cancelled", winner=None))

    assert play_against(script, first, **choice).result.reason == "cancelled"


def test_an_illegal_move_is_reported_with_its_rule_and_left_to_the_referee() -> None:
    reports: list[str] = []
    end = play_against(SMALL, lambda position: "A1->D4", report=reports.append)
    assert (end.result.reason, end.result.detail.code, end.result.detail.move) == (
        "illegal_move",
        "base_never_moves",
        "A1->D4",
    )
    (report,) = reports
    assert report.startswith("warning: ply 0, move A1->D4: ")
    assert "[base_never_moves]" in report
    assert "Rrr./rr.b/r.bb/.bbB R" in report


def test_a_bot_that_raises_leaves_the_match_and_its_author_sees_where() -> None:
    def choose_move(position: Any) -> Any:
        return position.no_such_thing

    with pytest.raises(BotError) as caught:
        play_against(SMALL, choose_move)
    error = caught.value
    assert error.code == "bot_failed"
    assert error.message.startswith("ply 0: choose_move raised AttributeError: ")
    assert "in test_playing_a_match.py, line " in error.message
    assert "return position.no_such_thing" in error.traceback
    assert "clients/client.py" not in error.traceback
    assert "clients/bots/bot.py" not in error.traceback
    assert error.match_over is not None
    assert error.match_over.result.reason == "left"


def test_the_organiser_is_told_why_a_bot_left() -> None:
    def get_ready(match: Match) -> None:
        raise ZeroDivisionError("division\nby \x1b[31mzero" + "!" * 300)

    with serving(SMALL) as server:
        with pytest.raises(BotError):
            play(first, get_ready=get_ready, game="towerwars", port=server.port)
        (left,) = (message for message in server.heard if isinstance(message, c.Leave))
    assert left.reason.startswith("bot_failed: get_ready raised ZeroDivisionError: division by \ufffd[31mzero!")
    assert len(left.reason) <= 200


def test_a_bot_that_exits_is_a_bot_that_failed() -> None:
    with pytest.raises(BotError, match="choose_move raised SystemExit: 7"):
        play_against(SMALL, lambda position: exit(7))


def test_a_bot_that_fails_to_get_ready_leaves_the_match() -> None:
    def get_ready(match: Match) -> None:
        raise FileNotFoundError("weights.bin")

    with pytest.raises(BotError, match=r"get_ready raised FileNotFoundError: weights\.bin") as caught:
        play_against(SMALL, first, get_ready=get_ready)
    assert caught.value.match_over is not None


@pytest.mark.parametrize(
    ("returned", "code", "sentence"),
    [
        (None, "no_move", "ply 0: choose_move returned None; is a 'return' missing?"),
        (42, "not_a_move", "no move of TowerWars: it returned 42; return one of position.legal_moves()"),
        ("A1 to B1", "not_a_move", "no move of TowerWars: 'A1 to B1' is no move: expected two fields"),
        ([1, 2], "not_a_move", r"no move of TowerWars: it returned \[1, 2\]"),
    ],
)
def test_what_is_no_move_is_explained_and_the_match_left(returned: object, code: str, sentence: str) -> None:
    with pytest.raises(BotError, match=sentence) as caught:
        play_against(SMALL, lambda position: returned)
    assert caught.value.code == code
    assert caught.value.match_over is not None


def test_a_bot_may_give_up() -> None:
    def choose_move(position: AnyPosition) -> Any:
        raise GiveUp

    assert play_against(SMALL, choose_move).result.reason == "surrender"


def test_a_match_that_ends_while_the_bot_thinks_ends_without_a_fault() -> None:
    def script(peer: Peer) -> None:
        play_one_turn_and_end(peer)
        assert peer.receive() is None

    assert play_against(script, first).result.reason == "timeout"


def play_one_turn_and_end(peer: Peer) -> None:
    """Ask for a move, but end the match with the same write."""
    peer.greet()
    peer.answer(c.Join, joined())
    start = s.MatchStarted.model_validate(
        {
            "room": "r1",
            "match": "m1",
            "game": "towerwars",
            "rules_version": 1,
            "options": {},
            "side": "red",
            "players": {"red": "Ann", "blue": "Bob"},
            "to_move": "red",
            "time_control": {"type": "unlimited"},
            "position": POSITION,
            "startup_ms": 1.0,
        }
    )
    peer.send(start)
    peer.expect(c.Ready)
    turn = s.YourTurn.model_validate({"room": "r1", "ply": 0, "clock": {}, "position": POSITION})
    peer.send(turn, over(kind="forfeit", reason="timeout", winner="blue", offenders=["red"]))


POSITION = {"game": "towerwars", "size": 4, "to_move": "red", "board": "Rrr./rr.b/r.bb/.bbB R"}


def test_the_end_of_the_stream_is_not_taken_for_the_end_of_the_match() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Join, joined())

    with pytest.raises(ConnectionLost, match="the match in room r1 was not over, only match_over ends one"):
        play_against(script, first, backoff=Backoff(patience=0))


def test_a_seat_under_rules_of_another_version_is_given_back() -> None:
    def script(peer: Peer) -> None:
        peer.greet(games=[GAMES[0].model_copy(update={"rules_version": 2})])
        peer.answer(c.Join, joined())
        peer.expect(c.Leave)
        peer.send(s.Left(room="r1"))

    with pytest.raises(ClientError, match="rules version 2, this installation knows version 1") as caught:
        play_against(script, first)
    assert caught.value.code == "rules_version"


def test_a_seat_in_a_game_that_is_not_installed_is_given_back() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinRoom, joined(game="go"))
        peer.expect(c.Leave)
        peer.send(s.Left(room="r1"))

    with pytest.raises(ClientError, match="there is no game 'go'") as caught:
        play_against(script, first, game=None, room="r1")
    assert caught.value.code == "unknown_game"
