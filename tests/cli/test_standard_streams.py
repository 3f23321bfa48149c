"""Standard output that is full, closed, or of a small character set: one sentence, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = f"{sys.executable} -m triarena.cli"
COMMANDS = ["games", "schema", "serve --print-config", "--help", "rules towerwars"]
QUESTION = '{"ask": ["count"]}\n'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the shell's redirections are those of POSIX")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell in which ``triarena`` stands for this one."""
    return subprocess.run(
        ["bash", "-c", command.replace("triarena", PROGRAM, 1)],
        input=QUESTION,
        capture_output=True,
        text=True,
        encoding="latin-1",
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(("command", "unbuffered"), [("games", "1"), *((command, "") for command in COMMANDS)])
def test_a_full_disk_is_one_sentence_and_exit_code_1(command: str, unbuffered: str) -> None:
    done = shell(f"triarena {command} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == "Error: standard output cannot be written: No space left on device [cannot_write]\n"


@pytest.mark.parametrize("command", ["games", "--help", "rules towerwars"])
def test_a_closed_output_is_one_sentence_and_exit_code_1(command: str) -> None:
    done = shell(f"triarena {command} >&-")
    assert done.returncode == 1
    assert done.stderr == "Error: standard output cannot be written: Bad file descriptor [cannot_write]\n"


@pytest.mark.parametrize("redirection", ["<&-", "2>&-"])
def test_without_input_or_standard_error_a_command_runs_as_always(redirection: str) -> None:
    done = shell(f"triarena games {redirection}")
    assert done.returncode == 0
    assert done.stdout.startswith("flowerwars")


def test_a_reader_that_goes_away_while_it_is_written_to_is_no_error() -> None:
    done = shell("set -o pipefail; triarena schema | head -1 > /dev/null")
    assert done.stderr == ""


def test_a_character_that_the_output_lacks_is_replaced() -> None:
    done = shell("triarena play mississippi_queen --bot random", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "R? red  at " in done.stdout


def test_the_schema_is_utf_8_whatever_the_terminal_takes() -> None:
    plain, narrow = shell("triarena schema"), shell("triarena schema", PYTHONIOENCODING="ascii")
    assert plain.stdout == narrow.stdout


def test_an_interrupt_while_the_program_is_still_being_imported_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")
    done = shell("triarena games", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (130, "")
