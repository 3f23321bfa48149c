"""Names that belong to somebody: a bot with a token of its own proves its name by it.

The organiser keeps a file with one line for each such bot, as ``triarena token NAME`` prints it. It holds digests: who
reads it learns no token.
"""

from __future__ import annotations

import hmac
import secrets
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError

from triarena.protocol.identity import ALGORITHM, canonical, token_digest
from triarena.protocol.values import Name

from .refusal import Refusal
from .seldom import Seldom
from .settings_sources import SettingsError
from .throttle import Throttle

log = structlog.get_logger()

_NAME: TypeAdapter[str] = TypeAdapter(Name)
_BYTES_OF_RANDOMNESS = 24
_FORM = f'"Ada" = "{ALGORITHM}..." with 64 digits'
"""What a line looks like, for error sentences."""


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


def token_line(name: str, token: str) -> str:
    """The line of the file for a bot. Raises ValueError for what can't be a name."""
    try:
        _NAME.validate_python(name)
    except ValidationError:
        raise ValueError(f"{name!r:.60} cannot be a player's name") from None
    return f'"{name}" = "{token_digest(token)}"'  # a name holds nothing that TOML would have escaped


def load_bot_tokens(file: Path) -> Mapping[str, str]:
    """The file's digests. Raises SettingsError with everything that is wrong in it."""
    try:
        with file.open("rb") as stream:
            lines = tomllib.load(stream)
    except OSError as error:
        raise SettingsError([f"bots.tokens: the file {file} cannot be read: {error.strerror or error}."]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        sentence = f"{file} is not TOML: {error}; each of its lines must be of the form {_FORM}"
        raise SettingsError([f"bots.tokens: {sentence}, as printed by: triarena token NAME."]) from None
    problems, found = [], {}
    for name, value in lines.items():
        if not (isinstance(value, str) and value.startswith(ALGORITHM) and len(value) == len(token_digest(""))):
            # The value is not shown: it may be a token.
            problems.append(
                f"bots.tokens: {file}: {name!r:.60} needs a digest: its line must be of the form {_FORM}, "
                "as printed by: triarena token NAME."
            )
        elif canonical(name) in found:
            sentence = f"{name!r:.60} is there twice, perhaps in other letters"
            problems.append(f"bots.tokens: {file}: {sentence}; keep one line.")
        else:
            found[canonical(name)] = value
    if problems:
        raise SettingsError(problems)
    return found


class Identities:
    """Decides who may call themselves what: bots of the organiser's file, and players enrolled for a tournament."""

    def __init__(self, bots: BotTokens) -> None:
        self._bots = bots
        self._enrolled: dict[str, str] = {}
        """The digest of its token by the canonical name of a player."""
        self._throttle = Throttle()
        self._seldom = Seldom()

    @property
    def required(self) -> bool:
        """Whether a seat that is not reserved takes a token."""
        return self._bots.required

    def check(self, name: str | None, token: str | None, address: str, now: float) -> bool:
        """Whether the name is proven by the token; False for one that is free. Raises Refusal.

        A token for a name of which nothing is known proves nothing, and is no offence: it is for another server, or the
        player is yet to be enrolled.
        """
        if name is None:
            if token is not None and self._bots.digests:
                raise Refusal("wrong_token", "this is not the token of a bot without a name: say which name it proves")
            return False
        if token is None:
            if self._digest(name) is not None:
                self._note_wrong(name, address, "none")
                raise Refusal("wrong_token", f"the name {name!r} belongs to a bot with a token, and none was sent")
            return False
        return self.owns(name, token_digest(token), address, now)

    def owns(self, name: str, digest: str, address: str, now: float) -> bool:
        """Whether the name belongs to the holder of the token; False if it is nobody's. Raises Refusal if it is not.

        Wrong tokens are throttled by name and address; the right one is always taken, since it can't be guessed.
        """
        right = self._digest(name)
        if right is None:
            return False
        if hmac.compare_digest(digest, right):
            self._throttle.right(address, canonical(name))
            return True
        if (wait := self._throttle.wrong(address, now, canonical(name))) > 0:
            sentence = f"too many wrong tokens for {name!r} came from {address}, and this is another"
            raise Refusal("throttled", f"{sentence}; try again in {wait:.0f} s")
        self._note_wrong(name, address, "another")
        raise Refusal("wrong_token", f"this is not the token of {name!r}")

    def _note_wrong(self, name: str, address: str, token: str) -> None:
        if many := self._seldom("wrong_token"):
            log.warning("wrong_token", name=name, address=address, token=token, times=many)

    def _digest(self, name: str) -> str | None:
        key = canonical(name)
        return self._bots.digests.get(key) or self._enrolled.get(key)

    # -- tournaments ---------------------------------------------------------------------------

    def belongs_to_another(self, name: str, digest: str) -> bool:
        """Whether the organiser's file gives the name to the holder of another token."""
        return self._bots.digests.get(canonical(name), digest) != digest

    def enrolled_with(self, keys: Iterable[str]) -> int:
        """How many players will be enrolled, once these are."""
        return len(self._enrolled.keys() | set(keys))

    def enrol(self, key: str, digest: str) -> None:
        """Give a (canonical) name to the holder of a token, until it is forgotten."""
        self._enrolled[key] = digest

    def enrolled_as(self, key: str) -> str | None:
        """The digest of the token by which a (canonical) name is enrolled; None if it is not."""
        return self._enrolled.get(key)

    def forget(self, key: str) -> str | None:
        """Enrolled no more: the digest of the token that proved the name; None if nobody had enrolled it."""
        return self._enrolled.pop(key, None)
