"""Clients of the Software-Challenge against a real server process: bots of the 2024 season, an administrator, a crowd.

The package ``socha`` 2.2.2 gets an environment of its own; where it can't be installed, its tests skip. The whole of
it, 50 games of each kind and 200 at once, is ``benchmarks/old_clients.py`` and ``benchmarks/plain_joins.py``.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from old_clients import UNHURRIED, against_each_other, against_ours
from software_challenge.environment import CannotInstall, socha_python
from software_challenge.hosting import Host, host
from software_challenge.xml_players import Connection, Played, Seats, kind, play_games

PASSWORD = "examplepassword"
SLOT = '<slot displayName="{}" canTimeout="true" reserved="true"/>'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Host]:
    with host(tmp_path / "data", {"TRIARENA_SOCHA__PASSWORD": PASSWORD, **UNHURRIED}) as server:
        yield server


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return socha_python(tmp_path_factory.mktemp("socha") / "environment")
    except CannotInstall as error:
        pytest.skip(f"the package socha can't be installed here: {error}")


def test_bots_of_2024_play_each_other_and_see_what_our_journal_has(server: Host, python: Path) -> None:
    found = against_each_other(python, server, 3)
    assert found.differences == []
    assert found.games == 3
    assert found.ends.keys() <= {"outcome no_move", "outcome segment_distance", "outcome goal", "outcome round_limit"}
    assert found.states == 2 * (found.plies + found.games)
    assert found.predicted == found.plies
    assert found.listed > found.plies


def test_a_bot_of_2024_plays_one_of_ours_in_the_same_room(server: Host, python: Path) -> None:
    found = against_ours(python, server, 3, "random")
    assert found.differences == []
    assert found.games == 3
    assert found.states == found.plies + found.games
    assert all(end.startswith("outcome") for end in found.ends)


def test_an_administrator_of_the_original_runs_a_game_over_tcp(server: Host) -> None:
    admin, one, two = (Connection(server.xml_port) for _ in range(3))
    slots = "".join(SLOT.format(name) for name in ("A", "B"))
    admin.say(f'<protocol>\n  <authenticate password="{PASSWORD}"/>')
    admin.say(f'\n  <prepare gameType="swc_2024_mississippi_queen" pause="true">{slots}</prepare>')
    (prepared,) = admin.expect("prepared")
    room, codes = prepared.attrib["roomId"], [code.text for code in prepared]
    admin.say(f'\n  <observe roomId="{room}"/>')
    admin.expect("observed")
    for player, code in zip((one, two), codes, strict=True):
        player.say(f'<protocol>\n  <joinPrepared reservationCode="{code}"/>')
        player.expect("joined")
    one.expect("welcomeMessage")
    two.expect("welcomeMessage")
    admin.expect("memento")
    admin.say(f'\n  <step roomId="{room}" forced="false"/>')
    one.expect("memento", "moveRequest")
    move = '<turn direction="UP_RIGHT"/><advance distance="1"/>'
    one.say(f'<room roomId="{room}"><data class="move"><actions>{move}</actions></data></room>')
    one.expect("memento")
    two.expect("memento", "memento")
    admin.say(f'\n  <pause roomId="{room}" pause="false"/>')
    two.expect("moveRequest")
    admin.say(f'\n  <cancel roomId="{room}"/>')
    for client in (one, two):
        client.expect("result", "left")
    assert [kind(admin.hear()) for _ in range(5)] == ["memento", "memento", "paused", "result", "left"]
    admin.say("\n  <sc.protocol.CloseConnection/>\n</protocol>")
    with pytest.raises(EOFError):
        admin.hear()
    for client in (admin, one, two):
        client.close()


def test_prepare_prints_the_port_at_which_old_bots_take_their_seats(server: Host) -> None:
    ours = ["--port", str(server.port), "--secret-file", str(server.folder / "admin-secret")]
    printed = cli("prepare", "mississippi_queen", "--option", "rules=server-24.2.5", *ours).stdout
    codes = re.findall(rf"java -jar .* --port {server.xml_port} --reservation (\S+)", printed)
    assert len(codes) == 2
    for code in codes:
        player = Connection(server.xml_port)
        player.say(f'<protocol>\n  <joinPrepared reservationCode="{code}"/>')
        player.expect("joined")
        player.close()


def test_a_command_of_ours_at_the_port_for_xml_quotes_the_right_one(server: Host) -> None:
    refused = cli("rooms", "--port", str(server.xml_port))
    assert refused.returncode != 0
    assert f"all others connect to port {server.port}" in refused.stderr
    assert "wrong_port" in refused.stderr


def cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "triarena.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_eight_games_at_once_by_plain_joins_come_to_their_end(server: Host) -> None:
    played, seats = Played(), Seats(24)
    players = [
        threading.Thread(target=play_games, args=(server.xml_port, seed, seats, played), daemon=True)
        for seed in range(16)
    ]
    for player in players:
        player.start()
    for player in players:
        player.join()
    assert played.failures == []
    assert played.games == 2 * 24
    replays = server.replays()
    assert len(replays) == 24
    file = server.folder / "game.xml.gz"
    replay = [sys.executable, "-m", "triarena.cli", "replay", replays[0].match, "--data-dir", str(server.folder)]
    theirs = [*replay, "--format", "software-challenge"]
    printed = subprocess.run(theirs, capture_output=True, check=True, timeout=60).stdout
    subprocess.run([*theirs, "--export", str(file), "--quiet"], check=True, timeout=60)
    assert gzip.decompress(file.read_bytes()) == printed
    states = [element for element in ET.fromstring(printed) if kind(element) == "memento"]
    assert len(states) == len(replays[0].plies) + 1
