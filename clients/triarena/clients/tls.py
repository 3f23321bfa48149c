"""TLS from the client's end: whom to trust, and what can go wrong when shaking hands."""

from __future__ import annotations

import re
import socket
import ssl
from pathlib import Path
from typing import Final

from .errors import CannotConnect, ClientError

UNKNOWN_ISSUER: Final = "nobody whom this machine trusts has issued its certificate"
DOUBTS: Final = {
    9: "its certificate is not valid yet, by the clock of this machine",
    10: "its certificate has expired",
    18: UNKNOWN_ISSUER,
    19: UNKNOWN_ISSUER,
    20: UNKNOWN_ISSUER,
    21: UNKNOWN_ISSUER,
    62: "its certificate is for another name",
    64: "its certificate is for another address",
}
"""OpenSSL's numbers (X509_V_ERR) of what is usually wrong with a certificate, in words for people."""


def tls_context(trusted: Path | None = None) -> ssl.SSLContext:
    """What a TLS connection needs, to be passed as ``tls`` to ``Connection.open`` or ``play``.

    ``trusted`` is a PEM file with the certificate of the server, or of who issued it; without it the system's
    authorities are trusted. Raises ClientError if the file can't be used.
    """
    try:
        context = ssl.create_default_context(cafile=trusted)
    except ssl.SSLError:
        raise ClientError("ca_unreadable", f"{trusted} holds no certificate; it must be a PEM file") from None
    except OSError as error:
        sentence = f"the certificate {trusted} cannot be read: {error.strerror or error}"
        raise ClientError("ca_unreadable", sentence) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if trusted is not None:  # for what it is, though it be no authority's
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def plain(error: OSError) -> str:
    """What an error of a connection says for people: one of OpenSSL without its own and its source's codes."""
    return re.sub(r"^\[[\w: ]+\]\s*|\s*\(_ssl\.c:\d+\)$", "", error.strerror or str(error))


def secured(stream: socket.socket, context: ssl.SSLContext, host: str, address: str) -> socket.socket:
    """The stream inside of TLS, with a server that could prove to be ``host``. Raises CannotConnect.

    Its timeout holds for every step of the handshake; if that fails, the stream is closed.
    """
    try:
        return context.wrap_socket(stream, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        code, doubt = "bad_certificate", DOUBTS.get(error.verify_code) or error.verify_message
        sentence = (
            f"{address} cannot prove that it is {host}: {doubt}; ask the organiser for the certificate to "
            "trust (--tls-ca), or check --host"
        )
    except TimeoutError:
        code, sentence = "connect_timeout", f"{address} did not answer in TLS in time; does it speak TLS?"
    except ssl.SSLEOFError:
        code, sentence = "no_greeting", f"{address} hung up before TLS was agreed on; try again, or without --tls"
    except ssl.SSLError as error:
        sentence = f"{address} does not speak TLS ({plain(error)}): leave --tls and --tls-ca out, or check --port"
        code = "not_tls"
    except OSError as error:
        code, sentence = "no_greeting", f"{address} hung up before TLS was agreed on: {plain(error)}"
    stream.close()
    raise CannotConnect(code, sentence) from None
