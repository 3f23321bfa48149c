"""Where a server is, and a socket to it."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass, field

from .errors import CannotConnect
from .tls import secured


@dataclass(frozen=True, slots=True)
class Address:
    """A host, by name or number, and a port; ``str`` gives ``host:port``."""

    host: str
    port: int
    tls: ssl.SSLContext | None = field(default=None, repr=False, compare=False)
    """With it the server is talked to in TLS."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def connect(self, timeout: float) -> socket.socket:
        """A socket connected over IPv4 or IPv6, within ``timeout`` seconds. Raises CannotConnect."""
        try:
            stream = socket.create_connection((self.host, self.port), timeout=timeout)
        except (socket.gaierror, UnicodeError):
            sentence = f"there is no host called {self.host!r}; check the spelling of --host"
            raise CannotConnect("unknown_host", sentence) from None
        except ConnectionRefusedError:
            sentence = f"nobody listens on {self}: start a server with 'triarena serve', or check --host and --port"
            raise CannotConnect("connection_refused", sentence) from None
        except TimeoutError:
            sentence = f"{self} did not answer within {timeout:g} s: check --host and --port, and any firewall between"
            raise CannotConnect("connect_timeout", sentence) from None
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CannotConnect("cannot_connect", f"cannot connect to {self}: {reason}; check --host") from None
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream if self.tls is None else secured(stream, self.tls, self.host, str(self))
