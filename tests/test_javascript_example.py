"""The example bot in JavaScript plays real matches on a real server, against a bot of ours."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.scripted_server import Peer, joined, one_after_another, over, serving
from tests.cutting_proxy import CuttingProxy

from triarena.cli.children import Children
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

from .conftest import RunningServer, start_server

EXAMPLE = Path(__file__).parents[1] / "examples" / "javascript"
NODE, NPM = shutil.which("node"), shutil.which("npm")
KILLER = """
import os, signal

asked = 0

def choose_move(position):
    global asked
    asked += 1
    if asked == 3:
        os.kill({pid}, signal.SIGKILL)
    return next(position.legal_moves())
"""
"""A bot that kills the server in its third turn."""
OUTCOME = re.compile(r"^(outcome|aborted), (\w+): (red|blue|nobody) won; .+$")


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with its one package, in a folder of its own."""
    if NODE is None or NPM is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("javascript")
    for name in ("bot.js", "package.json"):
        shutil.copy(EXAMPLE / name, folder)
    install = [NPM, "install", "--no-audit", "--no-fund", "--no-package-lock"]
    try:
        installed = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm could not install @msgpack/msgpack in time")
    if installed.returncode != 0:
        pytest.skip(f"npm could not install @msgpack/msgpack: {installed.stderr[-200:]}")
    return folder / "bot.js"


@contextmanager
def playing(bot: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The bot as a process, which is gone afterwards whatever happens."""
    assert NODE is not None
    process = subprocess.Popen(
        [NODE, str(bot), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def reservations(server: RunningServer, size: int, *flags: str) -> tuple[str, str]:
    prepared = server.run("prepare", "towerwars", "--option", f"size={size}", "--json", *flags)
    assert prepared.returncode == 0, prepared.stderr
    red, blue = json.loads(prepared.stdout)["reservations"].values()
    return red, blue


@pytest.mark.slow
@pytest.mark.parametrize(("size", "side"), [(4, "red"), (5, "blue"), (6, "red"), (7, "blue"), (9, "red")])
def test_the_javascript_bot_plays_a_match_by_the_rules(
    bot: Path, real_server: RunningServer, size: int, side: str
) -> None:
    red, blue = reservations(real_server, size)
    mine, others = (red, blue) if side == "red" else (blue, red)
    with playing(bot, "--port", str(real_server.port), "--reservation", mine, "--name", "Jay") as process:
        opponent = real_server.run("join", "--reservation", others, "random", "--json")
        said, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
    joined, started, ended = said.splitlines()
    assert joined.endswith(f" as {side}")
    assert f"Jay ({side})" in started
    result = OUTCOME.match(ended)
    assert result is not None, ended
    assert opponent.returncode == 0, opponent.stderr
    told = json.loads(opponent.stdout)["result"]
    assert result.groups() == (told["kind"], told["reason"], told.get("winner") or "nobody")


@pytest.mark.slow
def test_the_javascript_bot_finds_an_open_seat(bot: Path, real_server: RunningServer) -> None:
    with playing(bot, "--port", str(real_server.port), "--game", "towerwars", "--name", "Jay") as process:
        opponent = real_server.run("join", "--game", "towerwars", "random")
        said, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
    assert OUTCOME.match(said.splitlines()[-1])
    assert opponent.returncode == 0, opponent.stderr


@pytest.mark.slow
def test_the_javascript_bot_plays_its_match_though_its_connections_are_cut(
    bot: Path, real_server: RunningServer
) -> None:
    red, blue = reservations(real_server, 9)
    with CuttingProxy(
        real_server.port, cuts=5, up_to=12_000, rng=random.Random(0)
    ) as proxy:  # the first one after the greeting
        with playing(bot, "--port", str(proxy.port), "--reservation", red, "--name", "Jay") as process:
            opponent = real_server.run("join", "--reservation", blue, "random", "--json")
            said, complaints = process.communicate(timeout=60)
        assert proxy.cuts > 0
    assert process.returncode == 0, complaints
    assert "back in the match" in complaints
    result = OUTCOME.match(said.splitlines()[-1])
    assert result is not None, said
    told = json.loads(opponent.stdout)["result"]
    assert result.groups() == (told["kind"], told["reason"], told.get("winner") or "nobody")


def test_the_javascript_bot_tells_once_that_it_finds_no_way_in(bot: Path) -> None:
    def full(peer: Peer) -> None:
        peer.send(s.Refused(code="server_full", message="the server is full"))

    def full_on_trial(peer: Peer) -> None:
        peer.greet()
        peer.receive()
        peer.send(s.Goodbye(code="server_full", message="the server is full"))

    def end(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Join, joined())
        peer.send(over())

    with (
        serving(one_after_another(full_on_trial, full, full, end)) as server,
        playing(bot, "--port", str(server.port)) as player,
    ):
        said, complaints = player.communicate(timeout=60)
    assert player.returncode == 0, complaints
    assert complaints.splitlines() == ["no way in: the server is full; trying again ..."]
    assert said.splitlines()[0] == "joined room r1 as red"


@pytest.mark.slow
def test_the_javascript_bot_outlives_its_server(bot: Path, tmp_path: Path) -> None:
    with Children(tmp_path) as children:
        server, process = start_server(children, tmp_path, "first", 0)
        killer = tmp_path / "killer.py"
        killer.write_text(KILLER.format(pid=process.pid), encoding="utf-8")
        red, blue = reservations(server, 9, "--untimed", "both")
        with playing(bot, "--port", str(server.port), "--reservation", blue, "--name", "Jay") as player:
            opponent = server.start("join", "--reservation", red, str(killer))
            assert process.wait(60) == -signal.SIGKILL
            start_server(children, tmp_path, "second", server.port)
            said, complaints = player.communicate(timeout=60)
            opponent.communicate(timeout=60)
    assert player.returncode == 0, complaints
    assert "back in the match" in complaints
    assert OUTCOME.match(said.splitlines()[-1]), said
    assert len(said.splitlines()) == 3, "the seat and the match are told once"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--reservation", "nonsense"], 1, "[unknown_reservation]"),
        (["--name", " blank"], 1, "[invalid_message]"),
        (["--game", "chess"], 2, "plays towerwars, not chess"),
        (["--nonsense"], 2, "--nonsense"),
    ],
)
def test_the_javascript_bot_says_what_went_wrong(
    bot: Path, real_server: RunningServer, arguments: list[str], code: int, says: str
) -> None:
    with playing(bot, "--port", str(real_server.port), *arguments) as process:
        said, complaints = process.communicate(timeout=60)
    assert process.returncode == code
    assert said == ""
    assert says in complaints
    assert "    at " not in complaints, "no stack of calls"
