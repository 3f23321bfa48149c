"""The system looks after connections at which nothing is said: what it is told, at both kinds of listeners."""

from __future__ import annotations

import socket
import sys

import pytest
import trio

from triarena.server.door import Reception
from triarena.server.keepalive import keep_alive
from triarena.server.socha.gateway import Gateway, GatewayRules

from .at_the_door import open_door
from .conftest import PATIENCE

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems call these options otherwise, or lack some")


def told(stream: trio.SocketStream, name: str) -> int:
    value = stream.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
    assert isinstance(value, int)
    return value


@linux
@pytest.mark.parametrize(
    ("heartbeat", "write", "idle", "interval", "unread"),
    [
        (15.0, 5.0, 15, 5, 30_000),
        (0.2, 0.5, 1, 1, 2_000),
        (2.0, 30.0, 2, 1, 60_000),
        (86_400.0, 5.0, 32_767, 10_922, 65_534_000),
    ],
)
async def test_a_vanished_peer_is_noticed_in_about_two_heartbeats(
    heartbeat: float, write: float, idle: int, interval: int, unread: int
) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, await trio.open_tcp_stream(*listener.socket.getsockname()) as client:
        keep_alive(client, heartbeat, write)
        assert client.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert told(client, "TCP_KEEPIDLE") == idle
        assert told(client, "TCP_KEEPINTVL") == interval
        assert told(client, "TCP_KEEPCNT") == 3
        assert told(client, "TCP_USER_TIMEOUT") == unread


async def test_a_system_without_these_options_and_a_connection_that_is_over_are_no_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, await trio.open_tcp_stream(*listener.socket.getsockname()) as client:
        client.socket.close()
        keep_alive(client, 15.0, 5.0)
        for name in ("TCP_KEEPIDLE", "TCP_KEEPALIVE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT"):
            monkeypatch.delattr(socket, name, raising=False)
        keep_alive(client, 15.0, 5.0)


@linux
@pytest.mark.parametrize("xml", [False, True])
async def test_connections_of_both_kinds_are_looked_after(xml: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted: list[trio.SocketStream] = []

    def noting(stream: trio.SocketStream, heartbeat: float, write: float) -> None:
        accepted.append(stream)
        keep_alive(stream, heartbeat, write)

    monkeypatch.setattr("triarena.server.door.keep_alive", noting)
    async with open_door() as door, trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        way_in = Gateway(GatewayRules(0, "server-24.2.5"), door.world.lobby)
        nursery.start_soon(door.door.keep, listener, Reception(way_in.tongue, way_in.serve))
        port = listener.socket.getsockname()[1] if xml else door.port
        async with listener, await trio.open_tcp_stream("127.0.0.1", port) as client:
            await client.send_all(b"<protocol><room/>" if xml else b"<")
            assert await client.receive_some(), "it is served"
            (stream,) = accepted
            assert told(stream, "TCP_KEEPIDLE") == round(PATIENCE.heartbeat)
            nursery.cancel_scope.cancel()
