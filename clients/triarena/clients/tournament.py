"""A bot in a tournament: it enlists, waits, and plays every match it is invited to, until it is dismissed.

    with Connection.open(host, port, name="Ada", token=token) as connection:
        farewell = attend(connection, lambda invitation: load_bot("ada.py", invitation.game, invitation.seed))

Nothing of one match is left in the next: ``load`` makes a new bot for each. It is called when the match has begun,
within the start-up time, so that a bot which can't be loaded loses that match, and the organiser need not wait for it.
A bot that fails loses its match by that, and the loop goes on.

The server may stop and be started again, or be away for a while: the connection is sought again for as many seconds as
``backoff.patience`` says. One that is lost in a match comes back to the match first, and enlists when that is over.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.from_client import Enlist, JoinReserved
from triarena.protocol.from_server import Invitation

from .backoff import BACKOFF, Backoff
from .bots import Bot
from .client import Listener, play_seat
from .comeback import PASSING, Comeback, Reporter, to_stderr
from .connection import Connection
from .errors import BotError, ConnectionLost, Farewell, NoAnswer, ServerError
from .player import Match
from .seats import leave, take_seat

BotLoader: TypeAlias = Callable[[Invitation], Bot]
FailureListener: TypeAlias = Callable[[BotError], object]

DISMISSED: Final = "dismissed"
"""The code of a farewell after which nothing more is to be done."""
STILL_SECONDS: Final = 60.0
"""How often it is said that a place in the lobby is still waited for."""
NOT_YET: Final = PASSING | {"not_enrolled"}
"""Codes of a server that may let us enlist a little later."""


def attend(
    connection: Connection,
    load: BotLoader,
    *,
    on_event: Listener | None = None,
    on_failure: FailureListener | None = None,
    wrap: Callable[[Bot], Bot] = lambda bot: bot,
    report: Reporter = to_stderr,
    backoff: Backoff = BACKOFF,
) -> Farewell:
    """Play all matches to which the player of a connection is invited; the farewell with which it was dismissed.

    ``on_event`` sees that it was enlisted, every invitation, and every message about a match as with ``play``;
    ``on_failure`` is told of faults of the bot, which cost a match. ``wrap`` is given the bot of each match before it
    is loaded, to look after its calls.

    Raises Farewell if the player was thrown out (``kicked``) or plays twice (``displaced``), ServerError if it may not
    enlist (``wrong_token``; or ``not_enrolled``, when patience has run out), ConnectionLost if the server did not come
    back; ClientError if this installation does not know a game or its rules' version.
    """
    tell, fail = on_event or (lambda message: None), on_failure or _told(report)
    comeback = Comeback(connection, backoff, report)
    guest = _Guest(connection, load, tell, fail, wrap, report, backoff, comeback)
    try:
        guest.enlist()
        while True:
            guest.play(guest.next_invitation())
    except Farewell as farewell:
        if farewell.code != DISMISSED:
            raise
        return farewell


@dataclass(slots=True)
class _Guest:
    """A player in the lobby of a tournament."""

    connection: Connection
    load: BotLoader
    tell: Listener
    fail: FailureListener
    wrap: Callable[[Bot], Bot]
    report: Reporter
    backoff: Backoff
    comeback: Comeback
    """Of the connection while no match is being played."""

    def enlist(self) -> None:
        """Get a place in the lobby, over the connection reopened if it is lost."""
        try:
            self._enlist()
        except (ConnectionLost, Farewell, NoAnswer) as lost:
            self._come_back(lost, refused=True)

    def next_invitation(self) -> Invitation:
        """Wait for as long as it takes."""
        while True:
            try:
                message = self.connection.receive()
            except (ConnectionLost, Farewell) as lost:
                self._come_back(lost)
                continue
            if isinstance(message, Invitation):
                self.comeback.progressed()
                return message

    def play(self, invitation: Invitation) -> None:
        """One match. That its seat is there no more, or is lost for good, is no reason to go home."""
        self.tell(invitation)
        place = self.connection.welcome
        try:
            self._play(invitation)
        except BotError as error:
            self.fail(error)
        except Farewell:
            raise
        except ServerError as error:
            self.report(f"no match in room {invitation.room}: {error.message} [{error.code}]; waiting for the next one")
            with suppress(LocalProtocolError):  # when there is no seat (any more)
                leave(self.connection, invitation.room)
        if self.connection.welcome is not place:
            self.enlist()  # the place in the lobby has ended with the connection that had it

    def _play(self, invitation: Invitation) -> None:
        request = JoinReserved(reservation=invitation.reservation)
        try:
            joined = take_seat(self.connection, request, backoff=self.backoff, report=self.report)
        except NoAnswer as error:
            self._come_back(error)  # to be invited again, if the seat is still there
            return
        play_seat(
            self.connection,
            joined,
            self.wrap(_fresh(partial(self.load, invitation))),
            request=request,
            on_event=self.tell,
            report=self.report,
            backoff=self.backoff,
        )

    def _come_back(self, lost: ConnectionLost | Farewell | NoAnswer, *, refused: bool = False) -> None:
        if isinstance(lost, NoAnswer):  # a server that does not answer is as good as none: begin anew
            lost = ConnectionLost(lost.code, lost.message)
        self.comeback.after(lost, self._enlist, "in the lobby", refused=refused)

    def _enlist(self) -> None:
        """Ask for a place, again and again if nobody has enrolled us: the organiser's program may come after us."""
        deadline = self.backoff.now() + self.backoff.patience
        pauses = self.backoff.pauses()
        next(pauses)  # the first is none at all
        began, again = self.backoff.now(), 0.0
        while True:
            try:
                self.tell(self.connection.request(Enlist()))
                return
            except Farewell:
                raise
            except ServerError as error:
                if error.code not in NOT_YET or self.backoff.now() >= deadline:
                    raise
                if (waited := self.backoff.now() - began) >= again:
                    still = "still waiting" if again else "waiting"
                    advice = "" if again else "; check --name and --port (and --host); I go on trying"
                    self.report(f"{still} to be admitted: {error.message}{advice} [{error.code}]")
                    again = waited + STILL_SECONDS
            self.backoff.sleep(next(pauses))


def _fresh(load: Callable[[], Bot]) -> Bot:
    """The bot of one match, which is loaded when that has begun."""
    loaded: list[Bot] = []

    def get_ready(match: Match) -> None:
        bot = load()
        loaded[:] = [bot]
        if bot.get_ready is not None:
            bot.get_ready(match)

    def choose_move(position: Any, clock: Any) -> Any:
        return loaded[0].choose_move(position, clock)

    def come_back(match: Match) -> None:
        if loaded[0].come_back is not None:
            loaded[0].come_back(match)

    return Bot(choose_move, get_ready, come_back)


def _told(report: Reporter) -> FailureListener:
    """Reports faults of a bot, with the bot's own traceback."""

    def tell(error: BotError) -> None:
        report(f"{error.traceback}{error.message} [{error.code}]")

    return tell
