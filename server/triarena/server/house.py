"""The rules of the house: what the settings say about rooms and matches."""

from __future__ import annotations

from dataclasses import dataclass, field

from triarena.protocol.values import Budget, PerMove, TimeControl, Unlimited

from .bots import BotTokens


@dataclass(frozen=True, slots=True)
class House:
    """Made from the settings once, and the same for as long as the server runs."""

    software: str
    clock: TimeControl
    startup: float
    rooms: int
    rooms_per_address: int
    """How many of them that were opened by joining from one address may wait or play."""
    rooms_per_connection: int
    observers_per_room: int
    observer_queue: int
    bad_frames: int
    greeting: float
    heartbeat: float
    idle: float
    """Seconds after which a room that nothing happens in is closed."""
    reservation: float
    """Seconds for which a reservation is good."""
    grace: float
    """Seconds for which the seat of a lost connection is kept in a match."""
    resume: float
    """Seconds for which players may come back after the server was started again."""
    observed_rooms_per_connection: int = 64
    prepared_rooms: int = 400
    """How many rooms that an administrator prepared there may be, as long as their match is not over."""
    enrolled_players: int = 1000
    """How many players of tournaments there may be."""
    guessable_secret: bool = False
    """Whether the administrator's secret may be one that a person made up."""
    bots: BotTokens = field(default_factory=BotTokens)
    """Whose names are not free."""

    def clock_of(self, move_ms: float | None, budget_ms: float | None, increment_ms: float | None) -> TimeControl:
        """The house's own clock, with what is given in its place; the rest of it (margin, strikes) stays."""
        own = self.clock
        margin_ms = 0.0 if isinstance(own, Unlimited) else own.margin_ms
        if budget_ms is not None:
            return Budget(budget_ms=budget_ms, increment_ms=increment_ms or 0, margin_ms=margin_ms)
        if move_ms is None:
            return own
        if not isinstance(own, PerMove):
            return PerMove(move_ms=move_ms, margin_ms=margin_ms)
        hard_ms = None if own.hard_ms is None else max(own.hard_ms, move_ms)
        return own.model_copy(update={"move_ms": move_ms, "hard_ms": hard_ms})
