"""Throw broken, twisted and ill-timed frames at both ends, in every stage of a connection.

    python tests/protocol/fuzz.py --frames 1000000 --seed 1

Nothing but messages and faults may come out of ``receive``, and nothing but LocalProtocolError of ``send``; every
sentence must be fit to be sent. Anything else ends the run with the frame that did it, in hexadecimal.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgpack

from triarena.protocol.codec import Encoded, encode
from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.example_match import conversation
from triarena.protocol.examples import examples
from triarena.protocol.frames import HEADER, frame
from triarena.protocol.session import Fault, Session, client_session, server_session
from triarena.protocol.table import Role
from triarena.protocol.values import Value

End = Session[Any, Any]
EPISODE = 40
"""Frames thrown at one end before another one is taken."""
CODES = {
    *("frame_too_large", "truncated", "not_msgpack", "not_a_map", "unknown_type", "invalid_message"),
    *("greeting_first", "not_now", "late_move", "no_seat", "xml"),
}
ATOMS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, -(2**63), 0.5, 1e308, float("nan"), float("inf")),
    *("", "red", "k3f9q2", "\x00", "é" * 30, "x" * 3000, b"", b"\xff" * 20, [], {}, [[[[[]]]]], [0] * 500),
    *({"type": "step"}, {"type": "end"}, {"game": "chess"}, msgpack.ExtType(3, b"abc"), msgpack.Timestamp(5)),
)


class Violation(Exception):
    """A promise was broken; the message says which, and by what bytes."""


class Fuzzer:
    """Makes frames from a seed, and counts what comes of them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.said: dict[Role, list[Encoded[Any]]] = {role: [] for role in Role}
        for example in (*examples(), *conversation()):
            self.said[example.sender].append(encode(example.message))
        self.sender = Role.CLIENT
        """Who would say what is thrown, if it were said."""
        self.stages = list(stages())

    def run(self, frames: int) -> Counter[str]:
        """Throw so many frames; the counts by what came of them. Raises Violation."""
        left = frames
        while left > 0:
            end = copied(self.rng.choice(self.stages))
            for _ in range(min(EPISODE, left)):
                left -= 1
                if not self._throw(end):
                    break
        return self.counts

    def _throw(self, end: End) -> bool:
        """One frame, in pieces; whether the end is still good for another."""
        self.sender = end.role.peer if self.rng.random() < 0.95 else end.role
        kind, make = self.rng.choice(KINDS)
        data = make(self)
        self.counts[f"sent {kind}"] += 1
        for piece in self._pieces(data):
            try:
                items = end.receive(piece)
            except Exception as error:
                raise Violation(f"{error!r} came out of receive: {data.hex()[:4000]}") from error
            for item in items:
                self._note(item, data)
            if items and isinstance(items[-1], Fault) and items[-1].fatal:
                self._hang_up(end, data)
                return False
        if self.rng.random() < 0.3:
            self._say_something(end, data)
        return True

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        if self.rng.random() < 0.7:
            yield data
            return
        while data:
            size = self.rng.choice((1, 2, 3, 5, 8, 50, 1000))
            yield data[:size]
            data = data[size:]

    def _note(self, item: object, data: bytes) -> None:
        if isinstance(item, Fault):
            self.counts[f"fault {item.code}"] += 1
            if item.code not in CODES or not 0 < len(item.message) < 1000 or "\n" in item.message:
                raise Violation(f"{item} is no proper fault: {data.hex()[:4000]}")
            item.message.encode()  # it must be fit to be sent
        elif isinstance(item, Value):
            self.counts["message"] += 1
        else:
            raise Violation(f"{item!r} is neither a message nor a fault: {data.hex()[:4000]}")

    def _hang_up(self, end: End, data: bytes) -> None:
        try:
            fault = end.receive_eof()
        except Exception as error:
            raise Violation(f"{error!r} came out of receive_eof: {data.hex()[:4000]}") from error
        if fault is not None:
            self._note(fault, data)

    def _say_something(self, end: End, data: bytes) -> None:
        """Our own side says anything at all: it goes, or is refused."""
        encoded = self.rng.choice(self.said[end.role if self.rng.random() < 0.9 else end.role.peer])
        try:
            end.send_encoded(encoded)
            self.counts["said"] += 1
        except LocalProtocolError:
            self.counts["not allowed to say"] += 1
        except Exception as error:
            raise Violation(f"{error!r} came out of send({encoded.message!r}) after {data.hex()[:4000]}") from error

    # -- kinds of frames -------------------------------------------------------------------------

    def valid(self) -> bytes:
        """A good message, most likely at a wrong time."""
        return self.rng.choice(self.said[self.sender]).data

    def noise(self) -> bytes:
        """Bytes by chance, in a proper frame."""
        return frame(self.rng.randbytes(self.rng.choice((0, 1, 2, 5, 20, 100, 2000))))

    def bare(self) -> bytes:
        """Bytes by chance, without a frame."""
        return self.rng.randbytes(self.rng.choice((1, 4, 10, 60)))

    def flipped(self) -> bytes:
        """A good frame with a few bits turned, mostly behind the length."""
        data = bytearray(self.valid())
        first = 0 if self.rng.random() < 0.1 else HEADER
        for _ in range(self.rng.choice((1, 1, 2, 5))):
            data[self.rng.randrange(first, len(data))] ^= 1 << self.rng.randrange(8)
        return bytes(data)

    def truncated(self) -> bytes:
        """A good message cut short, in a proper frame."""
        payload = self.valid()[HEADER:]
        return frame(payload[: self.rng.randrange(len(payload))])

    def spliced(self) -> bytes:
        """The head of one message and the tail of another."""
        one, two = self.valid()[HEADER:], self.valid()[HEADER:]
        return frame(one[: self.rng.randrange(len(one))] + two[self.rng.randrange(len(two)) :])

    def twisted(self) -> bytes:
        """A good map in which something somewhere was replaced, dropped or added."""
        value = self.rng.choice(self.said[self.sender]).message.model_dump()
        for _ in range(self.rng.choice((1, 1, 1, 3))):
            self._twist(value)
        return frame(bytes(msgpack.packb(value)))

    def _twist(self, value: Any) -> None:
        """Change one place of a map or list, at any depth."""
        while True:
            places = list(value) if isinstance(value, dict) else list(range(len(value)))
            if not places:
                return
            place = self.rng.choice(places)
            inner = value[place]
            if isinstance(inner, dict | list) and inner and self.rng.random() < 0.75:
                value = inner
                continue
            what = self.rng.random()
            if what < 0.2:
                del value[place]
            elif what < 0.3 and isinstance(value, dict):
                value[self.rng.choice(("x", "type", "id", "room", b"room", "é" * 50))] = self._atom()
            else:
                value[place] = self._atom()
            return

    def _atom(self) -> Any:
        return copy.deepcopy(self.rng.choice(ATOMS))

    def deep(self) -> bytes:
        """Arrays in arrays in arrays, alone or inside of a message."""
        nest = b"\x91" * self.rng.choice((10, 40, 300, 1100, 12_000)) + b"\x00"
        head = self.rng.choice(
            (b"", b"\x82\xa4type\xa4move\xa4move", b"\x82\xa4type\xa4move\xa4move\x82\xa4type\xa1z\xa1x")
        )
        return frame(head + nest)

    def xml(self) -> bytes:
        """The beginning of another protocol."""
        return self.rng.choice((b"<", b"<protocol>", b'<?xml version="1.0"?>'))

    def large(self) -> bytes:
        """A length that announces too much, or a list that claims to."""
        size = self.rng.choice((16 * 1024 + 1, 2**20 + 1, 2**31, 2**32 - 1))
        return size.to_bytes(4, "big") if self.rng.random() < 0.2 else frame(b"\xdd" + size.to_bytes(4, "big"))


KINDS: tuple[tuple[str, Callable[[Fuzzer], bytes]], ...] = (
    *[("valid", Fuzzer.valid)] * 5,
    *[("twisted", Fuzzer.twisted)] * 6,
    *[("flipped", Fuzzer.flipped)] * 4,
    *[("truncated", Fuzzer.truncated)] * 2,
    *[("spliced", Fuzzer.spliced)] * 2,
    *[("noise", Fuzzer.noise)] * 2,
    ("bare", Fuzzer.bare),
    ("deep", Fuzzer.deep),
    ("large", Fuzzer.large),
    ("xml", Fuzzer.xml),
)


def stages() -> Iterator[End]:
    """Both ends before, between and after all messages of a whole match."""
    both: dict[Role, End] = {Role.CLIENT: client_session(), Role.SERVER: server_session()}
    yield from map(copied, both.values())
    for example in conversation():
        data = both[example.sender].send(example.message)
        both[example.sender.peer].receive(data)
        yield from map(copied, both.values())


def copied(end: End) -> End:
    """An end of its own, in the same state."""
    new = copy.copy(end)
    new._reader = copy.deepcopy(end._reader)
    new._requests = list(end._requests)
    new._rooms = {name: copy.copy(room) for name, room in end._rooms.items()}
    new._over = list(end._over)
    return new


def main() -> int:
    """From the command line; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    begun = time.perf_counter()
    try:
        counts = Fuzzer(chosen.seed).run(chosen.frames)
    except Violation as violation:
        print(violation, file=sys.stderr)
        return 1
    for what, count in sorted(counts.items()):
        print(f"{what:28}{count:>10,}")
    print(f"{chosen.frames:,} frames, seed {chosen.seed}: {time.perf_counter() - begun:.0f} s, no promise broken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
