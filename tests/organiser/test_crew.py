"""The processes of local bots, as the crew starts and ends them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock as Clock

from triarena.organiser import crew as crews
from triarena.organiser.bell import Bell
from triarena.organiser.crew import STARTING_SECONDS, Crew
from triarena.organiser.spec import BotLimits

from .scripted_lobby import PLACE, once


async def test_a_program_that_cannot_be_brought_to_start_is_dismissed_all_the_same(
    autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @asynccontextmanager
    async def never(*arguments: Any, **more: Any) -> AsyncIterator[None]:
        await trio.sleep_forever()
        yield

    monkeypatch.setattr(crews, "open_guarded", never)
    async with trio.open_nursery() as nursery:
        crew = Crew(nursery, Bell(), BotLimits(), tmp_path, {})
        bot = crew.play_once(once("Ann"), PLACE, "reservation", 1)
        await crew.dismiss(bot, 1)
        assert trio.current_time() <= 1 + STARTING_SECONDS
    assert not bot.running
