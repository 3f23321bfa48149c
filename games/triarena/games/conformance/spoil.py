"""Copies of texts and wire forms with one thing changed: slips of the finger, and the tricks of an attacker."""

from __future__ import annotations

from collections.abc import Iterator

from triarena.games.core import Plain

NEAR_MISSES = 40
"""Only so many characters of a long text are spoilt."""


def _nested(depth: int) -> Plain:
    value: Plain = None
    for _ in range(depth):
        value = [value]
    return value


JUNK: tuple[Plain, ...] = (
    *(None, True, False, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "x", "\ud800", "٣", b"", b"x"),
    *([], [None], [[]], [1, 2, 3, 4], {}, {"type": None}, {"type": []}, {1: 2}, _nested(60)),
)
"""Values that stand nowhere in a wire form, or not where they are put."""


def spoil_text(text: str) -> Iterator[str]:
    """``text`` with one character left out, doubled or exchanged, and with something before or behind it."""
    letters = sorted({*text})
    for index in range(min(len(text), NEAR_MISSES)):
        head, char, tail = text[:index], text[index], text[index + 1 :]
        yield from (head + tail, head + char * 2 + tail, head + char.swapcase() + tail)
        yield from (
            head + other + tail for other in (chr(ord(char) + 1), chr(ord(char) - 1), *letters) if other != char
        )
        yield from (head + other + tail for other in (" ", "0", "99999", "٣", "²", "-", "\n"))
    yield from (text + "\n", "\t" + text, text + text, text + " " + text, text + "\0", text[::-1])


def spoil_wire(wire: Plain) -> Iterator[Plain]:
    """``wire`` with one place changed: junk put in, a part left out or doubled, a number moved by one."""
    yield from JUNK
    if isinstance(wire, dict):
        for key, inner in wire.items():
            yield {k: v for k, v in wire.items() if k != key}
            yield from ({**wire, key: spoilt} for spoilt in spoil_wire(inner))
    elif isinstance(wire, list):
        for index, inner in enumerate(wire[:12]):
            head, tail = wire[:index], wire[index + 1 :]
            yield from (head + tail, [*head, inner, inner, *tail])
            yield from ([*head, spoilt, *tail] for spoilt in spoil_wire(inner))
    elif isinstance(wire, str):
        yield from (wire[:-1], wire + "x", wire + wire, wire.swapcase(), wire[::-1], wire + "\n")
    elif isinstance(wire, int):
        yield from (wire + 1, wire - 1, -wire, wire * 1000, str(wire))
