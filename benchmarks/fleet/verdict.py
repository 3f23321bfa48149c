"""How a benchmark ends: as promised, not as promised, or with too little to tell. Its value is the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Final, NoReturn, Self

STOPPED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""


class Verdict(IntEnum):
    """What the figures say."""

    KEPT = 0
    BROKEN = 1
    UNJUDGED = 2
    """Too few to judge, or nothing could be measured."""

    @classmethod
    def of(cls, *, broken: bool, enough: bool) -> Self:
        """What was wrong once is wrong, however little was measured."""
        return cls.BROKEN if broken else cls.KEPT if enough else cls.UNJUDGED

    @classmethod
    def worst(cls, verdicts: Iterable[Self]) -> Self:
        """That of a whole from those of its parts."""
        parts = set(verdicts)
        return cls.of(broken=cls.BROKEN in parts, enough=bool(parts) and cls.UNJUDGED not in parts)


def too_few(what: str) -> None:
    """Say that the promise was not put to the test."""
    print(f"TOO FEW to judge: {what}")


def ended(main: Callable[[], int | None]) -> NoReturn:
    """Run a benchmark as this process. Ctrl-C ends it with a line in the place of a traceback."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        pass
    except BaseExceptionGroup as group:  # as trio's nurseries hand it on
        if group.subgroup(KeyboardInterrupt) is None:
            raise
    print("stopped by Ctrl-C before all was measured", file=sys.stderr, flush=True)
    sys.exit(STOPPED)
