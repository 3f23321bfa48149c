"""How many may be connected: in all, from one address, and without having said who they are. Pure counting.

A few more are let in on trial, to prove that they are administrators.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from .addresses import neighbourhood
from .refusal import Refusal


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many connections there may be."""

    connections: int
    per_address: int
    newcomers: int
    """That have not greeted."""
    trials: int = 0
    """Beyond these, who may show that they are administrators; at most ``TRIALS_PER_ADDRESS`` from one address."""


TRIALS_PER_ADDRESS = 2


class Greeter(Protocol):
    """A connection as far as the door cares, in whatever state."""

    @property
    def greeted(self) -> bool:
        """Whether it has been welcomed."""
        ...

    def close(self, code: str, message: str) -> None:
        """Say why, and hang up."""
        ...


@dataclass(eq=False, slots=True)
class Visitor:
    """Somebody who was let in."""

    address: str
    connection: Greeter
    """Whatever there is to be closed: the handshake at first, later what is talked over."""
    doubt: Refusal | None = None
    """Why it would not have been let in but on trial; None if it was, or has proven itself."""


class Admission:
    """Who is inside."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._inside: Counter[str] = Counter()
        self._trials: Counter[str] = Counter()
        self._newcomers: dict[Visitor, None] = {}  # by arrival; those who have greeted are taken out when it is full

    @property
    def count(self) -> int:
        """How many are inside."""
        return self._inside.total() + self._trials.total()

    def enter(self, address: str, connection: Greeter, *, on_trial: bool = False) -> Visitor:
        """Let somebody in; if there is no room, perhaps ``on_trial``. Raises Refusal."""
        key = neighbourhood(address)
        try:
            self._require_room(key)
        except Refusal as refusal:
            if not on_trial or self._trials.total() >= self._bounds.trials or self._trials[key] >= TRIALS_PER_ADDRESS:
                raise
            self._trials[key] += 1
            return Visitor(key, connection, refusal)
        visitor = Visitor(key, connection)
        self._inside[key] += 1
        self._newcomers[visitor] = None
        return visitor

    def proven(self, visitor: Visitor) -> None:
        """Who was let in on trial is an administrator: its place is free for another trial."""
        if visitor.doubt is not None:
            _take_out(self._trials, visitor.address)
            self._inside[visitor.address] += 1
            visitor.doubt = None

    def leave(self, visitor: Visitor) -> None:
        """Somebody who was let in has gone."""
        self._newcomers.pop(visitor, None)
        _take_out(self._inside if visitor.doubt is None else self._trials, visitor.address)

    def _require_room(self, key: str) -> None:
        bounds = self._bounds
        if self._inside.total() >= bounds.connections:
            raise Refusal("server_full", f"the server has {bounds.connections} connections, and no more; try later")
        if self._inside[key] >= bounds.per_address:
            sentence = f"{bounds.per_address} connections come from {key}, and no more may; close one first"
            raise Refusal("address_full", sentence)
        if len(self._newcomers) >= bounds.newcomers:
            self._make_room(key)

    def _make_room(self, key: str) -> None:
        """Let a newcomer from ``key`` in at the cost of whoever has most newcomers. Raises Refusal.

        So an address that connects and says nothing takes places from itself only.
        """
        for visitor in list(self._newcomers):
            if visitor.connection.greeted:
                del self._newcomers[visitor]
        if len(self._newcomers) < self._bounds.newcomers:
            return
        counts = Counter(visitor.address for visitor in self._newcomers)
        worst, most = counts.most_common(1)[0]
        sentence = f"{len(self._newcomers)} clients have connected and not said hello yet; try again in a moment"
        if counts[key] >= most:
            raise Refusal("server_busy", sentence)
        victim = next(visitor for visitor in self._newcomers if visitor.address == worst)
        del self._newcomers[victim]
        victim.connection.close("server_busy", sentence)


def _take_out(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
