"""How a broken promise is told, and what several checks need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from triarena.games.core import IllegalMove, Plain, shown

T = TypeVar("T")

Choose: TypeAlias = Callable[[int], int]
"""``choose(n)`` gives a number from 0 to n - 1."""


def promise(kept: bool, broken: str) -> None:
    """Raises AssertionError with the sentence ``broken`` unless ``kept`` (unlike ``assert``, also under -O)."""
    if not kept:
        raise AssertionError(broken)


def sample(choose: Choose, items: Sequence[T], size: int) -> list[T]:
    """At most ``size`` of ``items``, drawn by ``choose`` without repetition."""
    rest = list(items)
    if len(rest) <= size:
        return rest
    for index in range(size):
        other = index + choose(len(rest) - index)
        rest[index], rest[other] = rest[other], rest[index]
    return rest[:size]


def refuses(expected: type[ValueError], what: str, call: Callable[..., Any], *arguments: object) -> ValueError | None:
    """The error of type ``expected`` that ``call`` raises, None if it accepts; any other is an AssertionError."""
    try:
        call(*arguments)
    except expected as error:
        promise(bool(str(error)), f"{what} is refused without a sentence")
        return error
    except Exception as error:
        raise AssertionError(
            f"{what} must be accepted or raise {expected.__name__}, but raises {type(error).__name__}: {error}"
        ) from error
    return None


def refusal_code(what: str, call: Callable[[Any], object], move: object) -> str | None:
    """The code with which ``check`` or ``play`` refuses a move, or None if it accepts it."""
    error = refuses(IllegalMove, what, call, move)
    if error is None:
        return None
    code = error.code if isinstance(error, IllegalMove) else ""
    promise(bool(code) and code.isidentifier() and code == code.lower(), f"{what} is refused with the code {code!r}")
    return code


def promise_plain(what: str, value: Plain) -> None:
    """Raises AssertionError unless msgpack and JSON carry ``value`` as it is."""
    if isinstance(value, dict):
        promise(type(value) is dict and all(type(key) is str for key in value), f"{what} has keys that are no strings")
        for inner in value.values():
            promise_plain(what, inner)
    elif isinstance(value, list):
        promise(type(value) is list, f"{what} holds a {type(value).__name__}")
        for inner in value:
            promise_plain(what, inner)
    else:
        good = value is None or type(value) in (str, int, bool)
        promise(good, f"{what} holds {shown(value)}, a {type(value).__name__}")
