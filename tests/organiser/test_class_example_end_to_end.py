"""examples/class.toml as an evening: three tournaments, and two bots that come over TCP by the commands printed."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from .read_page import read_page

ROOT = Path(__file__).parents[2]
TOOL = [sys.executable, "-m", "triarena.cli", "tournament"]
LONGEST = 300.0
BOTS = {"Rosa": "cautious.py", "Remo": "counting.py"}
GAMES = {"meadow": 56, "towers": 32}
"""The knockout's number depends on its results."""


def join_commands(tool: subprocess.Popen[str]) -> dict[str, str]:
    """What the tool prints for the owners of remote bots, by their bots' names."""
    assert tool.stdout is not None
    commands: dict[str, str] = {}
    for line in tool.stdout:
        name, joins, command = line.rstrip("\n").partition(" joins with: ")
        if joins:
            commands[name] = command
        if commands.keys() == BOTS.keys():
            return commands
    raise AssertionError(f"the tool ended after {commands}")


def start_owner(name: str, command: str, folder: Path) -> subprocess.Popen[str]:
    """Somebody pastes the command in the folder of a bot."""
    folder.mkdir()
    for bot in (ROOT / "examples" / "bots").glob("*.py"):
        shutil.copy(bot, folder)
    words = shlex.split(command.replace("BOT.py", BOTS[name]))
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.slow
def test_the_example_is_played_to_its_end_with_two_bots_from_elsewhere(tmp_path: Path) -> None:
    run = [*TOOL, "run", str(ROOT / "examples" / "class.toml"), "--folder", str(tmp_path / "evening"), "--port", "0"]
    processes = [tool := subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)]
    timer = threading.Timer(LONGEST, tool.kill)
    timer.start()
    try:
        owners = {name: start_owner(name, command, tmp_path / name) for name, command in join_commands(tool).items()}
        processes += owners.values()
        said = tool.communicate()[0]
        assert tool.returncode == 0, said
        for name, owner in owners.items():
            heard = owner.communicate(timeout=30)[0]
            assert owner.returncode == 0, heard
            assert f"dismissed: the tournament is over; {name}: Meadow: place " in heard
    finally:
        timer.cancel()
        for process in processes:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
    assert_played(tmp_path / "evening")


def assert_played(folder: Path) -> None:
    """Everything was played, by everybody, and the page shows it."""
    with (folder / "games.csv").open(encoding="utf-8", newline="") as lines:
        games = list(csv.DictReader(lines))
    counts = Counter(game["event"] for game in games)
    assert counts.items() >= GAMES.items()
    assert counts["river"] >= 28
    absent = [game["message"] for game in games if game["reason"] == "no_show"]
    assert absent == []
    standings = subprocess.run(
        [*TOOL, "standings", str(folder), "--json"], capture_output=True, text=True, timeout=60, check=True
    )
    events = [json.loads(line) for line in standings.stdout.splitlines()]
    assert [(event["event"], event["state"]) for event in events] == [
        (slug, "finished") for slug in ("meadow", "towers", "river")
    ]
    page = read_page((folder / "index.html").read_text("utf-8"))
    for event in events:
        names = [row["player"] for row in event["standings"]]
        assert [row[1] for row in page.rows(event["event"], "standings")] == names
        assert len(names) == 8
