from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Commands are printed as for somebody who has installed TriArena, however tests are run; no secret is at hand."""
    which: Callable[[str], str | None] = shutil.which
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    monkeypatch.delenv("TRIARENA_SECRET", raising=False)
    monkeypatch.setenv("TRIARENA_SERVER__DATA_DIR", str(tmp_path / "no-server-here"))
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/triarena" if name == "triarena" else which(name))
