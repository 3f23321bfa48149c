"""Commands that hang, multiply, hide, shout and eat, each under guard: they end, and nothing is left of them."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest
import trio

from triarena.organiser import processes
from triarena.organiser.processes import Ended, Limits, open_guarded

from .roll_call import DEADLINE_SECONDS, RollCall, exists

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
MIB = 1 << 20

ESCAPE = """
def escape():
    "Leave the session, and become nobody's child, as daemons do."
    if os.fork(): os._exit(0)
    os.setsid()
    if os.fork(): os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
"""


def content(log: Path) -> bytes:
    return log.read_bytes()


async def end_of(command: list[str], log: Path, limits: Limits) -> Ended:
    """How a command ends of itself, or by its limits."""
    async with open_guarded(command, log=log, limits=limits) as process:
        with trio.fail_after(DEADLINE_SECONDS):
            return await process.wait()


@linux
async def test_a_daemon_ends_with_its_command(roll: RollCall, log: Path) -> None:
    script = ESCAPE + "if os.fork() == 0: escape()\nc = report(); time.sleep(3600)"
    async with open_guarded(roll.script(script), log=log, grace=0.1) as process:
        await roll.present(2)
        await process.kill()
    assert roll.survivors() == []


@linux
async def test_a_daemon_does_not_outlive_a_command_that_ends(roll: RollCall, log: Path) -> None:
    script = ESCAPE + "if os.fork() == 0: escape(); c = report(); time.sleep(3600)\nc = report(); c.recv(1)"
    async with open_guarded(roll.script(script), log=log) as process:
        await roll.present(2)
        for stream, pid in zip(roll.streams, roll.pids, strict=True):
            if pid == process.pid:
                await stream.send_all(b"!")
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.wait()
    assert (ended.why, ended.exit_code) == ("exited", 0)
    assert roll.survivors() == []


async def test_children_of_a_command_that_ends_are_killed(roll: RollCall, log: Path) -> None:
    script = "if os.fork() == 0: c = report(); time.sleep(60)\nos.kill(os.getppid(), 0); sys.exit(7)"
    ended = await end_of(roll.script(script), log, Limits())
    assert (ended.why, ended.exit_code) == ("exited", 7)


async def test_a_command_may_not_have_more_processes_than_its_limit(roll: RollCall, log: Path) -> None:
    script = "for _ in range(10):\n pid = os.fork()\n if pid == 0: break\n print(pid, flush=True)\ntime.sleep(3600)"
    async with open_guarded(roll.script(script), log=log, limits=Limits(processes=8)) as process:
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.wait()
    assert ended.why == "processes"
    assert re.fullmatch("it was killed: it had (9|10|11) processes, the limit is 8", ended.detail)
    children = list(map(int, process.tail(20)))
    assert len(children) >= 8
    assert not any(map(exists, children))


async def test_a_command_that_multiplies_without_end_is_caught(roll: RollCall, log: Path) -> None:
    """Each process makes others as fast as it can, and replaces those that die (up to 400, for the machine's sake)."""
    script = """
import resource
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def multiply(depth):
    while depth:
        for _ in range(20):
            if os.fork() == 0:
                os.setsid()
                multiply(depth - 1)
        signal.sigtimedwait({signal.SIGCHLD}, 1)
    time.sleep(3600)
c = report()
multiply(2)
"""
    async with open_guarded(roll.script(script), log=log) as process:
        await roll.present()
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.wait()
    await roll.hang_up()  # all have inherited the connection
    assert ended.why == "processes"
    assert roll.survivors() == []


async def test_threads_count_as_well(roll: RollCall, log: Path) -> None:
    script = "import threading\nfor _ in range(20): threading.Thread(target=time.sleep, args=(3600,)).start()"
    ended = await end_of(roll.script(script), log, Limits(threads=10))
    assert ended.why == "threads"
    assert re.fullmatch(r"it was killed: it had (1[1-9]|2[01]) threads, the limit is 10", ended.detail)


async def test_zombies_count_as_processes_and_vanish_with_their_maker(roll: RollCall, log: Path) -> None:
    script = """
c = report()
for _ in range(20):
    pid = os.fork()
    if pid == 0: os._exit(0)
    print(pid, flush=True)
time.sleep(3600)
"""
    async with open_guarded(roll.script(script), log=log, limits=Limits(processes=10)) as process:
        await roll.present()
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.wait()
    assert ended.why == "processes"
    assert roll.survivors() == []
    roll.pids += map(int, process.tail(20))
    assert len(roll.pids) > 10
    assert roll.survivors() == []


async def test_a_command_that_takes_too_much_memory_is_killed(roll: RollCall, log: Path) -> None:
    script = "hoard = bytearray(b'x') * (120 << 20); time.sleep(3600)"
    ended = await end_of(roll.script(script), log, Limits(memory=100 * MIB))
    assert ended.why == "memory"
    assert ended.detail.startswith("it was killed: it used ")
    assert ended.detail.endswith(" MiB of memory, the limit is 100 MiB")
    assert ended.peak_memory > 100 * MIB


@linux
async def test_memory_taken_faster_than_anybody_looks_is_refused_by_the_system(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("bytearray(3 << 30)"), log=log, limits=Limits(memory=100 * MIB)) as process:
        ended = await process.wait()
    assert (ended.why, ended.exit_code, process.tail(1)) == ("exited", 1, ("MemoryError",))


@linux
async def test_memory_that_processes_share_counts_once(roll: RollCall, log: Path) -> None:
    """Each of the five would have 60 MiB if it did not share them; long enough for a look or two."""
    script = """
hoard = bytearray(b"x") * (60 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(0.6)
        os._exit(0)
for _ in range(4):
    os.wait()
"""
    ended = await end_of(roll.script(script), log, Limits(memory=150 * MIB))
    assert (ended.why, ended.exit_code) == ("exited", 0), ended.detail


async def test_a_command_that_burns_processor_time_is_killed(roll: RollCall, log: Path) -> None:
    ended = await end_of(roll.script("burn(3600)"), log, Limits(cpu_seconds=0.3))
    assert ended.why == "cpu"
    assert ended.detail.startswith("it was killed: it used ")
    assert ended.detail.endswith(" s of processor time, the limit is 0.3 s")


async def test_processor_time_of_children_counts_even_when_they_have_ended(roll: RollCall, log: Path) -> None:
    script = "while True:\n if os.fork() == 0: burn(0.05); os._exit(0)\n os.wait()"
    ended = await end_of(roll.script(script), log, Limits(cpu_seconds=0.3))
    assert ended.why == "cpu"


async def test_processor_time_counts_from_the_last_reset(roll: RollCall, log: Path) -> None:
    """Twice as much as the limit in all, and never more than the limit between two resets."""
    script = "for _ in range(4): burn(0.2); c = report(); c.recv(1)"
    async with open_guarded(roll.script(script), log=log, limits=Limits(cpu_seconds=0.4)) as process:
        for turn in range(4):
            await roll.present()
            await process.reset_limits()
            await roll.streams[turn].send_all(b"!")
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.wait()
    assert (ended.why, ended.exit_code) == ("exited", 0), ended.detail


@pytest.mark.parametrize("size", [50 * MIB, pytest.param(1024 * MIB, marks=pytest.mark.soak)], ids=["50 MiB", "1 GiB"])
async def test_a_command_that_shouts_leaves_a_small_log_with_its_first_and_last_words(
    size: int, roll: RollCall, log: Path
) -> None:
    script = "e = sys.stderr.buffer; e.write(b'first\\n'); line = b'x' * 1023 + b'\\n'\n"
    script += f"for _ in range({size >> 10}): e.write(line)\ne.write(b'last\\n')"
    async with open_guarded(roll.script(script), log=log) as process:
        with trio.fail_after(6 * DEADLINE_SECONDS):
            ended = await process.wait()
    assert ended.exit_code == 0
    said = content(log)
    assert said.startswith(b"first\n")
    assert said.endswith(b"\nlast\n")
    assert len(said) < processes.LOG_HEAD + processes.LOG_TAIL + 100
    assert ended.dropped == size + len(b"first\nlast\n") - processes.LOG_HEAD - processes.LOG_TAIL
    assert f"\n[... {ended.dropped} bytes left out ...]\n".encode() in said


async def test_garbage_is_kept_as_it_is_and_shown_without_harm(roll: RollCall, log: Path) -> None:
    garbage = bytes(range(256)) * 20 + b"\n\x1b[2Jgone\n" + b"y" * 100_000 + b"\n"
    script = "os.write(1, bytes(range(256)) * 20 + b'\\n\\x1b[2Jgone\\n')\nsys.stdout.write('y' * 100_000 + '\\n')"
    async with open_guarded(roll.script(script), log=log) as process:
        await process.wait()
    assert content(log) == garbage
    shown = process.tail(100)
    assert all(line.isprintable() and len(line) <= 500 for line in shown)
    assert process.tail(2) == ("y" * 500,)


async def test_closing_its_streams_does_not_free_a_command(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("os.closerange(0, 3); c = report(); time.sleep(3600)"), log=log) as process:
        await roll.present()
        assert process.ended is None
        await process.kill()
    assert roll.survivors() == []


TO_GUARD = "guard = os.open(f'/proc/{os.getppid()}/fd/%d', os.O_WRONLY)\n"
"""Opens the pipe on which a guard speaks (1), or hears (0)."""


@linux
@pytest.mark.parametrize(
    "said",
    [
        b"garbage\n",
        b"\xff\xfe\n",
        b"null\n",
        b"[]\n",
        b"{}\n",
        b"[" * 100_000 + b"\n",
        b'{"event": "ended", "why": "exited"}\n',
        b'{"event": "started", "pid": 1, "nonce": "guessed"}\n',
        b"garbage without an end" * 4000,
    ],
    ids=lambda said: repr(said[:12]),
)
@pytest.mark.parametrize("stream", [0, 1])
async def test_who_speaks_for_its_guard_or_to_it_is_killed_with_all_its_children(
    roll: RollCall, log: Path, said: bytes, stream: int
) -> None:
    script = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{TO_GUARD % stream}
hears, tells = os.pipe()
if os.fork() == 0:
    os.setsid(); c = report(); os.write(tells, b"here")
else:
    c = report(); os.read(hears, 4); os.write(guard, {said!r})
time.sleep(3600)
"""
    with trio.fail_after(DEADLINE_SECONDS):
        async with open_guarded(roll.script(script), log=log) as process:
            await roll.present(2)
            ended = await process.wait()
            assert await process.is_known(0)
    assert (ended.why, ended.blameless) == ("lost", False)  # no accident does that
    assert ended.detail.startswith("it was given up: its guard ")
    assert roll.survivors() == []


@linux
async def test_who_holds_its_guards_streams_open_ends_with_its_guard(roll: RollCall, log: Path) -> None:
    holds = "if os.fork() == 0: os.setsid(); c = report(); time.sleep(60)\nos.kill(os.getppid(), signal.SIGKILL)"
    with trio.fail_after(DEADLINE_SECONDS):
        async with open_guarded(roll.script(TO_GUARD % 1 + holds), log=log) as process:
            ended = await process.wait()
            await roll.present()
    os.kill(roll.pids[0], signal.SIGKILL)  # it has left the group of its parent: that it dies is not promised
    assert ended.why == "lost"


@linux
async def test_a_full_disk_does_not_stop_a_command(roll: RollCall) -> None:
    always_full = Path("/dev/full")
    async with open_guarded(roll.script("sys.stdout.write('x' * 1_000_000)"), log=always_full) as process:
        ended = await process.wait()
    assert (ended.why, ended.exit_code) == ("exited", 0)


async def test_a_frozen_command_is_killed(roll: RollCall, log: Path) -> None:
    async with open_guarded(roll.script("c = report(); os.kill(0, signal.SIGSTOP)"), log=log, grace=0.1) as process:
        await roll.present()
        with trio.fail_after(DEADLINE_SECONDS):
            ended = await process.kill()
    assert ended.why == "killed"
    assert roll.survivors() == []


@linux
async def test_somebody_outside_who_holds_the_output_does_not_hold_up_the_end(roll: RollCall, log: Path) -> None:
    """As does an orphan on a system that does not tell of them; here it is this process."""
    async with open_guarded(roll.script("c = report(); time.sleep(3600)"), log=log) as process:
        await roll.present()
        output = os.open(f"/proc/{process.pid}/fd/1", os.O_WRONLY)
        try:
            with trio.fail_after(DEADLINE_SECONDS):
                ended = await process.kill()
        finally:
            os.close(output)
    assert ended.why == "killed"


@pytest.fixture
def portable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards as they are on other systems than Linux, as far as that can be seen here."""
    pytest.importorskip("psutil")
    *start, code = processes.guard_command()
    code = code.replace("; main()", "; from triarena.organiser import guard, process_tree; ")
    code += "guard.make_tree = process_tree.PortableTree; main()"
    command = [word for word in start if word != "-S"] + [code]
    monkeypatch.setattr(processes, "guard_command", lambda: command)


@pytest.mark.usefixtures("portable")
class TestWithoutSubreapers:
    async def test_a_command_ends_by_itself(self, roll: RollCall, log: Path) -> None:
        async with open_guarded(roll.script("print('hello'); sys.exit(4)"), log=log) as process:
            ended = await process.wait()
        assert (ended.why, ended.exit_code, process.tail()) == ("exited", 4, ("hello",))

    async def test_a_command_with_children_in_other_sessions_is_killed(self, roll: RollCall, log: Path) -> None:
        script = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor _ in range(3):\n if os.fork() == 0: os.setsid()\n"
        async with open_guarded(roll.script(script + "c = report(); time.sleep(3600)"), log=log, grace=0.1) as process:
            await roll.present(8)
            with trio.fail_after(DEADLINE_SECONDS):
                ended = await process.kill()
        await roll.hang_up()
        assert ended.why == "killed"

    async def test_children_of_a_command_that_ends_are_killed(self, roll: RollCall, log: Path) -> None:
        script = "pid = os.fork()\nif pid == 0: c = report(); time.sleep(3600)\nc = report(); c.recv(1)"
        async with open_guarded(roll.script(script), log=log) as process:
            await roll.present(2)
            await roll.streams[roll.pids.index(process.pid or 0)].send_all(b"!")
            with trio.fail_after(DEADLINE_SECONDS):
                ended = await process.wait()
        await roll.hang_up()
        assert (ended.why, ended.exit_code) == ("exited", 0)

    async def test_memory_processor_time_and_processes_are_limited(self, roll: RollCall, log: Path) -> None:
        hoard = roll.script("hoard = bytearray(b'x') * (120 << 20); time.sleep(3600)")
        assert (await end_of(hoard, log, Limits(memory=100 * MIB))).why == "memory"
        assert (await end_of(roll.script("burn(3600)"), log, Limits(cpu_seconds=0.3))).why == "cpu"
        many = roll.script("for _ in range(10): os.fork() or time.sleep(3600)\ntime.sleep(3600)")
        assert (await end_of(many, log, Limits(processes=8))).why == "processes"
