"""The example bot in JavaScript plays real matches on a real server, against a bot of ours."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import RunningServer

EXAMPLE = Path(__file__).parents[1] / "examples" / "javascript"
NODE, NPM = shutil.which("node"), shutil.which("npm")
OUTCOME = re.compile(r"^(outcome|aborted), (\w+): (red|blue|nobody) won; .+$")


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with its one package, in a folder of its own."""
    if NODE is None or NPM is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("javascript")
    for name in ("bot.js", "package.json"):
        shutil.copy(EXAMPLE / name, folder)
    install = [NPM, "install", "--no-audit", "--no-fund", "--no-package-lock"]
    try:
        installed = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm could not install @msgpack/msgpack in time")
    if installed.returncode != 0:
        pytest.skip(f"npm could not install @msgpack/msgpack: {installed.stderr[-200:]}")
    return folder / "bot.js"


@contextmanager
def playing(bot: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The bot as a process, which is gone afterwards whatever happens."""
    assert NODE is not None
    process = subprocess.Popen(
        [NODE, str(bot), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def reservations(server: RunningServer, size: int) -> tuple[str, str]:
    prepared = server.run("prepare", "towerwars", "--option", f"size={size}", "--json")
    assert prepared.returncode == 0, prepared.stderr
    red, blue = json.loads(prepared.stdout)["reservations"].values()
    return red, blue


@pytest.mark.slow
@pytest.mark.parametrize(("size", "side"), [(4, "red"), (5, "blue"), (6, "red"), (7, "blue"), (9, "red")])
def test_the_javascript_bot_plays_a_match_by_the_rules(
    bot: Path, real_server: RunningServer, size: int, side: str
) -> None:
    red, blue = reservations(real_server, size)
    mine, others = (red, blue) if side == "red" else (blue, red)
    with playing(bot, "--port", str(real_server.port), "--reservation", mine, "--name", "Jay") as process:
        opponent = real_server.run("join", "--reservation", others, "random", "--json")
        said, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
    joined, started, ended = said.splitlines()
    assert joined.endswith(f" as {side}")
    assert f"Jay ({side})" in started
    result = OUTCOME.match(ended)
    assert result is not None, ended
    assert opponent.returncode == 0, opponent.stderr
    told = json.loads(opponent.stdout)["result"]
    assert result.groups() == (told["kind"], told["reason"], told.get("winner") or "nobody")


@pytest.mark.slow
def test_the_javascript_bot_finds_an_open_seat(bot: Path, real_server: RunningServer) -> None:
    with playing(bot, "--port", str(real_server.port), "--game", "towerwars", "--name", "Jay") as process:
        opponent = real_server.run("join", "--game", "towerwars", "random")
        said, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
    assert OUTCOME.match(said.splitlines()[-1])
    assert opponent.returncode == 0, opponent.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--reservation", "nonsense"], 1, "[unknown_reservation]"),
        (["--name", " blank"], 1, "[invalid_message]"),
        (["--game", "chess"], 2, "plays towerwars, not chess"),
        (["--nonsense"], 2, "--nonsense"),
    ],
)
def test_the_javascript_bot_says_what_went_wrong(
    bot: Path, real_server: RunningServer, arguments: list[str], code: int, says: str
) -> None:
    with playing(bot, "--port", str(real_server.port), *arguments) as process:
        said, complaints = process.communicate(timeout=60)
    assert process.returncode == code
    assert said == ""
    assert says in complaints
    assert "    at " not in complaints, "no stack of calls"
