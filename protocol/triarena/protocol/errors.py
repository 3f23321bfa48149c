"""Who broke the protocol: we (a bug in our own code) or they (say so, perhaps hang up)."""

from __future__ import annotations


class ProtocolError(Exception):
    """Abstract; one of the two below is raised."""


class LocalProtocolError(ProtocolError):
    """We tried to send what may not be sent now. Nothing was sent, no state changed."""


class RemoteProtocolError(ProtocolError):
    """The peer sent what is no frame, no message, or not allowed now. ``code`` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
