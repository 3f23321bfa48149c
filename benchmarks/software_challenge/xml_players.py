"""Players of the Software-Challenge that cost little: blocking sockets in threads, and moves by our own rules.

They stand in for any number of old clients. They understand what they need of a state, and answer the way those do.
"""

from __future__ import annotations

import random
import socket
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from triarena.games.mississippi_queen import GAME
from triarena.games.mississippi_queen.geometry import DIRECTIONS, Direction, Hex
from triarena.protocol.game_values import Action, Actions
from triarena.server.socha.moves import write_actions

JOIN = "<protocol><join/>"
PATIENCE_SECONDS = 60.0
"""How long a player waits for the server's next word before it says that the server hangs."""
_MARKS = {"water": "W", "island": "I", "goal": "G", "sandbank": "S"}


class Connection:
    """A client's end: says something, and hears messages."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._messages = self._read()

    def say(self, text: str) -> None:
        """Send a text."""
        self.socket.sendall(text.encode())

    def hear(self) -> ET.Element:
        """The next message. Raises TimeoutError, or EOFError when the server has hung up."""
        return next(self._messages)

    def expect(self, *kinds: str) -> list[ET.Element]:
        """The next messages, which must be of these kinds."""
        heard = [self.hear() for _ in kinds]
        if [kind(message) for message in heard] != list(kinds):
            raise ValueError(f"{[kind(message) for message in heard]} instead of {list(kinds)}")
        return heard

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def _read(self) -> Iterator[ET.Element]:
        parser: Any = ET.XMLPullParser(["start", "end"])
        depth = 0
        while data := self.socket.recv(65_536):
            parser.feed(data)
            for event, element in parser.read_events():
                depth += 1 if event == "start" else -1
                if event == "end" and depth == 1:
                    yield element
        raise EOFError("the server has hung up")


def kind(message: ET.Element) -> str:
    """What a message is: its name, or the class of what is said in a room."""
    data = message.find("data")
    return message.tag if data is None else data.attrib["class"]


@dataclass
class Played:
    """What players have done, counted over all of them."""

    games: int = 0
    moves: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Seats:
    """How many are still to be taken, by all players together: so that at the end nobody waits for an opponent who has
    had enough games.
    """

    def __init__(self, games: int) -> None:
        self._left = 2 * games
        self._lock = threading.Lock()

    def take(self) -> bool:
        """One of them, if there is one left."""
        with self._lock:
            self._left -= 1
            return self._left >= 0


def play_games(port: int, seed: int, seats: Seats, played: Played) -> None:
    """Play games by plain joins, all over one connection, with moves at random, until no seats are left; failures are
    noted.
    """
    rng, connection = random.Random(seed), Connection(port)
    join = JOIN
    try:
        while seats.take():
            connection.say(join)
            join = "<join/>"
            _play_one(connection, rng, played)
    except (OSError, EOFError, ValueError) as error:
        with played.lock:
            played.failures.append(f"player {seed}: {error!r}")
    finally:
        connection.close()


def _play_one(connection: Connection, rng: random.Random, played: Played) -> None:
    (joined,) = connection.expect("joined")
    room, state = joined.attrib["roomId"], ET.Element("state")
    while True:
        message = connection.hear()
        data = message.find("data")
        what = kind(message)
        if what == "memento" and data is not None:
            state = data[0]
        elif what == "moveRequest":
            actions = write_actions(choose(state, rng))
            connection.say(f'<room roomId="{room}"><data class="move">{actions}</data></room>')
            with played.lock:
                played.moves += 1
        elif what == "result" and data is not None:
            winner = data.find("winner")
            assert winner is not None
            with played.lock:
                played.games += 1
                code = winner.attrib["code"]
                played.reasons[code] = played.reasons.get(code, 0) + 1
        elif what == "left":
            return
        elif what != "welcomeMessage":
            raise ValueError(f"an unexpected message: {ET.tostring(message, 'unicode')[:300]}")


def choose(state: ET.Element, rng: random.Random) -> list[Action]:
    """A legal move: any, but rather one of the first that our rules list."""
    position = GAME.read_position(_position(state))
    moves = [move for move, _ in zip(position.legal_moves(), range(40), strict=False)]
    return Actions.model_validate(GAME.write_move(rng.choice(moves))).actions


def _position(state: ET.Element) -> dict[str, object]:
    """A state as a position of our own protocol."""
    board = state.find("board")
    assert board is not None
    segments = [
        {
            "direction": segment.attrib["direction"].lower(),
            "center": _point(segment.find("center")),
            "columns": ["".join(map(_mark, column)) for column in segment.findall("field-array")],
        }
        for segment in board.findall("segment")
    ]
    ships = {ship.attrib["team"]: _ship(ship) for ship in state.findall("ship")}
    return {
        "game": GAME.name,
        "rules": "server-24.2.5",
        "sandbanks": 0,
        "segments": segments,
        "next_direction": board.attrib["nextDirection"].lower() if len(segments) < 8 else None,
        "turn": int(state.attrib["turn"]),
        "to_move": {"ONE": "red", "TWO": "blue"}[state.attrib["currentTeam"]],
        "red": ships["ONE"],
        "blue": ships["TWO"],
    }


def _ship(ship: ET.Element) -> dict[str, object]:
    numbers = {name: int(ship.attrib[name]) for name in ("speed", "coal", "passengers", "points")}
    numbers["free_turns"] = int(ship.attrib["freeTurns"])
    return {"position": _point(ship.find("position")), "direction": ship.attrib["direction"].lower(), **numbers}


def _point(element: ET.Element | None) -> list[int]:
    assert element is not None
    return list(Hex(*(int(element.attrib[name]) for name in "qrs")))


def _mark(field: ET.Element) -> str:
    if field.tag == "passenger":
        number = DIRECTIONS.index(Direction[field.attrib["direction"]])
        return ("012345" if field.attrib["passenger"] == "1" else "abcdef")[number]
    return _MARKS[field.tag]
