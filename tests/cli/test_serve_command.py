"""``triarena serve``: what its options do to the settings."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from triarena.cli import main


def clock(file: Path, *arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["serve", "--config", str(file), *arguments, "--print-config"])
    assert done.exit_code == 0, done.output
    settings: dict[str, Any] = tomllib.loads(done.stdout)["clock"]
    return settings


def test_a_move_time_on_the_command_line_takes_the_place_of_a_budget_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "triarena.toml"
    file.write_text("[clock]\nbudget_seconds = 300\nincrement_seconds = 2\n", encoding="utf-8")
    assert clock(file)["budget_seconds"] == 300
    changed = clock(file, "--move-time", "5")
    assert (changed["move_seconds"], changed["budget_seconds"], changed["increment_seconds"]) == (5, 0, 0)
