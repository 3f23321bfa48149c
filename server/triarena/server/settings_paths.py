"""Relative paths among the settings: those of a file start from its folder, all others from the current one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

_SQLITE = "sqlite:///"


def anchored(tree: dict[str, dict[str, Any]], folder: Path) -> dict[str, dict[str, Any]]:
    """What one source gives, by section and key, with its relative paths as starting from ``folder``, in full."""
    return {
        section: {key: _anchored(section, key, value, folder) for key, value in values.items()}
        for section, values in tree.items()
    }


def in_full(path: Path) -> Path:
    """A path from the root on, without ``..``, so that it can be read, and copied into a command, anywhere."""
    return Path(os.path.realpath(path)) if ".." in path.parts else path.absolute()


def _anchored(section: str, key: str, value: Any, folder: Path) -> Any:
    if isinstance(value, Path):
        return in_full(folder / value)
    if (section, key) == ("server", "database") and isinstance(value, str):
        return _database(value, folder)
    return value


def _database(url: str, folder: Path) -> str:
    """A database's URL; SQLite's names a file. What is no such URL is left to whoever opens it."""
    path = unquote(url.removeprefix(_SQLITE))
    if not url.startswith(_SQLITE) or not path or path.startswith(":") or "?" in url or Path(path).is_absolute():
        return url
    return _SQLITE + quote(in_full(folder / path).as_posix(), safe="/:")
