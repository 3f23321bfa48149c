"""Processes under guard: how they start, how they end, and that they end with whoever started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
import trio

from triarena.organiser import processes
from triarena.organiser.processes import Limits, open_guarded

from .roll_call import DEADLINE_SECONDS, RollCall

posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals on Windows")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers and death signals")


async def test_a_command_that_ends_at_once_tells_its_exit_code_and_what_it_said(roll: RollCall, log: Path) -> None:
    script = "print('out'); print('err', file=sys.stderr); sys.exit(3)"
    async with open_guarded(roll.script(script), log=log) as process:
        ended = await process.wait()
        assert process.ended is ended
    assert (ended.why, ended.exit_code, ended.signal) == ("exited", 3, None)
    assert ended.detail == "it ended by itself (exit code 3)"
    assert sorted(process.tail()) == ["err", "out"]


@posix
async def test_a_command_that_crashes_tells_its_signal(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("os.kill(os.getpid(), signal.SIGSEGV)"), log=log) as process:
        ended = await process.wait()
    assert (ended.why, ended.exit_code, ended.signal) == ("exited", None, signal.SIGSEGV)
    assert ended.detail == "it ended by itself (SIGSEGV)"


async def test_a_command_gets_its_folder_its_environment_an_empty_input_and_none_of_our_files(
    roll: RollCall, log: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "the folder"
    folder.mkdir()
    script = """
print(os.getcwd())
print(os.environ["COLOUR"], "HOME" in os.environ)
print(repr(sys.stdin.read()))
print([fd for fd in range(3, 256) if os.path.exists(f"/proc/self/fd/{fd}")])
"""
    environment = {"COLOUR": "blé", "PYTHONUTF8": "1"} | {k: v for k, v in os.environ.items() if k == "SYSTEMROOT"}
    command = [word for word in roll.script(script) if word != "-I"]
    async with open_guarded(command, log=log, cwd=folder, env=environment) as process:
        await process.wait()
    assert process.tail() == (str(folder), "blé False", "''", "[]")


@posix
async def test_who_gives_in_to_being_told_may_end_in_its_own_way(roll: RollCall, log: Path) -> None:
    script = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); c = report(); signal.pause()"
    async with open_guarded(roll.script(script), log=log, grace=DEADLINE_SECONDS) as process:
        await roll.present()
        ended = await process.kill()
    assert (ended.why, ended.exit_code) == ("killed", 0)
    assert ended.detail == "it was told to end, and did (exit code 0)"


@posix
async def test_who_does_not_listen_is_killed_after_the_grace(roll: RollCall, log: Path) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN); c = report(); signal.pause()"
    async with open_guarded(roll.script(script), log=log, grace=0.1) as process:
        await roll.present()
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.kill()
    assert (ended.why, ended.signal) == ("killed", signal.SIGKILL)
    assert ended.detail == "it was told to end, did not, and was killed"
    assert roll.survivors() == []


@posix
async def test_a_second_kill_with_a_shorter_grace_hastens_the_end(roll: RollCall, log: Path) -> None:
    script = "signal.signal(signal.SIGTERM, lambda *_: report()); c = report()\nwhile True: signal.pause()"
    async with open_guarded(roll.script(script), log=log, grace=3600) as process, trio.open_nursery() as nursery:
        await roll.present()
        nursery.start_soon(process.kill)
        await roll.present()  # it has been asked
        with trio.fail_after(DEADLINE_SECONDS):
            await process.kill(grace=0)
    assert roll.survivors() == []


async def test_leaving_the_block_ends_the_command(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("c = report(); time.sleep(3600)"), log=log) as process:
        assert await roll.present() == [process.pid]
        assert process.ended is None
    assert process.ended is not None
    assert process.ended.why == "killed"
    assert roll.survivors() == []


async def test_a_cancellation_ends_the_command(roll: RollCall, log: Path) -> None:
    with trio.CancelScope() as scope:
        async with open_guarded(roll.script("c = report(); time.sleep(3600)"), log=log) as process:
            await roll.present()
            scope.cancel()
            await process.wait()
    assert scope.cancelled_caught
    assert roll.survivors() == []


async def test_a_cancellation_while_the_command_is_being_started_leaves_nothing(roll: RollCall, log: Path) -> None:
    before = children_of_ours()
    with trio.CancelScope() as scope:
        scope.cancel()
        async with open_guarded(roll.script("c = report(); time.sleep(3600)"), log=log):
            pytest.fail("the block was entered")
    assert children_of_ours() == before


def children_of_ours() -> set[int]:
    psutil = pytest.importorskip("psutil")
    return {child.pid for child in psutil.Process().children(recursive=True)}


async def test_an_error_in_the_block_comes_out_as_it_is(roll: RollCall, log: Path) -> None:
    async def fail() -> None:
        async with open_guarded(roll.script("c = report(); time.sleep(3600)"), log=log):
            await roll.present()
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await fail()
    assert roll.survivors() == []


@posix
async def test_a_guard_takes_no_notice_of_a_terminals_signals(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("c = report(); time.sleep(3600)"), log=log) as process:
        await roll.present()
        (guard,) = roll.parents
        assert os.getpgid(guard) == guard  # a terminal sends its signals to the group in its foreground
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(guard, number)
        ended = await process.kill()
    assert (ended.why, ended.signal) == ("killed", signal.SIGTERM)


@linux
async def test_a_command_dies_with_its_guard(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("c = report(); signal.pause()"), log=log) as process:
        await roll.present()
        os.kill(roll.parents[0], signal.SIGKILL)
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.wait()
    await roll.hang_up()
    assert ended.why == "lost"


async def test_a_guard_tells_that_its_command_runs_and_that_it_has_ended(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("c = report(); time.sleep(3600)"), log=log) as process:
        await roll.present()
        assert await process.is_known(DEADLINE_SECONDS)
        assert process.ended is None
        await process.kill(0)
        assert await process.is_known(DEADLINE_SECONDS)
        assert process.ended is not None


@linux
@pytest.mark.parametrize(("number", "known"), [(signal.SIGKILL, True), (signal.SIGSTOP, False)])
async def test_a_guard_that_cannot_answer_leaves_open_how_its_command_fares_unless_its_end_is_seen(
    roll: RollCall, log: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, known: bool
) -> None:
    async with open_guarded(roll.script("c = report(); signal.pause()"), log=log, grace=0.1) as process:
        await roll.present()  # which may take longer
        monkeypatch.setattr(processes, "GUARD_SECONDS", 0.1)
        os.kill(roll.parents[0], number)
        assert await process.is_known(DEADLINE_SECONDS if known else 0.2) is known
        assert (process.ended is not None and process.ended.why == "lost") is known


@linux
async def test_a_guard_that_does_not_answer_is_given_up(
    roll: RollCall, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_guarded(roll.script("c = report(); signal.pause()"), log=log, grace=0.1) as process:
        await roll.present()  # which may take longer
        monkeypatch.setattr(processes, "GUARD_SECONDS", 0.1)
        os.kill(roll.parents[0], signal.SIGSTOP)
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.kill()
    await roll.hang_up()
    assert ended.why == "lost"


NEVER_SAYS = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
"""A guard that is stopped before it takes its order, as its command may stop it before it says "started"."""


@linux
@pytest.mark.parametrize("order", [{}, {"MUCH": "x" * 100_000}], ids=["taken by its pipe", "longer than its pipe"])
async def test_a_guard_that_is_stopped_before_it_says_anything_is_given_up(
    log: Path, monkeypatch: pytest.MonkeyPatch, order: dict[str, str]
) -> None:
    monkeypatch.setattr(processes, "GUARD_SECONDS", 0.2)
    monkeypatch.setattr(processes, "guard_command", lambda: [sys.executable, "-I", "-S", "-c", NEVER_SAYS])
    with trio.fail_after(DEADLINE_SECONDS):
        async with open_guarded(["never"], log=log, env=order) as process:
            ended = await process.wait()
    assert (ended.why, ended.blameless, process.pid) == ("lost", True, None)


@linux
async def test_a_guard_that_is_stopped_before_it_says_that_its_command_has_started_is_given_up(
    roll: RollCall, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "GUARD_SECONDS", 1.0)
    hook = "; from triarena.organiser import guard; say = guard.Guard._say; os = guard.os; "
    hook += "guard.Guard._say = lambda self, event: (os.kill(os.getpid(), 19), say(self, event)); guard.main()"
    *words, code = processes.guard_command()
    monkeypatch.setattr(processes, "guard_command", lambda: [*words, code.replace("; main()", hook)])
    with trio.fail_after(DEADLINE_SECONDS):
        async with open_guarded(roll.script("signal.pause()"), log=log) as process:
            ended = await process.wait()
    assert (ended.why, process.pid) == ("lost", None)


@linux
@pytest.mark.parametrize("call", ["reset_limits", "is_known", "kill"])
async def test_a_guard_that_is_stopped_and_has_a_full_pipe_holds_up_nobody(
    roll: RollCall, log: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(processes, "TELL_SECONDS", 0.2)
    fills = """
guard = os.getppid()
os.kill(guard, signal.SIGSTOP)
pipe = os.open(f"/proc/{guard}/fd/0", os.O_WRONLY | os.O_NONBLOCK)
try:
    while True: os.write(pipe, b"x")
except BlockingIOError: c = report(); signal.pause()
"""
    with trio.fail_after(DEADLINE_SECONDS):
        async with open_guarded(roll.script(fills), log=log) as process:
            await roll.present()
            calls: dict[str, Callable[[], Awaitable[object]]] = {
                "reset_limits": process.reset_limits,
                "is_known": partial(process.is_known, DEADLINE_SECONDS),
                "kill": process.kill,
            }
            await calls[call]()
            ended = await process.wait()
    await roll.hang_up()
    assert ended.why == "lost"


LISTENER = (
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); door = socket.create_server(('127.0.0.1', 0))\n"
    "print(door.getsockname()[1], flush=True); "
)
"""The beginning of a command that listens, and ignores being asked to end."""


def tool(roll: RollCall, folder: Path, *scripts: str) -> str:
    """A program that runs scripts under guard until it is killed."""
    return f"""
import trio
from pathlib import Path
from triarena.organiser.processes import open_guarded

async def run(number, command):
    async with open_guarded(command, log=Path({str(folder)!r}, f"{{number}}.log"), grace=60) as process:
        await process.wait()

async def main():
    async with trio.open_nursery() as nursery:
        for number, command in enumerate({[roll.script(script) for script in scripts]!r}):
            nursery.start_soon(run, number, command)

trio.run(main)
"""


async def start(program: str) -> trio.Process:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # As from a terminal: whoever takes over the tool's processes when it dies belongs to another session.
    return await trio.lowlevel.open_process([sys.executable, "-c", program], env=environment, start_new_session=True)


@posix
async def test_whoever_dies_by_kill_9_takes_its_commands_and_their_ports_along(roll: RollCall, tmp_path: Path) -> None:
    plain = LISTENER + "c = report(); signal.pause()"
    parent_and_child = LISTENER + "child = os.fork()\nif child == 0: os.setsid()\nc = report(); signal.pause()"
    parent = await start(tool(roll, tmp_path, plain, parent_and_child))
    try:
        await roll.present(3)
    finally:
        parent.kill()
        await parent.wait()  # noqa: ASYNC102 - it was killed
    await roll.hang_up()
    await roll.nobody_left()
    for number in (0, 1):
        port = int((tmp_path / f"{number}.log").read_text())
        with pytest.raises(OSError, match="all attempts to connect"):
            await trio.open_tcp_stream("127.0.0.1", port)


@linux
async def test_a_command_that_holds_the_input_of_its_guard_open_does_not_outlive_the_tool(
    roll: RollCall, tmp_path: Path
) -> None:
    script = "guard = os.open(f'/proc/{os.getppid()}/fd/0', os.O_WRONLY); c = report(); signal.pause()"
    parent = await start(tool(roll, tmp_path, script))
    try:
        await roll.present()
    finally:
        parent.kill()
        await parent.wait()  # noqa: ASYNC102 - it was killed
    await roll.hang_up()


@linux
async def test_a_command_dies_even_if_its_guard_is_killed_together_with_the_tool(
    roll: RollCall, tmp_path: Path
) -> None:
    parent = await start(tool(roll, tmp_path, LISTENER + "c = report(); signal.pause()"))
    try:
        await roll.present()
        for pid, number in ((roll.parents[0], signal.SIGSTOP), (parent.pid, signal.SIGSTOP)):
            os.kill(pid, number)  # so that neither notices the end of the other
        os.kill(roll.parents[0], signal.SIGKILL)
    finally:
        parent.kill()
        await parent.wait()  # noqa: ASYNC102 - it was killed
    await roll.hang_up()


def is_stopped(pid: int) -> bool:
    """Whether all threads of a process have been stopped."""
    stats = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


@linux
@pytest.mark.parametrize("moment", ["before it says that the command has started", "later"])
async def test_a_guard_that_is_stopped_does_not_outlive_a_tool_that_is_killed(
    roll: RollCall, tmp_path: Path, moment: str
) -> None:
    stops = "os.kill(os.getppid(), signal.SIGSTOP); " if moment != "later" else ""
    parent = await start(tool(roll, tmp_path, stops + "c = report(); signal.pause()"))
    try:
        await roll.present()
        os.kill(roll.parents[0], signal.SIGSTOP)
        with trio.fail_after(DEADLINE_SECONDS):
            while not is_stopped(roll.parents[0]):  # noqa: ASYNC110 - the system sets no event
                await trio.lowlevel.checkpoint()
    finally:
        parent.kill()
        await parent.wait()  # noqa: ASYNC102 - it was killed
    await roll.hang_up()
    await roll.nobody_left()


async def test_twenty_commands_at_once_are_kept_apart(roll: RollCall, tmp_path: Path) -> None:
    codes: dict[int, int | None] = {}

    async def run(number: int) -> None:
        script = f"print({number}); sys.exit({number})"
        async with open_guarded(roll.script(script), log=tmp_path / str(number)) as process:
            codes[number] = (await process.wait()).exit_code
            assert process.tail() == (str(number),)

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(run, number)
    assert codes == {number: number for number in range(20)}


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["jaba", "Bot"], "there is no program 'jaba' on the PATH: check its spelling, and that it is installed"),
        (["./jaba"], "there is no program './jaba': check its spelling, and that it is installed"),
        (["./data.txt"], "'./data.txt' may not be run: is it a program, and is it marked as one (chmod +x)?"),
        (["./wrong.sh"], "the program that the first line of './wrong.sh' names does not exist"),
        (
            ["./bare"],
            "'./bare' is no program of this system; a script needs a first line such as #!/usr/bin/env python3",
        ),
        (["null\0byte"], "the system refuses to start 'null\\x00byte': embedded null byte"),
    ],
)
@posix
async def test_a_command_that_cannot_be_started_says_why(
    command: list[str], sentence: str, log: Path, tmp_path: Path
) -> None:
    (tmp_path / "data.txt").write_text("1")
    for name, text in {"wrong.sh": "#!/no/such/shell\n", "bare": "move\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    async with open_guarded(command, log=log, cwd=tmp_path) as process:
        assert process.pid is None
        ended = await process.wait()
    assert (ended.why, ended.exit_code, ended.signal) == ("cannot_start", None, None)
    assert ended.detail == f"it could not be started: {sentence}"


async def test_a_missing_folder_or_a_log_that_cannot_be_written_is_told(log: Path, tmp_path: Path) -> None:
    async with open_guarded([sys.executable], log=log, cwd=tmp_path / "nowhere") as process:
        ended = await process.wait()
    assert ended.detail == f"it could not be started: there is no folder '{tmp_path / 'nowhere'}' to start it in"
    async with open_guarded([sys.executable], log=tmp_path / "no" / "it.log") as process:
        ended = await process.wait()
    assert ended.detail.startswith("it could not be started: its log cannot be written: ")
    assert process.tail() == ()


async def test_limits_may_be_none(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("pass"), log=log, limits=Limits(None, None, None, None)) as process:
        assert (await process.wait()).exit_code == 0


def test_the_guard_needs_no_installed_package_on_linux() -> None:
    """It is started for every process, so that what it imports is what a start costs."""
    slow = {"trio", "dataclasses", "typing", "psutil"}
    code = f"import sys, triarena.organiser.guard; print(sorted({slow} & {{*sys.modules}}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
