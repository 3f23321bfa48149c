"""The speed benchmarks work, and docs/performance.md is what they write; they judge no times here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from curves import CURVES
from fleet.figures import MEANINGLESS, machine, quickness
from performance import BLOCK, DOCUMENT, Step, measure, steps, write

from .benchmark_runs import run_benchmark

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="bots on epoll, times by the system's stamps")
TEXT = DOCUMENT.read_text("utf-8")
RECIPE = [
    "$ cp docs/performance.md copy.md",
    "$ uv run --with py-spy python benchmarks/performance.py --short --write copy.md",
]
COMMANDS = re.findall(r"^\$ uv run (?:--with py-spy )?python benchmarks/(\w+\.py)(.*)$", TEXT, re.MULTILINE)


@dataclass(frozen=True)
class Written:
    """What the one command that measures everything has left, in its short mode."""

    folder: Path
    said: str

    def figures(self, name: str) -> Any:
        return json.loads((self.folder / "figures" / "short" / f"{name}.json").read_text("utf-8"))

    @property
    def text(self) -> str:
        return (self.folder / "performance.md").read_text("utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("performance")
    shutil.copy(DOCUMENT, folder)
    arguments = ["--write", str(folder / "performance.md"), "--figures", str(folder / "figures")]
    return Written(folder, run_benchmark("performance.py", "--short", *arguments, timeout=300))


def test_a_document_that_is_not_there_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    command = [sys.executable, str(DOCUMENT.parents[1] / "benchmarks" / "performance.py"), "--short", "--write"]
    done = subprocess.run(
        [*command, str(tmp_path / "copy.md")], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "make a copy of performance.md first" in done.stderr.splitlines()[-1]


def test_the_line_under_the_figures_says_how_fast_python_is_there_and_how_busy_the_machine() -> None:
    assert quickness() > 0
    assert re.fullmatch(r".+ processors, Python \S+ at \d+% of the usual speed, load average [\d., ]+", machine())


@on_linux
@pytest.mark.slow
def test_the_benchmark_of_the_rules_measures_every_game(written: Written) -> None:
    figures = written.figures("rules-1")
    assert figures["golden"].keys() == {"towerwars", "flowerwars", "mississippi_queen"}
    assert all(board[name] > 0 for board in figures["boards"].values() for name in board.keys() - {"shared_memory"})
    assert all(bar["figure"] > 0 for bar in figures["bars"])


@pytest.mark.slow
def test_the_benchmark_of_the_rules_tells_meanwhile_what_is_done() -> None:
    command = [sys.executable, str(DOCUMENT.parents[1] / "benchmarks" / "rules.py"), "--short"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    told = done.stderr.splitlines()
    assert [told[0], told[-1]] == ["towerwars 4: done", "mississippi_queen, golden positions: done"]
    assert all(line.endswith(": done") for line in told)


@on_linux
@pytest.mark.slow
def test_the_benchmark_of_the_referee_plays_beside_the_relay(written: Written) -> None:
    figures = written.figures("referee-1")
    assert [(one["game"], one["matches"]) for one in figures["pace"]] == [("towerwars", 1), ("towerwars", 3)]
    assert all(one["p50"] > 0 and one["pace"] > 0 and one["cpu_ms"] > 0 for one in figures["pace"])
    assert any(bar["work"] == "towerwars, 1 match: p50" for bar in figures["bars"])


@on_linux
@pytest.mark.slow
def test_every_duty_of_a_referee_is_measured_between_the_relay_and_the_server(written: Written) -> None:
    lines = written.figures("floor")
    assert [line["step"] for line in lines] == ["bare relay", "+ messages", "+ rules", "+ journal", "the server"]
    assert all(line["p50"] > 0 and line["pace"] > 0 and line["cpu_ms"] > 0 for line in lines)


@on_linux
@pytest.mark.slow
def test_the_document_holds_the_figures_and_the_curves_beside_it(written: Written) -> None:
    assert "towerwars 8: random games" not in BLOCK.sub("", TEXT)
    assert "| towerwars 8: random games |" in written.text
    assert BLOCK.sub("", written.text) == BLOCK.sub("", TEXT), "what is written by hand stays"
    for curve in ("cost-by-board.svg", "cost-by-matches.svg"):
        assert f"({curve})" in TEXT
        assert "<polyline" in (written.folder / curve).read_text("utf-8")
        assert (DOCUMENT.parent / curve).exists()


@on_linux
@pytest.mark.slow
def test_a_short_run_judges_nothing_and_says_everywhere_that_its_figures_mean_nothing(written: Written) -> None:
    mentioned = [written.said, *(mark[0] for mark in BLOCK.finditer(written.text) if mark[1] != "layers")]
    mentioned += [(written.folder / curve).read_text("utf-8") for curve in CURVES]
    for text in mentioned:
        assert MEANINGLESS in text
        assert not re.search("MISSED|aim met|bars are met", text)
    assert {bar["verdict"] for name in ("rules-1", "referee-1") for bar in written.figures(name)["bars"]} == {"-"}
    if shutil.which("py-spy") is None:
        assert "py-spy is not installed" in written.said
        assert layers(written.text) == layers(TEXT)
    else:
        assert MEANINGLESS in layers(written.text)


@on_linux
@pytest.mark.slow
def test_a_spy_that_may_not_look_costs_nobody_the_other_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    spy = tmp_path / "bin" / "py-spy"
    spy.parent.mkdir()
    spy.write_text("#!/bin/sh\necho Permission denied >&2\nexit 1\n")
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", str(spy.parent), prepend=os.pathsep)
    measure(Step("layers", "layers.py", figures=False), tmp_path, short=True)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]
    said = capfd.readouterr()
    assert said.err.splitlines()[-1] == "py-spy can't look at the server's stacks: Permission denied"
    assert "layers is left out" in said.out


def layers(text: str) -> str:
    (found,) = (mark[0] for mark in BLOCK.finditer(text) if mark[1] == "layers")
    return found


def test_the_short_run_can_be_pasted_from_the_document_into_a_shell() -> None:
    assert "\n".join(["```console", *RECIPE, "```"]) in TEXT
    assert all(f"`{curve}`" in TEXT.split(RECIPE[0])[0] for curve in CURVES)


@on_linux
def test_every_command_of_the_document_is_one_that_is_run_here() -> None:
    run_here = [("performance.py", []), ("performance.py", ["--short", "--write", "copy.md"])]
    run_here += [(step.script, list(step.arguments)) for step in steps(1)]
    assert {script for script, _ in COMMANDS} == {"rules.py", "referee.py", "floor.py", "layers.py", "performance.py"}
    for script, arguments in COMMANDS:
        if script in dict(run_here):  # not layers.py, where py-spy is not installed
            assert (script, arguments.split()) in run_here
    assert len(re.findall(r"^\$ ", TEXT.replace(RECIPE[0], ""), re.MULTILINE)) == len(COMMANDS)


def test_a_mark_that_nothing_is_measured_for_is_no_mark(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("<!-- measured: luck -->\n<!-- end -->\n")
    with pytest.raises(KeyError, match="luck"):
        write(tmp_path / "page.md", {})
