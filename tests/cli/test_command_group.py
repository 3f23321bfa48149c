"""The group of commands: lazy, and every ending in one sentence with a documented exit code."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

import click
import pytest
from click.testing import CliRunner, Result

from triarena.cli import AUDIENCES, COMMANDS, main
from triarena.cli.tournament import SUBCOMMANDS

HEAVY = ("trio", "pydantic", "sqlalchemy", "rich", "msgpack", "structlog", "alembic")


def run_with(monkeypatch: pytest.MonkeyPatch, body: Callable[[], object]) -> Result:
    """Run ``body`` as the command ``probe``."""
    module = ModuleType("probe_command")
    module.__dict__["probe"] = click.Command("probe", callback=body)
    monkeypatch.setitem(sys.modules, "probe_command", module)
    monkeypatch.setitem(COMMANDS, "probe", ("probe_command:probe", "For this test."))
    return CliRunner().invoke(main, ["probe"], prog_name="triarena")


def fail(error: BaseException) -> Callable[[], object]:
    def body() -> None:
        raise error

    return body


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["rules", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from triarena.cli import main\n"
        f"try: main({arguments!r}, prog_name='triarena')\n"
        f"except SystemExit: print(sorted(sys.modules.keys() & set({HEAVY!r})), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["serve", "--move-time", "fast"], "'--move-time': 'fast' is no number."),
        (["serve", "--port", "x"], "'--port': 'x' is no whole number."),
        (["join", "--wait", "long"], "'--wait': 'long' is no number."),
        (["matches", "--limit", "1.5"], "'--limit': '1.5' is no whole number."),
    ],
)
def test_what_is_no_number_is_told_in_words_for_people(arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_help_lists_every_command_under_its_audience() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    for audience, commands in AUDIENCES.items():
        section = text.partition(audience + ":")[2].partition("\n\n")[0]
        for name, (_, line) in commands.items():
            assert any(row.split() == [name, *line.split()] for row in section.splitlines()), name


@pytest.mark.parametrize("command", [*COMMANDS, *(f"tournament {name}" for name in SUBCOMMANDS)])
def test_the_help_of_every_command_has_an_example(command: str) -> None:
    done = CliRunner().invoke(main, [*command.split(), "--help"])
    assert re.search(rf"^  \$ .*triarena {command}\b", done.output, re.MULTILINE)


@pytest.mark.parametrize("command", ["compare", "join", *(f"tournament {name}" for name in SUBCOMMANDS)])
def test_commands_of_a_tournament_tell_their_exit_codes(command: str) -> None:
    said = " ".join(CliRunner().invoke(main, [*command.split(), "--help"]).output.split())
    assert re.search(r"Exit code 0: .*1: .*2: wrong use", said)


def test_completion_knows_the_commands_without_importing_them() -> None:
    with main.make_context("triarena", [], resilient_parsing=True) as context:
        assert [item.value for item in main.shell_complete(context, "re")] == ["replay", "report", "resume"]


def test_an_unknown_command_is_wrong_use() -> None:
    result = CliRunner().invoke(main, ["serv"])
    assert result.exit_code == 2
    assert "No such command 'serv'; did you mean serve?" in result.output
    assert "see triarena --help" in CliRunner().invoke(main, ["xyzzy"]).output


@pytest.mark.parametrize("arguments", [["-h"], ["games", "-h"], ["-V"]])
def test_help_and_version_have_short_names(arguments: list[str]) -> None:
    long = ["--version"] if arguments == ["-V"] else [*arguments[:-1], "--help"]
    done, same = CliRunner().invoke(main, arguments), CliRunner().invoke(main, long)
    assert (done.exit_code, done.output) == (0, same.output)


@pytest.mark.parametrize(
    ("missing", "extra"),
    [("trio", "server"), ("rich.table", "terminal"), ("sqlalchemy", "server"), ("psycopg", "postgresql")],
)
def test_a_missing_extra_is_named_with_its_installation(
    monkeypatch: pytest.MonkeyPatch, missing: str, extra: str
) -> None:
    result = run_with(monkeypatch, fail(ModuleNotFoundError(f"No module named {missing!r}", name=missing)))
    assert result.exit_code == 2
    module = missing.partition(".")[0]
    sentence = f"triarena probe needs the extra '{extra}', which is not installed ({module} is missing)"
    advice = f"from the folder of TriArena's clone: pip install '.[{extra}]'"
    assert result.output == f"Error: {sentence}; {advice} [not_installed]\n"


def test_a_missing_module_of_no_extra_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "probe", ("triarena.cli.no_such_module:probe", "For this test."))
    result = CliRunner().invoke(main, ["probe"])
    assert result.exit_code == 70
    assert "a fault in triarena probe" in result.output


def test_an_unexpected_exception_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIARENA_DEBUG", raising=False)
    result = run_with(monkeypatch, fail(RuntimeError("no such\nluck")))
    assert result.exit_code == 70
    assert result.output == (
        "Error: a fault in triarena probe: RuntimeError: no such luck; "
        "please report it, and set TRIARENA_DEBUG=1 for the traceback [internal_error]\n"
    )


def test_the_traceback_is_shown_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIARENA_DEBUG", "1")
    result = run_with(monkeypatch, fail(RuntimeError("no such luck")))
    assert result.exit_code == 70
    assert "Traceback (most recent call last)" in result.output


def test_a_group_of_exceptions_is_one_sentence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIARENA_DEBUG", raising=False)
    result = run_with(monkeypatch, fail(ExceptionGroup("several", [ValueError("one"), KeyError("two")])))
    assert result.exit_code == 70
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    "interrupt",
    [KeyboardInterrupt(), BaseExceptionGroup("nursery", [KeyboardInterrupt()])],
    ids=["alone", "through a nursery"],
)
def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch, interrupt: BaseException) -> None:
    result = run_with(monkeypatch, fail(interrupt))
    assert (result.exit_code, result.output.strip()) == (130, "")


def test_a_reader_that_has_gone_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_with(monkeypatch, fail(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert (result.exit_code, result.output) == (1, "")


def test_a_commands_own_error_keeps_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_with(monkeypatch, fail(click.ClickException("the server does not answer")))
    assert (result.exit_code, result.output) == (1, "Error: the server does not answer\n")
