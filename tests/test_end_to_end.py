"""Real processes over real sockets: many matches at once, observed and administered from outside."""

from __future__ import annotations

import json
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from .conftest import RunningServer

GAMES = (
    ("flowerwars", ("size=5",)),
    ("towerwars", ("size=5",)),
    ("mississippi_queen", ()),
    ("flowerwars", ("size=4",)),
)


@dataclass
class Match:
    """A prepared room and the processes in it."""

    room: str
    players: list[subprocess.Popen[str]]
    observer: subprocess.Popen[str]

    def outputs(self) -> tuple[list[str], str]:
        """What the players and the observer said; all have ended."""
        said = [player.communicate(timeout=240)[0] for player in self.players]
        assert [player.returncode for player in self.players] == [0, 0], said
        watched = self.observer.communicate(timeout=60)[0]
        assert self.observer.returncode == 0, watched
        return said, watched


def open_match(server: RunningServer, game: str, options: tuple[str, ...], bots: tuple[str, str]) -> Match:
    flags = [part for option in options for part in ("--option", option)]
    prepared = server.run("prepare", game, *flags, "--paused", "--json")
    assert prepared.returncode == 0, prepared.stderr
    room = json.loads(prepared.stdout)
    players = [
        server.start("join", "--reservation", code, bot, "--name", f"{bot}-{side}", "--json")
        for code, bot, side in zip(room["reservations"].values(), bots, ("red", "blue"), strict=True)
    ]
    return Match(room["room"], players, server.start("watch", room["room"], "--plain"))


def rooms(server: RunningServer) -> dict[str, dict[str, object]]:
    listed = server.run("rooms", "--json")
    assert listed.returncode == 0, listed.stderr
    return {room["room"]: room for room in map(json.loads, listed.stdout.splitlines())}


def wait_for(server: RunningServer, room: str, **expected: object) -> dict[str, object]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        info = rooms(server)[room]
        if all(info[key] == value for key, value in expected.items()):
            return info
        time.sleep(0.2)
    pytest.fail(f"room {room} never was {expected}: {info}")


def both_seated(server: RunningServer, room: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        info = rooms(server)[room]
        if all(info[side]["connected"] for side in ("red", "blue")):  # type: ignore[index]  # JSON
            return
        time.sleep(0.2)
    pytest.fail(f"nobody came to room {room}")


@pytest.mark.slow
def test_eight_matches_of_mixed_games_at_once_each_observed(real_server: RunningServer) -> None:
    server = real_server
    matches = [
        open_match(server, game, options, ("greedy", "random") if number % 2 else ("random", "greedy"))
        for number, (game, options) in enumerate(GAMES * 2)
    ]
    for match in matches:
        both_seated(server, match.room)
    first, *others = (match.room for match in matches)
    for room in others:
        assert server.run("resume", room).returncode == 0

    assert server.run("step", first).returncode == 0
    wait_for(server, first, ply=1, state="paused")
    assert server.run("step", first).returncode == 0
    wait_for(server, first, ply=2, state="paused")
    assert server.run("resume", first).returncode == 0

    for match in matches:
        said, watched = match.outputs()
        assert re.search(r"\b(won|lost|draw)", "".join(said)), said
        result = json.loads(said[0].splitlines()[-1])["result"]
        assert result["kind"] == "outcome", result
        assert result["reason"] in watched
        name = rooms(server)[match.room]["match"]
        checked = server.run("replay", str(name), "--quiet")
        assert checked.returncode == 0, checked.stderr
    print(f"{len(matches)} matches ended by the rules, each observed and verified from the journal")


def test_pause_and_cancel_from_the_command_line(real_server: RunningServer) -> None:
    server = real_server
    match = open_match(server, "towerwars", ("size=12",), ("random", "random"))
    both_seated(server, match.room)
    assert server.run("resume", match.room).returncode == 0
    assert server.run("pause", match.room).returncode == 0
    wait_for(server, match.room, paused=True)
    assert server.run("cancel", match.room, "--reason", "lunch").returncode == 0
    said, watched = match.outputs()
    for text in (*said, watched):
        assert "lunch" in text
    again = server.run("cancel", match.room)
    assert again.returncode == 1
    assert "match_over" in again.stderr


def test_a_second_server_on_the_port_says_so(real_server: RunningServer) -> None:
    refused = real_server.run("serve", "--port", str(real_server.port), "--data-dir", str(real_server.data_dir))
    assert refused.returncode == 1
    assert "cannot_listen" in refused.stderr
    assert "another program" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_server_that_could_not_start_takes_nobodys_port_file_away(real_server: RunningServer, tmp_path: Path) -> None:
    port_file = tmp_path / "port"
    port_file.write_text(f"{real_server.port}\n")
    arguments = ["--port", str(real_server.port), "--port-file", str(port_file), "--data-dir", str(tmp_path / "data")]
    assert real_server.run("serve", *arguments).returncode == 1
    assert port_file.read_text() == f"{real_server.port}\n"
