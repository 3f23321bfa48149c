"""Real processes whose server is killed, or whose connections are cut again and again: the match comes to its end."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cutting_proxy import CuttingProxy

from triarena.cli.children import Children
from triarena.clients import Connection
from triarena.clients.admin import list_rooms
from triarena.server.journal import read_match

from .conftest import RunningServer, start_server

pytestmark = pytest.mark.soak

CUTS = 20
SEED = "31"
"""Of a long river of Mississippi Queen, and of the bots."""
PATIENCE_SECONDS = 120.0


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    with Children(tmp_path) as started:
        yield started


def wait_until(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def open_match(
    server: RunningServer, game: str, bots: tuple[str, str], *flags: str, port: int | None = None
) -> tuple[str, list[subprocess.Popen[str]]]:
    """A new room, and a bot as a process for each of its seats; board and choices are the same every time."""
    prepared = server.run("prepare", game, "--seed", SEED, "--untimed", "both", "--json", *flags)
    assert prepared.returncode == 0, prepared.stderr
    room = json.loads(prepared.stdout)
    where = ["--json", "--seed", SEED, "--port", str(port or server.port)]
    players = [
        server.start("join", *where, "--reservation", code, "--game", game, bot)
        for code, bot in zip(room["reservations"].values(), bots, strict=True)
    ]
    return room["room"], players


def ends(players: list[subprocess.Popen[str]]) -> tuple[list[str], list[dict[str, Any]]]:
    """What the players said, and how they say the match ended."""
    said = [player.communicate(timeout=PATIENCE_SECONDS)[0] for player in players]
    assert [player.returncode for player in players] == [0, 0], said
    return said, [json.loads(text.splitlines()[-1]) for text in said]


def moves(folder: Path, match: str) -> list[str]:
    stored = read_match(f"sqlite:///{folder}/journal.sqlite3", match)
    return [ply.text for ply in stored.plies]


KILLER = """
import os, signal
from triarena.clients.bots import load_bot

greedy, asked = load_bot("greedy", "{game}", {seed}), 0

def choose_move(position, clock):
    global asked
    asked += 1
    if asked == 8:
        os.kill({pid}, signal.SIGKILL)
    return greedy.choose_move(position, clock)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("game", "flags"), [("towerwars", ("--option", "size=12")), ("mississippi_queen", ())])
def test_a_match_outlives_its_server(game: str, flags: tuple[str, ...], children: Children, tmp_path: Path) -> None:
    """The red bot kills the server while it thinks, so that the moment is certain."""
    server, process = start_server(children, tmp_path, "first", 0)
    killer = tmp_path / "killer.py"
    killer.write_text(KILLER.format(game=game, pid=process.pid, seed=SEED), encoding="utf-8")
    room, players = open_match(server, game, (str(killer), "greedy"), "--paused", *flags)
    spectator = server.start("watch", room, "--plain")
    with Connection.open(port=server.port) as connection:
        wait_until(lambda: [info.observers for info in list_rooms(connection) if info.room == room] == [1])
    assert server.run("resume", room).returncode == 0
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    start_server(children, tmp_path, "second", server.port)
    said, (ours, theirs) = ends(players)
    watched = spectator.communicate(timeout=PATIENCE_SECONDS)[0]
    assert spectator.returncode == 0, watched
    assert f"[{ours['result']['reason']}]" in watched.splitlines()[-2], "the result, and a rule below it"
    for text in said:
        assert "back in the match after" in text
    assert ours["result"] == theirs["result"]
    assert ours["result"]["kind"] == "outcome", ours["result"]
    assert len(moves(tmp_path, ours["match"])) > 16, "it went on after the eighth move of red"
    checked = server.run("replay", ours["match"], "--quiet")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
def test_a_match_whose_connections_are_cut_twenty_times_is_the_same_match(children: Children, tmp_path: Path) -> None:
    server, _ = start_server(children, tmp_path, "server", 0)
    bots, flags = ("greedy", "greedy"), ("--option", "size=12")
    _, (expected, _) = ends(open_match(server, "towerwars", bots, *flags)[1])
    with CuttingProxy(server.port, CUTS, 30_000, random.Random(20)) as proxy:
        said, (disturbed, _) = ends(open_match(server, "towerwars", bots, *flags, port=proxy.port)[1])
    assert proxy.cuts == CUTS
    assert sum(text.count("back in the match after") for text in said) > 0
    assert disturbed["result"] == expected["result"]
    assert moves(tmp_path, disturbed["match"]) == moves(tmp_path, expected["match"])
