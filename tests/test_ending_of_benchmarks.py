"""How a benchmark ends that is ended from outside, or that something of its own dies under, and what it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from fleet.server import ServerProcess
from fleet.verdict import BROKE, Broken, ended
from referee import bars
from speed import arena
from speed.arena import cpu_seconds
from tournament_crashes import alive, descendants

from .benchmark_runs import BENCHMARKS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def hear_of_it() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    trio.run(trio.sleep, 60)


def hear_of_it_in_a_task() -> None:
    async def wait() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 60)
            await trio.lowlevel.checkpoint()
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)

    trio.run(wait)


@pytest.mark.parametrize("main", [hear_of_it, hear_of_it_in_a_task])
@pytest.mark.parametrize("ctrl_c", [signal.SIG_IGN, signal.default_int_handler])
def test_a_signal_is_told_in_one_line_and_gives_its_exit_code(
    main: Callable[[], None], ctrl_c: Callable[..., None] | int, capsys: pytest.CaptureFixture[str]
) -> None:
    with handled(signal.SIGINT, ctrl_c), put_back(*ENDINGS):
        with pytest.raises(SystemExit) as code:
            ended(main)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN, "a late one changes nothing any more"
    assert code.value.code == 128 + signal.SIGTERM
    assert capsys.readouterr().err == "stopped by SIGTERM before all was measured\n"


@contextmanager
def put_back(*numbers: signal.Signals) -> Iterator[None]:
    """Leave these signals as they were found."""
    before = [(number, signal.getsignal(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def handled(number: signal.Signals, handler: Callable[..., None] | int) -> Iterator[None]:
    """Do this on a signal, and then what was done before."""
    with put_back(number):
        signal.signal(number, handler)
        yield


def end(main: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    """The exit code, and what it said. The signals do what they did before, or nothing once one has come."""
    run = trio.run
    with handled(signal.SIGINT, signal.default_int_handler), put_back(*ENDINGS):
        before = [signal.getsignal(number) for number in ENDINGS]
        with pytest.raises(SystemExit) as code:
            ended(main)  # type: ignore[arg-type]
        if code.value.code not in [128 + number for number in ENDINGS]:
            assert [signal.getsignal(number) for number in ENDINGS] == before
        else:
            assert signal.getsignal(signal.SIGINT) == signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    assert trio.run is run
    return code.value.code, capsys.readouterr().err


BY = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
CLEAN_UPS = ("plain", "trio's", "around trio", "with a trio of its own")


def ending_of(kind: str, work: Callable[[], None], clean_up: Callable[[], None]) -> None:
    """A benchmark that hears of its end at work, and then cleans up."""

    async def task() -> None:
        try:
            work()
            await trio.sleep(60)
        finally:
            if kind == "trio's":
                with trio.CancelScope(shield=True):
                    await trio.lowlevel.checkpoint()
                    clean_up()
                    await trio.lowlevel.checkpoint()

    async def tasks() -> None:
        async with trio.open_nursery() as nursery:  # noqa: ASYNC112 - as programs have one
            nursery.start_soon(task)

    async def clean_up_in_trio() -> None:
        clean_up()
        await trio.lowlevel.checkpoint()

    try:
        if kind == "plain":
            work()
            time.sleep(60)  # which the signal cuts short
        else:
            trio.run(tasks)
    finally:
        if kind == "with a trio of its own":
            trio.run(clean_up_in_trio)
        elif kind != "trio's":
            clean_up()


@pytest.mark.parametrize("kind", CLEAN_UPS)
@pytest.mark.parametrize("first", ENDINGS)
def test_no_second_signal_of_any_kind_cuts_the_clean_up_short(
    first: signal.Signals, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaned: list[str] = []

    def clean_up() -> None:
        for number in (*ENDINGS, *ENDINGS):
            os.kill(os.getpid(), number)
            cleaned.append(number.name)

    said = end(lambda: ending_of(kind, lambda: os.kill(os.getpid(), first), clean_up), capsys)
    assert said == (128 + first, f"stopped by {BY[first]} before all was measured\n")
    assert len(cleaned) == 6


@pytest.mark.parametrize("kind", CLEAN_UPS)
@pytest.mark.parametrize("first", ENDINGS)
@pytest.mark.parametrize(
    "error", [OSError("left"), Broken("left"), SystemExit("left"), SystemExit(1), ExceptionGroup("", [OSError()])]
)
def test_a_clean_up_that_fails_does_not_hide_by_what_a_benchmark_was_stopped(
    error: BaseException, first: signal.Signals, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def clean_up() -> None:
        raise error

    said = end(lambda: ending_of(kind, lambda: os.kill(os.getpid(), first), clean_up), capsys)
    assert said == (128 + first, f"stopped by {BY[first]} before all was measured\n")


def test_ctrl_c_between_two_runs_of_trio_is_heard_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        trio.run(trio.sleep, 0)
        ending_of("plain", lambda: os.kill(os.getpid(), signal.SIGINT), lambda: os.kill(os.getpid(), signal.SIGTERM))

    assert end(main, capsys) == (130, "stopped by Ctrl-C before all was measured\n")


def test_a_benchmark_under_nohup_does_not_end_with_its_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with handled(signal.SIGHUP, signal.SIG_IGN):
        assert end(lambda: os.kill(os.getpid(), signal.SIGHUP), capsys) == (0, "")


class Unheard(BaseException):
    pass


@pytest.mark.parametrize("error", [Unheard(), GeneratorExit(), BaseExceptionGroup("", [Unheard()])])
def test_nothing_unforeseen_passes_for_a_broken_promise(
    error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> None:
        raise error

    code, said = end(main, capsys)
    assert code == BROKE
    assert type(error).__name__ in said


@pytest.mark.parametrize("error", [Broken("no luck"), SystemExit("no luck")])
def test_what_a_benchmark_broke_by_is_told_in_a_sentence(
    error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> None:
        raise error

    with pytest.raises(SystemExit) as code:
        ended(main)
    assert (code.value.code, capsys.readouterr().err) == (BROKE, "no luck\n")


@pytest.mark.parametrize("coding", ["ascii", "latin-1", "utf-8"])
def test_what_a_benchmark_prints_into_a_pipe_is_utf8_whatever_the_alphabet_of_the_shell(coding: str) -> None:
    program = "from fleet.verdict import ended; ended(lambda: print('3 \\u00b5s'))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=BENCHMARKS,
        env={**os.environ, "PYTHONIOENCODING": coding},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.decode("utf-8").strip()) == (0, "3 \u00b5s")


@pytest.mark.parametrize("arguments", [["relay", "FOLDER/port", ""], ["bots"]])
def test_a_process_of_the_arena_ends_with_its_input(arguments: list[str], tmp_path: Path) -> None:
    command = [argument.replace("FOLDER", str(tmp_path)) for argument in arguments]
    process = subprocess.Popen(
        [sys.executable, "-m", f"speed.{command[0]}", *command[1:]],
        cwd=BENCHMARKS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert said == b""


def test_the_time_of_threads_that_have_ended_counts_as_a_process_s_own() -> None:
    program = (
        "import os, threading\n"
        "thread = threading.Thread(target=sum, args=(range(10**7),))\n"
        "thread.start()\n"
        "thread.join()\n"
        "while len(os.listdir('/proc/self/task')) > 1: pass  # the system needs a moment more\n"
        "print(flush=True)\n"
        "input()"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        threads = Path(f"/proc/{process.pid}/task").iterdir()
        living = sum(int((thread / "schedstat").read_text("ascii").split()[0]) for thread in threads) / 1e9
        assert cpu_seconds(process.pid) > living + 0.02
    finally:
        process.kill()
        process.communicate()


def test_the_processor_is_judged_only_with_the_numbers_of_matches_that_are_asked_for() -> None:
    pair = SimpleNamespace(
        server=SimpleNamespace(p50=1, pace=1, cpu_ms=1), relay=SimpleNamespace(p50=1, pace=1, cpu_ms=1)
    )
    pairs = {("mississippi_queen", matches): pair for matches in (1, 2, 5, 10, 20, 50, 100)}
    judged = [bar.work for bar in bars(pairs, {}, {}) if "CPU" in bar.work]  # type: ignore[arg-type]
    assert judged == [f"mississippi_queen, {matches} at once: CPU" for matches in (1, 10, 100)]


def test_a_measured_server_has_no_settings_of_who_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIARENA_LIMITS__CONNECTIONS", "none at all")
    with ServerProcess(tmp_path) as server:
        assert server.port


def test_a_server_that_died_is_what_a_benchmark_broke_by_whatever_else_suffered(tmp_path: Path) -> None:
    def main() -> None:
        with ServerProcess(tmp_path) as server:
            server.signal(signal.SIGKILL)
            raise Broken("the bots ended too early")

    with pytest.raises(Broken, match="the server ended too early"):
        main()


@pytest.mark.parametrize("says", ["", "watching"])
def test_a_round_is_not_watched_unless_all_observers_are_there_at_its_end(
    says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = subprocess.PIPE
    process = subprocess.Popen(["printf", f"{says}\\n" if says else ""], stdin=pipe, stdout=pipe, text=True)
    monkeypatch.setattr(arena, "_python", lambda *_: process)

    def play() -> None:
        with arena._watching(0, "", observers=1):
            process.wait()

    with pytest.raises(Broken, match="the observers ended too early"):
        play()


# -- all of it ---------------------------------------------------------------------------------------


def part(pid: int) -> str:
    """Which of the arena's processes that is."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return ""
    return next((word for word in ("serve", "speed.relay", "speed.bots", "speed.raw") if word in words), "")


@contextmanager
def running(*command: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A benchmark that keeps its temporary files there."""
    process = subprocess.Popen(
        [sys.executable, str(BENCHMARKS / command[0]), *command[1:]],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def below(process: subprocess.Popen[str], wanted: str) -> list[int]:
    """All that it has started, as soon as the wanted part is among them."""
    deadline = time.monotonic() + 120
    while not any(part(pid) == wanted for pid in descendants(process.pid)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return sorted(descendants(process.pid))


def gone(pids: list[int]) -> bool:
    """Whether they all end."""
    deadline = time.monotonic() + 60
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("command", ["referee.py --game towerwars", "crowd.py --idle 0"])
def test_a_signal_ends_a_benchmark_and_leaves_nothing(command: str, name: str, tmp_path: Path) -> None:
    number = signal.Signals[name]
    with running(*command.split(), folder=tmp_path) as process:
        pids = below(process, "speed.bots" if "referee" in command else "serve")
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + number, f"stopped by {name} before all was measured\n")
    assert gone(pids)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("names", ["SIGINT SIGTERM", "SIGTERM SIGINT", "SIGHUP SIGINT", "SIGINT SIGINT"])
def test_a_second_signal_leaves_nothing_either(names: str, tmp_path: Path) -> None:
    first, second = (signal.Signals[name] for name in names.split())
    with running("crowd.py", "--idle", "0", folder=tmp_path) as process:
        pids = below(process, "serve")
        process.send_signal(first)
        time.sleep(0.05)  # the server is given longer than that to end
        process.send_signal(second)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + first, f"stopped by {BY[first]} before all was measured\n")
    assert gone(pids)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_a_killed_benchmark_leaves_of_the_arena_ends_by_itself(tmp_path: Path) -> None:
    with running("referee.py", "--game", "towerwars", folder=tmp_path) as process:
        pids = below(process, "speed.bots")
        server = [pid for pid in pids if part(pid) == "serve"]
        process.kill()
        try:
            assert gone([pid for pid in pids if pid not in server])
        finally:
            for pid in server:
                os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "culprit"),
    [
        ("serve", "the server ended too early; its log ends with:"),
        ("speed.relay", "the relay ended too early, see above"),
        ("speed.bots", "the bots ended too early, see above"),
    ],
)
def test_a_part_of_the_arena_that_dies_is_told_in_a_sentence(victim: str, culprit: str, tmp_path: Path) -> None:
    command = ["referee.py", "--short", "--game", "towerwars", "--matches", "1"]
    with running(*command, folder=tmp_path) as process:
        pids = below(process, "speed.bots")
        os.kill(next(pid for pid in pids if part(pid) == victim), signal.SIGKILL)
        _, said = process.communicate(timeout=60)
    assert process.returncode == BROKE
    assert culprit in said.splitlines()
    assert "Traceback" not in said
    assert gone(pids)
