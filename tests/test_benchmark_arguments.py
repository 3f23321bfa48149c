"""What a benchmark is asked for is checked before it measures, and Ctrl-C ends it in order. All benchmarks, by name."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fleet.arguments import new_file, new_folder, old_file
from fleet.verdict import BROKE, STOPPED, ended
from performance import DOCUMENT
from referee import at_once
from speed.bars import MISSED, UNJUDGED, Bar, shown
from tournament_crashes import alive, descendants

from .benchmark_runs import BENCHMARKS

SCRIPTS = {path.stem: path.read_text("utf-8") for path in sorted(BENCHMARKS.glob("*.py"))}
NAMES = sorted(SCRIPTS.keys() - {"neighbours"})  # which nobody starts by hand
PATHS = (new_file, new_folder, old_file)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")


class Read(Exception):
    """In the place of reading arguments."""


def arguments_of(name: str, monkeypatch: pytest.MonkeyPatch) -> list[argparse.Action]:
    """All that a benchmark can be told, but for ``--help``."""
    found = []

    def stop(parser: argparse.ArgumentParser) -> None:
        found.extend(parser._actions[1:])
        raise Read

    main = import_module(name).main
    with monkeypatch.context() as patched:
        patched.setattr(argparse.ArgumentParser, "parse_args", stop)
        with pytest.raises(Read):
            main()
    return found


def refusal(name: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> str:
    """The last line of what a benchmark says to such arguments, and nothing else; its exit code is 2."""
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit) as error:
        import_module(name).main()
    said = capsys.readouterr()
    assert (error.value.code, said.out) == (2, "")
    return str(said.err.splitlines()[-1])


@pytest.mark.parametrize("name", NAMES)
def test_every_number_that_a_benchmark_takes_has_a_least_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for argument in arguments_of(name, monkeypatch):
        assert argument.nargs != "*", "none at all would be taken for the default"
        if argument.type in (None, *PATHS) or argument.dest in ("seed", "write"):
            continue
        assert isinstance(argument.type, Callable)  # type: ignore[arg-type]
        for text in ("-1", "nan", "inf", "many", ""):
            with pytest.raises(argparse.ArgumentTypeError, match="more"):
                argument.type(text)  # type: ignore[operator]
        assert argument.default is None or argument.type(str(argument.default)) == argument.default  # type: ignore[operator]


@pytest.mark.parametrize("name", NAMES)
def test_a_path_that_cannot_be_written_is_refused_before_anything_is_measured(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for argument in arguments_of(name, monkeypatch):
        assert argument.type is not Path or argument.dest == "write"
        if argument.type in (new_file, new_folder) and argument.option_strings:
            for path in ("/dev/null/figures", str(tmp_path / "file" / "figures"), "/proc/nope"):
                said = refusal(name, [argument.option_strings[0], path], monkeypatch, capsys)
                assert path in said
                assert "written" in said


def test_trying_a_path_leaves_nothing_behind(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    assert new_file(str(kept)).read_text() == "{}"
    assert new_file(str(tmp_path / "new.json")) == tmp_path / "new.json"
    assert new_folder(str(tmp_path / "a" / "b")) == tmp_path / "a" / "b"
    assert list(tmp_path.iterdir()) == [kept]
    for wrong in (tmp_path, tmp_path / "none" / "new.json", tmp_path / ("long" * 100)):
        with pytest.raises(argparse.ArgumentTypeError, match="cannot be written"):
            new_file(str(wrong))
    with pytest.raises(argparse.ArgumentTypeError, match="cannot be read"):
        old_file(str(tmp_path / "none"))


def test_arguments_that_do_not_go_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--spare-ms" in refusal("false_timeouts", ["--limit-ms", "50", "--spare-ms", "60"], monkeypatch, capsys)
    assert "--rooms" in refusal("crowd", ["--rooms", "5"], monkeypatch, capsys)


def test_a_document_that_cannot_take_the_figures_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def refused(path: Path, *more: str) -> str:
        return refusal("performance", ["--write", str(path), *more], monkeypatch, capsys)

    page = tmp_path / "page.md"
    assert "make a copy of performance.md first" in refused(page)
    page.write_text("# Nothing\n")
    assert "has no marks" in refused(page)
    page.write_text("<!-- measured: luck -->\n<!-- end -->\n")
    assert "nothing is measured for luck" in refused(page)
    page.write_text(DOCUMENT.read_text("utf-8"), "utf-8")
    (tmp_path / "cost-by-board.svg").mkdir()
    assert "cost-by-board.svg cannot be written" in refused(page)
    monkeypatch.chdir(DOCUMENT.parents[1])
    for ours in (DOCUMENT, Path("docs/performance.md"), Path("docs/../docs/performance.md")):
        assert "the figures of the short mode mean nothing" in refused(ours, "--short")


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (10 / 3, "3.333"),
        (1495123.0, "1,495,000"),
        (0.4, "0.4"),
        (5, "5"),
        (100, "100"),
        (0.0123456, "0.01235"),
        (0, "0"),
        (9999.9, "10,000"),
    ],
)
def test_a_figure_is_shown_by_its_first_digits_and_never_as_a_power_of_ten(figure: float, text: str) -> None:
    assert shown(figure) == text


def test_more_matches_at_once_than_the_server_has_connections_for_are_refused_with_that_reason() -> None:
    assert at_once("1999") == 1999
    with pytest.raises(argparse.ArgumentTypeError, match=r"1999 or less.*two of the 4000 connections"):
        at_once("2000")


def test_a_figure_that_means_nothing_has_no_verdict() -> None:
    bar = Bar("work", 1.0, "ms", None, 2, 2)
    assert (bar.plain()["verdict"], bar.plain(meant=False)["verdict"]) == (MISSED, UNJUDGED)


# -- how they end ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_ended_by_the_same_function(name: str) -> None:
    assert re.search(r'^if __name__ == "__main__":\n    ended\(main\)\n\Z', SCRIPTS[name], re.MULTILINE)


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), BaseExceptionGroup("", [BaseExceptionGroup("", [KeyboardInterrupt()]), OSError()])],
)
def test_ctrl_c_is_told_in_one_line(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> int:
        raise error

    with pytest.raises(SystemExit) as code:
        ended(main)
    assert code.value.code == STOPPED
    assert capsys.readouterr().err == "stopped by Ctrl-C before all was measured\n"


@pytest.mark.parametrize("error", [ValueError(), ExceptionGroup("", [OSError()])])
def test_an_error_that_is_no_ctrl_c_is_shown_in_full_and_is_no_missed_bar(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> int:
        raise error

    with pytest.raises(SystemExit) as code:
        ended(main)
    assert code.value.code == BROKE
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert type(error).__name__ in said


AS_A_SHELL_DOES = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests in the background has it ignored
sys.argv.pop(0)
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def serves(pid: int) -> bool:
    try:
        return b"serve" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("everybody", [True, False], ids=["at the terminal", "alone"])
@pytest.mark.parametrize(
    "command",
    [
        "crashes.py",
        "crowd.py --idle 0",
        "false_timeouts.py",
        "floor.py --short",
        "forty_bots.py",
        "performance.py --short --write COPY",
        "plain_joins.py",
        "stalls.py",
        "tournament_crashes.py",
    ],
)
def test_ctrl_c_ends_a_benchmark_and_all_that_it_has_started(command: str, everybody: bool, tmp_path: Path) -> None:
    copy = tmp_path / "copy.md"
    copy.write_text(DOCUMENT.read_text("utf-8"), "utf-8")
    script, *arguments = command.replace("COPY", str(copy)).split()
    process = subprocess.Popen(
        [sys.executable, "-c", AS_A_SHELL_DOES, str(BENCHMARKS / script), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not any(map(serves, below := descendants(process.pid))):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        if everybody:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == STOPPED
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "stopped by Ctrl-C before all was measured"
    assert said.count("stopped") == 1
    while any(map(alive, below)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
