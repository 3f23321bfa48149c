"""Names that belong to somebody: a bot with a token of its own proves its name by it.

The organiser keeps a file with one line for each such bot, as ``triarena token NAME`` prints it. It holds digests: who
reads it learns no token. The tokens are drawn at random and long, so a plain SHA-256 is as good as a slow digest.
"""

from __future__ import annotations

import hmac
import secrets
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError

from triarena.protocol.values import Name

from .refusal import Refusal
from .settings_sources import SettingsError
from .throttle import Throttle

log = structlog.get_logger()

_NAME: TypeAdapter[str] = TypeAdapter(Name)
_ALGORITHM = "sha256:"
_BYTES_OF_RANDOMNESS = 24


@dataclass(frozen=True, slots=True)
class BotTokens:
    """Which names belong to whom."""

    digests: Mapping[str, str] = field(default_factory=dict)
    """The digest of its token by the ``canonical`` form of a name."""
    required: bool = False
    """Only these bots, and holders of reservations, may take seats."""


def new_token() -> str:
    """An unguessable token, of letters that need no quoting anywhere."""
    return secrets.token_urlsafe(_BYTES_OF_RANDOMNESS)


def digest(token: str) -> str:
    """What is kept of a token."""
    return _ALGORITHM + sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def token_line(name: str, token: str) -> str:
    """The line of the file for a bot. Raises ValueError for what can't be a name."""
    try:
        _NAME.validate_python(name)
    except ValidationError:
        raise ValueError(f"{name!r:.60} cannot be a player's name") from None
    return f'"{name}" = "{digest(token)}"'  # a name holds nothing that TOML would have escaped


def canonical(name: str) -> str:
    """Names that people would take for the same are the same: ``Ada``, ``ADA``, and Ada in letters of full width."""
    return unicodedata.normalize("NFKC", name).casefold()


def load_bot_tokens(file: Path) -> Mapping[str, str]:
    """The file's digests. Raises SettingsError with everything that is wrong in it."""
    try:
        with file.open("rb") as stream:
            lines = tomllib.load(stream)
    except OSError as error:
        raise SettingsError([f"bots.tokens: the file {file} cannot be read: {error.strerror or error}."]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"bots.tokens: {file} is not TOML: {error}."]) from None
    problems, found = [], {}
    for name, value in lines.items():
        if not (isinstance(value, str) and value.startswith(_ALGORITHM) and len(value) == len(digest(""))):
            # The value is not shown: it may be a token.
            problems.append(
                f"{file}: {name!r:.60} needs a digest, {_ALGORITHM} and 64 digits; run: triarena token NAME."
            )
        elif canonical(name) in found:
            problems.append(f"{file}: {name!r:.60} is there twice, perhaps in other letters; keep one line.")
        else:
            found[canonical(name)] = value
    if problems:
        raise SettingsError(problems)
    return found


class Identities:
    """Decides who may call themselves what."""

    def __init__(self, bots: BotTokens) -> None:
        self._bots = bots
        self._throttle = Throttle()

    @property
    def required(self) -> bool:
        """Whether a seat that is not reserved takes a token."""
        return self._bots.required

    def check(self, name: str | None, token: str | None, address: str, now: float) -> bool:
        """Whether the name is proven by the token; False for one that is free. Raises Refusal.

        A server without such bots ignores tokens: they are for another one.
        """
        if not self._bots.digests:
            return False
        right = self._bots.digests.get(canonical(name)) if name is not None else None
        if token is None:
            if right is not None:
                raise Refusal("wrong_token", f"the name {name!r} belongs to a bot with a token, and none was sent")
            return False
        if (wait := self._throttle.wait(address, now)) > 0:
            raise Refusal("throttled", f"too many wrong tokens came from {address}; try again in {wait:.0f} s")
        if right is None or not hmac.compare_digest(digest(token), right):
            self._throttle.failed(address, now)
            log.warning("wrong_token", name=name, address=address)
            raise Refusal(
                "wrong_token", f"this is not the token of {'a bot without a name' if name is None else name!r}"
            )
        return True
