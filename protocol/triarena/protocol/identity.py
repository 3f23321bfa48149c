"""Who is who: when two names are the same, and what stands for a bot's token where the token itself must not stand."""

from __future__ import annotations

import unicodedata
from hashlib import sha256
from typing import Final

ALGORITHM: Final = "sha256:"
"""With what every digest begins."""


def canonical(name: str) -> str:
    """Names that people would take for the same are the same: ``Ada``, ``ADA``, and Ada in letters of full width."""
    return unicodedata.normalize("NFKC", name).casefold()


def token_digest(token: str) -> str:
    """What is kept and sent of a bot's token. Tokens are drawn at random and long, so a plain SHA-256 is as good as a
    slow digest.
    """
    return ALGORITHM + sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
