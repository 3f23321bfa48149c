"""Logging: structlog, straight to standard error, as lines for people or as JSON for machines.

Levels: a move is ``debug``, a match and every error one line of ``info`` or above. What is named ``secret``,
``token`` or ``reservation`` never reaches a line.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, BinaryIO, Literal, TextIO, cast

import orjson
import structlog
from structlog.typing import EventDict, WrappedLogger

HIDDEN = "***"
_SECRET_WORDS = ("secret", "token", "reservation", "password")


def configure_logging(
    level: Literal["debug", "info", "warning", "error"] = "info",
    log_format: Literal["auto", "console", "json"] = "auto",
    stream: TextIO | None = None,
) -> None:
    """Sends all log lines of at least ``level`` to ``stream``, standard error by default. Call it once, early."""
    stream = stream or sys.stderr
    if log_format == "auto":
        log_format = "console" if stream.isatty() else "json"
    shared: list[Callable[..., Any]] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        redact,
    ]
    quiet = structlog.make_filtering_bound_logger(getattr(logging, level.upper()))
    if log_format == "json":
        render = structlog.processors.JSONRenderer(serializer=_json_line)
        structlog.configure(
            processors=[*shared, structlog.processors.format_exc_info, render],
            wrapper_class=quiet,
            logger_factory=structlog.BytesLoggerFactory(cast(BinaryIO, _Unfailing(stream.buffer))),
            cache_logger_on_first_use=True,
        )
    else:
        # Plain tracebacks: the pretty ones print local variables, and secrets among them.
        plain = structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback)
        structlog.configure(
            processors=[*shared, plain],
            wrapper_class=quiet,
            logger_factory=structlog.PrintLoggerFactory(cast(TextIO, _Unfailing(stream))),
            cache_logger_on_first_use=True,
        )


class _Unfailing:
    """A stream whose reader may go away: lines are lost then, but the server goes on."""

    def __init__(self, stream: IO[Any]) -> None:
        self._stream = stream

    def write(self, line: Any) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(line)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hides the values of secret keys, also inside of maps and lists. The event itself is a text of ours."""
    return {key: HIDDEN if _is_secret(key) else _redacted(value) for key, value in event.items()}


def _redacted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: HIDDEN if _is_secret(key) else _redacted(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(inner) for inner in value]
    return value


def _is_secret(key: object) -> bool:
    """``token``, but also ``rejoin_token`` and ``reservations``."""
    return isinstance(key, str) and key.lower().removesuffix("s").endswith(_SECRET_WORDS)


def _json_line(event: EventDict, **options: Any) -> bytes:
    try:
        return orjson.dumps(event, option=orjson.OPT_NON_STR_KEYS, **options)
    except TypeError:  # half a surrogate pair, a number of more than 64 bits: a log line must not fail
        return json.dumps(event, skipkeys=True, **options).encode()
