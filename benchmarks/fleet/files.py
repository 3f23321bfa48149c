"""Files that are whole or not there, whatever happens while they are written."""

from __future__ import annotations

import os
from pathlib import Path

from .verdict import Broken


def put(path: Path, text: str) -> None:
    """Write a text file in one step: who reads it sees all of the old one or all of the new one. What is no plain file,
    like ``/dev/stdout``, is written to as it is. Raises Broken; what stood there before then stands there still.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        raise Broken(f"{path} could not be written: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
