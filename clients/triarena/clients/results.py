"""The end of a match in words, and what it means for one side."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from triarena.protocol.values import Result, SideName, SideScore

Verdict: TypeAlias = Literal["won", "lost", "drawn", "aborted"]

CHOSEN_ENDS: Final = frozenset(["surrender"])
"""Forfeits that are a player's decision, and no fault of its program."""
ORGANISERS_ENDS: Final = frozenset(["cancelled", "ply_limit"])
"""Aborts that the organiser meant; the others are the server's trouble."""


def verdict(result: Result, side: SideName) -> Verdict:
    """What the result is for ``side``. When both forfeit, both have lost."""
    if result.kind == "aborted":
        return "aborted"
    if result.winner is None:
        return "lost" if result.kind == "forfeit" else "drawn"
    return "won" if result.winner == side else "lost"


def at_fault(result: Result, side: SideName) -> bool:
    """Whether ``side`` forfeited by a fault of its own, e.g. an illegal move; a surrender is none."""
    return result.kind == "forfeit" and side in result.detail.offenders and result.reason not in CHOSEN_ENDS


def server_failed(result: Result) -> bool:
    """Whether the match was broken off for reasons that lie with the server."""
    return result.kind == "aborted" and result.reason not in ORGANISERS_ENDS


def scores(result: Result) -> str:
    """Both sides' scores, e.g. ``red 12 (passengers 2), blue 9 (passengers 1)``."""
    return f"red {_score(result.sides.red)}, blue {_score(result.sides.blue)}"


def sentence(result: Result) -> str:
    """The result for anybody: who won, why (also the code of a rule that was broken), and the scores."""
    headline = "aborted" if result.kind == "aborted" else f"{result.winner} wins" if result.winner else "no winner"
    codes = f"{result.reason}: {result.detail.code}" if result.detail.code else result.reason
    return f"{headline}: {result.detail.message} [{codes}]; {scores(result)}"


def verdict_line(result: Result, side: SideName) -> str:
    """The result for ``side``: whether it has won, then the same."""
    said = sentence(result)
    return said if result.kind == "aborted" else f"{verdict(result, side)}: {said}"


def _score(side: SideScore) -> str:
    extras = ", ".join(f"{name} {count}" for name, count in side.extras.items())
    return f"{side.score} ({extras})" if extras else str(side.score)
