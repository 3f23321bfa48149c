"""Moments as the people at this machine read them."""

from __future__ import annotations

from datetime import datetime


def local(moment: datetime | str) -> str:
    """Date and time here, with the offset from UTC: ``2031-05-04 14:30:15 +0200``. Text that is no time stays."""
    try:
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError:
        return str(moment)
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
