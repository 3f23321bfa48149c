"""What one client was told about one match, and whether that can all be true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from triarena.games import AnyPosition, find_game
from triarena.protocol.from_server import FromServer, Joined, MatchOver, MatchStarted, Moved
from triarena.protocol.room_views import Turned


@dataclass(slots=True)
class Diary:
    """Written by ``hear``, message by message. ``faults`` are the sentences that contradict earlier ones."""

    match: str | None = None
    plies: list[Turned | Moved] = field(default_factory=list)
    """All plies that were announced, in order."""
    over: MatchOver | None = None
    returns: int = 0
    """How often it came back into the match."""
    missed_end: bool = False
    """It was away when the match ended: it was told the end when it came back, but not the last plies."""
    faults: list[str] = field(default_factory=list)

    def hear(self, message: FromServer) -> None:
        """Write down a message of the match."""
        match message:
            case Joined():
                self.missed_end = self.match is not None
            case MatchStarted():
                self.missed_end = False
                self._told_again(message)
            case Moved():
                if message.ply != len(self.plies):
                    self._fault(f"ply {message.ply} was announced when {len(self.plies)} was due")
                self.plies.append(message)
            case MatchOver():
                if self.over is not None and self.over.result != message.result:
                    self._fault(f"the result changed from {self.over.result} to {message.result}")
                self.over = message
            case _:
                pass

    def _told_again(self, started: MatchStarted) -> None:
        if self.match is None:
            self.match = started.match
        elif self.match == started.match:
            self.returns += 1
        else:
            self._fault(f"the match is {started.match} now, before it was {self.match}")
        if [ply.ply for ply in started.plies] != list(range(len(started.plies))):
            self._fault(f"the plies told again are {[ply.ply for ply in started.plies]}")
        if len(started.plies) < len(self.plies):
            self._fault(f"{len(self.plies)} plies had been announced, {len(started.plies)} are left")
        for before, after in zip(self.plies, started.plies, strict=False):
            if not same(before, after):
                self._fault(f"ply {before.ply} was {before.text}, and is {after.text} now")
        self.plies = list(started.plies)

    def _fault(self, sentence: str) -> None:
        self.faults.append(f"{self.match}: {sentence}")


def same(one: Turned | Moved, other: Turned | Moved) -> bool:
    """Whether two announcements tell of the same ply."""
    return all(getattr(one, name) == getattr(other, name) for name in ("ply", "side", "move", "text", "used_ms"))


def contradictions(red: Diary, blue: Diary, game: str, options: Mapping[str, Any], seed: int) -> list[str]:
    """What is wrong with a match that both clients say is over: between them, and by the rules."""
    found = [*red.faults, *blue.faults]
    if red.match != blue.match or red.over is None or blue.over is None:
        return [*found, f"{red.match} and {blue.match}: not over for both"]
    if red.over.result != blue.over.result:
        found.append(f"{red.match}: two results: {red.over.result} and {blue.over.result}")
    known, other = (red, blue) if len(red.plies) >= len(blue.plies) else (blue, red)
    if not all(map(same, known.plies, other.plies)) or (len(known.plies) > len(other.plies) and not other.missed_end):
        found.append(f"{red.match}: the two were told different plies")
    return found + _against_the_rules(known, red.over, game, options, seed)


def _against_the_rules(diary: Diary, over: MatchOver, game: str, options: Mapping[str, Any], seed: int) -> list[str]:
    """Play the match again."""
    rules = find_game(game)
    position: AnyPosition = rules.start(options, seed)
    for ply in diary.plies:
        if position.to_move != ply.side:
            return [f"{diary.match}: ply {ply.ply} was {ply.side}'s, whose turn it was not"]
        position = position.play(rules.read_move(ply.move.model_dump()))
    outcome, result = position.outcome, over.result
    if outcome is None and diary.missed_end and over.position is not None:
        outcome = rules.read_position(over.position.model_dump(exclude_none=True)).outcome
    if outcome is None:
        return [f"{diary.match}: ended with {result.reason} although the game goes on"]
    if (outcome.winner, outcome.reason) != (result.winner, result.reason):
        return [
            f"{diary.match}: {result.winner} won by {result.reason}, by the rules {outcome.winner} {outcome.reason}"
        ]
    return []
