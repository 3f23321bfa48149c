"""Clients of the Software-Challenge for tests: scripted, over memory, against a lobby without sockets."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, XMLPullParser

import trio
import trio.testing

from triarena.games.mississippi_queen import GAME, MississippiQueen, MississippiQueenPosition, Segment
from triarena.games.mississippi_queen.geometry import (
    COLUMNS,
    DIRECTIONS,
    ROWS,
    SEGMENTS,
    Direction,
    next_center,
    next_directions,
)
from triarena.games.mississippi_queen.position import start_position
from triarena.games.mississippi_queen.profiles import SERVER_24_2_5
from triarena.protocol.game_values import Actions
from triarena.server.connection import Connection
from triarena.server.socha.gateway import Gateway, GatewayRules
from triarena.server.socha.moves import write_actions

from .conftest import PATIENCE, World, house

DATA = Path(__file__).parents[1] / "data" / "software_challenge"
JOIN = '<protocol><join gameType="swc_2024_mississippi_queen"/>'


class Inbox:
    """The messages of one document, as they become complete."""

    def __init__(self) -> None:
        self.messages: list[Element] = []
        self.ended = False
        """Whether the root was closed."""
        self._parser: Any = XMLPullParser(["start", "end"])
        self._depth = 0

    def feed(self, text: str) -> None:
        self._parser.feed(text)
        for event, element in self._parser.read_events():
            self._depth += 1 if event == "start" else -1
            if event == "end" and self._depth == 1:
                self.messages.append(element)
            self.ended = self.ended or self._depth == 0


class XmlClient:
    """The client's end of a connection."""

    def __init__(self, stream: trio.abc.HalfCloseableStream) -> None:
        self.stream = stream
        self.inbox = Inbox()
        self.closed = False
        """Whether the server has hung up."""
        self.room = ""

    async def listen(self) -> None:
        with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
            while data := await self.stream.receive_some():
                self.inbox.feed(bytes(data).decode())
        self.closed = True

    @property
    def heard(self) -> list[str]:
        """The messages in short: those of rooms by their classes."""
        return [kind(message) for message in self.inbox.messages]

    async def say(self, text: str) -> list[Element]:
        """Send something, with ``ROOM`` in place of the room, and wait until all are at rest; what came meanwhile."""
        before = len(self.inbox.messages)
        await self.stream.send_all(text.replace("ROOM", self.room).encode())
        await trio.testing.wait_all_tasks_blocked()
        self._note_room()
        return self.inbox.messages[before:]

    def _note_room(self) -> None:
        for message in self.inbox.messages:
            if message.tag in ("joined", "prepared", "observed"):
                self.room = message.attrib["roomId"]

    async def move(self, *actions: str) -> list[Element]:
        """Send a move of actions such as ``<advance distance="1"/>``."""
        return await self.say(in_room("<data class='move'><actions>" + "".join(actions) + "</actions></data>"))

    @property
    def asked(self) -> bool:
        """Whether the latest message is a request for a move."""
        return self.heard[-1:] == ["moveRequest"]


class XmlWorld(World):
    """A lobby with a gateway."""

    def __init__(self, nursery: trio.Nursery, *, password: str | None = None, **changes: Any) -> None:
        super().__init__(nursery, house(rooms_per_connection=16, **changes), PATIENCE)
        self.gateway = Gateway(GatewayRules(0, "server-24.2.5", password), self.lobby)
        self.nursery = nursery
        self._clients = 0

    def xml(self) -> XmlClient:
        """A new connection, over which nothing was said."""
        self._clients += 1
        ours, theirs = trio.testing.memory_stream_pair()
        connection = Connection(
            theirs, f"x{self._clients}", f"192.0.2.{self._clients}", PATIENCE, tongue=self.gateway.tongue
        )
        self.nursery.start_soon(self.gateway.serve, connection)
        client = XmlClient(ours)
        self.nursery.start_soon(client.listen)
        return client

    async def xml_pair(self) -> tuple[XmlClient, XmlClient]:
        """Two players in a game that has begun: teams ONE and TWO."""
        one, two = self.xml(), self.xml()
        await one.say(JOIN)
        await two.say(JOIN)
        return one, two


@asynccontextmanager
async def xml_world(**changes: Any) -> AsyncIterator[XmlWorld]:
    async with trio.open_nursery() as nursery:
        yield XmlWorld(nursery, **changes)
        nursery.cancel_scope.cancel()


def position(world: XmlWorld, room: str) -> MississippiQueenPosition:
    referee = world.lobby.rooms[room].referee
    assert referee is not None
    assert isinstance(referee.position, MississippiQueenPosition)
    return referee.position


async def play_legally(world: XmlWorld, client: XmlClient) -> None:
    """The first legal move of the position in the room."""
    now = position(world, client.room)
    actions = Actions.model_validate(GAME.write_move(next(now.legal_moves()))).actions
    await client.say(in_room(f"<data class='move'>{write_actions(actions)}</data>"))


def in_room(data: str) -> str:
    return f'<room roomId="ROOM">{data}</room>'


def kind(message: Element) -> str:
    data = message.find("data")
    return message.tag if message.tag != "room" or data is None else data.attrib["class"]


def data_of(message: Element) -> Element:
    data = message.find("data")
    assert data is not None
    return data


@dataclass(frozen=True)
class Chunk:
    """A record of a recording."""

    conn: int
    dir: str
    text: str


def recording(name: str) -> list[Chunk]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = map(json.loads, lines)
        return [Chunk(record["conn"], record["dir"], record["text"]) for record in records]


class RecordedGame(MississippiQueen):
    """Mississippi Queen on a certain board."""

    def __init__(self, board: Sequence[Segment]) -> None:
        self.board = tuple(board)

    def start(self, options: object, seed: int = 0) -> MississippiQueenPosition:
        return start_position(self.board, SERVER_24_2_5)


def recorded_boards(mementos: Sequence[Element]) -> list[RecordedGame]:
    """The game of each match of a recording: what was revealed of its board, then plain water up to the goal."""
    last: dict[str, Element] = {}
    for message in mementos:
        last[message.attrib["roomId"]] = message
    return [RecordedGame(list(_completed(message))) for message in last.values()]


def _completed(memento: Element) -> Iterator[Segment]:
    board = memento.find("data/state/board")
    assert board is not None
    directions: list[Direction] = []
    centers: list[tuple[int, int, int]] = []
    for segment in board.findall("segment"):
        directions.append(Direction[segment.attrib["direction"]])
        center = segment.find("center")
        assert center is not None
        centers.append((int(center.attrib["q"]), int(center.attrib["r"]), int(center.attrib["s"])))
        columns = tuple("".join(map(_mark, column)) for column in segment.findall("field-array"))
        yield Segment(directions[-1], centers[-1], columns)
    onward = Direction[board.attrib["nextDirection"]]
    while len(centers) < SEGMENTS:
        directions.append(onward)
        centers.append(next_center(centers, onward))
        goal = "G" if len(centers) == SEGMENTS else "W"
        yield Segment(onward, centers[-1], ("W" * ROWS,) * (COLUMNS - 1) + (goal * ROWS,))
        onward = next_directions(directions)[0]


def _mark(field: Element) -> str:
    if field.tag == "passenger":
        return str(DIRECTIONS.index(Direction[field.attrib["direction"]]))
    return {"water": "W", "island": "I", "goal": "G"}[field.tag]
