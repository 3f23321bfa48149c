"""TLS: the certificate, and a stream that ends like a plain one."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import trio

from .settings_sources import SettingsError
from .stamps import StampedStream

HANDSHAKE = 0x16
"""The first byte of every TLS connection; a frame to the server never begins with it."""


class NotTls(Exception):
    """The client does not speak TLS; ``str(error)`` is a sentence for it."""


def server_context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """What TLS needs, from a file with the certificate (and those of its issuers) and one with its private key.

    Without ``key`` the first file holds both. Raises SettingsError.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as error:
        raise SettingsError([_unusable(certificate, key, error)]) from None
    except OSError as error:  # it does not say which of the two
        which = next((file for file in (certificate, key) if file is not None and not _readable(file)), certificate)
        name = "server.tls_key" if which == key else "server.tls_certificate"
        raise SettingsError([f"{name}: the file {which} cannot be read: {error.strerror or error}."]) from None
    return context


def _no_password() -> str:
    """The answer to OpenSSL, which would otherwise ask at the terminal."""
    return ""


def _readable(file: Path) -> bool:
    try:
        with file.open("rb"):
            return True
    except OSError:
        return False


def _unusable(certificate: Path, key: Path | None, error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"server.tls_key: the private key in {key or certificate} is not that of the certificate {certificate}."
    holder, setting = (key, "server.tls_key") if key is not None else (certificate, "server.tls_certificate")
    if "-----BEGIN CERTIFICATE-----" not in _text(certificate):
        sentence = f"{certificate} holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----"
        return f"server.tls_certificate: {sentence}."
    if "PRIVATE KEY-----" not in _text(holder):
        hint = "" if key is not None else "; name the file that does with server.tls_key"
        return f"{setting}: {holder} holds no private key in PEM{hint}."
    if "ENCRYPTED" in _text(holder):
        return f"{setting}: the private key in {holder} has a password; write it to a file without one."
    if error.reason == "EE_KEY_TOO_SMALL":
        return f"{setting}: the key in {holder} is too short to be safe; make one of 2048 bits or more."
    with_key = f" with the key {key}" if key is not None else ""
    return f"server.tls_certificate: {certificate}{with_key} cannot be used: it is damaged, or of an unusual kind."


def _text(file: Path) -> str:
    return file.read_text("ascii", "replace")


async def secured(stream: trio.SocketStream | StampedStream, context: ssl.SSLContext) -> TlsStream:
    """The stream inside of the TLS connection that the client opens.

    Raises NotTls if it opens none, BrokenResourceError if the two do not agree.
    """
    try:
        first = await stream.socket.recv(1, socket.MSG_PEEK)
    except OSError as error:
        raise trio.BrokenResourceError from error
    if first and first[0] != HANDSHAKE:
        raise NotTls("this server speaks TLS only: give the command --tls, or --tls-ca with its certificate")
    inside = trio.SSLStream(stream, context, server_side=True, https_compatible=True)
    await inside.do_handshake()
    return TlsStream(inside)


class TlsStream(trio.abc.HalfCloseableStream):
    """A TLS stream of which our half can be ended, as that of a plain one.

    It is ended beneath TLS, by TCP: what the protocol says last (``goodbye``, ``match_over``) is inside, so that
    nobody can cut the talk short unnoticed; and the client's half can still be read.
    """

    def __init__(self, inside: trio.SSLStream[trio.SocketStream | StampedStream]) -> None:
        self._inside = inside

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """See trio.abc.SendStream."""
        await self._inside.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        """See trio.abc.SendStream."""
        await self._inside.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """See trio.abc.ReceiveStream."""
        return await self._inside.receive_some(max_bytes)

    async def send_eof(self) -> None:
        """See trio.abc.HalfCloseableStream."""
        await self._inside.transport_stream.send_eof()

    async def aclose(self) -> None:
        """Close the connection, TCP's and all."""
        await self._inside.transport_stream.aclose()
