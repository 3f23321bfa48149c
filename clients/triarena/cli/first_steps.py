"""The command with which a bot joins a server that has just started, so that it works as it is printed."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .invocation import command, is_any, program
from .options import DEFAULT_HOST, DEFAULT_PORT

if TYPE_CHECKING:
    from triarena.server.app import Addresses
    from triarena.server.settings import Settings

HERE: Final = (DEFAULT_HOST, "localhost")
"""How this machine is preferably called."""
ROUND_TRIPS: Final = 10
"""More than any handshake takes."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a server's certificate is good for."""

    trusted: bool
    """By the system's authorities."""
    names: tuple[str, ...]
    """Of hosts; none if it can't be told."""


def first_steps(settings: Settings, addresses: Addresses, tls: ssl.SSLContext | None) -> list[str]:
    """Lines that say how a bot joins from this machine; ``tls`` is what the server itself uses."""
    host, port = addresses[0]
    shown = None if tls is None else certificate(tls, settings.server.tls_certificate)
    join = ["join", "--game", "towerwars", "random"]
    if (there := _host(host, shown)) != DEFAULT_HOST:
        join += ["--host", there]
    if port != DEFAULT_PORT:
        join += ["--port", str(port)]
    if shown is not None:
        join += ["--tls"] if shown.trusted else ["--tls-ca", str(settings.server.tls_certificate)]
    if not settings.bots.required:
        lines = [f"a bot joins with:  {command(*join)}"]
    else:
        lines = [f"a bot joins with:  TRIARENA_TOKEN=TOKEN {command(*join, '--name', 'NAME')}"]
        lines.append(f"        (only with a name and its token, made by: {program()} token NAME)")
    if shown is not None and not shown.trusted:
        lines.append(f"        ({_advice(settings)})")
    return lines


def _advice(settings: Settings) -> str:
    """What players on other machines need of a certificate that their systems don't trust."""
    if settings.server.tls_key is None:
        return "players on other machines need a copy of the certificate, but not of the private key in the same file"
    return "players on other machines need a copy of that file"


def _host(listening: str, shown: Shown | None) -> str:
    """Under which name a client on this machine reaches the server, and the certificate is good for it."""
    usual = DEFAULT_HOST if is_any(listening) else listening
    names = shown.names if shown is not None else ()
    if not names or usual in names:
        return usual
    return next((name for name in (*HERE, *names) if name in names and "*" not in name), usual)


def certificate(server: ssl.SSLContext, file: object) -> Shown:
    """What the certificate of a server is good for, as clients find out: by shaking hands, here within the process.

    ``file`` holds the certificate.
    """
    try:
        _handshake(server, ssl.create_default_context())
        trusted = True
    except ssl.SSLError:
        trusted = False
    names: tuple[str, ...] = ()
    try:
        context = ssl.create_default_context() if trusted else ssl.create_default_context(cafile=str(file))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        found = _handshake(server, context) or {}
        names = tuple(str(value) for kind, value in found.get("subjectAltName", ()) if kind in ("DNS", "IP Address"))
    except OSError:  # it is for nobody to verify
        pass
    return Shown(trusted, names)


def _handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> dict[str, tuple[tuple[str, str], ...]] | None:
    """The server's certificate, once the client has verified it but for the host's name. Raises SSLError."""
    client.check_hostname = False
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(back, there)
    theirs = server.wrap_bio(there, back, server_side=True)
    for end in (ours, theirs) * ROUND_TRIPS:
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
        if end is ours:
            break
    return ours.getpeercert()  # type: ignore[return-value]  # typeshed allows for all that a certificate may hold
