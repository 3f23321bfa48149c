"""An administrator's line that prepares rooms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import trio

from .line import Line
from .scripts import Script
from .server import ServerProcess


@dataclass(slots=True)
class Host:
    """Prepares rooms, one at a time."""

    line: Line
    _turn: trio.Lock = field(default_factory=trio.Lock)

    @classmethod
    async def of(cls, server: ServerProcess) -> Host:
        """An administrator of that server."""
        line = await Line.open(server.port)
        await line.request("authenticated", type="authenticate", secret=server.secret)
        return cls(line)

    async def prepare(
        self, script: Script, time_control: Mapping[str, Any] | None = None, timed: tuple[bool, bool] = (True, True)
    ) -> tuple[str, str]:
        """The reservation codes of a room for that script: red's, then blue's."""
        fields: dict[str, Any] = {} if time_control is None else {"time_control": dict(time_control)}
        async with self._turn:
            prepared = await self.line.request(
                "prepared",
                type="prepare",
                game=script.game,
                options=dict(script.options),
                seed=script.seed,
                slots=[{"timed": flag} for flag in timed],
                **fields,
            )
        red, blue = prepared["reservations"]
        return red, blue
