"""FlowerWars: plant flowers on a triangular meadow, four make a garden, ditches connect gardens for more points.

Two players take turns; a turn plants two flowers or digs one ditch. The map of the package:

* ``moves``: flowers, ditches and the three kinds of moves
* ``board``: fields, points and edges as bit sets, and who neighbours whom
* ``planting``: which flowers a side may plant (beds, gardens)
* ``scoring``: the points
* ``position``: a position, its legal moves, its end; here also is where ditches may be dug
* ``refusals``: why a move is refused
* ``notation``: moves as text
* ``wire``, ``position_wire``: moves and positions as plain values
* ``game``: ``GAME``, the rules as one value
"""

from .board import Board, bits, board
from .game import GAME
from .moves import Dig, Ditch, End, Flower, Move, Plant, Point
from .planting import Pairs, Plot
from .position import END_MOVE, NO_MOVE, FlowerWarsPosition

__all__ = [
    "END_MOVE",
    "GAME",
    "NO_MOVE",
    "Board",
    "Dig",
    "Ditch",
    "End",
    "Flower",
    "FlowerWarsPosition",
    "Move",
    "Pairs",
    "Plant",
    "Plot",
    "Point",
    "bits",
    "board",
]
