"""``triarena play``: a person at the prompt, against a bot here or on a server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.clients.lost_connections import started, take_seat, your_turn
from tests.clients.scripted_server import Peer, joined, over, referee, serving

from triarena.cli import main
from triarena.cli.keyboard import Keyboard
from triarena.cli.play import usual_bot
from triarena.cli.prompt import completed
from triarena.games import find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

START = find_game("towerwars").start({"size": 4})


@pytest.fixture
def mirror(tmp_path: Path) -> str:
    """A bot that always plays its last legal move."""
    (tmp_path / "mirror.py").write_text("def choose_move(p): return list(p.legal_moves())[-1]", encoding="utf-8")
    return str(tmp_path / "mirror.py")


def play(*lines: str, options: tuple[str, ...] = ()) -> Result:
    arguments = ["play", "towerwars", "--option", "size=4", *options]
    return CliRunner().invoke(main, arguments, input="".join(line + "\n" for line in lines))


def test_a_person_plays_against_a_bot_without_a_server(mirror: str) -> None:
    done = play("A2->A3", "quit", options=("--bot", mirror))
    assert done.exit_code == 0, done.output
    reply = list(START.play(find_game("towerwars").parse("A2->A3")).legal_moves())[-1]
    assert f"blue plays {reply}" in done.stdout


def test_a_game_is_played_to_its_end_and_the_result_told(mirror: str) -> None:
    """Both sides play the last legal move; the person's are worked out beforehand."""
    position, lines = START, []
    while position.outcome is None:
        move = list(position.legal_moves())[-1]
        if position.to_move.value == "red":
            lines.append(str(move))
        position = position.play(move)
        assert len(lines) < 500
    done = play(*lines, options=("--bot", mirror))
    headline = "you win" if position.outcome.winner is position.outcome.winner.RED else "you lose"
    assert done.stdout.splitlines()[-1].startswith(f"{headline} [{position.outcome.reason}]; red ")


def test_a_move_that_cannot_be_played_is_explained_and_asked_again() -> None:
    done = play("A1->A2", "nonsense", "quit")
    assert "[base_never_moves]" in done.stdout
    assert "'nonsense' is no move" in done.stdout
    assert done.stdout.count("red> ") == 3


def test_help_and_moves_say_what_can_be_typed() -> None:
    done = play("help", "moves", "moves b1->b", "moves z", "quit")
    assert "undo" in done.stdout
    assert f"  {next(START.legal_moves())}\n" in done.stdout
    begins_so = [str(move) for move in START.legal_moves() if str(move).startswith("B1->B")]
    assert begins_so
    assert all(f"  {text}\n" in done.stdout for text in begins_so)
    assert "no legal move begins with z" in done.stdout


def test_a_long_list_of_moves_is_cut() -> None:
    done = CliRunner().invoke(main, ["play", "towerwars", "--option", "size=10"], input="moves\nquit\n")
    assert done.stdout.count("->") >= 24
    more = len(list(find_game("towerwars").start({"size": 10}).legal_moves())) - 24
    assert f"  ... and {more} more; " in done.stdout


def test_legal_is_another_word_for_moves_and_hint_asks_the_greedy_bot() -> None:
    done = play("legal b1->b", "hint", "quit")
    assert "  B1->B" in done.stdout
    (hint,) = [line for line in done.stdout.splitlines() if "greedy would play" in line]
    START.check(find_game("towerwars").parse(hint.split()[-1]))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("(1,1),(2,1),(1,2) (3,1),(4,1),(3,2)", "{{(1,1),(2,1),(1,2)},{(3,1),(4,1),(3,2)}}"),
        ("1,1 2,1 1,2; 3,1 4,1 3,2", "{{(1,1),(2,1),(1,2)},{(3,1),(4,1),(3,2)}}"),
        ("2 1  3 1", "{{(2,1),(3,1)}}"),
        ("{{(2,1),(3,1)}}", "{{(2,1),(3,1)}}"),
        ("end", "{End}"),
        ("1,1 2,1", "{{(1,1),(2,1)}}"),
        ("1,1 2,1 3", "1,1 2,1 3"),
        ("dig 1,1 2,1", "dig 1,1 2,1"),
    ],
)
def test_a_person_may_leave_the_braces_of_flowerwars_out(typed: str, meant: str) -> None:
    assert completed("flowerwars", typed) == meant
    assert completed("towerwars", typed) == typed


def test_a_game_without_a_greedy_bot_is_played_against_the_random_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (usual_bot("towerwars"), usual_bot("nim")) == ("greedy", "random")
    monkeypatch.setattr("triarena.cli.prompt.BUILT_IN", {})
    assert "TowerWars has no greedy bot" in play("hint", "quit").stdout


def test_a_match_that_ends_while_a_person_thinks_is_told_at_once() -> None:
    """Standard input stays open and silent, as a terminal does."""

    def script(peer: Peer) -> None:
        take_seat(peer)
        peer.send(started())
        peer.expect(c.Ready)
        peer.send(your_turn(0))
        peer.send(c.Ping(number=7))
        peer.expect(c.Pong)  # the person still thinks
        peer.send(over(kind="forfeit", reason="timeout", winner="blue", offenders=["red"]))
        assert peer.receive() is None, "nothing is said after the end"

    with serving(script) as server:
        where = ["--host", server.host, "--port", str(server.port)]
        command = [sys.executable, "-m", "triarena.cli", "play", "towerwars", *where]
        silent, keyboard = os.pipe()
        done = subprocess.run(command, stdin=silent, capture_output=True, text=True, timeout=60, check=False)
        os.close(silent)
        os.close(keyboard)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.splitlines()[-2:] == ["red> ", "lost: blue wins: so it ended [timeout]; red 0, blue 1"]


def test_lines_typed_ahead_are_taken_one_by_one() -> None:
    reader, writer = os.pipe()
    keyboard = Keyboard(reader)
    os.write(writer, b"one\r\ntw")
    assert keyboard.ask("> ", lambda seconds: True) == "one"
    os.write(writer, "o ü".encode())
    os.close(writer)
    assert keyboard.ask("> ", lambda seconds: True) == "two ü"
    with pytest.raises(EOFError):
        keyboard.ask("> ", lambda seconds: True)
    os.close(reader)


def test_a_move_is_taken_back_with_the_answer_to_it(mirror: str) -> None:
    done = play("undo", "A2->A3", "undo", "A2->A3", "quit", options=("--bot", mirror))
    assert "there is no move of yours to take back" in done.stdout
    assert done.stdout.count("blue plays ") == 2


def test_who_surrenders_loses() -> None:
    assert play("surrender").stdout.splitlines()[-1].endswith("red surrenders, blue wins")


def test_blue_is_played_after_the_bot_has_moved() -> None:
    done = play("quit", options=("--side", "blue", "--seed", "1"))
    assert done.stdout.startswith("red plays ")
    assert "blue> " in done.stdout


def test_the_end_of_the_input_quits() -> None:
    assert play().exit_code == 0


def test_an_illegal_move_of_the_bot_wins(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def choose_move(position): return 'A1->A2'", encoding="utf-8")
    done = play(options=("--side", "blue", "--bot", str(tmp_path / "bad.py")))
    assert done.exit_code == 1
    assert "the bot's move A1->A2 is illegal, so you win" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chess"], "there is no game 'chess'"),
        (["towerwars", "--option", "size=99"], "size must be a whole number from 4 to 26"),
        (["towerwars", "--room", "r1"], "give --host as well"),
        (["towerwars", "--host", "127.0.0.1", "--side", "blue"], "the side comes with the seat"),
        (["towerwars", "--host", "127.0.0.1", "--room", "r", "--option", "size=4"], "goes with a new room"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, ["play", *arguments])
    assert done.exit_code == 2
    assert sentence in done.stderr


def play_on_server(script: Any, *lines: str, options: tuple[str, ...] = ()) -> Result:
    with serving(script) as server:
        return play(*lines, options=("--host", server.host, "--port", str(server.port), *options))


def test_a_person_plays_on_a_server_and_may_surrender() -> None:
    done = play_on_server(referee(options={"size": 4}), "A2->A3", "surrender")
    assert done.exit_code == 0, done.output
    assert "you have 2 s for each move" in done.stdout
    assert "triarena prepare towerwars --untimed red" in done.stdout
    assert "red plays A2->A3" in done.stdout
    assert "blue plays " in done.stdout
    assert done.stdout.splitlines()[-1] == "red> lost: blue wins: so it ended [surrender]; red 0, blue 1"


@pytest.mark.parametrize("way", ["option", "variable"])
def test_a_person_proves_a_name_by_a_token_as_a_bot_does(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIARENA_TOKEN", "T0" if way == "variable" else "")
    options = ("--name", "Ada", *(("--token", "T0") if way == "option" else ()))
    with serving(referee(options={"size": 4})) as server:
        play("surrender", options=("--host", server.host, "--port", str(server.port), *options))
        hello = server.heard[0]
    assert (hello.name, hello.token) == ("Ada", "T0")


def test_a_persons_reservation_may_stand_in_a_variable_and_matters_on_a_server_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRIARENA_RESERVATION", "CODE")
    codes: list[str] = []

    def script(peer: Peer) -> None:
        peer.greet()
        no = s.Error(code="unknown_reservation", message="no such code", request="join_reserved")
        codes.append(peer.answer(c.JoinReserved, no).reservation)

    with serving(script) as server:
        CliRunner().invoke(main, ["play", "towerwars", "--host", server.host, "--port", str(server.port)])
    assert codes == ["CODE"]
    assert play("quit").exit_code == 0


def test_a_bot_joins_the_persons_room_from_a_process_of_its_own() -> None:
    joins: list[Any] = []

    def script(peer: Peer) -> None:
        peer.greet()
        request = peer.receive()
        joins.append(request)
        peer.send(joined(side="red" if isinstance(request, c.Join) else "blue").model_copy(update={"id": request.id}))
        peer.send(over_at_once)

    over_at_once = s.MatchOver.model_validate(
        {
            "room": "r1",
            "result": {
                "kind": "aborted",
                "reason": "cancelled",
                "detail": {"message": "rain"},
                "sides": {"red": {"score": 0}, "blue": {"score": 0}},
            },
        }
    )
    done = play_on_server(script, options=("--bot", "random"))
    assert done.stdout.splitlines()[-1].startswith("aborted: rain")
    assert [type(request) for request in joins] == [c.Join, c.JoinRoom]
    assert joins[1].room == "r1"
