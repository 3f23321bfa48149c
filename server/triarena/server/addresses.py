"""Network addresses as limits count them."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

HOME_PREFIX = 64
"""Bits of an IPv6 address that tell one network from another; the rest its owner chooses freely."""


@lru_cache(maxsize=4096)
def neighbourhood(address: str) -> str:
    """What counts as one address: an IPv4 address, also when it is written in IPv6; a network of 2^64 in IPv6.

    What is no address is returned as it is.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        if not (parsed.is_loopback or parsed.is_link_local):
            return str(ip_network((parsed, HOME_PREFIX), strict=False))
    return str(parsed)
