"""A drawing in colours says the same as the plain one."""

from __future__ import annotations

import pytest

from triarena.clients.boards import Drawing, plain

pytest.importorskip("rich")
from triarena.clients.boards.paint import paint  # only where the extra is installed

DRAWING: Drawing = ((("r3", "bold red"), (" ", ""), ("[b]", "blue")), (), (("end", ""),))


def test_the_text_is_that_of_the_drawing() -> None:
    assert paint(DRAWING).plain + "\n" == plain(DRAWING)


def test_every_span_keeps_its_style() -> None:
    text = paint(DRAWING)
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans if span.style}
    assert styles == {"r3": "bold red", "[b]": "blue"}
