"""Positions of Mississippi Queen: the river as far as it is revealed, the two ships, whose turn it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from triarena.games.core import IllegalMove, MalformedMove, Outcome, Score, Side, shown

from .ending import judge, score_of
from .geometry import Coordinates, cell_at
from .listing import legal_actions
from .moves import Action, Actions
from .profiles import Profile
from .river import SANDBANK, FieldKind, Passenger, River, Segment, rivers
from .sailing import Voyage, sail
from .ship import MIN_SPEED, Ship, effective_speed

RED_START, BLUE_START = Ship(cell_at((-1, -1, 2))), Ship(cell_at((-2, 1, 1)))
REVEALED_AT_START = 2


@dataclass(frozen=True, slots=True)
class MississippiQueenPosition:
    """A point in a play of the game. Make one by ``start_position``, ``settled`` or ``play``."""

    river: River
    """The revealed segments."""
    beyond: tuple[River, ...]
    """The same river with one more segment each, up to the whole of it: the referee's secret, empty if not known."""
    profile: Profile
    sandbanks: int
    """The option: how many sandbanks a segment has."""
    turn: int
    """Plies so far, 0 to 60."""
    to_move: Side
    """Whose turn it is; after the end, whose it would be."""
    red: Ship
    blue: Ship
    taken: int
    """Bit k is set if passenger k of ``river.passengers`` was fetched."""
    outcome: Outcome | None
    """Follows from the rest (``ending.judge``)."""

    def ship(self, side: Side) -> Ship:
        """The ship of one side."""
        return self.red if side is Side.RED else self.blue

    def waiting(self) -> list[Passenger]:
        """The revealed passengers that nobody has fetched yet."""
        return [p for index, p in enumerate(self.river.passengers) if not self.taken >> index & 1]

    def field(self, field: Coordinates) -> FieldKind | None:
        """What is on a field now; None outside the revealed river. Raises ValueError if q + r + s is not 0.

        The field of a passenger who was fetched is an island (seed, section 2.3).
        """
        kind = self.river.kind(field)
        if kind == "passenger" and all(passenger.field != field for passenger in self.waiting()):
            return "island"
        return kind

    def legal_moves(self) -> Iterator[Actions]:
        """All legal moves in the normal form: no two turns or advances in a row, no turn to the present direction."""
        if self.outcome is not None:
            return iter(())
        return legal_actions(self.river, self.ship(self.to_move), self.ship(self.to_move.other))

    def check(self, move: Actions, /) -> None:
        """Raise IllegalMove if the rules forbid the move; moves outside the normal form are allowed.

        Raises MalformedMove for what is no move of the game.
        """
        self._sail(move)

    def play(self, move: Actions, /) -> MississippiQueenPosition:
        """The position after a move. Raises IllegalMove."""
        voyage = self._sail(move)
        river, taken, beyond = self.river, self.taken, self.beyond
        red_moves = self.to_move is Side.RED
        mover, other = (self.red, self.blue) if red_moves else (self.blue, self.red)

        fetched = 0
        if effective_speed(river, voyage.cell, voyage.speed) < 2:
            fetched = _passenger_at(river, taken, voyage.cell)
            taken |= fetched
        passengers = mover.passengers + (fetched > 0)
        mover = Ship(voyage.cell, voyage.direction, voyage.speed, voyage.coal, passengers)
        if voyage.pushes:
            other, taken = _pushed(river, self.profile, taken, other, voyage)
        if beyond and river.progress[voyage.cell] // 5 + 2 > len(river.segments):
            river, beyond = beyond[0], beyond[1:]

        red, blue = (mover, other) if red_moves else (other, mover)
        turn = self.turn + 1
        to_move = self.to_move.other if turn % 2 else _first_of_round(river, red, blue)
        return settled(river, beyond, self.profile, self.sandbanks, turn, to_move, red, blue, taken)

    def score(self, side: Side, /) -> Score:
        """Points and passengers as they stand."""
        return score_of(self.river, self.ship(side)) if self.outcome is None else self.outcome.score(side)

    def visible(self) -> MississippiQueenPosition:
        """The position without the hidden segments; ``self`` if there are none."""
        return replace(self, beyond=()) if self.beyond else self

    def _sail(self, move: Actions) -> Voyage:
        if self.outcome is not None:
            raise IllegalMove("game_over", f"the game is over by {self.outcome.reason}: there is no move to make")
        mover, other = (self.red, self.blue) if self.to_move is Side.RED else (self.blue, self.red)
        try:
            return sail(self.river, mover, other, move)
        except (AttributeError, TypeError):  # looked at only now: who plays moves pays nothing for it
            if _is_move(move):
                raise
        raise _no_move(move)


def _is_move(given: object) -> bool:
    return isinstance(given, tuple) and all(isinstance(action, Action) for action in given)


def _no_move(given: object) -> MalformedMove:
    hint = ": game.parse makes a move of its text" if isinstance(given, str) else ""
    return MalformedMove(f"{shown(given)} is no move of Mississippi Queen{hint}")


def settled(
    river: River,
    beyond: tuple[River, ...],
    profile: Profile,
    sandbanks: int,
    turn: int,
    to_move: Side,
    red: Ship,
    blue: Ship,
    taken: int,
) -> MississippiQueenPosition:
    """The position of that state, with its outcome if it is over."""
    outcome = judge(river, profile, turn, to_move, red, blue)
    return MississippiQueenPosition(river, beyond, profile, sandbanks, turn, to_move, red, blue, taken, outcome)


def start_position(board: tuple[Segment, ...], profile: Profile, sandbanks: int = 0) -> MississippiQueenPosition:
    """The first position on a board of eight segments."""
    river, *beyond = rivers(board, REVEALED_AT_START)
    return settled(river, tuple(beyond), profile, sandbanks, 0, Side.RED, RED_START, BLUE_START, 0)


def _passenger_at(river: River, taken: int, cell: int) -> int:
    """The bit of the one passenger that a slow ship fetches there, 0 for none.

    Passengers of hidden segments are as good as not there, even at a dock that is revealed.
    """
    return next((bit for bit in river.docks.get(cell, ()) if not taken & bit), 0)


def _pushed(river: River, profile: Profile, taken: int, ship: Ship, voyage: Voyage) -> tuple[Ship, int]:
    """The ship that was pushed, and the passengers taken: each push gives a free turn, one onto a sandbank none."""
    cell = voyage.their_cell
    aground = bool(river.kinds[cell] & SANDBANK)
    speed = MIN_SPEED if aground else ship.speed
    counts = speed if profile.pushed_pickup_by_plain_speed else effective_speed(river, cell, speed)
    fetched = _passenger_at(river, taken, cell) if counts < 2 else 0
    free_turns = ship.free_turns + voyage.pushes - aground
    pushed = Ship(cell, ship.direction, speed, ship.coal, ship.passengers + (fetched > 0), free_turns)
    return pushed, taken | fetched


def _first_of_round(river: River, red: Ship, blue: Ship) -> Side:
    """Who begins a round: the ship ahead, then the faster, then the one with more coal, then red (seed, section 3)."""
    ours = (river.progress[red.cell], red.speed, red.coal)
    theirs = (river.progress[blue.cell], blue.speed, blue.coal)
    return Side.BLUE if theirs > ours else Side.RED
