"""``triarena prepare``, ``pause``, ``resume``, ``step``, ``cancel``, ``kick``, and where the secret comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.clients.scripted_server import INFO, Peer, Script, over, serving

from triarena.cli import main
from triarena.games import find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.room_views import RoomView
from triarena.protocol.values import Budget, PerMove, TimeControl, Unlimited

GAME = find_game("towerwars")

ALL = ("prepare towerwars", "pause r1", "resume r1", "step r1", "cancel r1", "kick 7")
"""Every command that needs the secret."""


class Office:
    """A script that lets an administrator in and answers one request; remembers what it was asked."""

    def __init__(self, kind: type[Any], answer: Any) -> None:
        self.kind, self.answer = kind, answer
        self.secret = ""
        self.asked: Any = None

    def __call__(self, peer: Peer) -> None:
        peer.greet()
        self.secret = peer.answer(c.Authenticate, s.Authenticated()).secret
        self.asked = peer.answer(self.kind, self.answer)


def run(script: Script, command: str, *arguments: str, **environment: str) -> tuple[Result, int]:
    """The command's result, and the port of the server that it ran against."""
    with serving(script) as server:
        port = str(server.port)
        done = CliRunner().invoke(
            main, [command, *arguments, "--port", port], env={"TRIARENA_SECRET": "s3", **environment}
        )
    return done, server.port


def test_preparing_prints_one_command_per_seat_and_one_to_watch() -> None:
    office = Office(c.Prepare, s.Prepared(room="r7", reservations=["RED-CODE", "BLUE-CODE"]))
    done, port = run(office, "prepare", "towerwars", "--option", "size=10", "--name-red", "Ann", "--name-blue", "Bob B")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "room r7 is ready; replace my_bot.py by the bot's file:",
        "red, Ann:",
        f"  triarena join my_bot.py --reservation RED-CODE --port {port}",
        "blue, Bob B:",
        f"  triarena join my_bot.py --reservation BLUE-CODE --port {port}",
        "to watch:",
        f"  triarena watch r7 --port {port}",
        "a bot that was killed or has lost its connection is started again with the same command, also after a restart "
        "of the server; one whose own function fails has left the match and lost it",
    ]
    assert office.asked == c.Prepare(
        id=2, game="towerwars", options={"size": 10}, slots=[c.Slot(name="Ann"), c.Slot(name="Bob B")]
    )


def test_a_room_with_the_rules_of_old_bots_is_prepared_with_their_commands() -> None:
    office = Office(c.Prepare, s.Prepared(room="r7", reservations=["RED-CODE", "BLUE-CODE"], socha_port=13051))
    done, _ = run(office, "prepare", "mississippi_queen", "--option", "rules=server-24.2.5")
    assert done.stdout.splitlines()[-6:] == [
        "or bots of the Software-Challenge:",
        "red:",
        "  java -jar my-old-bot.jar --host 127.0.0.1 --port 13051 --reservation RED-CODE",
        "blue:",
        "  java -jar my-old-bot.jar --host 127.0.0.1 --port 13051 --reservation BLUE-CODE",
        "such a bot loses a running match with its connection; only after a restart it comes back to it",
    ]
    others, _ = run(office, "prepare", "mississippi_queen")
    assert "java" not in others.stdout
    assert others.stdout.splitlines()[-1] == "bots of the Software-Challenge need --option rules=server-24.2.5"


def test_no_commands_for_old_bots_are_printed_where_the_server_lets_none_in() -> None:
    office = Office(c.Prepare, s.Prepared(room="r7", reservations=["RED-CODE", "BLUE-CODE"]))
    done, _ = run(office, "prepare", "mississippi_queen", "--option", "rules=server-24.2.5")
    assert "java" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith("only at a server that was started with --socha")
    others, _ = run(office, "prepare", "mississippi_queen")
    assert "Software-Challenge" not in others.stdout


def test_clocks_seed_pause_and_open_seats_are_passed_on() -> None:
    office = Office(c.Prepare, s.Prepared(room="r7", reservations=[None, None]))
    arguments = ["--open", "--paused", "--seed", "5", "--move-time", "0.5", "--untimed", "blue"]
    done, port = run(office, "prepare", "towerwars", *arguments)
    assert done.stdout.splitlines()[1:3] == ["red:", f"  triarena join my_bot.py --room r7 --port {port}"]
    assert done.stdout.splitlines()[-1].startswith(f"  triarena resume r7 --port {port}")
    assert office.asked == c.Prepare(
        id=2,
        game="towerwars",
        seed=5,
        move_ms=500,
        slots=[c.Slot(reserved=False), c.Slot(reserved=False, timed=False)],
        paused=True,
    )


def test_preparing_for_a_program_prints_json() -> None:
    office = Office(c.Prepare, s.Prepared(room="r7", reservations=["RED-CODE", "BLUE-CODE"], reservation_seconds=600.0))
    done, _ = run(office, "prepare", "towerwars", "--json")
    assert json.loads(done.stdout) == {
        "room": "r7",
        "reservations": {"red": "RED-CODE", "blue": "BLUE-CODE"},
        "reservation_seconds": 600.0,
        "time_controls": {},
        "socha_port": None,
    }


@pytest.mark.parametrize(
    ("controls", "line"),
    [
        ([PerMove(move_ms=3000, margin_ms=50)] * 2, "time: 3000 ms a move (and 50 ms for the network)"),
        ([Budget(budget_ms=300_000, increment_ms=2000), Unlimited()],
         "time: red 300000 ms for all moves and 2000 ms a move; blue no clock"),
    ],
)  # fmt: skip
def test_preparing_tells_the_clock_that_the_server_announced(controls: list[TimeControl], line: str) -> None:
    office = Office(c.Prepare, s.Prepared(room="r7", reservations=["R", "B"], time_controls=controls))
    done, _ = run(office, "prepare", "towerwars", "--budget", "300", "--increment", "2")
    assert line in done.stdout.splitlines()
    assert (office.asked.budget_ms, office.asked.increment_ms) == (300_000, 2000)


@pytest.mark.parametrize("arguments", [["--move-time", "1", "--budget", "9"], ["--increment", "1"]])
def test_clocks_that_exclude_each_other_are_wrong_use(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, ["prepare", "towerwars", *arguments])
    assert done.exit_code == 2
    assert "--budget" in done.output


def test_a_name_that_no_server_takes_is_wrong_use() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Authenticate, s.Authenticated())

    done, _ = run(script, "prepare", "towerwars", "--name-red", "!")
    assert done.exit_code == 2
    assert "'!' cannot be a player's name" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        (["pause", "r1"], c.Pause(id=2, room="r1")),
        (["resume", "r1"], c.Resume(id=2, room="r1")),
        (["step", "r1"], c.Step(id=2, room="r1")),
        (["cancel", "r1", "--reason", "rain"], c.Cancel(id=2, room="r1", reason="rain")),
        (["kick", "c7"], c.Kick(id=2, connection="c7")),
    ],
)
def test_each_control_command_sends_its_request_and_prints_the_servers_sentence(
    arguments: list[str], request_: Any
) -> None:
    office = Office(type(request_), s.Done(message="it is done"))
    done, _ = run(office, *arguments)
    assert (done.exit_code, done.stdout) == (0, "it is done\n")
    assert office.asked == request_


def refusing(code: str) -> Script:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Authenticate, s.Error(code=code, message="that is not it", request="authenticate"))

    return script


@pytest.mark.parametrize("place", ["variable", "option", "file", "own server"])
@pytest.mark.parametrize("words", [*map(str.split, ALL), ["rooms"]], ids=lambda words: words[0])
def test_a_wrong_secret_is_told_with_where_it_was_found_and_what_to_do(
    words: list[str], place: str, tmp_path: Path
) -> None:
    file = tmp_path / "admin-secret"
    file.write_text("s4", encoding="utf-8")
    given = {"option": ["--secret", "s4"], "file": ["--secret-file", str(file)]}.get(place, [])
    if words == ["rooms"] and not given:
        return  # it shows no secret that was not given to it
    own = {} if place == "variable" else {"TRIARENA_SECRET": "", "TRIARENA_SERVER__DATA_DIR": str(tmp_path)}
    done, port = run(refusing("wrong_secret"), *words, *given, **own)
    source = {
        "variable": "the variable TRIARENA_SECRET",
        "option": "--secret",
        "file": f"the file {file}",
        "own server": f"the file {file}, where a server started here would keep it,",
    }[place]
    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: the secret from {source} is not the one of the server at 127.0.0.1:{port}; that server keeps its own "
        "in the file 'admin-secret' of its data directory: name it with --secret-file [wrong_secret]\n"
    )


def test_another_refusal_of_an_administrator_is_the_servers_sentence() -> None:
    done, _ = run(refusing("throttled"), "pause", "r1")
    assert (done.exit_code, done.stderr) == (1, "Error: that is not it [throttled]\n")


def test_the_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from the file\n", encoding="utf-8")
    office = Office(c.Pause, s.Done(message=""))
    run(office, "pause", "r1", "--secret-file", str(tmp_path / "secret"), TRIARENA_SECRET="")
    assert office.secret == "from the file"


def test_a_secret_that_is_typed_goes_before_the_one_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from the file\n", encoding="utf-8")
    for typed, secret in (
        (["--secret-file", str(tmp_path / "secret")], "from the file"),
        (["--secret", "said"], "said"),
    ):
        office = Office(c.Pause, s.Done(message=""))
        run(office, "pause", "r1", *typed, TRIARENA_SECRET="from the environment")
        assert office.secret == secret


@pytest.mark.parametrize("words", [["pause", "r1"], ["rooms"]])
def test_two_secrets_that_are_typed_are_one_too_many(words: list[str], tmp_path: Path) -> None:
    typed = ["--secret", "a", "--secret-file", str(tmp_path / "secret")]
    done = CliRunner().invoke(main, [*words, "--port", "1", *typed])
    assert done.exit_code == 2
    assert "leave one of them out" in done.stderr


def test_the_secret_of_a_server_on_this_machine_is_found(tmp_path: Path) -> None:
    (tmp_path / "admin-secret").write_text("from its place", encoding="utf-8")
    office = Office(c.Pause, s.Done(message=""))
    run(office, "pause", "r1", TRIARENA_SECRET="", TRIARENA_SERVER__DATA_DIR=str(tmp_path))
    assert office.secret == "from its place"


def test_without_a_secret_the_sentence_says_where_to_get_one(tmp_path: Path) -> None:
    def greets(peer: Peer) -> None:
        peer.greet()

    done, _ = run(greets, "pause", "r1", TRIARENA_SECRET="", TRIARENA_SERVER__DATA_DIR=str(tmp_path))
    assert done.exit_code == 1
    assert done.stderr.rstrip().endswith("pass --secret or --secret-file, or set TRIARENA_SECRET [no_secret]")


@pytest.mark.parametrize(
    "words",
    [["prepare", "towerwars"], ["pause", "r1"], ["resume", "r1"], ["step", "r1"], ["cancel", "r1"], ["kick", "c1"]],
)
def test_where_no_server_is_no_secret_is_asked_for(words: list[str], tmp_path: Path) -> None:
    environment = {"TRIARENA_SECRET": "", "TRIARENA_SERVER__DATA_DIR": str(tmp_path)}
    done = CliRunner().invoke(main, [*words, "--port", "1"], env=environment)
    assert done.exit_code == 1
    assert "nobody listens on 127.0.0.1:1" in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize("content", [None, b"", b"\xff"])
def test_a_secret_file_that_holds_none_is_told(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    arguments = ["pause", "r1", "--port", "1", "--secret-file", str(tmp_path / "secret")]
    done = CliRunner().invoke(main, arguments, env={"TRIARENA_SECRET": ""})
    assert done.exit_code == 1
    assert done.stderr.rstrip().endswith("[secret_unreadable]")


def test_stepping_on_grants_a_ply_whenever_one_was_played_until_the_match_is_over() -> None:
    position = GAME.start({"size": 4})
    texts: list[str] = []

    def script(peer: Peer) -> None:
        nonlocal position
        peer.greet()
        peer.answer(c.Authenticate, s.Authenticated())
        peer.answer(c.Observe, s.Observing(room="r1", view=RoomView(info=INFO.model_copy(update={"state": "waiting"}))))
        peer.answer(c.Step, s.Error(code="not_started", message="nobody is there", request="step"))
        view = {"info": INFO, "position": GAME.write_position(position)}
        peer.answer(c.Step, s.Done(message="one ply"))
        peer.send(s.Snapshot.model_validate({"room": "r1", "view": view}))
        for ply in range(3):
            if ply:
                peer.answer(c.Step, s.Done(message="one ply"))
            move = next(position.legal_moves())
            turned = {"ply": ply, "side": position.to_move.value, "text": GAME.format(move), "used_ms": 1.0}
            texts.append(GAME.format(move))
            position = position.play(move)
            wire = {"move": GAME.write_move(move), "position": GAME.write_position(position)}
            peer.send(s.Moved.model_validate({"room": "r1", **turned, **wire}))
        late = peer.expect(c.Step)
        peer.send(
            over(kind="aborted", reason="cancelled", winner=None),
            s.Error(id=late.id, code="match_over", message="it is over", request="step"),
        )

    done, _ = run(script, "step", "r1", "--every", "0.01")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "waiting for the players of room r1 ...",
        *(f"ply {ply}: {text}" for ply, text in enumerate(texts)),
        "aborted: so it ended [cancelled]; red 0, blue 0",
    ]


@pytest.mark.parametrize(("seconds", "told"), [(600.0, "10 min"), (90.0, "90 s"), (0.5, "0.5 s")])
def test_preparing_tells_for_how_long_the_reservations_are_good(seconds: float, told: str) -> None:
    prepared = s.Prepared(room="r7", reservations=["RED-CODE", "BLUE-CODE"], reservation_seconds=seconds)
    done, _ = run(Office(c.Prepare, prepared), "prepare", "towerwars")
    assert f"\nthe reservations are good for {told}\n" in done.stdout
