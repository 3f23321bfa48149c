"""Two bots of ``triarena join --tournament`` on a real server: invited to match after match, then sent home."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from triarena.cli.children import Children
from triarena.clients.admin import Administrator
from triarena.clients.connection import Connection
from triarena.clients.results import verdict
from triarena.protocol import from_server as s
from triarena.protocol.from_client import Slot
from triarena.protocol.identity import token_digest

from .conftest import RunningServer, start_server

TOKENS = {"Ann": "the-token-of-ann", "Bob": "the-token-of-bob"}
SECONDS = 60.0
"""For whatever is waited for; much less on an idle machine."""


class Organiser:
    """What the tool of a tournament does in the lobby."""

    def __init__(self, server: RunningServer, connection: Connection) -> None:
        self.server = server
        self.connection = connection
        self.admin = Administrator.authenticate(connection, server.environment["TRIARENA_SECRET"])

    def join(self, name: str, bot: str, *more: str, token: str | None = None) -> subprocess.Popen[str]:
        """A bot in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "triarena.cli", "join", "--tournament", bot, "--name", name, *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            env={**self.server.environment, "TRIARENA_TOKEN": token or TOKENS[name]},
        )  # fmt: skip
        self.server.started.append(process)
        return process

    def until_waiting(self, *names: str) -> None:
        """Wait until these players are enlisted and free."""
        while not set(names) <= {player.name for player in self.admin.players() if not player.playing}:
            self.connection.receive(SECONDS)

    def until_gone(self, name: str) -> None:
        """Wait until the server has noticed that a player's program has ended."""
        while name in {player.name for player in self.admin.players()}:
            self.connection.receive(SECONDS)

    def match(self, game: str, seed: int, **options: int | str) -> s.RoomEvent:
        """One match of Ann against Bob; how it ended."""
        prepared = self.admin.prepare(game, options, seed=seed, slots=[Slot(name=name) for name in TOKENS])
        for name, code in zip(TOKENS, prepared.reservations, strict=True):
            self.admin.invite(name, str(code), seed)
        return self.end_of(prepared.room)

    def end_of(self, room: str) -> s.RoomEvent:
        while True:
            event = self.connection.receive(SECONDS)
            if isinstance(event, s.RoomEvent) and event.event == "over" and event.info.room == room:
                return event


@pytest.fixture
def organiser(real_server: RunningServer) -> Iterator[Organiser]:
    with Connection.open(port=real_server.port) as connection:
        organiser = Organiser(real_server, connection)
        organiser.admin.enrol({name: token_digest(token) for name, token in TOKENS.items()})
        yield organiser


def goodbye(organiser: Organiser, *processes: subprocess.Popen[str]) -> list[tuple[str, str]]:
    """Dismiss both; what their programs have said on both streams. They end well."""
    for name in TOKENS:
        organiser.admin.dismiss(name, "thank you for playing")
    said = [process.communicate(timeout=SECONDS) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return said


def test_two_bots_play_three_matches_of_three_games_and_are_dismissed(organiser: Organiser) -> None:
    ann, bob = organiser.join("Ann", "greedy", "--json"), organiser.join("Bob", "random")
    organiser.until_waiting("Ann", "Bob")
    ends = [
        organiser.match("towerwars", 1, size=4),
        organiser.match("flowerwars", 2, size=4),
        organiser.match("mississippi_queen", 3),
    ]
    (lines, farewell), (told, _) = goodbye(organiser, ann, bob)
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record["game"] for record in records] == ["towerwars", "flowerwars", "mississippi_queen"]
    assert [record["verdict"] for record in records] == [
        verdict(event.result, "red") for event in ends if event.result is not None
    ]
    assert [record["match"] for record in records] == [event.info.match for event in ends]
    assert "dismissed: thank you for playing" in farewell
    *matches, last = told.splitlines()
    assert [line.split(":")[0] for line in matches] == [
        f"match {event.info.match} of {event.info.game}, as blue against Ann" for event in ends
    ]
    assert last == "dismissed: thank you for playing"


def test_the_same_seed_makes_the_same_match_of_bots_that_stayed(organiser: Organiser) -> None:
    ann, bob = organiser.join("Ann", "random", "--json"), organiser.join("Bob", "random", "--json")
    organiser.until_waiting("Ann", "Bob")
    ends = [organiser.match("towerwars", seed, size=5) for seed in (5, 6, 5)]
    goodbye(organiser, ann, bob)
    one, other, again = [(event.info.ply, event.result) for event in ends]
    assert one == again != other


def test_a_bot_that_fails_in_one_match_plays_the_next(organiser: Organiser, tmp_path: Path) -> None:
    bot = tmp_path / "moody_bot.py"
    bot.write_text(
        "def choose_move(position):\n"
        "    if not hasattr(position, 'ship'):\n        raise ValueError('I only know the river')\n"
        "    return next(position.legal_moves())\n"
    )
    ann, bob = organiser.join("Ann", str(bot)), organiser.join("Bob", "random")
    organiser.until_waiting("Ann", "Bob")
    failed = organiser.match("towerwars", 1, size=4).result
    assert failed is not None
    assert (failed.reason, failed.detail.offenders) == ("left", ["red"])
    played = organiser.match("mississippi_queen", 1).result
    assert played is not None
    assert played.kind == "outcome"
    (told, errors), _ = goodbye(organiser, ann, bob)
    assert (
        "ValueError: I only know the river in moody_bot.py, line 3 [bot_failed]; waiting for the next match" in errors
    )
    assert len(told.splitlines()) == 3


def test_a_bot_that_hangs_ends_its_program_and_may_be_started_again(organiser: Organiser, tmp_path: Path) -> None:
    bot = tmp_path / "hanging_bot.py"
    bot.write_text("def choose_move(position):\n    while True:\n        pass\n")
    ann, bob = organiser.join("Ann", str(bot)), organiser.join("Bob", "random")
    organiser.until_waiting("Ann", "Bob")
    result = organiser.match("towerwars", 1, size=4).result
    assert result is not None
    assert (result.reason, result.detail.offenders) == ("timeout", ["red"])
    _, errors = ann.communicate(timeout=SECONDS)
    assert ann.returncode == 3
    assert "hanging_bot.py, line " in errors
    assert "whoever starts this program again plays on with the next match [bot_hangs]" in errors
    organiser.until_gone("Ann")
    again = organiser.join("Ann", "greedy")
    organiser.until_waiting("Ann", "Bob")
    organiser.match("towerwars", 2, size=4)
    goodbye(organiser, again, bob)


def test_what_cannot_take_part_says_so_at_once(organiser: Organiser, tmp_path: Path) -> None:
    broken = tmp_path / "broken_bot.py"
    broken.write_text("def choose_move(position)\n")
    for arguments, token, code in (
        (("Ann", str(broken)), None, "bot_syntax_error"),
        (("Ann", "random"), "a-wrong-token", "wrong_token"),
    ):
        process = organiser.join(*arguments, token=token)
        _, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 1
        assert errors.rstrip().endswith(f"[{code}]"), errors
    for wrong in (["--room", "r1", "--name", "Ann", "--token", "t"], ["--name", "Ann"], ["--token", "t"]):
        done = organiser.server.run("join", "--tournament", "random", *wrong)
        assert done.returncode == 2, done.stderr


def test_bots_that_wait_outlive_the_server(tmp_path: Path) -> None:
    """Killed and started again at the same port: they come back, also before the organiser has enrolled them again."""
    with Children(tmp_path) as children:
        port, players = 0, list[subprocess.Popen[str]]()
        for seed in (1, 2):
            server, process = start_server(children, tmp_path, f"server{seed}", port)
            port = server.port
            with Connection.open(port=port) as connection:
                organiser = Organiser(server, connection)
                if not players:
                    players = [organiser.join(name, "random") for name in TOKENS]
                organiser.admin.enrol({name: token_digest(token) for name, token in TOKENS.items()})
                organiser.until_waiting(*TOKENS)
                assert organiser.match("towerwars", seed, size=4).result is not None
                if seed == 2:
                    said = goodbye(organiser, *players)
                process.kill()
                process.wait()
        assert [len(told.splitlines()) for told, _ in said] == [3, 3], "two matches and a farewell"
        for _, errors in said:
            assert "connection lost" in errors
            # In its match, if the server died before it had told the player of the end that the organiser knew.
            assert "back in the lobby" in errors or "back in the match" in errors, errors


@pytest.fixture(autouse=True)
def _tidy(real_server: RunningServer) -> Iterator[None]:
    yield
    real_server.end()
