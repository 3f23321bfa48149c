"""A bot that is a program of its own, as it could be written in any language: it takes the seat that it is given.

The tool starts it once for every game, with ``--host``, ``--port`` and ``--reservation``, and with a seed for its own
randomness in the variable TRIARENA_SEED. By hand: python own_program.py --reservation CODE
"""

import argparse
import os
import random
from itertools import islice

from triarena.clients import play


def main():
    """Play one match, from taking the seat to the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=13055)
    parser.add_argument("--reservation", required=True)
    arguments = parser.parse_args()
    rng = random.Random(os.environ.get("TRIARENA_SEED"))
    over = play(
        lambda position: rng.choice(list(islice(position.legal_moves(), 1000))),
        host=arguments.host,
        port=arguments.port,
        reservation=arguments.reservation,
    )
    print(over.result.detail.message)


if __name__ == "__main__":
    main()
