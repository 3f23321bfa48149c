"""Writing XML as the original server does: indented by two blanks, a line for each element, attributes in order."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from .reading import Element

_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_ESCAPED = re.compile('[&<>"\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]')


def escaped(text: str) -> str:
    """A text as an attribute's value may hold it; what no XML may hold becomes a question mark."""
    return _ESCAPED.sub(lambda found: _SPECIAL.get(found[0], "?"), text)


def attributes(**values: object) -> str:
    """Attributes, each with a blank before it; those that are None are left out."""
    return "".join(f' {name}="{_written(value)}"' for name, value in values.items() if value is not None)


def element(name: str, head: str = "", children: Sequence[str] = ()) -> str:
    """An element of those attributes (as from ``attributes``) and children, over several lines."""
    if not children:
        return f"<{name}{head}/>"
    inside = "\n".join(children).replace("\n", "\n  ")
    return f"<{name}{head}>\n  {inside}\n</{name}>"


def leaf(name: str, text: str) -> str:
    """An element with a text in it, on one line."""
    return f"<{name}>{escaped(text)}</{name}>"


def written(one: Element, hidden: Container[str] = ()) -> str:
    """An element that was read, without the values of the hidden attributes."""
    values = {name: "***" if name in hidden else value for name, value in one.attributes.items()}
    return element(one.name, attributes(**values), [written(child, hidden) for child in one.children])


def _written(value: object) -> str:
    if type(value) is int:
        return str(value)
    return str(value).lower() if isinstance(value, bool) else escaped(str(value))
