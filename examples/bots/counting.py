"""A bot for all three games: it tries moves, and takes one of those after which its lead in points is largest."""

import random
from itertools import islice

TRIED = 400
"""There can be very many legal moves; these must do."""


def choose_move(position):
    """One of the best moves; equally good ones are drawn by lot."""
    me = position.to_move
    rated = [(lead(position.play(move), me), random.random(), move) for move in islice(position.legal_moves(), TRIED)]
    return max(rated, key=lambda entry: entry[:2])[2]


def lead(position, me):
    """The points of a side, less the opponent's; whoever has won leads by far."""
    if position.outcome is not None and position.outcome.winner is not None:
        return 1000 if position.outcome.winner is me else -1000
    return position.score(me).points - position.score(me.other).points
