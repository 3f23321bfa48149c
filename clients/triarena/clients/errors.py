"""What can go wrong for a client: every error has a stable ``code`` and is one sentence for a person."""

from __future__ import annotations

from triarena.protocol.from_server import MatchOver


class ClientError(Exception):
    """Base of all errors of this package."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class CannotConnect(ClientError):
    """There is no TriArena server at that address, or it did not greet; the sentence says what to try."""


class ServerError(ClientError):
    """The server said ``error``, ``refused`` or ``goodbye``; code and sentence are the server's."""


class Farewell(ServerError):
    """It was ``refused`` or ``goodbye``: the server has hung up."""


class ConnectionLost(ClientError):
    """The connection ended although the server had not said goodbye."""


class NoAnswer(ClientError):
    """The server did not answer in time. The connection still stands."""


class BotError(ClientError):
    """The bot cannot be loaded, raised an exception, or returned what is no move."""

    def __init__(self, code: str, message: str, traceback: str = "") -> None:
        super().__init__(code, message)
        self.traceback = traceback
        """The traceback of the bot's own exception without our frames; empty if there was none."""
        self.match_over: MatchOver | None = None
        """How the match ended that the bot's fault cost, if one was under way."""
