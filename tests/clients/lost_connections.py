"""A match of TowerWars in pieces, ways to cut a connection, and time that passes only when somebody waits."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.clients.scripted_server import Peer, Script, joined, one_after_another, over, serving

from triarena.clients import Backoff, Match, play
from triarena.games import AnyPosition, find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.codec import encode

GAME = find_game("towerwars")
MOVES = [GAME.parse(text) for text in ("A2->A3", "C4->C3", "A3->A2")]
POSITIONS = [GAME.start({"size": 4})]
for move in MOVES:
    POSITIONS.append(POSITIONS[-1].play(move))
SIDES: Final = ("red", "blue", "red")

Cut: TypeAlias = Callable[[Peer], None]


def hang_up(peer: Peer) -> None:
    """End the stream in order, as a program that exits does."""


def reset(peer: Peer) -> None:
    """Tear the connection down, as a machine that forgot about it does; what was under way is lost."""
    peer.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def half_a_frame(peer: Peer) -> None:
    """Break off inside a message."""
    peer.stream.sendall(encode(s.Notice(code="hint", message="never told")).data[:20])


CUTS: Final[list[Cut]] = [hang_up, reset, half_a_frame]


@dataclass
class FakeTime:
    """A clock that runs only while somebody sleeps; ``alarms`` go off when their time has come."""

    seconds: float = 0.0
    naps: list[float] = field(default_factory=list)
    alarms: list[tuple[float, Callable[[], object]]] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.seconds += seconds
        for alarm in [alarm for alarm in self.alarms if alarm[0] <= self.seconds]:
            self.alarms.remove(alarm)
            alarm[1]()

    def backoff(self, patience: float = 60.0) -> Backoff:
        return Backoff(patience=patience, now=lambda: self.seconds, sleep=self.sleep, random=lambda: 0.0)


def take_seat(peer: Peer) -> None:
    """The script's part of joining."""
    peer.greet()
    peer.answer(c.Join, joined())


def take_seat_back(peer: Peer) -> None:
    """The script's part of coming back with the token."""
    peer.greet()
    assert peer.answer(c.Rejoin, joined()).token == "t"


def turned(ply: int) -> dict[str, Any]:
    """A ply that was played."""
    move = MOVES[ply]
    return {"ply": ply, "side": SIDES[ply], "move": GAME.write_move(move), "text": GAME.format(move), "used_ms": 1.0}


def moved(ply: int) -> s.Moved:
    return s.Moved.model_validate({"room": "r1", **turned(ply)})


def started(plies: int = 0, match: str = "m1") -> s.MatchStarted:
    """The match, as it stands after some plies."""
    return s.MatchStarted.model_validate(
        {
            "room": "r1",
            "match": match,
            "game": "towerwars",
            "rules_version": 1,
            "options": {"size": 4},
            "side": "red",
            "players": {"red": "Ann", "blue": "Bob"},
            "to_move": "red",
            "time_control": {"type": "per_move", "move_ms": 2000.0},
            "position": GAME.write_position(POSITIONS[plies]),
            "startup_ms": 1000.0,
            "plies": [turned(ply) for ply in range(plies)],
        }
    )


def your_turn(ply: int, room: str = "r1") -> s.YourTurn:
    position = GAME.write_position(POSITIONS[ply])
    return s.YourTurn.model_validate({"room": room, "ply": ply, "clock": {"limit_ms": 2000.0}, "position": position})


def ask(peer: Peer, ply: int) -> c.Move:
    """Say whose turn it is, and take the move."""
    peer.send(your_turn(ply))
    return take_move(peer, ply)


def take_move(peer: Peer, ply: int) -> c.Move:
    move = peer.expect(c.Move)
    assert move.ply == ply
    return move


class Thinker:
    """A bot that plays the prepared moves, and counts how often it is asked for each."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.told: list[str] = []
        self.matches: list[Match] = []

    def choose_move(self, position: AnyPosition) -> Any:
        ply = POSITIONS.index(position)
        self.asked.append(ply)
        return MOVES[ply]

    def get_ready(self, match: Match) -> None:
        self.told.append("get_ready")
        self.matches.append(match)

    def come_back(self, match: Match) -> None:
        self.told.append("come_back")
        self.matches.append(match)


def play_against(*scripts: Script, **options: Any) -> tuple[s.MatchOver, Thinker, list[str]]:
    """One match over as many connections as there are scripts: its end, the bot, and what was reported."""
    bot = Thinker()
    reports: list[str] = []
    chosen = {"game": "towerwars", "backoff": FakeTime().backoff(), "report": reports.append, **options}
    with serving(one_after_another(*scripts)) as server:
        end = play(bot.choose_move, get_ready=bot.get_ready, come_back=bot.come_back, port=server.port, **chosen)
    return end, bot, reports


def begin(peer: Peer) -> None:
    """A script's start of a match, up to the client's ``ready``."""
    take_seat(peer)
    peer.send(started())
    peer.expect(c.Ready)


def resume(peer: Peer, plies: int) -> None:
    """A script's way of taking a client back after some plies, up to its ``ready``."""
    take_seat_back(peer)
    peer.send(started(plies))
    peer.expect(c.Ready)


def finish(peer: Peer, ply: int) -> None:
    """Ask for a red ply; it ends the match."""
    assert ask(peer, ply).move.model_dump(exclude_none=True) == GAME.write_move(MOVES[ply])
    peer.send(moved(ply), over())


def play_from_the_start(peer: Peer) -> None:
    begin(peer)
    finish(peer, 0)


def play_from_the_start_once_back(peer: Peer) -> None:
    resume(peer, 0)
    finish(peer, 0)
