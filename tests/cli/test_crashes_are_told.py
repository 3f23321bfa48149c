"""An exception in a bot: told as a crash, with the bot's own reason, wherever an organiser looks."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from html import unescape
from pathlib import Path

CRASH = "def choose_move(position):\n    raise ValueError('oops')\n"
FILE = """
name = "Class"
game = "towerwars"
options = { size = 4 }
[[bots]]
name = "Crash"
file = "crash.py"
[[bots]]
name = "Bob"
shipped = "greedy"
"""
REASON = "choose_move raised ValueError: oops in crash.py, line 2"


def said(folder: Path, *words: str, code: int = 0) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRIARENA_")}
    done = subprocess.run(
        [sys.executable, "-m", "triarena.cli", "tournament", *words], cwd=folder, stdin=subprocess.DEVNULL,
        env={**environment, "PYTHONIOENCODING": "utf-8"}, capture_output=True, text=True, encoding="utf-8",
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_an_exception_in_a_bot_is_told_with_its_reason_everywhere(tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text(CRASH, "utf-8")
    (tmp_path / "class.toml").write_text(FILE, "utf-8")
    assert any(
        "crashed: " in line and REASON in line for line in said(tmp_path, "check", "class.toml", code=1).splitlines()
    )
    lines = said(tmp_path, "run", "class.toml").splitlines()
    games = [line for line in lines if line.startswith("   1.1.")]
    assert len(games) == 2
    assert all("crashed: Crash, " in line and REASON in line for line in games)
    folder = tmp_path / "class.tournament"
    for place in (folder / "irregular").iterdir():
        assert REASON in (place / "README.txt").read_text("utf-8")
    assert len(list((folder / "irregular").iterdir())) == 2
    page = unescape((folder / "index.html").read_text("utf-8"))
    assert page.count(REASON) == 2
    assert page.count("crashed: Crash") == 2
    with (folder / "games.csv").open(encoding="utf-8", newline="") as rows:
        assert all(REASON in row["message"] for row in csv.DictReader(rows))
    standings = said(tmp_path, "standings", "class")
    assert "crashes" in standings
    assert standings.splitlines()[-2].split()[1] == "Crash"
