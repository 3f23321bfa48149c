"""How many files, and so connections, the system lets this process open."""

from __future__ import annotations

import sys

RESERVED = 128
"""Files that are not for clients: the journal, listeners, logs, and clients that are being turned away."""


def provide_descriptors(wanted: int) -> int | None:
    """Raise the soft limit to ``wanted`` open files, as far as the system allows it.

    Returns how many may be open then; None if the system has no such limit.
    """
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    if soft < wanted:
        better = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (better, hard))
        except (OSError, ValueError):  # macOS has a further bound of its own
            return soft
        soft = better
    return soft
