"""A lobby behind a real door on the loopback, in the test's own process and in real time."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import trio

from triarena.server.admission import Bounds
from triarena.server.door import Door, DoorRules
from triarena.server.lag import LoopLag

from .conftest import PATIENCE, Client, World, house


@dataclass(frozen=True)
class Entrance:
    """Where clients knock."""

    port: int
    world: World
    door: Door
    streams: list[trio.SocketStream]

    async def knock(self, source: str = "127.0.0.1") -> Client:
        """A connection that has said nothing yet."""
        stream = await trio.open_tcp_stream("127.0.0.1", self.port, local_address=source)
        self.streams.append(stream)
        return Client(stream)

    async def greet(self, name: str | None = None) -> Client:
        """A client that has been welcomed."""
        return await (await self.knock()).greet(name)


@asynccontextmanager
async def open_door(
    *, connections: int = 50, per_address: int = 50, newcomers: int = 50, tls: ssl.SSLContext | None = None,
    greeting: float = 5.0, trials: int = 0,
) -> AsyncIterator[Entrance]:  # fmt: skip
    """Serve until the block ends."""
    patience = replace(PATIENCE, greeting=greeting)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    streams: list[trio.SocketStream] = []
    try:
        async with trio.open_nursery() as nursery:
            world = World(nursery, house(greeting=greeting), patience)
            rules = DoorRules(Bounds(connections, per_address, newcomers, trials), patience, tls)
            door = Door(rules, world.lobby.serve, nursery, LoopLag(), world.lobby.serve_on_trial)
            nursery.start_soon(door.keep, listener)
            yield Entrance(listener.socket.getsockname()[1], world, door, streams)
            nursery.cancel_scope.cancel()
    finally:
        listener.socket.close()
        for stream in streams:
            stream.socket.close()
