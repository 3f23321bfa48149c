"""docs/add-a-game.md is true: its game is found from another distribution, conforms, and answers as shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [str(ROOT / name) for name in ("games", "protocol", "server", "clients")]


@pytest.fixture(scope="module")
def installed(page_files: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's distribution as an installer lays it out: modules, metadata, entry points."""
    folder = tmp_path_factory.mktemp("site-packages")
    for name, text in page_files.items():
        (folder / name).write_text(text, "utf-8")
    project = tomllib.loads(page_files["pyproject.toml"])["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def python(installed: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *SOURCES])}
    return subprocess.run(
        [sys.executable, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=installed,
        check=False,
    )


def test_a_game_of_another_distribution_is_registered_by_its_entry_point(installed: Path) -> None:
    program = "from triarena.games import games; print(*games())"
    assert python(installed, "-c", program).stdout.split() == ["flowerwars", "towerwars", "mississippi_queen", "nim"]


def test_the_unknown_game_error_lists_the_games_of_other_distributions(installed: Path) -> None:
    done = python(installed, "-m", "triarena.cli", "rules", "chess")
    assert done.returncode == 2
    assert "there is no game 'chess'; there are flowerwars, towerwars, mississippi_queen, nim" in done.stderr


def test_the_pages_own_test_passes(installed: Path) -> None:
    done = python(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_nim.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "15 passed" in done.stdout


def test_the_pages_console_block_shows_what_the_command_answers(installed: Path) -> None:
    page = (ROOT / "docs" / "add-a-game.md").read_text("utf-8")
    shown = re.search(r"```console\n\$ echo '(.*)' \| triarena rules nim\n(.*)\n```", page)
    assert shown is not None
    done = python(installed, "-m", "triarena.cli", "rules", "nim", stdin=shown[1])
    assert (done.stdout.strip(), done.stderr, done.returncode) == (shown[2], "", 0)
    assert json.loads(done.stdout)["legal"] == ["1-1", "2-1", "2-2"]
