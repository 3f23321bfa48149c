"""Every order in which two honest ends can speak and be heard: nobody is ever accused.

An end is honest if its own session lets it send. The walk goes through all states that a pair of ends can reach
with a few messages under way in each direction, and delivers and sends in every order.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.codec import Encoded, encode
from triarena.protocol.game_values import OtherMove, OtherPosition
from triarena.protocol.room_views import RoomInfo, RoomView, Seat
from triarena.protocol.session import Fault, Session, client_session, server_session
from triarena.protocol.table import ANSWERS, CONNECTION, ROOM, Phase, Place, Role
from triarena.protocol.values import (
    Clock,
    Detail,
    Limits,
    Players,
    Result,
    Scores,
    SideScore,
    Unlimited,
)

ROOM_NAME = "r"
MOVE, POSITION = OtherMove(type="m"), OtherPosition(game="g")
SCORES = Scores(red=SideScore(score=0), blue=SideScore(score=0))
RESULT = Result(kind="aborted", reason="cancelled", sides=SCORES, detail=Detail(message=""))
SEAT = Seat(connected=False, reserved=False, used_ms=0)
INFO = RoomInfo(
    room=ROOM_NAME, game="g", options={}, state="waiting", paused=False, ply=0, red=SEAT, blue=SEAT, observers=0
)
VIEW = RoomView(info=INFO)


def from_client(ply: int) -> list[Any]:
    return [
        c.Hello(protocol=1, software=""),
        c.Join(game="g"),
        c.Observe(room=ROOM_NAME),
        c.Enlist(),
        c.Ready(room=ROOM_NAME),
        c.Move(room=ROOM_NAME, ply=max(ply, 0), move=MOVE),
        c.Surrender(room=ROOM_NAME),
        c.Leave(room=ROOM_NAME),
    ]


def from_server(ply: int) -> list[Any]:
    limits = Limits(frame_to_server=1, frame_to_client=1, bad_frames=1, rooms_per_connection=1, greeting_seconds=1)
    return [
        s.Welcome(protocol=1, software="", connection="1", games=[], limits=limits, heartbeat_seconds=1),
        s.Refused(code="", message=""),
        s.Joined(room=ROOM_NAME, side="red", name="", game="g", options={}, time_control=Unlimited(), token="t"),
        s.Observing(room=ROOM_NAME, view=VIEW),
        s.Error(code="", message="", request="join"),
        s.Error(code="", message="", request="observe"),
        s.Error(code="", message="", request="enlist"),
        s.Enlisted(name="a"),
        s.Invitation(room=ROOM_NAME, game="g", options={}, reservation="r"),
        s.MatchStarted(
            room=ROOM_NAME,
            match="m",
            game="g",
            rules_version=1,
            options={},
            players=Players(red="a", blue="b"),
            side="red",
            to_move="red",
            position=POSITION,
            time_control=Unlimited(),
            startup_ms=1,
        ),
        s.YourTurn(room=ROOM_NAME, ply=ply + 1, clock=Clock()),
        s.Moved(room=ROOM_NAME, ply=0, side="red", move=MOVE, text="", used_ms=0),
        s.MatchOver(room=ROOM_NAME, result=RESULT),
        s.Left(room=ROOM_NAME),
        s.Snapshot(room=ROOM_NAME, view=VIEW),
        s.Goodbye(code="", message=""),
    ]


OFFERS = {
    Role.CLIENT: {ply: [encode(m) for m in from_client(ply)] for ply in range(-1, 3)},
    Role.SERVER: {ply: [encode(m) for m in from_server(ply)] for ply in range(-1, 3)},
}


def copied(end: Session[Any, Any]) -> Session[Any, Any]:
    new = copy.copy(end)
    new._requests = list(end._requests)
    new._rooms = {name: copy.copy(room) for name, room in end._rooms.items()}
    new._over = list(end._over)
    new._reader = copy.deepcopy(end._reader)
    return new


def key_of(end: Session[Any, Any]) -> object:
    return (end.phase, end.place(ROOM_NAME), end.ply(ROOM_NAME), tuple(end._requests))


Wire = tuple[Encoded[Any], ...]
State = tuple[dict[Role, Session[Any, Any]], dict[Role, Wire]]


def steps(state: State, in_flight: int, plies: int) -> Any:
    """All states one step further; a step is a sending or a delivery."""
    ends, wires = state
    for role in Role:
        if wires[role]:
            first, *rest = wires[role]
            receiver = copied(ends[role.peer])
            for item in receiver.receive(first.data):
                assert not isinstance(item, Fault) or item.late, (item, first.message, key_of(ends[role.peer]))
            yield {**ends, role.peer: receiver}, {**wires, role: tuple(rest)}
        if len(wires[role]) < in_flight and ends[role].ply(ROOM_NAME) < plies:
            for offer in OFFERS[role][ends[role].ply(ROOM_NAME)]:
                if ends[role]._problem(role, offer.message) is None:
                    sender = copied(ends[role])
                    sender.send_encoded(offer)
                    yield {**ends, role: sender}, {**wires, role: (*wires[role], offer)}


@pytest.mark.parametrize(("in_flight", "plies", "pipeline"), [(2, 2, 1), (3, 1, 1), (1, 2, 2)])
def test_no_interleaving_of_two_honest_ends_is_a_fault(
    in_flight: int, plies: int, pipeline: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triarena.protocol.session.PIPELINE", pipeline)
    start: State = (
        {Role.CLIENT: client_session(), Role.SERVER: server_session()},
        {Role.CLIENT: (), Role.SERVER: ()},
    )
    seen: set[object] = set()
    frontier = [start]
    used: set[tuple[Phase, Place]] = set()
    while frontier:
        state = frontier.pop()
        ends, wires = state
        key = (tuple(key_of(ends[r]) for r in Role), tuple(tuple(id(e) for e in wires[r]) for r in Role))
        if key in seen:
            continue
        seen.add(key)
        used.update((ends[r].phase, ends[r].place(ROOM_NAME)) for r in Role)
        frontier.extend(steps(state, in_flight, plies))
    print(f"{len(seen)} states with {in_flight} in flight")
    assert len(seen) > 1000
    places = {place for _, place in used}
    assert places == set(ROOM), "the walk has been everywhere"
    assert {phase for phase, _ in used} == set(CONNECTION)


def test_every_request_has_one_answer_and_both_are_in_the_table() -> None:
    every = {kind for row in CONNECTION.values() for _, kind in row} | {k for r in ROOM.values() for _, k in r}
    assert set(ANSWERS) <= every
    assert set(ANSWERS.values()) <= every
    from typing import get_args

    assert every == set(get_args(c.FromClient)) | set(get_args(s.FromServer)), "no message is outside the table"
