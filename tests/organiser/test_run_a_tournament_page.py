"""Every command of docs/run-a-tournament.md, run as it stands there, with the page's own bot and file."""

from __future__ import annotations

import csv
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "run-a-tournament.md").read_text("utf-8")
COMMANDS = {
    line.removeprefix("$ uv run triarena ")
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
}
FOR_THE_NETWORK = "tournament run examples/class.toml --host 0.0.0.0"
"""Not run here as it stands, so that no test opens a door; test_class_example_end_to_end.py plays that evening."""

SLOWLY = """

import time
at_once = choose_move


def choose_move(position):
    time.sleep(0.1)  # the evening must still go on when the next command arrives
    return at_once(position)
"""


class Evening:
    """A folder with the page's bot and file, and its commands; ``left`` are those that were not yet run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.left = set(COMMANDS)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        for language, name in (("python", "anna.py"), ("toml", "evening.toml")):
            (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
            (folder / name).write_text(text, "utf-8")
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TRIARENA_")},
            "TRIARENA_SERVER__PORT": str(self.port),
            "XDG_DATA_HOME": str(folder / "data"),
            "COLUMNS": "200",
            "PYTHONUNBUFFERED": "1",
        }

    def say(self, key: str, value: str) -> None:
        """Add a setting to the file, with its other ones before the bots."""
        file = self.folder / "evening.toml"
        file.write_text(f"{key} = {value}\n{file.read_text('utf-8')}", "utf-8")

    @contextmanager
    def begun(self, command: str, **words: str) -> Iterator[subprocess.Popen[str]]:
        """A command of the page as a process, whose output is one stream; killed in the end if it still runs."""
        assert command in COMMANDS, f"the page does not have the command {command!r} any more"
        self.left.discard(command)
        for name, word in words.items():
            command = command.replace(name, word)
        with subprocess.Popen(
            [sys.executable, "-m", "triarena.cli", *shlex.split(command.replace(":13055", f":{self.port}"))],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=self.folder, env=self._environment,
        ) as process:  # fmt: skip
            try:
                yield process
            finally:
                process.kill()

    def run(self, command: str, code: int = 0, **words: str) -> str:
        """Run a command of the page to its end; what it printed."""
        with self.begun(command, **words) as process:
            return ended(process, code)


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == code, printed
    assert "Traceback" not in printed
    return printed


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    assert any(word in line for line in process.stdout), f"it ended without saying {word!r}"


@pytest.mark.slow
def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    evening = Evening(tmp_path)
    prepare(evening)
    interrupt_and_go_on(evening)
    look_at_it(evening)
    play_at_a_server(evening)
    assert "decided: anna over greedy is 0 Elo rather than 50" in evening.run(
        "compare anna.py greedy --game towerwars --option size=4 --move-time 0.5"
    )
    assert evening.left == {FOR_THE_NETWORK}


def prepare(evening: Evening) -> None:
    checked = evening.run("tournament check evening.toml")
    assert checked.count("\N{CHECK MARK}") == 2
    assert "table 1: Anna (red) - Greta (blue)" in evening.run("tournament run evening.toml --dry-run")
    assert not (evening.folder / "evening.tournament").exists()


def interrupt_and_go_on(evening: Evening) -> None:
    """An evening that is cancelled, and one that is interrupted, resumed, and comes to its end."""
    bot = evening.folder / "anna.py"
    quick = bot.read_text("utf-8")
    bot.write_text(quick + SLOWLY, "utf-8")
    evening.say("games_per_pairing", "12")
    for end in ("cancel", "resume"):
        with evening.begun("tournament run evening.toml") as tool:
            wait_for(tool, "1.1.1")
            if end == "cancel":
                assert "is cancelled" in evening.run("tournament cancel evening.tournament")
                assert "the tournament was cancelled; what was played is kept [cancelled]" in ended(tool, 1)
                assert "Evening: cancelled" in evening.run("tournament standings evening.tournament")
                (evening.folder / "evening.tournament").rename(evening.folder / "cancelled.tournament")
            else:
                tool.send_signal(signal.SIGINT)
                assert "tournament resume evening.tournament" in ended(tool, 130)
                bot.write_text(quick, "utf-8")
                assert "finished" in evening.run("tournament resume evening.tournament")


def look_at_it(evening: Evening) -> None:
    """What docs say lies in the folder does."""
    folder = evening.folder / "evening.tournament"
    assert "12 games played" in evening.run("tournament standings evening.tournament")
    exported = evening.run("tournament export evening.tournament").split()
    for name in ("index.html", "standings.csv", "games.csv", "games.jsonl"):
        assert str(folder / name) in exported
        assert f"`{name}`" in PAGE
    with (folder / "games.csv").open(encoding="utf-8", newline="") as lines:
        games = list(csv.DictReader(lines))
    assert [game["message"] for game in games if game["offenders"]] == []
    match = games[0]["match"]
    assert "Anna" in evening.run("replay MATCH --boards --data-dir evening.tournament/server", MATCH=match)
    assert "Anna" in evening.run("report MATCH --data-dir evening.tournament/server", MATCH=match)


def play_at_a_server(evening: Evening) -> None:
    with evening.begun("serve") as server:
        wait_for(server, "listens on")
        command = "tournament run evening.toml --server 127.0.0.1:13055 --folder on-a-server.tournament"
        assert "12 games played" in evening.run(command)
        server.terminate()
        ended(server)


def test_what_opens_the_network_is_on_the_page() -> None:
    assert FOR_THE_NETWORK in COMMANDS


def test_every_local_link_of_the_page_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", PAGE.replace("\n", " ")):
        name, _, anchor = target.partition("#")
        file = ROOT / "docs" / name if name else ROOT / "docs" / "run-a-tournament.md"
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.MULTILINE)
            slugs = [re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, target
