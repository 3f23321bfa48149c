"""Why a request is not granted."""

from __future__ import annotations


class Refusal(Exception):
    """A request can't be granted; becomes an ``error`` message. ``code`` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
