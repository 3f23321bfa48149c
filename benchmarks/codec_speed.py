"""How long messages take to pack and unpack: CPU microseconds, the best of five.

python benchmarks/codec_speed.py
"""

from __future__ import annotations

import random
import time
import timeit
from collections.abc import Callable
from functools import partial
from itertools import islice

from fleet.arguments import reader
from fleet.verdict import ended

from triarena.games import AnyPosition, find_game
from triarena.protocol.codec import decode, encode
from triarena.protocol.examples import examples
from triarena.protocol.frames import HEADER
from triarena.protocol.from_client import FROM_CLIENT
from triarena.protocol.from_server import FROM_SERVER, YourTurn
from triarena.protocol.values import Clock

BOARDS: tuple[tuple[str, dict[str, int]], ...] = (
    ("flowerwars", {}),
    ("flowerwars", {"size": 30}),
    ("towerwars", {}),
    ("towerwars", {"size": 26}),
    ("mississippi_queen", {}),
)
PLIES = 8


def micros(work: Callable[[], object]) -> float:
    """CPU microseconds of one call."""
    timer = timeit.Timer(work, timer=time.process_time)
    rounds, _ = timer.autorange()
    return min(timer.repeat(5, rounds)) / rounds * 1e6


def moves() -> None:
    """A move, as the server decodes it."""
    for example in examples():
        if example.message.type == "move":
            payload = encode(example.message).data[HEADER:]
            took = micros(partial(decode, payload, FROM_CLIENT))
            print(f"decode move   {len(payload):5} bytes {took:6.1f} µs   {example.meaning}")


def turn(name: str, options: dict[str, int]) -> None:
    """A turn with its position, as the server makes and the client reads it."""
    game, rng = find_game(name), random.Random(1)
    position: AnyPosition = game.start(options, 3)
    for _ in range(PLIES):
        if position.outcome is not None:
            break
        position = position.play(rng.choice(list(islice(position.legal_moves(), 300))))
    clock = Clock(limit_ms=2000, remaining_ms=2000, last_used_ms=13.5, server_overhead_ms=0.25)
    fields = {"room": "k3f9q2", "ply": PLIES, "clock": clock, "position": game.write_position(position)}
    message = YourTurn.model_validate(fields)
    data = encode(message).data
    steps = {
        "write position": micros(partial(game.write_position, position)),
        "validate": micros(partial(YourTurn.model_validate, fields)),
        "encode": micros(partial(encode, message)),
        "decode": micros(partial(decode, data[HEADER:], FROM_SERVER)),
    }
    shown = "  ".join(f"{step} {took:5.1f}" for step, took in steps.items())
    print(f"your_turn     {len(data):5} bytes  {shown} µs   {name} {options or ''}")


def main() -> None:
    """Print a line for each kind of move, and for each board."""
    reader(__doc__).parse_args()
    moves()
    for board in BOARDS:
        turn(*board)


if __name__ == "__main__":
    ended(main)
