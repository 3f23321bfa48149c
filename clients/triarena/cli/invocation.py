"""Commands as whoever reads them can paste them: how this program is called here, and where the server is."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

UNREACHED: Final = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Addresses of documentation, to which nothing is ever sent: they only let the machine choose a way out."""


def program() -> str:
    """How this program is called: ``triarena``, within ``uv run`` and ``python -m`` with what goes before it."""
    if "UV_RUN_RECURSION_DEPTH" in os.environ:
        return "uv run triarena"
    if shutil.which("triarena"):
        return "triarena"
    name = os.path.basename(sys.executable)
    python = name if shutil.which(name) == sys.executable else sys.executable
    return f"{shlex.quote(python)} -m triarena.cli"


def command(*words: str) -> str:
    """A command of this program, ready to paste: ``command("watch", "r1")``."""
    return f"{program()} {shlex.join(words)}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that host. A name counts as what it says."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_any(host: str) -> bool:
    """Whether a server that listens there listens on all addresses of its machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def reachable_addresses() -> list[str]:
    """The addresses under which other machines may reach this one, as far as it knows; nothing is sent."""
    return list(dict.fromkeys(address for address in (*_ways_out(), *_named()) if _is_for_others(address)))


def seen_from_outside(port: int) -> str | None:
    """The address of this machine at which its server listens for others; None if it does not, or cannot be told."""
    for address in reachable_addresses():
        with suppress(OSError), socket.create_connection((address, port), timeout=0.5):
            return address
    return None


def hosts_for_others(listening: Iterable[str]) -> list[str]:
    """Under which hosts other machines reach a server that listens there: what stands for all is told one by one."""
    found: list[str] = []
    for host in listening:
        if is_any(host):  # 0.0.0.0 means those of IPv4
            found += [address for address in reachable_addresses() if ":" in host or ":" not in address]
        elif not is_loopback(host):
            found.append(host)
    return list(dict.fromkeys(found))


def _ways_out() -> Iterable[str]:
    """The addresses from which packets would leave."""
    for target, family in UNREACHED:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 9))  # of a datagram socket: nothing leaves
            yield str(probe.getsockname()[0])


def _named() -> Iterable[str]:
    """The addresses that this machine's own name has."""
    with suppress(OSError, UnicodeError):
        for *_, address in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM):
            yield str(address[0])


def _is_for_others(address: str) -> bool:
    found = ip_address(address.partition("%")[0])
    return not (found.is_loopback or found.is_link_local or found.is_unspecified)
