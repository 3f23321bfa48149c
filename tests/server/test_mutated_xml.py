"""Whatever comes over a connection of the Software-Challenge: nobody else notices, and the server makes no error.

Streams that clients once sent are mutated, and sent in pieces to a lobby in which other games go on. A thousand in the
ordinary suite; ``TRIARENA_MUTATED_STREAMS=200000 pytest -m soak tests/server/test_mutated_xml.py`` sends many more.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections import Counter
from xml.etree.ElementTree import fromstring

import pytest
import trio
import trio.testing

from .xml_clients import XmlClient, XmlWorld, kind, play_legally, recording, xml_world

PASSWORD = "examplepassword"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TOKENS = [
    "<protocol>", "</protocol>", "<protocol/>", "<join/>", "<joinRoom roomId='ROOM'/>", "<observe roomId='ROOM'/>",
    f"<authenticate password='{PASSWORD}'/>", "<prepare gameType='swc_2024_mississippi_queen' pause='true'>",
    "<slot/>", "<slot reserved='true'/>", "</prepare>", "<step roomId='ROOM'/>", "<cancel roomId='ROOM'/>",
    "<pause roomId='ROOM' pause='true'/>", "<room roomId='ROOM'>", "<data class='move'>", "<data class='state'/>",
    "<actions>", "</actions>", "</data>", "</room>", "<advance distance='1'/>", "<turn direction='UP_LEFT'/>",
    "<push/>", "<acceleration acc='99999999999999999999'/>", "<!DOCTYPE p [<!ENTITY a 'b'>]>", "&a;", "&#0;", "&lt;",
    "<![CDATA[", "]]>", "<!--", "-->", "<?xml version='1.0' encoding='UTF-16'?>", "<?p i?>", "\x00", "\ufeff", "ü",
    "<sc.protocol.CloseConnection/>", "<a:b xmlns:a='c'/>", "<" * 50, "a" * 3000, "<x>" * 30, "'", '"', "=",
]  # fmt: skip


class Faults:
    """Takes the place of the loggers: keeps what is an error, and nothing of the rest, of which there is very much."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def error(self, event: str, **details: object) -> None:
        self.told.append(f"{event} {details}")

    exception = error

    def debug(self, event: str, **details: object) -> None:
        pass

    info = warning = debug


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    faults = Faults()
    for name, module in list(sys.modules.items()):
        if name.startswith("triarena.server") and hasattr(module, "log"):
            monkeypatch.setattr(module, "log", faults)
    return faults


def seeds() -> list[str]:
    """What clients sent over each connection of the recordings."""
    streams = []
    for name in ("plain-join", "testclient", "socha"):
        chunks = [chunk for chunk in recording(name) if chunk.dir == "client"]
        for conn in sorted({chunk.conn for chunk in chunks}):
            streams.append(UUID.sub("ROOM", "".join(chunk.text for chunk in chunks if chunk.conn == conn))[:4000])
    return streams


def mutated(rng: random.Random, streams: list[str], room: str) -> bytes:
    """A stream with some of its parts doubled, lost, exchanged, or others put in."""
    stream = rng.choice(streams)
    for _ in range(rng.randint(0, 5)):
        at, length = rng.randrange(len(stream) + 1), rng.choice([1, 1, 3, 20, 200])
        match rng.randrange(5):
            case 0:
                stream = stream[:at] + stream[at + length :]
            case 1:
                stream = stream[:at] + stream[at : at + length] * 2 + stream[at + length :]
            case 2:
                stream = stream[:at] + rng.choice(TOKENS) + stream[at:]
            case 3:
                other = rng.choice(streams)
                stream = stream[:at] + other[rng.randrange(len(other)) :][:500]
            case _:
                stream = stream[:at] + chr(rng.choice([0, 1, 34, 38, 60, 62, 127, 0xFFFE])) + stream[at + 1 :]
    data = bytearray(stream.replace("ROOM", room).encode())
    for _ in range(rng.choice([0, 0, 0, 1, 4])):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


async def attack(client: XmlClient, rng: random.Random, data: bytes) -> None:
    """Send a stream in pieces, as far as the server takes them."""
    step = max(1, len(data) // rng.choice([1, 1, 1, 2, 7]) + 1)
    for at in range(0, len(data), step):
        try:
            await client.stream.send_all(data[at : at + step])
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return
        await trio.testing.wait_all_tasks_blocked()


async def hang_up(client: XmlClient) -> None:
    await client.stream.aclose()
    await trio.testing.wait_all_tasks_blocked()


async def attack_in_a_game(world: XmlWorld, rng: random.Random, streams: list[str]) -> XmlClient:
    """As player of a game that has begun, whose turn it may be; the opponent sees it end."""
    one, two = await world.xml_pair()
    attacker, opponent = (one, two) if rng.random() < 0.8 else (two, one)
    stream = mutated(rng, streams, attacker.room)
    await attack(attacker, rng, stream[stream.find(b">") + 1 :])
    await hang_up(attacker)
    assert opponent.heard[-1] == "left"
    await hang_up(opponent)
    return attacker


async def _attack_many(streams: int, seed: int, faults: Faults) -> Counter[str]:
    rng, recorded, heard = random.Random(seed), seeds(), Counter[str]()
    async with xml_world(password=PASSWORD, rooms=1000) as world:
        one, two = await world.xml_pair()
        for number in range(streams):
            if number % 2 and not any(room.open_seat() for room in world.lobby.rooms.values() if not room.match):
                client = await attack_in_a_game(world, rng, recorded)
            else:
                client = world.xml()
                await attack(client, rng, mutated(rng, recorded, one.room if number % 4 else "nowhere"))
                if client.closed:
                    assert client.inbox.ended, "our document is complete when we hang up"
                await hang_up(client)
            heard.update(client.heard)
            if number % 10 == 0:
                one, two = await _go_on(world, one, two)
                for room in [room for room in world.lobby.rooms.values() if room.referee is None]:
                    world.lobby.close_room(room)
                world.journal.records.clear()
        assert {"moveRequest", "memento"} & set(one.heard)
        assert len(world.lobby.guests) == 2
    assert faults.told == [], "the server made no error"
    return heard


async def _go_on(world: XmlWorld, one: XmlClient, two: XmlClient) -> tuple[XmlClient, XmlClient]:
    """The other game is as it should be: it goes on with a move, or a new one begins."""
    mover = one if one.asked else two
    if not mover.asked:
        if one.room in world.lobby.rooms and world.lobby.rooms[one.room].gate.paused:
            await _unpause(world, one.room)
            return await _go_on(world, one, two)
        assert one.heard[-1] == two.heard[-1] == "left", "it came to its end by itself"
        result = one.inbox.messages[-2].find("data/winner")
        assert result is not None
        assert result.attrib["code"] in ("no_move", "segment_distance", "goal", "round_limit", "cancelled")
        for client in (one, two):
            await hang_up(client)
        one, two = await world.xml_pair()
        if not one.asked:  # it met somebody in a room that an attacker had left open
            one, two = two, one
        return one, two
    before = len(mover.inbox.messages)
    await play_legally(world, mover)
    assert kind(mover.inbox.messages[before]) == "memento"
    return one, two


async def _unpause(world: XmlWorld, room: str) -> None:
    """Let a game go on that was paused by a stream which had the password in it: that is an administrator's right."""
    administrator = world.xml()
    administrator.room = room
    authenticated = f"<protocol><authenticate password='{PASSWORD}'/>"
    await administrator.say(f"{authenticated}<pause roomId='ROOM' pause='false'/>")
    await hang_up(administrator)


async def test_mutated_streams_disturb_nobody(autojump_clock: trio.testing.MockClock, faults: Faults) -> None:
    heard = await _attack_many(1000, 24, faults)
    assert {"joined", "errorpacket", "prepared", "observed", "result", "error"} <= set(heard)


@pytest.mark.soak
async def test_many_mutated_streams_disturb_nobody(
    autojump_clock: trio.testing.MockClock, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    streams, seed = int(os.environ.get("TRIARENA_MUTATED_STREAMS", "10000")), random.randrange(10**6)
    with capsys.disabled():
        print(f"\n{streams} streams, seed {seed}")
    heard = await _attack_many(streams, seed, faults)
    with capsys.disabled():
        print(dict(heard.most_common()))


def test_the_seeds_are_what_clients_sent() -> None:
    assert len(seeds()) == 9
    assert all(fromstring(stream.split(">")[0] + "/>").tag == "protocol" for stream in seeds())
