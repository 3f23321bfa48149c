"""Arguments of the benchmarks, checked as they are read: what can't work is told before anything is measured."""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final


def reader(text: str | None) -> argparse.ArgumentParser:
    """A parser whose help begins with a benchmark's own words."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def at_least(least: int, most: float = math.inf, why: str = "") -> Callable[[str], int]:
    """Reads a whole number from ``least`` on; ``why`` says what has no room for more than ``most``."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more, and not {text!r}")
        if number > most:
            raise argparse.ArgumentTypeError(f"must be {most:g} or less, and not {text!r}: {why}")
        return number

    return read


count: Final = at_least(1)
count_or_none: Final = at_least(0)
"""Where 0 leaves something out."""


def duration(text: str) -> float:
    """Reads seconds, or milliseconds, of which there must be some."""
    return _number(text, lambda number: number > 0, "more than 0")


def duration_or_none(text: str) -> float:
    """Reads seconds, or milliseconds, of which there may be none."""
    return _number(text, lambda number: number >= 0, "0 or more")


def _number(text: str, fits: Callable[[float], bool], words: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and fits(number)):
        raise argparse.ArgumentTypeError(f"must be a number, {words}, and not {text!r}")
    return number


def old_file(text: str) -> Path:
    """Reads the path of a file that is there, and can be read."""
    path = Path(text)
    try:
        path.open("rb").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {error.strerror}") from None
    return path


def new_file(text: str) -> Path:
    """Reads the path of a file that can be written, whether or not it is there. Nothing is left of the attempt."""
    path = Path(text)
    try:
        there = path.exists()
        path.open("ab").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be written: {error.strerror}") from None
    return path


def new_folder(text: str) -> Path:
    """Reads the path of a folder that can be filled, or made with those around it. Nothing is left of the attempt."""
    path = Path(text)
    try:
        there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        tempfile.TemporaryDirectory(dir=there).cleanup()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"nothing can be written into {text}: {error.strerror}") from None
    return path
