"""Scenes of a watched room, and an administrator's requests."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clients.scripted_server import INFO, Peer, Script, one_after_another, over, result, serving

from triarena.clients import Backoff, ClientError, Connection, ServerError
from triarena.clients.admin import Administrator
from triarena.clients.spectator import Scene, watch
from triarena.games import find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.room_views import RoomView, Turned
from triarena.protocol.values import PerMove

GAME = find_game("towerwars")
START = GAME.start({"size": 4})
MOVES = [GAME.parse(text) for text in ("A2->A3", "C4->C3")]
PLAYED = [START, START.play(MOVES[0]), START.play(MOVES[0]).play(MOVES[1])]


def moved(ply: int, **changes: Any) -> s.Moved:
    facts = {
        "room": "r1",
        "ply": ply,
        "side": ("red", "blue")[ply % 2],
        "move": GAME.write_move(MOVES[ply]),
        "text": GAME.format(MOVES[ply]),
        "used_ms": 250.0,
        "position": GAME.write_position(PLAYED[ply + 1]),
    }
    return s.Moved.model_validate({**facts, **changes})


def view(plies: int, **changes: Any) -> RoomView:
    facts = {
        "info": INFO.model_copy(update={"ply": plies}),
        "position": GAME.write_position(PLAYED[plies]),
        "plies": [Turned(**moved(ply).model_dump(exclude={"type", "room", "position"})) for ply in range(plies)],
    }
    return RoomView.model_validate({**facts, **changes})


def scenes(*messages: Any, first: RoomView) -> list[Scene]:
    """What a spectator of room r1 sees when the server says this."""

    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Observe, s.Observing(room="r1", view=first))
        peer.send(*messages)

    with serving(script) as server, Connection.open(server.host, server.port) as connection:
        return list(watch(connection, "r1"))


def test_a_match_is_followed_from_its_start_to_its_result() -> None:
    start, first, second, end = scenes(moved(0), moved(1), over(), first=view(0))
    assert (start.position, start.last_move, start.text) == (START, None, "")
    assert (first.position, first.last_move, first.text) == (PLAYED[1], MOVES[0], "A2->A3")
    assert (second.position, second.last_move) == (PLAYED[2], MOVES[1])
    assert (end.result, end.position) == (result(), PLAYED[2])


def test_plies_names_whose_turn_it_is_and_the_time_used_are_kept_up_to_date() -> None:
    infos = [scene.info for scene in scenes(moved(0), moved(1), over(), first=view(0))]
    assert [info.ply for info in infos] == [0, 1, 2, 2]
    assert [info.to_move for info in infos] == ["red", "blue", "red", None]
    assert [(info.red.used_ms, info.blue.used_ms) for info in infos] == [(0, 0), (250, 0), (250, 250), (250, 250)]
    assert infos[-1].state == "over"


def test_the_turn_that_ran_out_of_time_is_counted_as_the_server_counts_it() -> None:
    lost = over(kind="forfeit", reason="timeout", winner="red", offenders=["blue"], used_ms=2050.0)
    last = scenes(moved(0), moved(1), lost, first=view(0))[-1].info
    assert (last.red.used_ms, last.blue.used_ms) == (250, 2300)


def test_who_comes_late_sees_the_last_move() -> None:
    first, *_ = scenes(over(), first=view(2))
    assert (first.position, first.last_move, first.text) == (PLAYED[2], MOVES[1], "C4->C3")


def test_a_snapshot_stands_for_the_plies_that_were_missed() -> None:
    found = scenes(s.Snapshot(room="r1", view=view(2)), over(), first=view(0))
    assert [scene.position for scene in found] == [START, PLAYED[2], PLAYED[2]]


def paused_view(plies: int) -> RoomView:
    return view(plies, info=INFO.model_copy(update={"ply": plies, "paused": True, "state": "paused"}))


def test_a_match_is_shown_as_paused_as_long_as_it_is() -> None:
    on, again = (s.Snapshot(room="r1", view=each) for each in (view(1), paused_view(1)))
    found = scenes(moved(0), on, again, moved(1), over(), first=paused_view(0))
    assert [(scene.info.paused, scene.info.state) for scene in found] == [
        (True, "paused"),
        (True, "paused"),
        (False, "running"),
        (True, "paused"),
        (True, "paused"),
        (False, "over"),
    ]


def test_a_position_that_is_not_sent_follows_from_the_move() -> None:
    found = scenes(moved(0, position=None), over(), first=view(0))
    assert found[1].position == PLAYED[1]


def watched(*scripts: Script) -> list[Scene]:
    """What a spectator sees over as many connections as there are scripts."""
    with serving(one_after_another(*scripts)) as server, Connection.open(server.host, server.port) as connection:
        return list(watch(connection, "r1", backoff=Backoff(sleep=lambda seconds: None), report=lambda line: None))


def showing(first: RoomView, *messages: Any) -> Script:
    """A script: the room as it is, and what happens until the connection is lost."""

    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Observe, s.Observing(room="r1", view=first))
        peer.send(*messages)

    return script


def test_a_spectator_who_was_cut_off_sees_what_the_match_came_to_meanwhile() -> None:
    found = watched(showing(view(0)), showing(view(2), over()))
    assert [(scene.position, scene.result) for scene in found] == [
        (START, None),
        (PLAYED[2], None),
        (PLAYED[2], result()),
    ]


def test_a_scene_in_which_nothing_happened_meanwhile_is_not_shown_again() -> None:
    found = watched(showing(view(0), moved(0)), showing(view(1)), showing(view(1), moved(1), over()))
    assert [scene.position for scene in found] == [START, PLAYED[1], PLAYED[2], PLAYED[2]]


def test_a_match_that_was_paused_meanwhile_is_shown_so() -> None:
    paused = view(1, info=INFO.model_copy(update={"state": "paused", "paused": True}))
    found = watched(showing(view(0), moved(0)), showing(paused), showing(paused, moved(1), over()))
    assert [(scene.position, scene.info.paused) for scene in found[:3]] == [
        (START, False),
        (PLAYED[1], False),
        (PLAYED[1], True),
    ]
    assert len(found) == 5


def test_a_match_that_ended_meanwhile_is_shown_with_its_result() -> None:
    *_, last = watched(showing(view(0)), showing(view(2, result=result())))
    assert (last.position, last.result) == (PLAYED[2], result())


def test_a_room_that_is_no_more_after_coming_back_is_the_servers_sentence() -> None:
    def gone(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Observe, s.Error(code="unknown_room", message="there is no room 'r1'", request="observe"))

    with pytest.raises(ServerError, match="there is no room 'r1'"):
        watched(showing(view(0)), gone)


def test_a_room_that_waits_has_no_position() -> None:
    waiting = RoomView(info=INFO.model_copy(update={"state": "waiting", "match": None, "to_move": None}))
    found = scenes(s.Snapshot(room="r1", view=view(0)), over(), first=waiting)
    assert [scene.position for scene in found] == [None, START, START]


def test_a_match_that_is_over_is_shown_once() -> None:
    (only,) = scenes(first=view(2, result=result()))
    assert only.result == result()


def test_other_messages_are_no_scenes() -> None:
    found = scenes(s.Notice(code="hint", message=""), c.Ping(), over(), first=view(0))
    assert len(found) == 2


def test_a_game_that_is_not_installed_cannot_be_watched() -> None:
    with pytest.raises(ClientError, match="there is no game 'go'"):
        scenes(first=view(0, info=INFO.model_copy(update={"game": "go"})))


def test_an_administrator_prepares_and_controls_rooms() -> None:
    asked: list[Any] = []

    def script(peer: Peer) -> None:
        peer.greet()
        asked.append(peer.answer(c.Authenticate, s.Authenticated()))
        asked.append(peer.answer(c.Prepare, s.Prepared(room="r1", reservations=["a", None])))
        for kind in (c.Pause, c.Resume, c.Step, c.Cancel, c.Kick):
            asked.append(peer.answer(kind, s.Done(message=f"{kind.__name__} is done")))
        asked.append(peer.answer(c.ListRooms, s.Rooms(rooms=[INFO])))

    with serving(script) as server, Connection.open(server.host, server.port) as connection:
        admin = Administrator.authenticate(connection, "the secret")
        slots = [c.Slot(name="Ann"), c.Slot(reserved=False, timed=False)]
        clock = PerMove(move_ms=500)
        prepared = admin.prepare("towerwars", {"size": 5}, seed=3, time_control=clock, slots=slots, paused=True)
        assert prepared.reservations == ["a", None]
        assert admin.pause("r1") == "Pause is done"
        assert admin.resume("r1") == "Resume is done"
        assert admin.step("r1") == "Step is done"
        assert admin.cancel("r1", "rain") == "Cancel is done"
        assert admin.kick("c7") == "Kick is done"
        assert admin.rooms() == [INFO]
    assert asked == [
        c.Authenticate(id=1, secret="the secret"),
        c.Prepare(id=2, game="towerwars", options={"size": 5}, seed=3, time_control=clock, slots=slots, paused=True),
        c.Pause(id=3, room="r1"),
        c.Resume(id=4, room="r1"),
        c.Step(id=5, room="r1"),
        c.Cancel(id=6, room="r1", reason="rain"),
        c.Kick(id=7, connection="c7"),
        c.ListRooms(id=8),
    ]


def test_a_wrong_secret_is_the_servers_error() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Authenticate, s.Error(code="wrong_secret", message="that is not it", request="authenticate"))

    with (
        serving(script) as server,
        Connection.open(server.host, server.port) as connection,
        pytest.raises(ServerError, match="that is not it"),
    ):
        Administrator.authenticate(connection, "guess")
