"""A real server that gets signal upon signal while its database takes nothing ends in order, and says what is lost."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import trio
from tests.server.conftest import Client

from triarena.cli.children import Children
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.from_client import Pong

from .conftest import START_SECONDS, start_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there a process cannot be sent these signals"),
]


def wait_until(condition: Callable[[], bool], log: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.01)


def has_noted(log: Path, number: signal.Signals, times: int) -> bool:
    return log.read_text().count(number.name) >= times


async def ask_for_a_room(port: int, secret: str) -> None:
    """Something that the server has to store before it can answer. Returns when the server has read that."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        client = await Client(stream).greet()
        await client.say(c.Authenticate(secret=secret))
        await client.hear(s.Authenticated)
        await client.say(c.Prepare(game="towerwars", slots=[c.Slot(), c.Slot()]))
        await client.say(c.Ping(number=1))
        await client.hear(Pong)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_beyond_the_second_change_nothing_about_how_the_server_ends(
    number: signal.Signals, tmp_path: Path
) -> None:
    with Children(tmp_path) as children:
        server, process = start_server(children, tmp_path, "server", 0)
        log = children.log("server")
        port_file = tmp_path / "server.port"
        lock = sqlite3.connect(tmp_path / "journal.sqlite3", isolation_level=None)
        try:
            lock.execute("BEGIN EXCLUSIVE")
            trio.run(ask_for_a_room, server.port, server.environment["TRIARENA_SECRET"])
            for count in range(1, 5):
                process.send_signal(number)
                wait_until(partial(has_noted, log, number, count), log, process)
            assert process.wait(START_SECONDS) == 1, log.read_text()
        finally:
            lock.close()
    said = log.read_text()
    assert "journal_not_flushed" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert not port_file.exists()
