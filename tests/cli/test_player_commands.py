"""``triarena watch``, ``games``, ``rooms`` and ``health``, against a scripted server."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.clients.scripted_server import GAMES, INFO, Peer, Script, over, result, serving

from triarena.cli import COMMANDS, main
from triarena.games import find_game, games
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.room_views import RoomInfo, RoomView, Seat

GAME = find_game("towerwars")
START = GAME.start({"size": 4})
MOVE = GAME.parse("A2->A3")


def run(command: str, script: Script, *arguments: str) -> Result:
    with serving(script) as server:
        return CliRunner().invoke(main, [command, *arguments, "--host", server.host, "--port", str(server.port)])


def greet(peer: Peer) -> None:
    peer.greet()


def match_of_one_ply(peer: Peer, end: s.MatchOver | None = None) -> None:
    """A script: a room to watch, one ply, the end, which is a forfeit if it is not given."""
    peer.greet()
    view = RoomView.model_validate({"info": INFO, "position": GAME.write_position(START)})
    peer.answer(c.Observe, s.Observing(room="r1", view=view))
    moved = {"room": "r1", "ply": 0, "side": "red", "move": GAME.write_move(MOVE), "text": "A2->A3", "used_ms": 1500.0}
    peer.send(
        s.Moved.model_validate({**moved, "position": GAME.write_position(START.play(MOVE))}),
        end or over(kind="forfeit", reason="timeout", winner="red", offenders=["blue"]),
    )


def rooms_are(*infos: RoomInfo) -> Script:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.ListRooms, s.Rooms(rooms=list(infos)))

    return script


def test_watching_draws_every_ply_and_ends_with_the_result() -> None:
    done = run("watch", match_of_one_ply, "r1")
    assert done.exit_code == 0, done.output
    first, second, last, rest = done.stdout.split("-" * 40 + "\n")
    assert first.splitlines()[:3] == [
        "room r1  towerwars  match m1  running  ply 0",
        "> red   Ann  0.0 s",
        "  blue  Bob  0.0 s",
    ]
    assert "  red   Ann  1.5 s" in second.splitlines()
    assert second.splitlines()[-1] == "last move: A2->A3"
    assert last.splitlines()[-1] == "red wins: so it ended [timeout]; red 1, blue 0"
    assert rest == ""


def test_into_a_pipe_nothing_is_coloured() -> None:
    assert "\x1b" not in run("watch", match_of_one_ply, "r1").stdout


def test_on_a_terminal_the_board_is_drawn_in_place_and_in_colour() -> None:
    pytest.importorskip("rich")
    with serving(match_of_one_ply) as server:
        output = on_pseudo_terminal("watch", "r1", "--host", server.host, "--port", str(server.port))
    assert "\x1b[" in output
    assert "red wins: so it ended [timeout]" in output


def on_pseudo_terminal(*arguments: str) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "triarena.cli", *arguments]
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    output = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # how a terminal without a writer ends
            break
        if not chunk:
            break
        output += chunk
    os.close(ours)
    assert process.wait(60) == 0, output
    return output.decode()


def test_a_room_that_does_not_exist_is_the_servers_sentence() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Observe, s.Error(code="no_such_room", message="there is no room 'r9'", request="observe"))

    done = run("watch", script, "r9")
    assert (done.exit_code, done.stderr) == (1, "Error: there is no room 'r9' [no_such_room]\n")


def test_the_list_of_rooms_is_a_table() -> None:
    waiting = INFO.model_copy(
        update={
            "room": "r22",
            "state": "waiting",
            "to_move": None,
            "match": None,
            "blue": Seat(connected=False, reserved=True, used_ms=0),
        }
    )
    done = run("rooms", rooms_are(INFO, waiting))
    assert done.stdout.splitlines() == [
        "room  game              state    red  blue        ply  to move  red time  blue time  watching",
        "r1    towerwars size=4  running  Ann  Bob         0    red      0.0 s     0.0 s      1",
        "r22   towerwars size=4  waiting  Ann  (reserved)  0             0.0 s     0.0 s      1",
    ]


def test_a_name_tells_whether_its_player_is_there() -> None:
    gone = Seat(name="Bob", connected=False, reserved=True, used_ms=0)
    states = ("waiting", "running", "over")
    infos = [INFO.model_copy(update={"state": state, "blue": gone}) for state in states]
    _, *rows = run("rooms", rooms_are(*infos)).stdout.splitlines()
    assert ["(reserved)" in row for row in rows] == [True, False, False]
    assert ["(away)" in row for row in rows] == [False, True, False]


def test_rooms_as_json_are_one_line_each() -> None:
    done = run("rooms", rooms_are(INFO, INFO), "--json")
    assert [json.loads(line)["red"]["name"] for line in done.stdout.splitlines()] == ["Ann", "Ann"]


def test_without_rooms_the_sentence_says_how_to_open_one() -> None:
    assert run("rooms", rooms_are()).stdout.startswith("no rooms; open one with: triarena join")


def test_the_games_of_a_server_are_told_with_their_options() -> None:
    done = run("games", greet)
    assert done.stdout.splitlines() == [
        "towerwars: TowerWars, rules version 1",
        "  --option size=8   4 to 26; the board's rows",
        "  rules: docs/rules/towerwars.md in the project's folder",
    ]
    assert json.loads(run("games", greet, "--json").stdout) == GAMES[0].model_dump(exclude_none=True)


def test_the_games_of_this_installation_need_no_server() -> None:
    done = CliRunner().invoke(main, ["games", "--json"])
    listed = {record["name"]: record for record in map(json.loads, done.stdout.splitlines())}
    assert set(listed) == set(games())
    assert listed["towerwars"]["options"][0]["maximum"] == 26
    for name in games():
        assert f"{name}: " in CliRunner().invoke(main, ["games"]).stdout


def test_health_is_one_line() -> None:
    done = run("health", greet)
    assert done.exit_code == 0
    assert done.stdout.endswith("is up: scripted 1, protocol 1, towerwars\n")
    facts: dict[str, Any] = json.loads(run("health", greet, "--json").stdout)
    assert (facts["software"], facts["games"]) == ("scripted 1", ["towerwars"])


def without_storage(peer: Peer) -> None:
    """A script: a server whose database is lost."""
    peer.greet(storage_lost=True)
    if peer.receive() is not None:
        peer.send(s.Rooms(rooms=[INFO], id=1))


def test_health_and_rooms_tell_of_a_lost_database() -> None:
    done = run("health", without_storage)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "database cannot be written" in done.stderr
    assert done.stderr.endswith("[storage_lost]\n")
    assert json.loads(run("health", without_storage, "--json").stdout)["storage_lost"] is True
    assert json.loads(run("health", greet, "--json").stdout)["storage_lost"] is False
    done = run("rooms", without_storage, "--json")
    assert (done.exit_code, json.loads(done.stdout)["room"]) == (0, "r1")
    assert done.stderr.startswith("warning: the server's database cannot be written")


def test_health_of_no_server_is_a_sentence_and_exit_code_1() -> None:
    done = CliRunner().invoke(main, ["health", "--port", "1"])
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: nobody listens on 127.0.0.1:1")


def test_the_server_may_be_named_by_the_environment() -> None:
    with serving(greet) as server:
        environment = {"TRIARENA_HOST": server.host, "TRIARENA_PORT": str(server.port)}
        assert CliRunner().invoke(main, ["health"], env=environment).exit_code == 0


@pytest.mark.parametrize(
    "command",
    ["join", "play", "watch", "games", "rooms", "health", "prepare", "pause", "resume", "step", "cancel", "kick"],
)
def test_every_command_teaches_with_an_example(command: str) -> None:
    assert command in COMMANDS
    done = CliRunner().invoke(main, [command, "--help"])
    assert done.exit_code == 0
    assert f"$ triarena {command}" in done.stdout


def test_a_reader_who_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m triarena.cli games | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


def test_a_result_tells_further_counts() -> None:
    from triarena.clients.results import scores
    from triarena.protocol.values import Scores, SideScore

    sides = Scores(red=SideScore(score=12, extras={"passengers": 2}), blue=SideScore(score=9))
    assert scores(result().model_copy(update={"sides": sides})) == "red 12 (passengers 2), blue 9"


def test_players_and_administrators_need_no_extra() -> None:
    """With the extras' modules out of reach, everything but the live drawing works."""
    extras = ("rich", "trio", "structlog", "orjson", "sqlalchemy", "alembic", "platformdirs", "psycopg")
    program = f"import sys; sys.modules.update(dict.fromkeys({extras!r})); from triarena.cli import main; main()"
    lines = []
    with serving(match_of_one_ply) as server:
        address = ["--host", server.host, "--port", str(server.port)]
        for arguments in (["watch", "r1", *address], ["games"], ["pause", "r1", "--port", "1"]):
            command = [sys.executable, "-c", program, *arguments]
            environment = {name: value for name, value in os.environ.items() if not name.startswith("TRIARENA_")}
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
            lines.append((done.stdout + done.stderr).splitlines()[-1])
    assert lines[0] == "-" * 40
    assert lines[1].startswith("  rules: docs/rules/")
    assert lines[2].endswith("[connection_refused]")
