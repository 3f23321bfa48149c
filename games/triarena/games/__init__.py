"""Rule engines. Pure: no I/O, no clock, no hidden randomness; standard library only.

* ``core``: what a game is (``Side``, ``Outcome``, ``Position``, ``Game``, the errors).
* ``registry``: which games there are (``games()``, ``find_game(name)``).
* ``flowerwars``, ``towerwars``, ``mississippi_queen``: the three games.
* ``conformance``: the promises that every game keeps, as a check that runs on any of them.
* ``service``: questions about the rules as lines of JSON, for other languages.
"""

from .core import AnyGame as AnyGame
from .core import AnyPosition as AnyPosition
from .core import BadOptions as BadOptions
from .core import BadPosition as BadPosition
from .core import ChoiceOption as ChoiceOption
from .core import Game as Game
from .core import IllegalMove as IllegalMove
from .core import IntOption as IntOption
from .core import MalformedMove as MalformedMove
from .core import MoveError as MoveError
from .core import Option as Option
from .core import Outcome as Outcome
from .core import Plain as Plain
from .core import Position as Position
from .core import Score as Score
from .core import Side as Side
from .core import settle_options as settle_options
from .core import write_outcome as write_outcome
from .registry import UnknownGame as UnknownGame
from .registry import find_game as find_game
from .registry import games as games
