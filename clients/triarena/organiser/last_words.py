"""What of a process's last lines tells why it failed: few for a sentence, more for a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

IN_A_SENTENCE: Final = 3
"""Lines at the end that are told; and the first one that names an error, which may stand before them."""
IN_A_FILE: Final = 20
OF_AN_ERROR: Final = re.compile(r"\w*(Error|Exception)\b")


def last_words(lines: Sequence[str]) -> str:
    """The lines in which a process says why it failed, in one.

    Python tells the error in its last line; others (Node.js, Java) in the first one, and where it was in those below.
    """
    said = [line.strip() for line in lines if line.strip()]
    last = said[-IN_A_SENTENCE:]
    named = next((line for line in said if OF_AN_ERROR.search(line)), None)
    if named is None or named in last:
        return " / ".join(last)
    return " / ".join([named, *(["..."] if len(said) > len(last) + 1 else []), *last[1:]])


def told_by_itself(reason: str) -> str:
    """Why a program says it left its match, for people: without the code before it, and nothing that is not text."""
    _, colon, sentence = reason.partition(": ")
    clean = (sentence if colon else reason).strip()
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in clean)
