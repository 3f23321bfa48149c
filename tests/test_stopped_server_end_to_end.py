"""A real server process that is stopped in the middle of a match, for longer than its clients wait for a word of it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from triarena.cli.children import Children

from .conftest import RunningServer, start_server

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps what comes over TCP"),
]

STOPPED_SECONDS = 8.0
HEARTBEAT_SECONDS = 2.0
"""Clients give a server up that was silent for twice as long, and dial anew."""
BOT = """
import time
from triarena.clients.bots import load_bot

greedy = load_bot("greedy", "towerwars", 7)

def choose_move(position, clock):
    time.sleep(0.05)
    return greedy.choose_move(position, clock)
"""


@pytest.mark.slow
def test_a_bot_is_not_charged_for_a_stopped_server_although_it_hangs_up_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIARENA_LIMITS__HEARTBEAT_SECONDS", str(HEARTBEAT_SECONDS))
    monkeypatch.setenv("TRIARENA_CLOCK__MOVE_SECONDS", "1")
    monkeypatch.setenv("TRIARENA_CLOCK__MARGIN_MS", "0")
    bot = tmp_path / "bot.py"
    bot.write_text(BOT, encoding="utf-8")
    with Children(tmp_path) as children:
        server, process = start_server(children, tmp_path, "server", 0)
        try:
            said, results = play(server, bot, process.pid)
        finally:
            process.send_signal(signal.SIGCONT)
            server.end()
    for result in results:
        assert result["kind"] == "outcome", result
    assert any("back in the match after" in text for text in said), "somebody hung up and came back"


def play(server: RunningServer, bot: Path, pid: int) -> tuple[list[str], list[dict[str, object]]]:
    """A match through a stop: what the players said, and the results they were told."""
    prepared = server.run("prepare", "towerwars", "--seed", "31", "--option", "size=12", "--json")
    assert prepared.returncode == 0, prepared.stderr
    codes = json.loads(prepared.stdout)["reservations"].values()
    where = ["--json", "--port", str(server.port), "--game", "towerwars"]
    players = [server.start("join", *where, "--reservation", code, str(bot)) for code in codes]
    deadline = time.monotonic() + 60
    while not json.loads(server.run("rooms", "--json").stdout).get("ply"):
        assert time.monotonic() < deadline, "the match never began"
    os.kill(pid, signal.SIGSTOP)
    time.sleep(STOPPED_SECONDS)
    os.kill(pid, signal.SIGCONT)
    said = [player.communicate(timeout=120)[0] for player in players]
    return said, [json.loads(text.splitlines()[-1])["result"] for text in said]
