"""How strong the bots of an event are, by one model fitted over all its games."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from triarena.tournament.values import History


@dataclass(frozen=True, slots=True)
class Rating:
    """A strength on the Elo scale, the average of all bots being 0, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Strengths:
    """All bots' strengths."""

    ratings: Mapping[str, Rating]
    """Of those who have played."""
    superiority: Callable[[str, str], float]
    """How likely it is, from 0 to 1, that the first is stronger than the second: "A over B"."""


def strengths_of(players: Sequence[str], played: History) -> Strengths | None:
    """None as long as nothing was played."""
    return None
