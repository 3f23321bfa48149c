"""A TCP proxy between bots and a server that cuts connections at random instants, in the middle of whatever passes."""

from __future__ import annotations

import random
import socket
import struct
import threading
from select import select
from types import TracebackType
from typing import Self

CHUNK = 65536


class CuttingProxy:
    """Passes everything on, but cuts ``cuts`` connections, each when a number of bytes that ``rng`` draws has passed.

    So cuts fall anywhere: inside frames, inside greetings, while the seat is taken back. Half of them are resets,
    which destroy what was under way; the others end both streams in order.
    """

    def __init__(self, server_port: int, cuts: int, up_to: int, rng: random.Random) -> None:
        self.cuts = 0
        """How many there were."""
        self._wanted = cuts
        self._server_port = server_port
        self._up_to = up_to
        self._rng = rng
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(20)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed: the test is over
                return
            with self._lock:
                left = self._rng.randrange(1, self._up_to)
            server = socket.create_connection(("127.0.0.1", self._server_port))
            for stream in (client, server):
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=self._pass_on, args=(client, server, left), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _pass_on(self, client: socket.socket, server: socket.socket, left: int) -> None:
        """Copy both ways until either end hangs up, or ``left`` bytes have passed and a cut is due."""
        with client, server:
            while True:
                for source in select([client, server], [], [])[0]:
                    try:
                        data = source.recv(CHUNK)
                        cut = len(data) >= left and self._cut_due()
                        (server if source is client else client).sendall(data[:left] if cut else data)
                    except ConnectionError:
                        return
                    left -= len(data)
                    if cut:
                        self._reset_perhaps(client, server)
                    if cut or not data:
                        return

    def _cut_due(self) -> bool:
        with self._lock:
            due = self.cuts < self._wanted
            self.cuts += due
            return due

    def _reset_perhaps(self, *streams: socket.socket) -> None:
        with self._lock:
            reset = self._rng.random() < 0.5
        if reset:
            for stream in streams:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
