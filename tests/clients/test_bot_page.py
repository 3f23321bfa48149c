"""What docs/write-your-bot.md shows works as it stands there."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.clients.lost_connections import POSITIONS, ask, begin, resume, started
from tests.clients.scripted_server import Peer, joined, one_after_another, over, referee, serving

from triarena.cli import COMMANDS, main
from triarena.games import find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

PAGE = (Path(__file__).parents[2] / "docs" / "write-your-bot.md").read_text("utf-8")
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
BLOCKS = [(language, textwrap.dedent(text)) for _, language, text in FENCE.findall(PAGE)]
FILES = {text.split()[1]: text for language, text in BLOCKS if language == "python"}
GAMES: dict[str, dict[str, int | str]] = {
    "flowerwars": {"size": 3},
    "towerwars": {"size": 4},
    "mississippi_queen": {},
}


@pytest.fixture
def page_file(tmp_path: Path) -> Any:
    """Writes a file of the page."""

    def write(name: str) -> str:
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_the_first_bot_is_complete_in_fifteen_lines() -> None:
    assert len(FILES["my_bot.py"].splitlines()) <= 15


@pytest.mark.parametrize("game", GAMES)
def test_the_first_bot_plays_every_game_to_its_end(page_file: Any, game: str) -> None:
    options = [f"--option={name}={value}" for name, value in GAMES[game].items()]
    with serving(referee(game, GAMES[game])) as server:
        arguments = ["join", "--game", game, *options, "--port", str(server.port), page_file("my_bot.py")]
        done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert done.stderr == ""


def test_the_patient_bot_moves_within_its_time(page_file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock of the test's, which advances by 10 ms whenever it is read."""
    from triarena.clients.bots import load_bot
    from triarena.protocol.values import Clock

    bot = load_bot(page_file("patient_bot.py"), "towerwars", seed=1)
    now = [0.0]

    def monotonic() -> float:
        now[0] += 0.01
        return now[0]

    monkeypatch.setattr("time.monotonic", monotonic)
    position = find_game("towerwars").start({"size": 4})
    position.check(bot.choose_move(position, Clock(limit_ms=2000, remaining_ms=2000)))
    assert now[0] < 1.1


def test_the_patient_bot_gets_ready_and_plays(page_file: Any) -> None:
    with serving(referee("flowerwars", {"size": 3}, move_ms=20)) as server:
        arguments = ["join", "--game", "flowerwars", "--port", str(server.port), page_file("patient_bot.py")]
        done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "I play red against Bob and may load for 10 s" in done.stdout


def test_the_remembering_bot_is_told_of_coming_back(page_file: Any) -> None:
    def lost(peer: Peer) -> None:
        begin(peer)
        ask(peer, 0)

    def back(peer: Peer) -> None:
        resume(peer, 2)
        ask(peer, 2)
        peer.send(over())

    with serving(one_after_another(lost, back)) as server:
        arguments = ["join", "--game", "towerwars", "--port", str(server.port), page_file("remembering_bot.py")]
        done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    seen = sys.modules["remembering_bot"].seen
    assert seen == [POSITIONS[0], POSITIONS[0], POSITIONS[2], POSITIONS[2]]


def test_the_program_of_ones_own_plays(page_file: Any) -> None:
    file = page_file("my_program.py")
    with serving(referee("towerwars", {"size": 6})) as server:
        source = Path(file).read_text("utf-8").replace('name="Anna"', f'name="Anna", port={server.port}')
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "so it ended\n", "")


def test_the_program_for_tournaments_plays_and_says_farewell(page_file: Any) -> None:
    def script(peer: Peer) -> None:
        hello = peer.greet()
        assert (hello.name, hello.token) == ("Flora", "secret")
        peer.answer(c.Enlist, s.Enlisted(name="Flora"))
        peer.send(s.Invitation(room="r1", game="towerwars", options={"size": 4}, reservation="code", seed=7))
        peer.answer(c.JoinReserved, joined())
        peer.send(started())
        peer.expect(c.Ready)
        ask(peer, 0)
        peer.send(over(), s.Goodbye(code="dismissed", message="thank you"))

    folder = Path(page_file("my_tournament.py")).parent
    page_file("my_bot.py")
    with serving(script) as server:
        source = FILES["my_tournament.py"].replace('name="Flora"', f'name="Flora", port={server.port}')
        environment = {**os.environ, "TRIARENA_TOKEN": "secret"}
        done = subprocess.run(
            [sys.executable, "-c", source],
            capture_output=True, text=True, timeout=60, check=False, cwd=folder, env=environment,
        )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "thank you\n", "")


def test_the_shell_session_is_true() -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    sessions = [text for language, text in BLOCKS if language == "pycon"]
    assert sessions
    for session in sessions:
        runner.run(parser.get_doctest(session, {}, "page", None, None))
    assert runner.summarize().failed == 0


@pytest.mark.parametrize(
    ("game", "names"),
    [
        (game, re.findall(r"`(\w+)(?:\([a-z]*\))?`", rows))
        for game, rows in re.findall(r"^\| `(\w+)` \|((?:[^\n]*\n\| \|)*[^\n]*)", PAGE, re.MULTILINE)
        if game in GAMES
    ],
)
def test_the_attributes_of_a_position_exist(game: str, names: list[str]) -> None:
    position = find_game(game).start(GAMES[game])
    parts = [position]
    if game == "towerwars":
        parts.append(position.piece("A1"))
    elif game == "mississippi_queen":
        (passenger,) = position.waiting()
        parts += [position.ship(position.to_move), position.river, passenger]
    assert len(names) >= 3
    for name in names:
        assert name == "None" or any(hasattr(part, name) for part in parts), name


def test_every_command_of_the_page_exists() -> None:
    named = set(re.findall(r"triarena ([a-z]+)", PAGE))
    assert {"join", "serve", "play", "games", "prepare", "replay", "rules"} <= named
    assert named <= set(COMMANDS)
