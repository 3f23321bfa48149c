"""TowerWars: stones build towers, towers lengthen the reach of stones, and a stone on the enemy's base wins.

* ``position``: ``TowerWarsPosition``, what can be done and when the game ends. Begin reading here.
* ``rules``: where a stone may land and what stands there then, as tables per side.
* ``refusals``: why a move is illegal, with all codes.
* ``pieces``: what can stand on a field.
* ``board``: fields, neighbours and distances of a board of a given size.
* ``moves``, ``notation``, ``wire``: the move ``Step``, and texts and wire forms of moves and positions.
* ``game``: ``GAME``, all of this behind the face of ``core.Game``.

The docstrings cite the authors' rules ("seed") by the names of its sections, in German.
"""

from .board import distance as distance
from .game import GAME as GAME
from .moves import Step as Step
from .pieces import Piece as Piece
from .position import TowerWarsPosition as TowerWarsPosition
