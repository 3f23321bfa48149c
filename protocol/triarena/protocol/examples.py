"""One realistic example of every message.

Positions and moves come from the rules themselves, so that an example can't show what cannot happen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from triarena.games import MoveError, Plain, find_game

from . import from_client as c
from . import from_server as s
from .example_match import (
    CLOCK,
    MATCH,
    OPTIONS,
    ROOM,
    TOKEN,
    USED_MS,
    Example,
    Message,
    joined,
    make,
    match_over,
    match_started,
    outcome,
    positions,
    turned,
    welcome,
    wire,
    your_turn,
)
from .identity import token_digest
from .room_views import RoomInfo
from .table import Role
from .values import PROTOCOL, Clock, Result, Unlimited

DIGEST: Final = token_digest(TOKEN)


def examples() -> Iterator[Example]:
    """At least one example of every message, as it stands alone."""
    yield from _from_client()
    yield from _moves()
    yield from _from_server()
    yield from _administration()


def _from_client() -> Iterator[Example]:
    def client(message: Message, meaning: str) -> Example:
        return Example(Role.CLIENT, message, meaning)

    yield client(c.Hello(protocol=PROTOCOL, software="ada.js 1.2", name="Ada"), "A bot with a name.")
    yield client(c.Join(id=1, game="towerwars", options={"size": 4}), "Any open seat on a board of that size.")
    yield client(c.JoinRoom(id=1, room=ROOM, updates="moves"), "A certain room, without positions in each turn.")
    yield client(c.JoinReserved(id=1, reservation="7RKQ-M2XD-PW4H"), "The seat that was reserved.")
    yield client(c.Rejoin(id=1, token=TOKEN), "The seat of a lost connection.")
    yield client(c.Leave(id=2, room=ROOM), "Give the seat back.")
    failed = "bot_failed: choose_move raised ZeroDivisionError: division by zero in bot.py, line 7"
    yield client(c.Leave(room=ROOM, reason=failed), "Give up a match, and say why.")
    yield client(c.Ready(room=ROOM), "The bot can play.")
    yield client(c.Surrender(room=ROOM), "Give up.")
    yield client(c.Observe(id=1, room=ROOM), "Watch.")
    yield client(c.ListRooms(id=4), "Which rooms are there?")
    yield client(c.Enlist(id=1), "Invite me to the matches of the tournament.")
    yield client(c.Ping(number=5), "Are you there?")
    yield client(c.Pong(number=17), "The answer to the server's `ping`.")


def _moves() -> Iterator[Example]:
    def move(ply: int, wire: Any, meaning: str) -> Example:
        return Example(Role.CLIENT, make(c.Move, room=ROOM, ply=ply, move=wire), meaning)

    yield move(0, turned(0)["move"], "TowerWars: a step.")
    flowerwars = find_game("flowerwars")
    plant = next(flowerwars.start({}).legal_moves())
    yield move(0, flowerwars.write_move(plant), "FlowerWars: two flowers.")
    yield move(6, {"type": "dig", "ditch": [[3, 1], [4, 1]]}, "FlowerWars: a ditch.")
    yield move(31, {"type": "end"}, "FlowerWars: the end.")
    actions = [
        {"type": "accelerate", "by": 1},
        {"type": "turn", "to": "down_right"},
        {"type": "advance", "distance": 2},
    ]
    yield move(2, {"type": "actions", "actions": actions}, "Mississippi Queen: faster, turn, go.")
    push = [{"type": "advance", "distance": 1}, {"type": "push", "to": "up_left"}, {"type": "advance", "distance": 1}]
    yield move(9, {"type": "actions", "actions": push}, "Mississippi Queen: push the other ship away.")
    yield move(3, {"type": "drop", "column": 4}, "A game of another distribution: whatever that game defines.")


def _from_server() -> Iterator[Example]:
    def server(message: Message, meaning: str) -> Example:
        return Example(Role.SERVER, message, meaning)

    yield server(welcome(), "What the server offers.")
    refused = f"this server speaks protocol {PROTOCOL}, your client asks for {PROTOCOL + 1}: update the server"
    yield server(s.Refused(code="protocol_version", message=refused), "The greeting failed.")
    yield server(joined(), "A seat was taken.")
    yield server(s.Left(id=2, room=ROOM), "The seat was given back.")
    yield server(match_started(), "Both seats are taken.")
    yield server(your_turn(2), "A turn of TowerWars.")
    for name in ("flowerwars", "mississippi_queen"):
        game = find_game(name)
        first = game.write_position(game.start({}, 17))
        clock = Clock(limit_ms=2000, remaining_ms=2000)
        turn = make(s.YourTurn, room=ROOM, ply=0, clock=clock, position=first)
        yield server(turn, f"The first turn of {game.title}.")
    unlimited = s.YourTurn(room=ROOM, ply=4, clock=Clock())
    yield server(unlimited, 'A turn without a clock, for a seat that asked for `updates: "moves"`.')
    yield server(make(s.Moved, room=ROOM, **turned(0)), "A ply was played.")
    yield server(match_over(), "The rules have decided.")
    yield server(make(s.MatchOver, room=ROOM, match=MATCH, result=_illegal()), "The referee has decided.")
    yield server(make(s.Observing, id=1, room=ROOM, view=_view(0)), "Before the match.")
    yield server(make(s.Snapshot, room=ROOM, view=_view(3)), "After three plies.")
    yield server(s.Rooms(id=4, rooms=[make(RoomInfo, **_info(3))]), "All rooms.")
    yield server(s.Enlisted(id=1, name="Ada"), "Wait for invitations now.")
    invitation = s.Invitation(
        room=ROOM, game="towerwars", options=OPTIONS, reservation="7RKQ-M2XD-PW4H", seed=8_041_776
    )
    yield server(invitation, "The next match.")
    late = "the move for ply 4 came too late; that turn has passed"
    yield server(s.Notice(code="late_move", message=late, room=ROOM), "Nothing happened, but the client should know.")
    error = "the message 'join' is invalid at options.size.int: Input should be a valid integer"
    yield server(s.Error(id=1, code="invalid_message", message=error, request="join"), "A request was refused.")
    yield server(s.Error(code="not_a_map", message="a message is a msgpack map, not an array"), "A frame was refused.")
    yield server(
        s.Goodbye(code="server_stopping", message="the server is stopping; try again later"), "The last message."
    )
    farewell = s.Goodbye(code="dismissed", message="the tournament is over: you came third of eight; thank you")
    yield server(farewell, "The last message of a tournament.")
    yield server(c.Ping(number=17), "Answer with `pong` and the same number.")


def _administration() -> Iterator[Example]:
    slots = [c.Slot(name="Ada"), c.Slot(name="Blaise-Bot", timed=False)]
    prepare = c.Prepare(
        id=2, game="mississippi_queen", options={"sandbanks": 1}, seed=42, time_control=CLOCK, slots=slots, paused=True
    )
    for request, meaning in (
        (c.Authenticate(id=1, secret="correct-horse-battery"), "Become an administrator."),
        (prepare, "A room for two bots, the second without a clock."),
        (c.Prepare(id=2, game="towerwars", move_ms=3000, slots=[c.Slot(), c.Slot()]), "More time than usual."),
        (c.Pause(id=3, room=ROOM), "No further ply."),
        (c.Resume(id=4, room=ROOM), "Go on."),
        (c.Step(id=5, room=ROOM), "One ply, then pause again."),
        (c.Cancel(id=6, room=ROOM, reason="wrong time control"), "Break the match off."),
        (c.Kick(id=7, connection="12"), "Close a connection."),
        (c.Enrol(id=8, players=[c.Enrolment(name="Ada", digest=DIGEST)]), "Ada takes part, and this is her token's."),
        (c.ListPlayers(id=9), "Who is there?"),
        (c.Invite(id=10, player="Ada", reservation="7RKQ-M2XD-PW4H", seed=8_041_776), "Her next match."),
        (c.Dismiss(id=11, name="Ada", message="the tournament is over; thank you"), "Send her home."),
    ):
        yield Example(Role.CLIENT, request, meaning)
    codes = ["7RKQ-M2XD-PW4H", None]
    prepared = s.Prepared(id=2, room=ROOM, reservations=codes, time_controls=[CLOCK, Unlimited()])
    ada = s.PlayerInfo(name="Ada", connection="12", software="ada.js 1.2", playing=False)
    for answer, meaning in (
        (s.Authenticated(id=1), "The secret was right."),
        (prepared, "Red's seat is reserved, blue's open."),
        (s.Done(id=3, message=f"room {ROOM} is paused"), "It was carried out."),
        (s.PlayerList(id=9, players=[ada]), "One player is there, and waits."),
        (s.PlayerEvent(event="came", name="Ada", connection="12"), "She has just enlisted."),
        (make(s.RoomEvent, event="over", info=_info(7, "over"), result=outcome()), "A match has ended."),
    ):
        yield Example(Role.SERVER, answer, meaning)


def _info(plies: int, state: str = "running") -> dict[str, Plain]:
    begun = plies > 0
    over = state == "over"
    return {
        "room": ROOM,
        "game": "towerwars",
        "options": OPTIONS,
        "state": state if begun else "waiting",
        "paused": False,
        "match": MATCH if begun else None,
        "ply": plies,
        "to_move": positions()[plies].to_move.value if begun and not over else None,
        "red": {"name": "Ada", "connected": True, "reserved": True, "used_ms": sum(USED_MS[:plies:2])},
        "blue": {
            "name": "Blaise-Bot" if begun else None,
            "connected": begun,
            "reserved": False,
            "used_ms": sum(USED_MS[1:plies:2]),
        },
        "observers": 1,
    }


def _view(plies: int) -> dict[str, Plain]:
    return {
        "info": _info(plies),
        "position": wire(plies) if plies else None,
        "plies": [turned(ply) for ply in range(plies)],
    }


def _illegal() -> Result:
    """Of a match whose second ply was not blue's to play."""
    text, position = "D4->C4", positions()[1]
    try:
        position.check(find_game("towerwars").parse(text))
    except MoveError as error:
        code, why = error.code, error.message
    detail = {
        "message": f"blue played {text} at ply 1, which is illegal: {why}",
        "offenders": ["blue"],
        "ply": 1,
        "code": code,
        "move": text,
    }
    sides = {"red": {"score": 0}, "blue": {"score": 0}}
    made: Result = make(Result, kind="forfeit", winner="red", reason="illegal_move", sides=sides, detail=detail)
    return made
