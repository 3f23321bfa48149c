"""``triarena join``: what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.clients.lost_connections import ask, started, take_seat, take_seat_back, your_turn
from tests.clients.scripted_server import Peer, Script, joined, one_after_another, over, referee, serving

from triarena.cli import main
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

SMALL = ["--game", "towerwars", "--option", "size=4"]
FIRST_MOVE = "def choose_move(position):\n    print('thinking')\n    return next(position.legal_moves())\n"


def join(script: Script, *arguments: str) -> Result:
    with serving(script) as server:
        return CliRunner().invoke(main, ["join", "--host", server.host, "--port", str(server.port), *arguments])


@pytest.fixture
def my_bot(tmp_path: Path) -> str:
    (tmp_path / "my_bot.py").write_text(FIRST_MOVE, encoding="utf-8")
    return str(tmp_path / "my_bot.py")


def ending(message: s.MatchOver) -> Script:
    """A script: a seat, and at once the end of its match."""

    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Join, joined())
        peer.send(message)

    return script


def test_a_file_plays_and_the_match_is_told_in_short_lines(my_bot: str) -> None:
    done = join(referee(options={"size": 4}), *SMALL, my_bot, "--name", "Ann")
    assert done.exit_code == 0, done.output
    told = [line for line in done.stdout.splitlines() if line != "thinking"]
    assert re.fullmatch(r"joined room r1 of towerwars as red, called Ann, at 127\.0\.0\.1:\d+", told[0]), (
        "it may be another server than was meant"
    )
    assert told[1] == "match m1 has started: red Ann against blue Bob"
    assert told[2].split(":")[0] in ("won", "lost")
    assert "so it ended" in told[2]
    assert len(told) == 3


def test_json_prints_one_line_whatever_the_bot_prints(my_bot: str) -> None:
    done = join(referee(options={"size": 4}), *SMALL, my_bot, "--json")
    (line,) = done.stdout.splitlines()
    record = json.loads(line)
    assert (record["side"], record["match"], record["players"]) == ("red", "m1", {"red": "Ann", "blue": "Bob"})
    assert record["verdict"] == ("won" if record["result"]["winner"] == "red" else "lost")
    assert "thinking" in done.stderr


def test_several_matches_are_played_in_turn_over_one_connection() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        for room in ("r1", "r2", "r3"):
            peer.answer(c.Join, joined(room=room))
            peer.send(over().model_copy(update={"room": room}))

    done = join(script, *SMALL, "--matches", "3", "--json")
    assert [json.loads(line)["room"] for line in done.stdout.splitlines()] == ["r1", "r2", "r3"]


@pytest.mark.parametrize(
    ("end", "exit_code", "told"),
    [
        (over(winner="red"), 0, "won: red wins: so it ended [base]; red 1, blue 0"),
        (over(winner="blue"), 0, "lost: blue wins: so it ended [base]; red 0, blue 1"),
        (over(winner=None, reason="points"), 0, "drawn: no winner: so it ended [points]; red 0, blue 0"),
        (over(kind="forfeit", reason="surrender", winner="blue", offenders=["red"]), 0, "lost: blue wins: "),
        (over(kind="forfeit", reason="timeout", winner="blue", offenders=["red"]), 3, "lost: blue wins: "),
        (over(kind="forfeit", reason="no_show", winner=None, offenders=["red", "blue"]), 3, "lost: no winner: "),
        (over(kind="forfeit", reason="timeout", winner="red", offenders=["blue"]), 0, "won: red wins: "),
        (over(kind="aborted", reason="ply_limit", winner=None), 0, "aborted: so it ended [ply_limit]"),
        (over(kind="aborted", reason="storage_lost", winner=None), 1, "aborted: so it ended [storage_lost]"),
    ],
)
def test_the_exit_code_tells_a_regular_end_from_a_fault(end: s.MatchOver, exit_code: int, told: str) -> None:
    done = join(ending(end), *SMALL)
    assert done.exit_code == exit_code
    assert done.stdout.splitlines()[-1].startswith(told)


def test_an_illegal_move_warns_before_the_referee_speaks_and_exits_3(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text("def choose_move(position): return 'A1->A2'", encoding="utf-8")
    done = join(referee(options={"size": 4}), *SMALL, str(tmp_path / "my_bot.py"))
    assert done.exit_code == 3
    assert "warning: ply 0, move A1->A2: " in done.stderr
    assert "[illegal_move: base_never_moves]" in done.stdout


def test_a_bot_that_raises_shows_its_own_traceback_and_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text("def choose_move(position):\n    return 1 / 0\n", encoding="utf-8")
    done = join(referee(options={"size": 4}), *SMALL, str(tmp_path / "my_bot.py"))
    assert done.exit_code == 3
    assert done.stdout.splitlines()[-1].startswith("lost: ")
    assert done.stderr.splitlines()[-1] == (
        "Error: ply 0: choose_move raised ZeroDivisionError: division by zero in my_bot.py, line 2 [bot_failed]"
    )
    assert "return 1 / 0" in done.stderr
    assert "triarena" not in done.stderr


@pytest.mark.parametrize("raised", ["SystemExit(0)", "BaseException('own')", "GeneratorExit()"])
def test_whatever_a_bot_raises_is_its_own_fault(tmp_path: Path, raised: str) -> None:
    (tmp_path / "my_bot.py").write_text(f"def choose_move(position): raise {raised}", encoding="utf-8")
    done = join(referee(options={"size": 4}), *SMALL, str(tmp_path / "my_bot.py"))
    assert done.exit_code == 3
    assert done.stderr.rstrip().endswith("[bot_failed]")


def test_a_bot_that_closes_standard_output_plays_on_and_is_told_in_the_end(tmp_path: Path) -> None:
    text = "import sys\ndef choose_move(p):\n    sys.stdout.close()\n    return next(p.legal_moves())\n"
    (tmp_path / "my_bot.py").write_text(text, encoding="utf-8")
    with serving(referee(options={"size": 4})) as server:
        command = [sys.executable, "-m", "triarena.cli", "join", *SMALL, "--port", str(server.port)]
        done = subprocess.run(
            [*command, str(tmp_path / "my_bot.py")], capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "Error: standard output cannot be written: somebody has closed it [cannot_write]\n"
    assert isinstance(server.heard[-1], c.Move), "the match was played to its end"


def test_who_is_first_is_told_what_is_waited_for() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Join, joined(options={"size": 4, "max_plies": 9}))

    done = join(script, *SMALL, "--rejoin-patience", "0")
    assert done.stdout.splitlines()[1] == "waiting for an opponent in room r1 (towerwars, size=4, max_plies=9) ..."


def test_a_bot_that_never_returns_is_ended_with_the_result(tmp_path: Path) -> None:
    """The match is lost by the clock while it thinks; nobody else could tell whoever started it."""
    (tmp_path / "my_bot.py").write_text("def choose_move(position):\n    while True:\n        pass\n", encoding="utf-8")

    def script(peer: Peer) -> None:
        take_seat(peer)
        peer.send(started())
        peer.expect(c.Ready)
        peer.send(s.YourTurn.model_validate({**your_turn(0).model_dump(), "clock": {"remaining_ms": 10}}))
        peer.send(over(kind="forfeit", reason="timeout", winner="blue", offenders=["red"]))
        assert peer.receive() is None

    with serving(script) as server:
        command = [sys.executable, "-m", "triarena.cli", "join", *SMALL, "--port", str(server.port)]
        done = subprocess.run(
            [*command, str(tmp_path / "my_bot.py")], capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1].startswith("lost: blue wins: so it ended [timeout]")
    assert done.stderr.startswith("Error: choose_move has not returned (it is in my_bot.py, line ")


def test_ctrl_c_leaves_the_match_and_says_to_whom_it_goes(tmp_path: Path) -> None:
    """The bot presses the keys itself, so that the moment is certain."""
    text = "import os, signal\ndef choose_move(position): os.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "my_bot.py").write_text(text, encoding="utf-8")
    with serving(referee(options={"size": 4})) as server:
        command = [sys.executable, "-m", "triarena.cli", "join", *SMALL, "--port", str(server.port)]
        command.append(str(tmp_path / "my_bot.py"))
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    said = "interrupted: you have left match m1, so it goes to your opponent [left]\n"
    assert (done.returncode, done.stderr) == (130, said)
    assert isinstance(server.heard[-1], c.Leave)


def test_coming_back_is_told_beside_the_results_and_the_start_only_once(my_bot: str) -> None:
    def lost(peer: Peer) -> None:
        begin(peer)
        ask(peer, 0)

    def back(peer: Peer) -> None:
        take_seat_back(peer)
        peer.send(started(1), over())

    done = join(one_after_another(lost, back), *SMALL, my_bot)
    assert done.exit_code == 0
    assert [line.split(" ")[0] for line in done.stdout.splitlines()] == ["joined", "match", "thinking", "back", "won:"]
    first, second = done.stderr.splitlines()
    assert first.startswith("connection lost: ")
    assert second.startswith("back in the match after ")


def test_a_bot_that_was_started_again_in_the_middle_of_its_match_is_told_where_it_stands(my_bot: str) -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinReserved, joined())
        peer.send(started(3), over())

    done = join(script, "--reservation", "CODE", my_bot)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1] == "back in the match at ply 3: m1, red Ann against blue Bob"
    assert "has started" not in done.stdout


def test_after_a_loss_it_is_told_at_which_ply_the_match_goes_on(my_bot: str) -> None:
    def back(peer: Peer) -> None:
        take_seat_back(peer)
        peer.send(started(3), over())

    done = join(one_after_another(begin, back), *SMALL, my_bot)
    assert [line for line in done.stdout.splitlines() if "match" in line] == [
        "match m1 has started: red Ann against blue Bob",
        "back in the match at ply 3",
    ]


def full_on_trial(peer: Peer) -> None:
    """A script: a full server lets one in to hear whether it is an administrator."""
    peer.greet()
    peer.receive()
    peer.send(s.Goodbye(code="server_full", message="the server has 8 connections, and no more; try later"))


def full_at_the_door(peer: Peer) -> None:
    peer.send(s.Refused(code="server_full", message="the server has 8 connections, and no more; try later"))


@pytest.mark.parametrize("refuse", [full_on_trial, full_at_the_door])
def test_a_full_server_is_asked_again_and_no_connection_is_said_to_be_lost(
    refuse: Script, my_bot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triarena.cli.options.FULL_SECONDS", 0.01)
    done = join(one_after_another(refuse, refuse, ending(over())), *SMALL, my_bot)
    assert done.exit_code == 0, done.output
    assert "the server has 8 connections, and no more; try later [server_full]" in done.stderr
    assert "lost" not in done.stderr
    assert "won: red wins" in done.stdout


@pytest.mark.parametrize("refuse", [full_on_trial, full_at_the_door])
def test_without_patience_a_full_server_is_the_end(refuse: Script, my_bot: str) -> None:
    done = join(refuse, *SMALL, my_bot, "--rejoin-patience", "0")
    assert (done.exit_code, done.stderr.splitlines()) == (
        1, ["Error: the server has 8 connections, and no more; try later [server_full]"]
    )  # fmt: skip


def test_without_patience_a_lost_connection_is_an_error(my_bot: str) -> None:
    done = join(begin, *SMALL, my_bot, "--rejoin-patience", "0")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith("only match_over ends one [connection_lost]")


def begin(peer: Peer) -> None:
    """A script: the match begins, and the connection is lost."""
    take_seat(peer)
    peer.send(started())
    peer.expect(c.Ready)


def test_a_bot_that_cannot_be_loaded_never_takes_a_seat() -> None:
    done = CliRunner().invoke(main, ["join", *SMALL, "nowhere.py", "--port", "1"])
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: there is no file nowhere.py;")


def test_without_a_server_the_sentence_says_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    done = CliRunner().invoke(main, ["join", *SMALL, "--port", port])
    assert done.exit_code == 1
    assert "triarena serve" in done.stderr
    assert done.stderr.rstrip().endswith("[connection_refused]")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--game", "towerwar"], "there is no game 'towerwar' (did you mean towerwars?)"),
        (["--game", "towerwars", "--option", "siez=4"], "siez"),
        (["--game", "towerwars", "--option", "size=99"], "size must be a whole number from 4 to 26"),
    ],
)
def test_a_misspelt_game_or_option_is_told_although_no_server_runs(arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, ["join", *arguments, "--port", "1"])
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_a_full_room_is_the_servers_sentence() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinRoom, s.Error(code="room_full", message="both seats are taken", request="join_room"))

    done = join(script, "--room", "r1")
    assert (done.exit_code, done.stderr) == (1, "Error: both seats are taken [room_full]\n")


def test_a_seat_of_another_game_is_given_back(my_bot: str) -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinReserved, joined())
        peer.expect(c.Leave)
        peer.send(s.Left(room="r1"))

    done = join(script, "--reservation", "CODE", "--game", "flowerwars", my_bot)
    assert done.exit_code == 1
    assert done.stderr.rstrip().endswith("[other_game]")


def test_a_reservation_may_stand_in_a_variable_where_others_do_not_see_it(
    my_bot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[str] = []

    def script(peer: Peer) -> None:
        peer.greet()
        codes.append(
            peer.answer(
                c.JoinReserved, s.Error(code="unknown_reservation", message="no such code", request="join_reserved")
            ).reservation
        )

    monkeypatch.setenv("TRIARENA_RESERVATION", "CODE")
    join(script, my_bot)
    join(script, my_bot, "--reservation", "OTHER")
    assert codes == ["CODE", "OTHER"]


def test_a_room_on_the_command_line_comes_before_a_reservation_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinRoom, s.Error(code="room_full", message="both seats are taken", request="join_room"))

    monkeypatch.setenv("TRIARENA_RESERVATION", "CODE")
    assert "[room_full]" in join(script, "--room", "r1").stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "which seat?"),
        (["--room", "r", "--reservation", "c"], "both choose a seat"),
        (["--room", "r", "--option", "size=4"], "--option goes with --game alone"),
        (["--reservation", "c", "--matches", "2"], "good for one match"),
        (["--reservation", "my_bot.py"], "the code is missing, as in --reservation CODE my_bot.py"),
        (["--game", "towerwars", "--option", "size"], "'size' is not of the form NAME=VALUE"),
        (["--game", "towerwars", "--option", "size=4", "--option", "size=5"], "'size' is given twice"),
        (["--game", "towerwars", "--name", " "], "cannot be a player's name"),
        (["--room", ""], "'' cannot be room"),
    ],
)
def test_wrong_use_is_told_before_anything_is_tried(arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, ["join", "--port", "1", *arguments])
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_waiting_for_the_server_ends_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is the test's, so that nothing is waited for."""
    now, naps = [0.0], []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("triarena.cli.options.time.monotonic", lambda: now[0])
    monkeypatch.setattr("triarena.cli.options.time.sleep", sleep)
    done = CliRunner().invoke(main, ["join", *SMALL, "--port", "1", "--wait", "1"])
    assert done.exit_code == 1
    assert len(naps) == 5
    assert "[connection_refused]" in done.stderr
