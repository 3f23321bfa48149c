"""A grid of styled characters on which a board is drawn; it knows no terminal."""

from __future__ import annotations

from typing import TypeAlias

Span: TypeAlias = tuple[str, str]
"""A piece of text and its style in rich's words, e.g. ``("r3", "bold red")``; "" is the default style."""

Drawing: TypeAlias = tuple[tuple[Span, ...], ...]
"""Lines of spans."""


class Canvas:
    """Characters by column (from 0, to the right) and row (from 0, downwards)."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], Span] = {}

    def put(self, x: int, y: int, text: str, style: str = "") -> None:
        """Write ``text`` from (x, y) to the right; what stood there is replaced."""
        if x < 0 or y < 0:
            raise ValueError(f"({x}, {y}) lies outside the canvas")
        for offset, character in enumerate(text):
            self._cells[x + offset, y] = (character, style)

    def drawing(self) -> Drawing:
        """What was put, line by line, neighbouring characters of one style joined."""
        height = 1 + max((y for _, y in self._cells), default=-1)
        width = [0] * height
        for x, y in self._cells:
            width[y] = max(width[y], x + 1)
        return tuple(self._line(y, width[y]) for y in range(height))

    def _line(self, y: int, width: int) -> tuple[Span, ...]:
        spans: list[Span] = []
        for x in range(width):
            character, style = self._cells.get((x, y), (" ", ""))
            if spans and spans[-1][1] == style:
                spans[-1] = (spans[-1][0] + character, style)
            else:
                spans.append((character, style))
        return tuple(spans)


def plain(drawing: Drawing) -> str:
    """The drawing as text without styles; every line ends with a line feed."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in drawing)
