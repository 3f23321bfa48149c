"""The sentences about a command that has ended."""

from __future__ import annotations

import pytest

from triarena.organiser.endings import Limits, amount, ended

ORDER = {"command": ["bot"], "cwd": None, "log": "bot.log"}
GIB = 1 << 30


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"why": "memory", "memory": 2.1 * GIB}, "it was killed: it used 2.1 GiB of memory, the limit is 2 GiB"),
        (
            {"why": "memory", "memory": 2 * GIB + 4096},
            "it was killed: it used a little more than 2 GiB of memory, the limit is 2 GiB",
        ),
        ({"why": "cpu", "cpu": 61.52}, "it was killed: it used 61.5 s of processor time, the limit is 60 s"),
        ({"why": "exited", "exit_code": None, "signal": 62}, "it ended by itself (signal 62)"),
        ({"why": "lost", "text": "OSError: no"}, "it was given up: its guard failed (OSError: no)"),
        (
            {"why": "cannot_start", "error": "ModuleNotFoundError", "errno": None, "filename": None, "text": "psutil"},
            "it could not be started: guarding a process needs the package psutil on this system: "
            "install the extra 'tournament'",
        ),
    ],
)
def test_every_end_has_its_sentence(event: dict[str, object], sentence: str) -> None:
    assert ended(event, ORDER, Limits(cpu_seconds=60)).detail == sentence


def test_amounts_are_told_in_the_unit_that_fits() -> None:
    assert [amount(310 << 20), amount(GIB), amount(1 << 19)] == ["310 MiB", "1 GiB", "0.5 MiB"]
