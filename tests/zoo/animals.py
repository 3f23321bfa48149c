"""The animals: misbehaving clients, each a few lines over a real connection. What is expected stands in the test."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import trio
from fleet.line import HungUp, Line, Message, packed
from fleet.scripts import Script

from triarena.protocol.values import PROTOCOL


@dataclass
class Cage:
    """Where an animal lives: a server's port, a seat in a match, and a record of what it was told."""

    port: int
    code: str
    script: Script
    limit: float
    """Seconds for a move."""
    heard: list[Message] = field(default_factory=list)
    room: str = ""
    token: str = ""
    took: list[float] = field(default_factory=list)
    """Seconds that its answers took by its own clock."""
    lines: list[Line] = field(default_factory=list)

    async def dial(self) -> Line:
        """A connection over which nothing was said, and whose messages are recorded."""
        line = await Line.dial(self.port)
        line.on_message = self.heard.append
        self.lines.append(line)
        return line

    async def line(self) -> Line:
        """A greeted one."""
        line = await self.dial()
        await line.greet()
        return line

    async def clean(self) -> None:
        """Nothing is left of the animal."""
        for line in self.lines:
            await line.aclose()

    async def enter(self) -> Line:
        """Take the seat and get to the start of the match, up to ``ready`` exclusively."""
        line = await self.line()
        joined = await line.request("joined", type="join_reserved", reservation=self.code)
        self.room, self.token = joined["room"], joined["token"]
        await line.hear("match_started")
        return line

    async def begin(self) -> Line:
        """Take the seat and say ready."""
        line = await self.enter()
        await line.say(type="ready", room=self.room)
        return line

    def move(self, ply: int) -> Message:
        """The move that is right at a ply."""
        return {"type": "move", "room": self.room, "ply": ply, "move": self.script.moves[ply]}

    async def answer(self, line: Line, turn: Message, seconds: float = 0.0) -> None:
        """Send the right move so long after the turn came."""
        await trio.sleep(max(0.0, line.received_at + seconds - time.monotonic()))
        began = line.received_at
        await line.say(**self.move(turn["ply"]))
        self.took.append(time.monotonic() - began)

    async def play_on(self, line: Line, seconds: float = 0.0) -> None:
        """Behave from here on."""
        while (message := await line.hear("your_turn", "match_over"))["type"] == "your_turn":
            await self.answer(line, message, seconds)


Animal: TypeAlias = Callable[[Cage], Awaitable[None]]


async def silent(cage: Cage) -> None:
    """Never answers a turn."""
    await (await cage.begin()).hear("match_over")


async def too_late(cage: Cage) -> None:
    """Answers a few tens of milliseconds after its limit."""
    line = await cage.begin()
    await cage.answer(line, await line.hear("your_turn"), cage.limit + 0.04)
    await line.hear("match_over")


async def just_in_time(cage: Cage) -> None:
    """Answers a few tens of milliseconds before its limit, always."""
    await cage.play_on(await cage.begin(), cage.limit - 0.06)


async def crashes(cage: Cage) -> None:
    """Dies in its second turn; the system resets the connection."""
    line = await cage.begin()
    await cage.answer(line, await line.hear("your_turn"))
    await line.hear("your_turn")
    line.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await line.aclose()


async def half_closed(cage: Cage) -> None:
    """Closes its half of the connection in its turn, and goes on reading."""
    line = await cage.begin()
    await line.hear("your_turn")
    await line.stream.send_eof()
    await line.hear_all()


async def reconnect_storm(cage: Cage) -> None:
    """Comes back again and again, mostly without having left, then plays."""
    line = await cage.begin()
    for round_ in range(20):
        if round_ % 4 == 0:
            await line.aclose()
        line = await cage.line()
        await line.request("joined", type="rejoin", token=cage.token)
    await line.say(type="ready", room=cage.room)
    await cage.play_on(line)


async def wrong_ply(cage: Cage) -> None:
    """Answers a turn that is yet to come."""
    line = await cage.begin()
    turn = await line.hear("your_turn")
    await line.say(**{**cage.move(turn["ply"]), "ply": turn["ply"] + 2})
    await line.hear("match_over")


async def two_at_once(cage: Cage) -> None:
    """Answers its first turn twice with one write, then behaves."""
    line = await cage.begin()
    turn = await line.hear("your_turn")
    await line.send(packed(cage.move(turn["ply"])) * 2)
    await cage.play_on(line)


async def out_of_turn(cage: Cage) -> None:
    """Moves in the other's turn. Sits where it is not asked first."""
    line = await cage.begin()
    await line.say(**cage.move(0))
    await line.hear("match_over")


async def cheat(cage: Cage) -> None:
    """Makes a move of the game that its rules forbid: its own first one again."""
    line = await cage.begin()
    await cage.answer(line, await line.hear("your_turn"))
    turn = await line.hear("your_turn")
    await line.say(**{**cage.move(0), "ply": turn["ply"]})
    await line.hear("match_over")


async def babbler(cage: Cage) -> None:
    """Sends frames that are no messages."""
    line = await cage.begin()
    await line.hear("your_turn")
    await line.send(packed([1, 2]) + packed({"type": "dance"}) + b"\0\0\0\1\xc1")
    await line.hear_all()


async def giant(cage: Cage) -> None:
    """Announces a frame of a megabyte."""
    line = await cage.begin()
    await line.hear("your_turn")
    await line.send((1 << 20).to_bytes(4, "big") + bytes(100))
    await line.hear_all()


async def deaf(cage: Cage) -> None:
    """Reads nothing, in the other's turn: neither moves nor pings."""
    await cage.begin()
    await trio.sleep_forever()


async def deaf_shouter(cage: Cage) -> None:
    """Asks without end and reads no answer."""
    line = await cage.begin()
    line.stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with suppress(HungUp):
        while True:
            await line.send(packed({"type": "list_rooms"}) * 200)


async def bytewise(cage: Cage) -> None:
    """Reads and writes one byte at a time."""
    line = await cage.begin()
    line.read_size = 1
    while (message := await line.hear("your_turn", "match_over"))["type"] == "your_turn":
        for byte in packed(cage.move(message["ply"])):
            await line.send(bytes([byte]))


async def never_ready(cage: Cage) -> None:
    """Takes its seat, and never says that it is ready."""
    await (await cage.enter()).hear("match_over")


# -- those that get no further than the door -----------------------------------------------------


def first_words(data: bytes) -> Animal:
    """An animal that says this first, and listens."""

    async def animal(cage: Cage) -> None:
        line = await cage.dial()
        await line.send(data)
        await line.hear_all()

    return animal


async def mute(cage: Cage) -> None:
    """Connects and never greets."""
    await (await cage.dial()).hear_all()


other_protocol = first_words(packed({"type": "hello", "protocol": PROTOCOL + 1, "software": "tomorrow"}))
browser = first_words(b"GET / HTTP/1.1\r\nHost: arena\r\n\r\n")
tls_client = first_words(bytes.fromhex("1603010200010001fc0303") + bytes(500))
