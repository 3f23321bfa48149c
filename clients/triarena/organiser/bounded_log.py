"""A log file that cannot grow: the first part of what a process says, and the last.

Part of the guard, which has to start fast: only light imports here.
"""

from __future__ import annotations

import os
import threading


class BoundedLog:
    """Keeps the first ``head`` bytes and the last ``tail`` bytes of what is written, in one file.

    What lies between them is dropped, and the file says how much that was. The head is in the file at once, the tail
    after ``flush``. A file that cannot be written to (the disk is full) makes the log incomplete, not an error.
    Several threads may use it.
    """

    def __init__(self, path: str, head: int, tail: int) -> None:
        """Empty the file, or make it. Raises OSError if that can't be done."""
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644)
        self._head_left = head
        self._head_size = 0
        self._tail_limit = tail
        self._tail = bytearray()
        self._tail_seen = 0
        self._stale = False
        self._lock = threading.Lock()

    @property
    def dropped(self) -> int:
        """How many bytes are lost between head and tail."""
        return max(0, self._tail_seen - self._tail_limit)

    def write(self, data: bytes) -> None:
        """Add to the log."""
        with self._lock:
            if self._head_left:
                first, data = data[: self._head_left], data[self._head_left :]
                self._head_left -= len(first)
                self._head_size += self._put(first)
            if data:
                self._tail += data
                self._tail_seen += len(data)
                self._stale = True
                if len(self._tail) > 2 * self._tail_limit:
                    del self._tail[: len(self._tail) - self._tail_limit]

    def flush(self) -> None:
        """Bring the file up to date."""
        with self._lock:
            if not self._stale:
                return
            self._stale = False
            notice = f"\n[... {self.dropped} bytes left out ...]\n".encode() if self.dropped else b""
            kept = self._tail[max(0, len(self._tail) - self._tail_limit) :]
            try:
                os.lseek(self._file, self._head_size, os.SEEK_SET)
                size = self._head_size + self._put(notice + kept)
                os.ftruncate(self._file, size)
            except OSError:
                pass

    def close(self) -> None:
        """Bring the file up to date, for the last time."""
        self.flush()
        with self._lock:
            os.close(self._file)

    def _put(self, data: bytes) -> int:
        view = memoryview(data)
        done = 0
        while done < len(view):
            try:
                done += os.write(self._file, view[done:])
            except OSError:  # the disk is full: whoever talks goes on all the same
                break
        return done
