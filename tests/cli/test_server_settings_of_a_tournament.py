"""The settings that a tournament's file has for its server are checked before the evening, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from triarena.cli import main

BOTS = """
[[bots]]
name = "Ann"
shipped = "random"
[[bots]]
name = "Bob"
shipped = "greedy"
"""


def check(folder: Path, settings: str) -> str:
    file = folder / "evening.toml"
    file.write_text('game = "towerwars"\n' + settings + BOTS, encoding="utf-8")
    done = CliRunner().invoke(main, ["tournament", "check", "--dry-run", str(file)])
    assert done.exit_code in (0, 2), done.output
    return done.stderr if done.exit_code else ""


def test_good_settings_are_fine(tmp_path: Path) -> None:
    settings = "[server.server]\nhost = '0.0.0.0'\nport = 13055\n[server.clock]\nstartup_seconds = 60\n"
    assert check(tmp_path, settings + "[server.socha]\nenabled = false\n") == ""


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("[server.clock]\nstartup_secs = 60\n", "line 3: server.clock.startup_secs: there is no setting"),
        ("[server.clock]\nstartup_secs = 60\n", "did you mean startup_seconds"),
        ("\n[server.server]\nport = 'x'\n", "line 4: server.server.port: server.port must be a whole number"),
        ("[server.room]\nidle_seconds = 5\n", "there is no section [room], did you mean rooms"),
        ("[server.clock]\nbudget_seconds = 5\n", "line 3: server.clock.budget_seconds: it is not for the file"),
        ("[server.limits]\nrooms = 3\nrooms_per_connection = 9\n", "limits.rooms_per_connection (9) must be at most"),
    ],
)
def test_faults_are_told_with_their_lines(tmp_path: Path, settings: str, told: str) -> None:
    said = check(tmp_path, settings)
    assert told in said
    assert "command line" not in said


def test_settings_that_go_together_only_together_are_fine(tmp_path: Path) -> None:
    assert check(tmp_path, "[server.limits]\nrooms = 3\nrooms_per_connection = 3\n") == ""


def test_all_faults_are_told_at_once_and_with_those_of_the_rest(tmp_path: Path) -> None:
    said = check(tmp_path, "attempts = 0\n[server.server]\nport = -1\n[server.clock]\nstartup_seconds = 0\n")
    assert [word in said for word in ("line 2: attempts", "line 4: server.server.port", "line 6:")] == [True] * 3
