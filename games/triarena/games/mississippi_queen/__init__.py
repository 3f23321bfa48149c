"""Mississippi Queen: two steamers race up a winding river, fetch two passengers each and dock at the goal.

The map, from the ground up:

* ``geometry``: directions, fields as integers (*cells*), where the fields of a segment lie, how the river may bend.
* ``river``: the revealed river as tables: what is on a cell, the stream, the docks, how far a ship gets straight ahead.
* ``splitmix``, ``boards``: the random generator, and how a board is drawn from a seed.
* ``ship``, ``moves``: the values a position and a move are made of.
* ``sailing``: carrying out a move; every rule that a move can break is here.
* ``listing``: all legal moves, and whether there is any.
* ``profiles``, ``ending``: where the two rule profiles differ; when the game is over and who has won.
* ``position``: ties these together; what follows a move (passengers, revealing, whose turn).
* ``notation``; ``wire``, ``position_wire``; ``game``: texts; plain values of moves and positions; the registry's face.
"""

from .game import GAME as GAME
from .game import MississippiQueen as MississippiQueen
from .geometry import Direction as Direction
from .geometry import Hex as Hex
from .moves import Accelerate as Accelerate
from .moves import Action as Action
from .moves import Actions as Actions
from .moves import Advance as Advance
from .moves import Push as Push
from .moves import Turn as Turn
from .position import MississippiQueenPosition as MississippiQueenPosition
from .river import FieldKind as FieldKind
from .river import Passenger as Passenger
from .river import River as River
from .river import Segment as Segment
from .ship import Ship as Ship
