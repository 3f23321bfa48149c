"""Every command of README.md, run as it stands there: a server, bots, an organiser; or named as what CI runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"^```(?:console|sh)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
IN_CI = {"pip install uv && uv run triarena demo": "uv run triarena demo", "uv run pytest": "uv run pytest"}
"""Commands that .ci/run gives, with the line that it has for them."""

ELSEWHERE = {"uv run triarena tournament run examples/class.toml": "organiser/test_class_example_end_to_end.py"}
"""Commands that other tests run, since they take their time."""

SLOW_BOT = """
import time

def choose_move(position):
    time.sleep(0.1)  # the match must still go on when the organiser's next command arrives
    return next(position.legal_moves())
"""


class Walk:
    """The README's commands in a folder of their own; ``left`` are those not yet run."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.left = list(COMMANDS)
        self.processes: list[subprocess.Popen[str]] = []
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TRIARENA_")},
            "TRIARENA_SERVER__PORT": str(self.port),
            "TRIARENA_PORT": str(self.port),
            "XDG_DATA_HOME": str(folder / "data"),
            "COLUMNS": "200",
            "PYTHONUNBUFFERED": "1",
        }

    def start(self, command: str, **words: str) -> subprocess.Popen[str]:
        """Start a command of the README; ``words`` replaces what stands in capitals there."""
        assert command in COMMANDS, f"README.md does not have the command {command!r} any more"
        self.left = [other for other in self.left if other != command]
        return self.start_other(command, **words)

    def start_other(self, command: str, **words: str) -> subprocess.Popen[str]:
        """Start any command, with this environment's ``triarena`` in the place of ``uv run triarena``."""
        for name, word in words.items():
            command = re.sub(rf"\b{name}\b", word, command)
        triarena = shlex.join([sys.executable, "-m", "triarena.cli"])
        process = subprocess.Popen(
            ["bash", "-c", "exec " * ("|" not in command) + command.replace("uv run triarena", triarena)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )
        self.processes.append(process)
        return process

    def run(self, command: str, **words: str) -> str:
        """Run a command of the README to its end, which must be good; what it printed."""
        return finish(self.start(command, **words))

    @contextmanager
    def ended(self) -> Iterator[None]:
        """Whatever is still running afterwards is killed."""
        try:
            yield
        finally:
            for process in self.processes:
                process.kill()
                process.communicate()


def finish(process: subprocess.Popen[str]) -> str:
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0, f"{process.args!r} ended with {process.returncode}: {printed}"
    return printed


@contextmanager
def closing_timer(process: subprocess.Popen[str]) -> Iterator[None]:
    """A process that says nothing for a minute is killed, so that reading from it ends."""
    timer = threading.Timer(60, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def wait_for(process: subprocess.Popen[str], word: str) -> str:
    """The first line with ``word`` in it."""
    assert process.stdout is not None
    with closing_timer(process):
        for line in process.stdout:
            if word in line:
                return line
    raise AssertionError(f"{process.args!r} ended without saying {word!r}")


@pytest.mark.slow
def test_every_command_of_the_readme_works(tmp_path: Path) -> None:
    (bot,) = re.findall(r"Save this as `my_bot.py`:\n\n```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "my_bot.py").write_text(bot, "utf-8")
    walk = Walk(tmp_path)
    with walk.ended():
        server = walk.start("uv run triarena serve")
        wait_for(server, "listens on")
        for chapter in (play_the_first_match, look_into_the_rules, organise, check_a_tournament):
            chapter(walk)
        server.terminate()
        server.communicate(timeout=60)
    assert [command for command in walk.left if command not in IN_CI | ELSEWHERE] == []


def play_the_first_match(walk: Walk) -> None:
    mine = walk.start("uv run triarena join --game flowerwars my_bot.py")
    assert "flowerwars" in walk.run("uv run triarena join --game flowerwars random")
    assert "flowerwars" in finish(mine)
    table = walk.run("uv run triarena matches").splitlines()
    assert len(table) == 2, table
    assert walk.run("uv run triarena replay MATCH --boards", MATCH=table[1].split()[0])


def look_into_the_rules(walk: Walk) -> None:
    assert "towerwars" in walk.run("uv run triarena games")
    asked = """echo '{"ask": ["count", "digest", {"perft": 2}]}' | uv run triarena rules towerwars"""
    assert walk.run(asked).startswith('{"count":66,"digest":"')
    by_hand = walk.start("uv run triarena play towerwars --bot greedy")  # it has no standard input to read moves from
    assert "internal error" not in by_hand.communicate(timeout=60)[0]
    assert "move_seconds" in walk.run("uv run triarena serve --print-config")
    flags = "uv run triarena serve --host 0.0.0.0 --move-time 5"
    assert flags in COMMANDS  # with its effect shown instead of an open door
    walk.left.remove(flags)
    assert '"0.0.0.0"' in finish(walk.start_other(flags + " --print-config"))


def organise(walk: Walk) -> None:
    prepare = "uv run triarena prepare towerwars --option size=10 --name-red Ann --name-blue Bob --paused"
    prepared = walk.run(prepare)
    joins = re.findall(r"triarena join .*", prepared)
    assert len(joins) == 2, prepared
    (room,) = set(re.findall(r"triarena watch (\S+)", prepared))
    (walk.folder / "my_bot.py").write_text(SLOW_BOT)
    watcher = walk.start("uv run triarena watch ROOM", ROOM=room)
    for player in [walk.start_other("uv run " + join) for join in joins]:
        wait_for(player, "joined")
    assert room in walk.run("uv run triarena rooms")
    for command in ("step", "resume", "pause", "cancel"):
        walk.run(f"uv run triarena {command} ROOM", ROOM=room)
    assert "Ann" in watcher.communicate(timeout=60)[0]


def check_a_tournament(walk: Walk) -> None:
    shutil.copytree(ROOT / "examples", walk.folder / "examples")
    checked = walk.run("uv run triarena tournament check examples/class.toml")
    assert checked.count("\N{CHECK MARK}") == 6 * 3  # the bots of this machine, in each game


@pytest.mark.parametrize(("command", "file"), ELSEWHERE.items())
def test_what_other_tests_run_is_there(command: str, file: str) -> None:
    assert command in COMMANDS
    assert "class.toml" in (ROOT / "tests" / file).read_text("utf-8")


@pytest.mark.parametrize(("command", "line"), IN_CI.items())
def test_what_is_left_to_ci_stands_in_its_script(command: str, line: str) -> None:
    assert command in COMMANDS
    assert line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
