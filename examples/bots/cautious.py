"""A bot for all three games that looks at the opponent's answer, too, for as long as a part of its time allows.

It imports its neighbour ``counting``: a bot's file may do so.
"""

import random
import time
from itertools import islice

from counting import TRIED, lead

SHARE_OF_TIME = 0.2


def choose_move(position, clock):
    """The move after whose worst answer this side leads by most, among those that there was time to look at."""
    seconds = 1.0 if clock.remaining_ms is None else clock.remaining_ms / 1000
    deadline = time.monotonic() + SHARE_OF_TIME * seconds
    moves = list(islice(position.legal_moves(), TRIED))
    random.shuffle(moves)
    best, best_value = moves[0], float("-inf")
    for move in moves:
        if time.monotonic() > deadline:
            break
        value = worst(position.play(move), position.to_move, deadline)
        if value > best_value:
            best, best_value = move, value
    return best


def worst(position, me, deadline):
    """What the opponent's best answer leaves of the lead."""
    if position.outcome is not None:
        return lead(position, me)
    least = lead(position, me)
    for answer in islice(position.legal_moves(), TRIED):
        if time.monotonic() > deadline:
            break
        least = min(least, lead(position.play(answer), me))
    return least
