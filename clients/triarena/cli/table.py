"""Columns of text, the same on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their headings, columns two blanks apart, without blanks at the ends of lines."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (headings, *rows)
    )
    return "\n".join(lines)
