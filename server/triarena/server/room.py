"""A room: two seats, observers, and one match. It tells the people in it what the referee decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, cast

import structlog
import trio

from triarena.games import AnyPosition, Side
from triarena.protocol.codec import Encoded, encode, encode_plain, encode_with
from triarena.protocol.from_server import MatchOver, MatchStarted, Moved, Notice, RoomEventKind, Snapshot
from triarena.protocol.game_values import End
from triarena.protocol.room_views import RoomInfo, RoomState, RoomView
from triarena.protocol.values import Players, Result

from .clock import ms
from .events import Event, Gate, Gone, IsReady, Lost, Mailbox, Returned
from .evidence import known_evidence
from .gallery import Gallery, Watch
from .handler import Loss
from .journal import Journal, StoredMatch
from .lag import LoopLag
from .match import Referee
from .recap import Recap
from .scribe import Scribe
from .seat import Line, Seat
from .terms import Played, Terms
from .views import room_info, room_view

log = structlog.get_logger()

PACKED = cast(RoomView, None)
"""In the place of a view that is packed already."""
STORAGE_LOST = (
    "the server's database can't be written at the moment, so the match waits and nobody's clock runs; it goes on by "
    "itself when the database is back"
)
STORAGE_BACK = "the server's database is back and the match goes on; nothing of it was lost"


class Surroundings(Protocol):
    """What a room needs from the server around it."""

    @property
    def journal(self) -> Journal:
        """Where matches are written down."""
        ...

    @property
    def lag(self) -> LoopLag:
        """How late the loop is."""
        ...

    def now(self) -> datetime:
        """The time of day, in UTC."""
        ...

    def administrators(self) -> list[Line]:
        """Who is told of everything."""
        ...

    def start_soon(self, work: Callable[..., Awaitable[object]], *arguments: object) -> None:
        """Run something that nobody waits for."""
        ...

    def happened(self, room: Room, event: RoomEventKind, result: Result | None = None) -> None:
        """Tell the administrators."""
        ...


@dataclass(slots=True, eq=False)
class Room:
    """Made by the lobby. Before the match starts seats come and go; afterwards all goes to the referee's mailbox."""

    id: str
    terms: Terms
    seats: Mapping[Side, Seat]
    around: Surroundings
    settings: Mapping[str, Any]
    """The effective settings, stored with the match."""
    gate: Gate = field(default_factory=Gate)
    mailbox: Mailbox = field(default_factory=Mailbox)
    gallery: Gallery = field(init=False)
    """Tells those who watch."""
    prepared: bool = False
    """By an administrator: stays when nobody sits in it."""
    opener: str = ""
    """The address from which it was opened by joining; empty for a prepared one, and after a restart."""
    touched: float = 0.0
    """When somebody last came or went, in trio's time; idle rooms are closed."""
    match_id: str = ""
    """Of the match that will be played here; known before, so that after a restart it is known whether it was."""
    match: str | None = None
    """The same, once it has begun."""
    result: Result | None = None
    broken_off: bool = False
    """Whether the match goes on when the server is started again, and nothing happens to it before."""
    referee: Referee | None = None
    scribe: Scribe | None = None
    changing: trio.Lock = field(default_factory=trio.Lock)
    """Held while a change is stored; see ``keeping``."""
    _a_ply: Moved = field(init=False)
    """Stands for each that is told, the rest of which is packed."""
    _announced: bool = False
    """Whether the players have been told that the match begins."""
    _recap: Recap | None = field(default_factory=Recap)
    """None when the match is over: then what is told of it is ready-made."""
    _last_info: RoomInfo | None = None
    _last_view: bytes | None = None
    _the_end: Encoded[MatchOver] | None = None

    def __post_init__(self) -> None:
        self.gallery = Gallery(self.around.start_soon)
        self._a_ply = Moved(room=self.id, ply=0, side="red", move=End(), text="", used_ms=0.0)

    # -- as it is ------------------------------------------------------------------------------

    @property
    def state(self) -> RoomState:
        """In one word."""
        if self.result is not None:
            return "over"
        if self.referee is None:
            return "waiting"
        if self.gate.paused or self.storage_lost:
            return "paused"
        return "running" if self.referee.ply or self.referee.asked else "starting"

    @property
    def storage_lost(self) -> bool:
        """Whether the match waits for the database."""
        return self.scribe is not None and self.scribe.lost and self.result is None

    @property
    def watches(self) -> Sequence[Watch]:
        """Who watches."""
        return self.gallery.watches

    @property
    def full(self) -> bool:
        """Whether both seats are taken."""
        return all(seat.line is not None for seat in self.seats.values())

    @property
    def empty(self) -> bool:
        """Whether nobody sits here."""
        return all(seat.line is None for seat in self.seats.values())

    def seat_of(self, line: Line) -> Seat | None:
        """The seat that a client holds."""
        return next((seat for seat in self.seats.values() if seat.line is line), None)

    def open_seat(self) -> Seat | None:
        """The first seat that anybody may take."""
        return next((s for s in self.seats.values() if s.line is None and s.reservation is None), None)

    def unique_name(self, wanted: str, seat: Seat) -> str:
        """The name for who sits down here: the seat's own, else the wanted one, made different from the other's."""
        if seat.fixed_name is not None:
            return seat.fixed_name
        other = self.seats[seat.side.other]
        return f"{wanted[:38]}-2" if wanted in (other.name, other.fixed_name) else wanted

    def info(self) -> RoomInfo:
        """As everybody may see it."""
        if self._last_info is not None:
            return self._last_info
        return room_info(self)

    def view(self) -> bytes:
        """What an observer needs: a RoomView, packed. Of the plies the latest ones, as many as fit into a frame."""
        if self._last_view is not None:
            return self._last_view
        return room_view(self, None if self._recap is None else self._recap.packed())

    def _written(self, position: AnyPosition) -> Any:
        return self.terms.game.write_position(position)

    # -- the match -----------------------------------------------------------------------------

    def begin(self, match: str) -> Referee:
        """The match is about to start: from now on all that happens goes to the referee's mailbox."""
        self.match = self.match_id = match
        around = self.around
        self.scribe = Scribe(
            match=match,
            room=self.id,
            terms=self.terms,
            seats=self.seats,
            settings=self.settings,
            journal=around.journal,
            now=around.now,
            lag=around.lag,
            changed=self._tell_storage,
        )
        for seat in self.seats.values():
            if seat.line is not None:
                self.scribe.witness.came(seat.side, seat.line, seat.software)
        self.referee = Referee(
            self.terms, self.seats, self.scribe, self, self.mailbox, self.gate, self.id, around.lag.stood_still
        )
        return self.referee

    def resume(self, stored: StoredMatch, patience: float) -> Referee:
        """Go on with a match that broke off when the server did. Raises MoveError if it breaks the rules."""
        referee = self.begin(stored.match)
        self._announced = True
        referee.resume(((ply.move, ply.used_ms / 1000) for ply in stored.plies), patience)
        if self.scribe is not None and stored.ended is None:
            self.scribe.witness.resumed(known_evidence(stored), len(stored.plies))
        self._recap = Recap()
        for ply in stored.plies:
            self._recap.add(Played(ply.ply, Side(ply.side).value, ply.move, ply.text, ply.used_ms))
        return referee

    def put(self, event: Event) -> bool:
        """Something happened to the match; False if the sender sends too much."""
        return self.mailbox.put(event)

    def started(self, position: AnyPosition) -> None:
        """The match begins: tell the players and observers."""
        self._announced = True
        for seat in self.seats.values():
            seat.tell(self._match_started(seat, position))
            self._ready_at_once(seat)
        self.gallery.refresh(self._snapshot)
        self.around.happened(self, "started")

    def _match_started(self, seat: Seat, position: AnyPosition) -> MatchStarted:
        names = {side: other.name or side.value for side, other in self.seats.items()}
        return MatchStarted.model_validate(
            {
                "room": self.id,
                "match": self.match,
                "game": self.terms.game.name,
                "rules_version": self.terms.game.rules_version,
                "options": dict(self.terms.options),
                "players": Players(red=names[Side.RED], blue=names[Side.BLUE]),
                "side": seat.side.value,
                "to_move": position.to_move.value,
                "position": self._written(position),
                "time_control": seat.control,
                "startup_ms": ms(self.terms.startup),
            }
        )

    def note_pause(self, address: str | None) -> None:
        """An administrator there has paused the match, or (None) it goes on: for the observers and the evidence."""
        self.gallery.announce(self._snapshot)
        if self.referee is None or self.scribe is None:
            return
        if address is None:
            self.scribe.witness.went_on()
        else:
            self.scribe.witness.paused(self.referee.ply, address)
        self.around.start_soon(self.scribe.keep_evidence)

    def lose(self, seat: Seat, loss: Loss) -> None:
        """The connection of a player was lost during the match."""
        line, seat.line = seat.line, None
        connection = None if line is None else line.number
        log.info("player_lost", **self._about(seat), connection=connection, why=loss.message)
        if self.scribe is not None:
            self.scribe.witness.went(seat.side, loss.message)
            self.around.start_soon(self.scribe.keep_evidence)
        sentence = f"{seat.side.value} is gone: {loss.message}"
        if loss.final or loss.reason == "protocol_violation":
            self.put(Gone(seat.side, loss.reason, sentence))
        else:
            self.put(Lost(seat.side, loss.reason, sentence, seat.visit))

    def welcome_back(self, seat: Seat) -> None:
        """A player has a connection again: tell it the match as it stands."""
        if self.referee is None or self.scribe is None or seat.line is None:
            return
        log.info("player_back", **self._about(seat), connection=seat.line.number, address=seat.line.address)
        self.scribe.witness.came(seat.side, seat.line, seat.software)
        self.around.start_soon(self.scribe.keep_evidence)
        if self._announced:  # else it is told with the others, when the start is stored
            started = self._match_started(seat, self.referee.position)
            seat.tell(started if self._recap is None else encode_with(started, {"plies": self._recap.packed()}))
        if self.storage_lost:
            seat.tell(self._storage_notice())
        self.put(Returned(seat.side, seat.visit))
        if self._announced:
            self._ready_at_once(seat)

    def _about(self, seat: Seat) -> dict[str, Any]:
        """Of whom a line of the log tells."""
        return {"room": self.id, "match": self.match, "side": seat.side.value, "name": seat.name}

    def _ready_at_once(self, seat: Seat) -> None:
        if seat.terse:
            self.put(IsReady(seat.side, seat.visit))

    def moved(self, played: Played, position: AnyPosition) -> None:
        """Tell everybody of a ply: the players what was played, observers also the position."""
        if self._recap is not None:
            self._recap.add(played)
        plain = {"type": "moved", "room": self.id, **played.told()}
        encoded = shown = encode_plain(self._a_ply, plain)
        if self.watches or any(seat.terse for seat in self.seats.values()):
            shown = encode(Moved.model_validate({**plain, "position": self._written(position)}))
        for seat in self.seats.values():
            seat.tell(shown if seat.terse else encoded)
        self.gallery.show(shown)

    def drained(self, line: Line) -> None:
        """An observer has taken all that it was sent: it is told what it missed."""
        self.gallery.drained(line, self._snapshot)

    def over(self, result: Result, position: AnyPosition | None) -> None:
        """Tell everybody that it is over. Also for a room whose match never started."""
        the_end = self._conclude(result, position)
        for seat in self.seats.values():
            seat.tell(the_end)
        self.gallery.close(the_end, self._snapshot)
        self._freeze()
        self.around.happened(self, "over", result)

    def reopen_ended(self, result: Result) -> None:
        """The match that was resumed here had ended before: everybody may come and hear of it."""
        self._conclude(result, None if self.referee is None else self.referee.position)
        self._freeze()
        self.let_go()

    def _conclude(self, result: Result, position: AnyPosition | None) -> Encoded[MatchOver]:
        self.result = result
        written = None if position is None else self._written(position)
        over = {"room": self.id, "match": self.match, "result": result, "position": written}
        self._the_end = encode(MatchOver.model_validate(over))
        return self._the_end

    def _freeze(self) -> None:
        self._last_view, self._last_info = self.view(), self.info()
        self._recap = None

    def let_go(self) -> None:
        """Nothing more happens in the match: what is still told of it is ready-made, and the rest can be large."""
        self.referee, self.scribe = None, None

    def tell_the_end(self, seat: Seat) -> None:
        """To a player that comes back when it is over."""
        if self._the_end is not None:
            seat.tell(self._the_end)

    def _tell_storage(self, why: str | None) -> None:
        """The database is lost (why), or back: tell everybody who waits for the match; the cause, administrators."""
        lines = [seat.line for seat in self.seats.values()] + [watch.line for watch in self.watches]
        administrators = {line.number: line for line in self.around.administrators()}
        others = {line.number: line for line in lines if line is not None and line.number not in administrators}
        if why is None:
            notice = cause = Notice(code="storage_back", message=STORAGE_BACK, room=self.id)
        else:
            notice = self._storage_notice()
            cause = notice.model_copy(update={"message": f"{STORAGE_LOST}: {why}"[:2000]})
        for line in others.values():
            line.post(notice)
        for line in administrators.values():
            line.post(cause)

    def _storage_notice(self) -> Notice:
        return Notice(code="storage_lost", message=STORAGE_LOST, room=self.id)

    def _snapshot(self) -> Encoded[Snapshot]:
        return encode_with(Snapshot.model_construct(room=self.id, view=PACKED), {"view": self.view()})
