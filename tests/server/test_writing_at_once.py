"""What fits into the network is written without waiting; what does not, is waited for."""

from __future__ import annotations

import socket

import pytest
import trio
import trio.testing

from triarena.server.stamps import StampClock, StampedStream

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="os.write writes to sockets on POSIX only")


async def pair() -> tuple[StampedStream, trio.SocketStream]:
    """Our end of a TCP connection, and the client's."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    client = await trio.testing.open_stream_to_socket_listener(listeners[0])
    ours = await listeners[0].accept()
    await listeners[0].aclose()
    return StampedStream(ours, StampClock(), trio.current_time), client


async def test_what_fits_is_written_at_once() -> None:
    ours, client = await pair()
    async with ours, client:
        assert ours.send_now(b"hello") == 5
        assert await client.receive_some() == b"hello"


async def test_of_what_does_not_fit_it_is_told_how_much_did() -> None:
    ours, client = await pair()
    async with ours, client:
        data = bytes(range(256)) * 65536
        written = ours.send_now(data)
        assert 0 < written < len(data)
        while more := ours.send_now(data[written:]):  # the client's system took some
            written += more
        assert written < len(data)


async def test_a_broken_connection_and_a_closed_stream_are_told_apart() -> None:
    ours, client = await pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    await client.aclose()

    async def write_for_ever() -> None:
        while True:
            ours.send_now(b"hello")
            await trio.lowlevel.checkpoint()

    with pytest.raises(trio.BrokenResourceError):
        await write_for_ever()
    await ours.aclose()
    with pytest.raises(trio.ClosedResourceError):
        ours.send_now(b"hello")
