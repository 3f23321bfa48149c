"""Bots: what one is, those that come along, and one loaded from a file.

* ``bot``: ``Bot``, and calling one so that its faults end in one sentence.
* ``loading``: ``load_bot("random" | "greedy" | "path/to/bot.py", game)``.
* ``fresh``: ``FreshBot(spec).load(game, seed)``, anew for every match of a tournament.
* one module per game with ``random_move(position, rng)`` and ``greedy_move(position, rng)``.
"""

from .bot import Bot as Bot
from .bot import BotMove as BotMove
from .bot import bot_of as bot_of
from .bot import call_bot as call_bot
from .bot import chosen_move as chosen_move
from .fresh import FreshBot as FreshBot
from .loading import BUILT_IN_BOTS as BUILT_IN_BOTS
from .loading import is_file as is_file
from .loading import load_bot as load_bot
