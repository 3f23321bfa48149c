"""The complete small game of docs/add-a-game.md, taken from the page itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "add-a-game.md"


@pytest.fixture(scope="session")
def page_files() -> dict[str, str]:
    """The files of the page: every fenced block whose first line is a comment with a file's name."""
    return dict(re.findall(r"```\w+\n# (\S+)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))


@pytest.fixture
def nim(page_files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The page's module ``nim``, fresh, so that a test may spoil it."""
    module = ModuleType("nim")
    monkeypatch.setitem(sys.modules, "nim", module)  # where dataclasses look for the types of their fields
    exec(compile(page_files["nim.py"], "nim.py", "exec"), module.__dict__)
    return module
