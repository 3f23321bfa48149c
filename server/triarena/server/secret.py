"""The administrator's secret: made when the server first listens, kept in a file that only its owner may read.

It is shown once, when it is new, and never logged: its value is outside of ``repr`` and errors.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

FILE_NAME = "admin-secret"
_BYTES_OF_RANDOMNESS = 24
_MINIMUM_LENGTH = 16
_AS_DRAWN = re.compile(r"[A-Za-z0-9_-]{32,}")
"""What ``_BYTES_OF_RANDOMNESS`` look like."""


class SecretError(Exception):
    """The secret cannot be used. ``message`` is a sentence for a person.

    Codes: ``secret_unreadable``, ``secret_unwritable``, ``secret_empty``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class AdminSecret:
    """The secret, where it is kept, and what the organiser should be told about it."""

    value: str = field(repr=False)
    path: Path
    is_new: bool
    """It was made just now: show it to the organiser."""
    warning: str | None = None
    """A sentence about a file that others may read or a secret that can be guessed."""

    @property
    def guessable(self) -> bool:
        """Whether a person may have made it up: it does not look like one that was drawn here."""
        return _AS_DRAWN.fullmatch(self.value) is None

    def matches(self, offered: str) -> bool:
        """Whether somebody offers the secret; takes the same time wherever the first wrong letter is."""
        return hmac.compare_digest(
            offered.encode("utf-8", "surrogatepass"), self.value.encode("utf-8", "surrogatepass")
        )


class Vault:
    """The secret of one server: read now if there is one, else drawn now, and kept only when the server listens. So a
    start that fails leaves none behind that was never shown.
    """

    def __init__(self, data_dir: Path) -> None:
        """Raises SecretError."""
        path = data_dir / FILE_NAME
        with _explained(path):
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            there = path.exists()
        self.secret = _read(path) if there else AdminSecret(secrets.token_urlsafe(_BYTES_OF_RANDOMNESS), path, True)

    def matches(self, offered: str) -> bool:
        """Whether somebody offers the secret, as it is at the moment."""
        return self.secret.matches(offered)

    def keep(self) -> AdminSecret:
        """The secret, from now on in its file. If another server was faster, both have the same one. Raises
        SecretError.
        """
        if self.secret.is_new:
            with _explained(self.secret.path):
                made = _create(self.secret.path, self.secret.value)
            if not made:
                self.secret = _read(self.secret.path)
        return self.secret


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SecretError(
            "secret_unwritable",
            f"The administrator's secret cannot be kept in {path}: {error.strerror or error}; "
            "let the server write there, or set another server.data_dir.",
        ) from error


def _create(path: Path, value: str) -> bool:
    """Put a new secret into a new file; False if somebody else was faster.

    The file appears under its name with all of its contents, so that nobody ever reads half a secret.
    """
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(value + "\n")
            file.flush()
            os.fsync(file.fileno())
        _rename_to_unused(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def _rename_to_unused(draft: Path, path: Path) -> None:
    """Raises FileExistsError if the name is taken."""
    if os.name == "nt":
        draft.rename(path)  # Windows does not replace a file
        return
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links. Between the two steps another server may win, and keeps the name.
        if path.exists():
            raise FileExistsError(path) from None
        draft.rename(path)


def _read(path: Path) -> AdminSecret:
    try:
        mode = path.stat().st_mode
        value = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        message = f"The administrator's secret in {path} cannot be read: {error.strerror or error}."
        raise SecretError("secret_unreadable", message) from error
    except UnicodeDecodeError:
        message = f"The administrator's secret in {path} is not text; delete the file, and the server makes a new one."
        raise SecretError("secret_unreadable", message) from None
    if not value:
        message = f"The file {path} holds no administrator's secret; delete it, and the server makes a new one."
        raise SecretError("secret_empty", message)
    return AdminSecret(value, path, is_new=False, warning=_warning(path, mode, value))


def _warning(path: Path, mode: int, value: str) -> str | None:
    # Windows reports modes that say nothing about who may read.
    if os.name != "nt" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"Others on this machine may read the administrator's secret in {path}; run chmod 600 on it."
    if len(value) < _MINIMUM_LENGTH:
        return f"The administrator's secret in {path} is short and can be guessed; delete the file to get a new one."
    return None
