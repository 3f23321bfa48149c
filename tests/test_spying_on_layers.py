"""layers.py looks only while matches are played, and believes no py-spy that did not look."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import layers
import pytest
from fleet.verdict import Broken
from layers import spying
from speed import arena

from .benchmark_runs import BENCHMARKS

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="py-spy's part is played by a script of the shell")
LOOK = 'for word; do last=$file; file=$word; [ "$last" = -o ] && break; done\n'
"""The file that it is to leave is then in ``$file``."""


@pytest.fixture
def spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    program = tmp_path / "bin" / "py-spy"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)

    def behaves(commands: str) -> None:
        program.write_text(f"#!/bin/sh\n{LOOK}{commands}\n")
        program.chmod(0o755)

    return behaves


ON = "echo looking\nwhile :; do sleep 0.05; done"


def at_ctrl_c(commands: str) -> str:
    return f"trap '{commands}' INT\n{ON}"


@on_linux
def test_samples_of_all_rounds_are_added_up(tmp_path: Path, spy: Callable[[str], None]) -> None:
    spy(at_ctrl_c('echo "play (triarena/games/x.py:1) 7" > "$file"; exit 0'))
    found: Counter[str] = Counter()
    for _ in range(2):
        with spying(1, tmp_path, found):
            pass
    assert found == {"rules": 14}


@on_linux
@pytest.mark.parametrize(
    ("commands", "why"),
    [
        ("echo Permission denied >&2; exit 1", "can't look at the server's stacks: Permission denied"),
        ("echo looking; exit 1", "ended before the matches did|left no samples that can be read"),
        (at_ctrl_c("exit 0"), "left no samples that can be read"),
        (at_ctrl_c('echo nonsense > "$file"; exit 0'), "left no samples that can be read"),
        (at_ctrl_c(""), "did not end within 0.1 seconds"),
    ],
    ids=["may not look", "dies", "leaves nothing", "leaves nonsense", "does not end"],
)
def test_a_spy_that_misbehaves_is_told_in_a_sentence(
    commands: str,
    why: str,
    tmp_path: Path,
    spy: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if why.startswith("did not end"):
        monkeypatch.setattr(layers, "PATIENCE", 0.1)
    spy(commands)
    with pytest.raises(Broken, match=f"^py-spy ({why})"), spying(1, tmp_path, Counter()):
        pass


@on_linux
@pytest.mark.slow
def test_a_spy_that_saw_nothing_makes_no_table(spy: Callable[[str], None]) -> None:
    spy(at_ctrl_c(': > "$file"; exit 0'))
    command = [sys.executable, str(BENCHMARKS / "layers.py"), "--short", "--game", "towerwars"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[-1].startswith("py-spy saw nothing of what the server did")


def test_looking_begins_when_all_seats_are_taken_and_ends_with_the_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []

    class Seated:
        def __init__(self, *_: Any) -> None:
            happened.append("seats")
            self.room = ""

    class Server:
        port = pid = 0

    @contextmanager
    def looking() -> Iterator[None]:
        happened.append("looking")
        yield
        happened.append("looked")

    monkeypatch.setattr("trio.run", lambda *_: happened.append("prepared"))
    monkeypatch.setattr(arena, "_started", lambda *_: nullcontext(Seated()))
    monkeypatch.setattr(arena, "_played", lambda *_: happened.append("played"))
    script: Any = type("Script", (), {"moves": []})
    server: Any = Server
    arena.round_at_the_server(server, script, 1, arena.Figures(), looking=looking)
    assert happened == ["prepared", "seats", "looking", "played", "looked"]
