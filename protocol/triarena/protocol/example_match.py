"""A whole match as one client sees it, from the greeting to the end: the thread through all examples.

It is played by the rules themselves, so that the example can't show what cannot happen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from triarena.games import AnyPosition, ChoiceOption, Plain, find_game

from . import from_client as c
from . import from_server as s
from .frames import TO_CLIENT, TO_SERVER
from .table import Role
from .values import PROTOCOL, Clock, GameInfo, Limits, OptionRange, PerMove, Players, Result

Message: TypeAlias = Any

ROOM: Final = "k3f9q2"
MATCH: Final = "m-20250314-0017"
CLOCK: Final = PerMove(move_ms=2000, margin_ms=50)
OPTIONS: Final[dict[str, int | str]] = {"size": 4, "max_plies": 1000}
TOKEN: Final = "wJ8s-4kQm-Zr2T"
PLAYERS: Final = Players(red="Ada", blue="Blaise-Bot")
PLAYED: Final = ("A2->B1", "D3->C4", "B2->C3", "C4->B4", "C3->D3", "B4->A4", "D3->D4")
"""A short game of TowerWars on the smallest board: red reaches further beside its tower, and takes the base."""
USED_MS: Final = (412.5, 96.25, 388.0, 101.75, 350.5, 99.0, 61.25)


@dataclass(frozen=True, slots=True)
class Example:
    """A message, who says it, and what is meant by it."""

    sender: Role
    message: Message
    meaning: str


@cache
def positions() -> tuple[AnyPosition, ...]:
    """The positions of the match: the first one, and one after each ply."""
    game = find_game("towerwars")
    found: list[AnyPosition] = [game.start(OPTIONS)]
    for text in PLAYED:
        found.append(found[-1].play(game.parse(text)))
    return tuple(found)


def wire(ply: int) -> Plain:
    """The wire form of the position before a ply."""
    return find_game("towerwars").write_position(positions()[ply])


def turned(ply: int) -> dict[str, Plain]:
    """What `moved` tells about a ply."""
    game = find_game("towerwars")
    move = game.parse(PLAYED[ply])
    return {
        "ply": ply,
        "side": positions()[ply].to_move.value,
        "move": game.write_move(move),
        "text": game.format(move),
        "used_ms": USED_MS[ply],
    }


def make(model: Any, **fields: Any) -> Message:
    """A message or value of plain parts."""
    return model.model_validate(fields)


def offer(name: str) -> GameInfo:
    """What `welcome` says about a registered game."""
    game = find_game(name)
    return GameInfo(
        name=game.name,
        title=game.title,
        rules_version=game.rules_version,
        options=[
            OptionRange(name=o.name, choices=list(o.choices), default=o.default, description=o.description)
            if isinstance(o, ChoiceOption)
            else OptionRange(
                name=o.name, minimum=o.minimum, maximum=o.maximum, default=o.default, description=o.description
            )
            for o in game.options
        ],
    )


def conversation() -> Iterator[Example]:
    """A whole match of TowerWars, from the greeting to the end, as red's client sees it."""
    yield Example(Role.CLIENT, c.Hello(protocol=PROTOCOL, software="ada.js 1.2", name="Ada"), "The client greets.")
    yield Example(Role.SERVER, welcome(), "The server says what it offers.")
    yield Example(Role.CLIENT, c.Join(id=1, game="towerwars", options={"size": 4}), "A seat, please.")
    yield Example(Role.SERVER, joined(), "Red's seat. Now the client waits for an opponent.")
    yield Example(Role.SERVER, match_started(), "The opponent is here.")
    yield Example(Role.CLIENT, c.Ready(room=ROOM), "The client has loaded what it needs.")
    for ply in range(len(PLAYED)):
        if ply % 2 == 0:
            move = turned(ply)["move"]
            yield Example(Role.SERVER, your_turn(ply), "Red is asked for a move.")
            yield Example(Role.CLIENT, make(c.Move, room=ROOM, ply=ply, move=move), "Red answers.")
        whose = "own" if ply % 2 == 0 else "opponent's"
        yield Example(Role.SERVER, make(s.Moved, room=ROOM, **turned(ply)), f"The {whose} move was accepted.")
    yield Example(Role.SERVER, match_over(), "Red has won. The client may join the next match, or hang up.")


def welcome() -> Message:
    """The server's greeting."""
    limits = Limits(
        frame_to_server=TO_SERVER,
        frame_to_client=TO_CLIENT,
        bad_frames=3,
        rooms_per_connection=16,
        observed_rooms_per_connection=64,
        greeting_seconds=5,
    )
    return s.Welcome(
        protocol=PROTOCOL,
        software="triarena 0.1.0",
        connection="12",
        games=[offer(name) for name in ("flowerwars", "towerwars", "mississippi_queen")],
        limits=limits,
        heartbeat_seconds=15,
    )


def joined() -> Message:
    """Red's seat."""
    return s.Joined(
        id=1, room=ROOM, side="red", name="Ada", game="towerwars", options=OPTIONS, time_control=CLOCK, token=TOKEN
    )


def match_started() -> Message:
    """The beginning, as red is told."""
    return make(
        s.MatchStarted,
        room=ROOM,
        match=MATCH,
        game="towerwars",
        rules_version=find_game("towerwars").rules_version,
        options=OPTIONS,
        players=PLAYERS,
        side="red",
        to_move="red",
        position=wire(0),
        time_control=CLOCK,
        startup_ms=30_000,
    )


def your_turn(ply: int) -> Message:
    """A turn of the match, with its position."""
    clock = Clock(
        limit_ms=CLOCK.move_ms,
        remaining_ms=CLOCK.move_ms,
        last_used_ms=USED_MS[ply - 2] if ply >= 2 else None,
        server_overhead_ms=0.25 if ply else None,
    )
    return make(s.YourTurn, room=ROOM, ply=ply, clock=clock, position=wire(ply))


def outcome() -> Result:
    """How the match ended."""
    sentence = "the game is over by taking the opponent's base"
    sides = {"red": {"score": 1}, "blue": {"score": 0}}
    made: Result = make(Result, kind="outcome", winner="red", reason="base", sides=sides, detail={"message": sentence})
    return made


def match_over() -> Message:
    """The end of the match."""
    return make(s.MatchOver, room=ROOM, match=MATCH, result=outcome(), position=wire(len(PLAYED)))
