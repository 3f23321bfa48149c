"""Moments and clocks as the people at this machine read them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def local(moment: datetime | str) -> str:
    """Date and time here, with the offset from UTC: ``2031-05-04 14:30:15 +0200``. Text that is no time stays."""
    try:
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError:
        return str(moment)
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S %z")


def clock(control: Mapping[str, Any]) -> str:
    """A time control (as it is stored) in words: ``3000 ms a move (and 50 ms for the network)``."""
    margin = f" (and {control['margin_ms']:g} ms for the network)" if control.get("margin_ms") else ""
    match control.get("type"):
        case "per_move":
            longest = f" up to {control['hard_ms']:g} ms" if control.get("hard_ms") else ""
            strikes = f", {control['strikes']} overruns{longest} forgiven" if control.get("strikes") else ""
            return f"{control['move_ms']:g} ms a move{margin}{strikes}"
        case "budget":
            added = f" and {control['increment_ms']:g} ms a move" if control["increment_ms"] else ""
            return f"{control['budget_ms']:g} ms for all moves{added}{margin}"
        case _:
            return "no clock"
