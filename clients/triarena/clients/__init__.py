"""The reference client: everything a bot, a spectator or an administrator needs to talk to a server.

* ``client``: ``play(choose_move, game=...)``, the loop of a bot. Start here.
* ``seats``: taking a seat and giving it up; ``player``: the bot that sits there.
* ``tournament``: ``attend(connection, load)``, the loop of a bot that is invited to match after match.
* ``comeback``: getting a lost connection back; ``backoff``: when to try again.
* ``bots``: the bots that come along, and loading one from a file.
* ``connection``: a blocking connection; ``address``: where to; ``tls``: whom to trust; ``errors``: what can go wrong.
* ``spectator``: follow a match; ``admin``: prepare and control rooms; ``results``: an end of a match in words.
* ``boards``: boards drawn for a terminal.
"""

from .backoff import Backoff as Backoff
from .client import play as play
from .connection import Connection as Connection
from .errors import BotError as BotError
from .errors import CannotConnect as CannotConnect
from .errors import ClientError as ClientError
from .errors import ConnectionLost as ConnectionLost
from .errors import Farewell as Farewell
from .errors import NoAnswer as NoAnswer
from .errors import ServerError as ServerError
from .player import GiveUp as GiveUp
from .player import Match as Match
from .tls import tls_context as tls_context
