"""What the tests of guarded processes share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from .roll_call import RollCall


@pytest.fixture
async def roll() -> AsyncIterator[RollCall]:
    """Where processes of a test report."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=1024)
    async with listener:
        call = RollCall(listener)
        yield call
        for stream in call.streams:
            await stream.aclose()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What a guarded process says."""
    return tmp_path / "it.log"
