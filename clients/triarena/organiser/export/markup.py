"""HTML and SVG by construction: text is escaped, always, unless it is already markup made here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final, Literal, TypeAlias

_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BIDI: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_VOID: Final = frozenset(["meta", "br", "hr"])


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"


def text(value: str) -> Markup:
    """A text as markup: nothing in it is markup, unprintable and direction-changing characters are replaced."""
    return Markup(escape(_BIDI.sub("\ufffd", _UNPRINTABLE.sub("\ufffd", value)), quote=True))


def join(*children: Child) -> Markup:
    """Texts and markup one after the other."""
    return Markup("".join(_flat(children)))


def tag(name: str, /, *children: Child, **attributes: str | float | Literal[True] | None) -> Markup:
    """An element: ``tag("td", "<b>", class_="n")``.

    A trailing ``_`` of an attribute's name is dropped, ``_`` within it becomes ``-``. True stands for the bare
    attribute; None leaves it out.
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(_shown(value))}"')
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(*children)}</{name}>")


def pieces(name: str, /, *children: Child, **attributes: str | float | Literal[True] | None) -> Iterator[Markup]:
    """The same element piece by piece, each child when it is asked for: what is long is never held as a whole."""
    empty, end = tag(name, **attributes), f"</{name}>"
    yield Markup(empty.removesuffix(end))
    for child in _flat(children):
        yield Markup(child)
    yield Markup(end)


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, str):
            yield child if isinstance(child, Markup) else text(child)
        else:
            yield from _flat(child)
