"""What a session says to what comes: one play per fact. What goes in, what comes out."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.codec import encode
from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.example_match import ROOM, conversation
from triarena.protocol.frames import HEADER, TO_SERVER, frame
from triarena.protocol.game_values import OtherMove
from triarena.protocol.room_views import RoomInfo, RoomView, Seat
from triarena.protocol.session import PIPELINE, REMEMBERED, Fault, client_session, server_session
from triarena.protocol.table import Phase, Place, Role
from triarena.protocol.values import Clock, Detail, Result, Scores, SideScore, Unlimited

NOTHING = SideScore(score=0)
RESULT = Result(kind="aborted", reason="cancelled", sides=Scores(red=NOTHING, blue=NOTHING), detail=Detail(message=""))
GREETED, SEATED, STARTING, WAITING, THINKING = 2, 4, 5, 6, 7
"""After so many messages of the example match its client is there."""


def ends(exchanged: int = 0) -> tuple[Any, Any]:
    """Client and server after the first messages of the example match."""
    both: dict[Role, Any] = {Role.CLIENT: client_session(), Role.SERVER: server_session()}
    for example in list(conversation())[:exchanged]:
        data = both[example.sender].send(example.message)
        assert both[example.sender.peer].receive(data) == [example.message]
    return both[Role.CLIENT], both[Role.SERVER]


def framed(value: object) -> bytes:
    return frame(bytes(msgpack.packb(value)))


def move(ply: int, room: str = ROOM) -> c.Move:
    return c.Move(room=room, ply=ply, move=OtherMove(type="m"))


def turn(ply: int, room: str = ROOM) -> s.YourTurn:
    return s.YourTurn(room=room, ply=ply, clock=Clock())


def joined(room: str) -> s.Joined:
    return s.Joined(room=room, side="red", name="", game="g", options={}, time_control=Unlimited(), token="t")


def only(items: list[Any]) -> Fault:
    (fault,) = items
    assert isinstance(fault, Fault)
    return fault


# -- the greeting ------------------------------------------------------------------------------------


def test_the_stages_of_a_connection() -> None:
    client, server = ends()
    assert (client.phase, server.phase) == (Phase.NEW, Phase.NEW)
    hello = client.send(c.Hello(protocol=1, software="x"))
    server.receive(hello)
    assert (client.phase, server.phase) == (Phase.GREETED, Phase.GREETED)
    goodbye = server.send(s.Refused(code="full", message=""))
    assert client.receive(goodbye) == [s.Refused(code="full", message="")]
    assert (client.phase, server.phase) == (Phase.CLOSED, Phase.CLOSED)


@pytest.mark.parametrize("message", [c.ListRooms(), c.Ping(), move(0)], ids=lambda m: m.type)
def test_nothing_comes_before_hello(message: Any) -> None:
    fault = only(ends()[1].receive(encode(message).data))
    assert (fault.code, fault.fatal) == ("greeting_first", True)
    assert "say 'hello' first" in fault.message


def test_a_client_waits_for_the_welcome() -> None:
    client, server = ends(1)
    with pytest.raises(LocalProtocolError, match="wait for 'welcome' first"):
        client.send(c.ListRooms())
    assert only(server.receive(encode(c.ListRooms()).data)).fatal


def test_a_bad_frame_before_the_greeting_is_fatal_and_later_it_is_not() -> None:
    nonsense = framed({"type": "nonsense"})
    assert only(ends(0)[1].receive(nonsense)).fatal
    assert not only(ends(GREETED)[1].receive(nonsense)).fatal


def test_a_second_hello_is_a_fault() -> None:
    fault = only(ends(GREETED)[1].receive(encode(c.Hello(protocol=1, software="x")).data))
    assert (fault.code, fault.fatal) == ("not_now", False)


def test_nothing_follows_the_goodbye() -> None:
    client, server = ends(GREETED)
    last = server.send(s.Goodbye(code="x", message=""))
    assert client.receive(last + encode(c.Ping()).data) == [s.Goodbye(code="x", message="")]
    with pytest.raises(LocalProtocolError):
        client.send(c.Ping())
    assert server.receive(encode(c.Ping()).data) == []


# -- bytes -------------------------------------------------------------------------------------------


def test_messages_come_out_in_order_however_the_bytes_are_cut() -> None:
    whole = b"".join(encode(c.Ping(number=n)).data for n in range(5))
    for cut in range(len(whole)):
        _, server = ends(GREETED)
        items = server.receive(whole[:cut]) + server.receive(whole[cut:])
        assert items == [c.Ping(number=n) for n in range(5)]


def test_two_bad_frames_and_then_a_good_one() -> None:
    _, server = ends(GREETED)
    items = server.receive(frame(b"\xc1") + framed([1]) + encode(c.Ping(number=3)).data)
    assert [getattr(item, "code", item) for item in items] == ["not_msgpack", "not_a_map", c.Ping(number=3)]


def test_after_a_fatal_fault_nothing_more_is_read() -> None:
    _, server = ends(GREETED)
    items = server.receive(encode(c.Ping()).data + b"\xff\xff\xff\xff" + encode(c.Ping()).data)
    assert [getattr(item, "code", item) for item in items] == [c.Ping(), "frame_too_large"]
    assert items[-1].fatal
    assert only(server.receive(encode(c.Ping()).data)).code == "frame_too_large", "the stream stays lost"


def test_the_end_of_the_stream_inside_a_frame_is_a_fault_and_between_frames_it_is_not() -> None:
    _, server = ends(GREETED)
    assert server.receive_eof() is None
    assert server.phase is Phase.CLOSED
    _, server = ends(GREETED)
    server.receive(encode(c.Ping()).data[:-1])
    fault = server.receive_eof()
    assert fault is not None
    assert (fault.code, fault.fatal) == ("truncated", True)


def test_each_end_has_its_own_limit() -> None:
    client, server = ends(GREETED)
    header = (TO_SERVER + 1).to_bytes(HEADER, "big")
    assert only(server.receive(header)).code == "frame_too_large"
    assert client.receive(header) == []


def test_a_message_that_is_too_large_is_not_sent() -> None:
    client, _ = ends(THINKING)
    large = OtherMove.model_validate({"type": "drop", "x": "x" * TO_SERVER})
    with pytest.raises(LocalProtocolError, match=f"the limit is {TO_SERVER}"):
        client.send(c.Move(room=ROOM, ply=0, move=large))
    assert client.place(ROOM) is Place.THINKING, "and may be followed by a smaller one"


def test_what_may_not_be_sent_changes_nothing() -> None:
    client, server = ends(SEATED)
    with pytest.raises(LocalProtocolError):
        client.send(move(0))
    with pytest.raises(LocalProtocolError):
        server.send(turn(0))
    assert client.place(ROOM) is server.place(ROOM) is Place.SEATED


# -- requests ----------------------------------------------------------------------------------------


def test_requests_are_answered_in_their_order() -> None:
    client, server = ends(GREETED)
    server.receive(client.send(c.ListRooms(id=1)) + client.send(c.Join(id=2, game="g")))
    with pytest.raises(LocalProtocolError, match="answers no request"):
        server.send(joined("a"))
    assert client.receive(server.send(s.Rooms(id=1, rooms=[])) + server.send(joined("a")))[1] == joined("a")


def test_an_answer_that_nobody_asked_for_is_a_fault() -> None:
    client, _ = ends(GREETED)
    assert only(client.receive(encode(s.Rooms(rooms=[])).data)).code == "not_now"


def test_an_error_that_names_a_request_answers_it() -> None:
    client, server = ends(GREETED)
    server.receive(client.send(c.Join(id=1, game="g")) + client.send(c.ListRooms(id=2)))
    refusal = s.Error(id=1, code="unknown_game", message="", request="join")
    assert client.receive(server.send(refusal) + server.send(s.Rooms(id=2, rooms=[])))[0] == refusal
    with pytest.raises(LocalProtocolError, match="answers no request"):
        server.send(refusal)


def test_an_error_that_names_no_request_answers_none() -> None:
    client, server = ends(GREETED)
    server.receive(client.send(c.ListRooms()))
    client.receive(server.send(s.Error(code="not_msgpack", message="")))
    assert client.receive(server.send(s.Rooms(rooms=[]))) == [s.Rooms(rooms=[])]


def test_a_request_that_was_not_understood_is_answered_like_any_other() -> None:
    client, server = ends(GREETED)
    client.send(c.Join(id=9, game="g"))  # as it would be if its bytes were the following ones
    fault = only(server.receive(framed({"type": "join", "id": 9, "game": 5})))
    assert (fault.request, fault.id, fault.fatal) == ("join", 9, False)
    answer = s.Error(id=fault.id, code=fault.code, message=fault.message, request=fault.request)
    assert client.receive(server.send(answer)) == [answer]


def test_so_many_requests_may_be_under_way_and_not_one_more() -> None:
    client, server = ends(GREETED)
    for _ in range(PIPELINE):
        server.receive(client.send(c.ListRooms()))
    with pytest.raises(LocalProtocolError, match="wait for an answer first"):
        client.send(c.ListRooms())
    fault = only(server.receive(encode(c.ListRooms(id=5)).data))
    assert (fault.code, fault.id, fault.fatal) == ("not_now", 5, False)
    client.receive(server.send(s.Rooms(rooms=[])))
    assert server.receive(client.send(c.ListRooms())) == [c.ListRooms()]


def test_an_unknown_message_of_a_newer_server_is_harmless() -> None:
    client, _ = ends(SEATED)
    fault = only(client.receive(framed({"type": "fireworks", "room": ROOM})))
    assert (fault.code, fault.fatal) == ("unknown_type", False)
    assert client.place(ROOM) is Place.SEATED


# -- moves -------------------------------------------------------------------------------------------


def test_a_move_answers_a_turn() -> None:
    client, server = ends(THINKING)
    assert client.place(ROOM) is server.place(ROOM) is Place.THINKING
    assert client.ply(ROOM) == 0
    assert server.receive(client.send(move(0))) == [move(0)]
    assert client.place(ROOM) is server.place(ROOM) is Place.WAITING


def test_a_move_for_a_turn_that_has_passed_is_late_and_nobodys_fault() -> None:
    client, server = ends(THINKING)
    client.receive(server.receive(client.send(move(0))) and server.send(turn(1)))
    fault = only(server.receive(encode(move(0)).data))
    assert (fault.code, fault.late, fault.fatal, fault.room) == ("late_move", True, False, ROOM)
    assert server.receive(client.send(move(1))) == [move(1)], "the turn stands"


def test_a_second_move_for_the_same_turn_is_late() -> None:
    client, server = ends(THINKING)
    once = client.send(move(0))
    assert only(server.receive(once + once)[1:]).code == "late_move"


def test_a_move_for_a_turn_to_come_is_a_fault() -> None:
    client, server = ends(THINKING)
    with pytest.raises(LocalProtocolError, match="the turn is ply 0"):
        client.send(move(1))
    fault = only(server.receive(encode(move(1)).data))
    assert (fault.code, fault.late, fault.room) == ("not_now", False, ROOM)
    assert "for ply 1" in fault.message


def test_a_move_out_of_turn_is_a_fault() -> None:
    _, server = ends(WAITING)
    fault = only(server.receive(encode(move(0)).data))
    assert (fault.code, fault.late, fault.room) == ("not_now", False, ROOM)


def test_turns_count_upwards() -> None:
    client, server = ends(THINKING)
    server.receive(client.send(move(0)))
    with pytest.raises(LocalProtocolError, match="does not follow ply 0"):
        server.send(turn(0))
    assert only(client.receive(encode(turn(0)).data)).code == "not_now"
    assert client.receive(server.send(turn(5))) == [turn(5)], "and may leave some out: the others'"


@pytest.mark.parametrize("message", [move(0, "x"), c.Ready(room="x"), c.Surrender(room="x"), c.Leave(room="x")])
def test_nothing_can_be_said_in_an_unknown_room(message: Any) -> None:
    client, server = ends(SEATED)
    with pytest.raises(LocalProtocolError, match="'x' while its place there is outside"):
        client.send(message)
    fault = only(server.receive(encode(message).data))
    assert (fault.code, fault.late, fault.room) == ("not_now", False, "x")
    assert server.place(ROOM) is Place.SEATED, "its own room is as it was"


def test_a_client_owes_something_while_it_is_asked() -> None:
    for exchanged, owes in ((GREETED, False), (SEATED, False), (STARTING, True), (WAITING, False), (THINKING, True)):
        client, server = ends(exchanged)
        assert client.owes is server.owes is owes


# -- the end -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", [move(0), c.Ready(room=ROOM), c.Surrender(room=ROOM), c.Leave(room=ROOM)])
def test_what_crosses_the_end_of_a_match_is_late(message: Any) -> None:
    client, server = ends(THINKING)
    over = server.send(s.MatchOver(room=ROOM, result=RESULT))
    fault = only(server.receive(encode(message).data))
    assert (fault.late, fault.fatal, fault.room) == (True, False, ROOM)
    client.receive(over)
    with pytest.raises(LocalProtocolError, match="its place there is over"):
        client.send(message)


def test_a_surrender_may_come_in_the_others_turn() -> None:
    client, server = ends(WAITING)
    assert server.receive(client.send(c.Surrender(room=ROOM))) == [c.Surrender(room=ROOM)]


def test_what_was_under_way_to_one_who_left_is_no_fault() -> None:
    client, server = ends(WAITING)
    asked = server.send(turn(0))
    left = client.send(c.Leave(room=ROOM))
    assert client.receive(asked) == [turn(0)]
    assert server.receive(left) == [c.Leave(room=ROOM)]
    over = s.MatchOver(room=ROOM, result=RESULT)
    assert client.receive(server.send(over)) == [over]


def test_a_seat_that_was_given_back_can_be_taken_again() -> None:
    client, server = ends(SEATED)
    server.receive(client.send(c.Leave(id=2, room=ROOM)))
    client.receive(server.send(s.Left(id=2, room=ROOM)))
    assert client.place(ROOM) is server.place(ROOM) is Place.OUTSIDE
    server.receive(client.send(c.JoinRoom(room=ROOM)))
    client.receive(server.send(joined(ROOM)))
    assert client.place(ROOM) is server.place(ROOM) is Place.SEATED


def test_a_room_that_is_over_can_be_watched() -> None:
    client, server = ends(len(list(conversation())))
    server.receive(client.send(c.Observe(room=ROOM)))
    seat = Seat(connected=False, reserved=False, used_ms=0)
    info = RoomInfo(
        room=ROOM, game="g", options={}, state="over", paused=False, ply=7, red=seat, blue=seat, observers=1
    )
    client.receive(server.send(s.Observing(room=ROOM, view=RoomView(info=info))))
    assert client.place(ROOM) is Place.WATCHING


def test_only_so_many_rooms_that_are_over_are_remembered() -> None:
    client, server = ends(GREETED)
    for number in range(REMEMBERED + 1):
        server.receive(client.send(c.Join(game="g")))
        over = s.MatchOver(room=str(number), result=RESULT)
        client.receive(server.send(joined(str(number))) + server.send(over))
    assert client.place("0") is server.place("0") is Place.OUTSIDE
    assert client.place("1") is server.place("1") is Place.OVER
    assert only(server.receive(encode(move(0, "1")).data)).late
    assert not only(server.receive(encode(move(0, "0")).data)).late


def test_rooms_do_not_mix() -> None:
    client, server = ends(THINKING)
    server.receive(client.send(c.Join(game="g")))
    client.receive(server.send(joined("other")))
    assert client.place("other") is Place.SEATED
    assert server.receive(client.send(move(0))) == [move(0)]
    assert client.place("other") is server.place("other") is Place.SEATED
