"""The tournament's own server: a real process that listens, is administered, dies, and is started again."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from triarena.organiser import embedded
from triarena.organiser.bell import Bell
from triarena.organiser.crew import Place
from triarena.organiser.desk import DeskLost
from triarena.organiser.embedded import MOST_DEATHS, EmbeddedServer
from triarena.organiser.knock import knock

SECONDS = 60.0
"""For whatever is waited for; much less on an idle machine."""


@dataclass
class Told:
    """What the organiser hears of it."""

    troubles: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


@asynccontextmanager
async def kept(
    folder: Path, *, port: int = 0, settings: dict[str, str] | None = None
) -> AsyncIterator[tuple[EmbeddedServer, Told]]:
    """A server that is kept meanwhile."""
    told = Told()
    (folder / "server").mkdir()
    server = EmbeddedServer(
        folder=folder / "server", log=folder / "server.log", host="127.0.0.1", port=port, settings=settings or {},
        bell=Bell(), trouble=told.troubles.append, listens=told.places.append,
    )  # fmt: skip
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.keep)
        with trio.fail_after(SECONDS):
            await trio.lowlevel.checkpoint()
            yield server, told
        nursery.cancel_scope.cancel()


def process_at(folder: Path) -> int:
    """The server's process, by the one command line that has its folder."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if "serve" in words and str(folder / "server") in words:
                return int(entry.name)
    raise AssertionError("it does not run")


def taken(port: int) -> bool:
    with closing(socket.socket()) as door:
        return door.connect_ex(("127.0.0.1", port)) == 0


async def test_it_tells_where_it_listens_lets_its_organiser_in_and_ends_with_it(tmp_path: Path) -> None:
    async with kept(tmp_path) as (server, told):
        assert server.access() is None
        assert server.place() is None
        await server.bell.until(lambda: server.place() is not None)
        place, access = server.place(), server.access()
        assert place is not None
        assert access is not None
        assert told.places == [place]
        assert (access.host, access.port) == ("127.0.0.1", place.port)
        assert access.secret == server.secret_file.read_text(encoding="utf-8").strip()
        await knock(access, patience=0)
    assert not taken(place.port)
    assert told.troubles == []
    assert server.failed is None


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux tells processes by their command lines")
async def test_it_is_started_again_on_the_same_port_with_the_same_secret_when_it_dies(tmp_path: Path) -> None:
    async with kept(tmp_path) as (server, told):
        await server.bell.until(lambda: server.place() is not None)
        before = server.access()
        os.kill(process_at(tmp_path), signal.SIGKILL)
        await server.bell.until(lambda: len(told.places) == 2)
        assert server.access() == before
        assert told.places[0] == told.places[1]
        assert before is not None
        await knock(before, patience=0)
    (sentence,) = told.troubles
    assert "the server has ended and is started again: it ended by itself (SIGKILL)" in sentence


async def test_a_port_that_is_taken_is_told_at_once_with_what_the_server_said(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as door:
        port = door.getsockname()[1]
        async with kept(tmp_path, port=port) as (server, told):
            await server.bell.until(lambda: server.failed is not None)
    assert server.failed is not None
    assert "the server could not be started: it ended by itself (exit code" in server.failed
    assert str(port) in server.failed
    assert (told.troubles, told.places) == ([], [])


async def test_settings_that_the_server_refuses_are_told_at_once(tmp_path: Path) -> None:
    async with kept(tmp_path, settings={"TRIARENA_ROOMS__GRACE_SECONDS": "soon"}) as (server, told):
        await server.bell.until(lambda: server.failed is not None)
    assert server.failed is not None
    assert "could not be started" in server.failed
    assert told.troubles == []


@pytest.mark.slow
async def test_a_server_that_never_listens_is_ended_and_given_up_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "START_SECONDS", 0.05)  # no server is as fast as that
    async with kept(tmp_path) as (server, told):
        await server.bell.until(lambda: server.failed is not None)
    assert server.failed is not None
    assert "does not stay alive" in server.failed
    assert len(told.troubles) == MOST_DEATHS - 1


async def test_a_secret_that_cannot_be_read_is_no_server_yet(tmp_path: Path) -> None:
    async with kept(tmp_path) as (server, _):
        await server.bell.until(lambda: server.place() is not None)
        server.secret_file.unlink()
        with pytest.raises(DeskLost, match="the server's secret can't be read"):
            server.access()
