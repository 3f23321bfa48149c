from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are printed as for somebody who has installed TriArena, however the tests are run."""
    which: Callable[[str], str | None] = shutil.which
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/triarena" if name == "triarena" else which(name))
