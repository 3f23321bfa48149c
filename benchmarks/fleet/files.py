"""Files that are whole or not there, whatever happens while they are written, wherever their folder allows it."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from .verdict import Broken

REFUSALS: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}
"""How a folder takes no second file beside one that may be written, and a file mounted by itself no replacement."""


def put(path: Path, text: str) -> None:
    """Write a text file in one step: who reads it sees all of the old one or all of the new one. What is no plain file,
    like ``/dev/stdout``, is written to as it is, and so is a file that can't be replaced: what took hours to measure
    must not be lost. Raises Broken; what stood there before a file was to be replaced then stands there still.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        raise Broken(f"{path} could not be written: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    text.encode("utf-8")  # what can't be written must not empty the file first
    part = path.with_name(f".{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    except OSError as error:
        if error.errno not in REFUSALS:  # a full disk would take the old file as well
            raise
        path.write_text(text, encoding="utf-8")
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
