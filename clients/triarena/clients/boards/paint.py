"""A drawing as rich text; needs the extra ``terminal``."""

from __future__ import annotations

from rich.text import Text

from .canvas import Drawing


def paint(drawing: Drawing) -> Text:
    """The drawing with its styles; lines are never folded, a board that is too wide is cut."""
    text = Text(no_wrap=True, overflow="crop")
    for number, line in enumerate(drawing):
        if number:
            text.append("\n")
        for span, style in line:
            text.append(span, style)
    return text
