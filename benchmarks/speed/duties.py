"""What a referee owes every ply, done with our own libraries and nothing around them: no room, no clock, no connection.

For the relay, which does it between receiving a move and handing it on: so the least is seen that a server which does
these things can take.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgpack
from fleet.scripts import Script

from triarena.games import AnyPosition, find_game
from triarena.protocol.codec import decode
from triarena.protocol.frames import frame
from triarena.protocol.from_client import FROM_CLIENT, Move
from triarena.protocol.from_server import YourTurn
from triarena.protocol.values import Clock
from triarena.server.journal import Journal, MatchOpened, PlyPlayed, open_journal

DUTIES: Final = ("messages", "rules", "journal")
"""A move is read and checked as a value, and what follows from it is packed; it is checked, played, and written by the
rules; it is durable before it is told.
"""


def assignment(match: Script, duties: Sequence[str]) -> str:
    """What a relay is told of its duties, as text."""
    return json.dumps({"match": asdict(match), "duties": list(duties)})


@dataclass(slots=True, eq=False)
class Office:
    """What all matches of a relay have in common."""

    script: Script
    duties: frozenset[str]
    journal: Journal | None
    payloads: list[bytes] = field(init=False)
    """The moves as a client's messages, by ply."""
    positions: list[AnyPosition] = field(init=False)
    """By ply, the one after the last move included."""

    def __post_init__(self) -> None:
        game = find_game(self.script.game)
        self.payloads = [
            msgpack.packb({"type": "move", "room": "room1", "ply": ply, "move": wire})
            for ply, wire in enumerate(self.script.moves)
        ]
        self.positions = [game.start(self.script.options, self.script.seed)]
        for wire in self.script.moves:
            self.positions.append(self.positions[-1].play(game.read_move(wire)))

    async def match(self, number: int) -> Duty:
        """One more match begins."""
        duty = Duty(self, f"m{number}", self.positions[0])
        if self.journal is not None:
            await self.journal.write(
                MatchOpened(
                    match=duty.match, room="room1", game=self.script.game, rules_version=1,
                    options=dict(self.script.options), seed=self.script.seed, time_control={}, red="red", blue="blue",
                    settings={}, at=datetime.now(UTC),
                )
            )  # fmt: skip
        return duty


@dataclass(slots=True, eq=False)
class Duty:
    """One match's."""

    office: Office
    match: str
    position: AnyPosition
    ply: int = 0

    async def done(self) -> None:
        """Do for the next ply what is to be done."""
        office, ply = self.office, self.ply
        game, side = find_game(office.script.game), self.position.to_move.value
        wire: Any = office.script.moves[ply]
        if "messages" in office.duties:
            message = decode(office.payloads[ply], FROM_CLIENT)
            assert isinstance(message, Move)
            wire = message.move.model_dump()
        text = ""
        if "rules" in office.duties:
            move = game.read_move(wire)
            self.position = self.position.play(move)
            wire, text = game.write_move(move), game.format(move)
        else:
            self.position = office.positions[ply + 1]
        if office.journal is not None:
            now = datetime.now(UTC)
            await office.journal.write(PlyPlayed(self.match, ply, side, wire, text, 0.5, now, 1000.0, 0.5, 0.1))
        if "rules" in office.duties or "messages" in office.duties:
            shown = game.write_position(self.position)
            if "messages" in office.duties:
                self._pack(side, wire, text, shown)
        self.ply += 1

    def _pack(self, side: str, wire: Any, text: str, shown: Any) -> None:
        moved = {"type": "moved", "room": "room1", "ply": self.ply, "side": side, "move": wire, "text": text}
        frame(msgpack.packb({**moved, "used_ms": 0.5}))
        clock = Clock(limit_ms=1000.0, remaining_ms=1000.0, last_used_ms=0.5, server_overhead_ms=0.5)
        turn = YourTurn(room="room1", ply=self.ply + 1, clock=clock)
        frame(msgpack.packb({**turn.model_dump(exclude_none=True), "position": shown}))


@asynccontextmanager
async def open_office(told: str, folder: Path) -> AsyncIterator[Office]:
    """Of an ``assignment``; a journal is kept in the folder."""
    plain = json.loads(told)
    match, duties = Script(**plain["match"]), frozenset(plain["duties"])
    if "journal" not in duties:
        yield Office(match, duties, None)
        return
    async with open_journal(f"sqlite:///{folder / 'relay.sqlite3'}") as journal:
        yield Office(match, duties, journal)
