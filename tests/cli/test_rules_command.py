"""``triarena rules`` as a process: lines in, lines out, and a quiet end whatever happens."""

from __future__ import annotations

import io
import json
import re
import shlex
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from triarena.cli import main
from triarena.cli import rules as rules_command
from triarena.games import find_game

COMMAND = [sys.executable, "-m", "triarena.cli", "rules"]


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, timeout=60, check=False)


def test_each_line_is_answered_in_order_and_the_end_of_input_ends_it() -> None:
    done = run("towerwars", stdin=b'{"id": 1, "ask": ["count"]}\nnonsense\n{"id": 3, "options": {"size": 4}}')
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert first == {"id": 1, "count": 66}
    assert second["error"]["code"] == "bad_json"
    assert third == {"id": 3}
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_example_of_the_help_is_true() -> None:
    help_text = CliRunner().invoke(main, ["rules", "--help"]).output
    shown = re.search(r"\$ echo (.*) \| triarena rules towerwars\n\s*(\S+)", help_text)
    assert shown is not None
    assert run("towerwars", stdin=shlex.split(shown[1])[0].encode()).stdout.decode().strip() == shown[2]


def test_an_unknown_game_is_wrong_use_and_lists_the_games() -> None:
    done = run("chess")
    assert done.returncode == 2
    assert b"there is no game 'chess'; there are flowerwars, towerwars, mississippi_queen" in done.stderr


def test_an_answer_is_flushed_before_the_next_request_is_read_and_ctrl_c_is_quiet() -> None:
    with subprocess.Popen(
        [*COMMAND, "towerwars"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"ask": ["count"]}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b'{"count":66}\n'
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints.strip()) == (130, b"")


def test_a_reader_that_has_gone_is_no_reason_for_a_traceback() -> None:
    with subprocess.Popen(
        [*COMMAND, "towerwars"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, complaints = process.communicate(b'{"ask": ["legal"]}\n' * 100, timeout=60)
    assert (process.returncode, complaints) == (1, b"")


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_command, "MAX_LINE", 60)
    lines, answers = io.BytesIO(b" " * 200 + b'{"ask": ["count"]}\n{"id": 2}\n'), io.BytesIO()
    rules_command.answer_lines(find_game("towerwars"), lines, answers)
    refused, fine = map(json.loads, answers.getvalue().splitlines())
    assert refused["error"]["code"] == "line_too_long"
    assert fine == {"id": 2}


def test_a_fault_in_an_engine_is_answered_and_the_next_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    game, lines, answers = find_game("towerwars"), io.BytesIO(b'{"moves": ["x"]}\n{"id": 2}\n'), io.BytesIO()
    monkeypatch.delenv("TRIARENA_DEBUG", raising=False)
    monkeypatch.setattr(type(game), "parse", lambda self, text: {}[text])
    rules_command.answer_lines(game, lines, answers)
    fault, fine = map(json.loads, answers.getvalue().splitlines())
    assert fault["error"]["code"] == "internal_error"
    assert fine == {"id": 2}
