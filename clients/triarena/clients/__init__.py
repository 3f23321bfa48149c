"""The reference client: everything a bot, a spectator or an administrator needs to talk to a server.

* ``client``: ``play(choose_move, game=...)``, the loop of a bot. Start here.
* ``bots``: the bots that come along, and loading one from a file.
* ``connection``: a blocking connection; ``errors``: what can go wrong with it.
* ``spectator``: follow a match; ``admin``: prepare and control rooms; ``results``: an end of a match in words.
* ``boards``: boards drawn for a terminal.
"""

from .client import GiveUp as GiveUp
from .client import Match as Match
from .client import play as play
from .connection import Connection as Connection
from .errors import BotError as BotError
from .errors import CannotConnect as CannotConnect
from .errors import ClientError as ClientError
from .errors import ConnectionLost as ConnectionLost
from .errors import NoAnswer as NoAnswer
from .errors import ServerError as ServerError
