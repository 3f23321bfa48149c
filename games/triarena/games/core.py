"""What a game is: sides, outcomes, errors, and the face that every rules engine shows.

Nothing here knows a concrete game. A rules engine is a package beside this module, or in another
distribution (entry-point group ``triarena.games``); it provides one ``Game`` value and uses the
standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self, TypeAlias, TypeVar

Plain: TypeAlias = Any
"""A value that msgpack and JSON can carry: dict with string keys, list, str, int, bool, None."""


class Side(StrEnum):
    """One of the two sides of a game. Red moves first."""

    RED = "red"
    BLUE = "blue"

    @property
    def other(self) -> Side:
        """The opponent."""
        return Side.BLUE if self is Side.RED else Side.RED


class MoveError(ValueError):
    """A move that cannot be played. ``code`` is stable, ``str(error)`` is a sentence for a person."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class MalformedMove(MoveError):
    """No move of this game at all, whatever the position."""

    def __init__(self, message: str, code: str = "malformed_move") -> None:
        super().__init__(code, message)


class IllegalMove(MoveError):
    """A well-formed move that the rules forbid in this position."""


class BadPosition(ValueError):
    """Text or wire form that describes no position of this game; ``str(error)`` says why."""


class BadOptions(ValueError):
    """Game options that do not exist or are out of range; ``str(error)`` says which and why."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one side has at the end (or at any time): points, and what else its game counts."""

    points: int
    extras: tuple[tuple[str, int], ...] = ()
    """Further counts by name, e.g. ``(("passengers", 2),)``."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the rules say at the end of a game. A forfeit is not an outcome: the referee decides it."""

    winner: Side | None
    """None for a draw."""
    reason: str
    """Stable and machine-readable, e.g. ``points``, ``base``, ``goal``."""
    red: Score
    blue: Score

    def score(self, side: Side) -> Score:
        """The score of one side."""
        return self.red if side is Side.RED else self.blue


@dataclass(frozen=True, slots=True)
class IntOption:
    """A whole number within bounds, e.g. the size of the board."""

    name: str
    minimum: int
    maximum: int
    default: int
    description: str

    def settle(self, value: object) -> int:
        """``value`` if it fits, else raises BadOptions."""
        if type(value) is not int or not self.minimum <= value <= self.maximum:
            raise BadOptions(
                f"{self.name} must be a whole number from {self.minimum} to {self.maximum}, not {shown(value)}"
            )
        return value


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    """One of a few words, e.g. a rule profile."""

    name: str
    choices: tuple[str, ...]
    default: str
    description: str

    def settle(self, value: object) -> str:
        """``value`` if it is one of the choices, else raises BadOptions."""
        if not isinstance(value, str) or value not in self.choices:
            raise BadOptions(f"{self.name} must be one of {', '.join(self.choices)}, not {shown(value)}")
        return value


Option: TypeAlias = IntOption | ChoiceOption
Options: TypeAlias = Mapping[str, int | str]


def settle_options(game: str, known: Sequence[Option], given: Mapping[str, object]) -> dict[str, int | str]:
    """Every option of a game with its effective value, in the order of ``known``.

    Raises BadOptions for an unknown name or a value out of range.
    """
    names = [option.name for option in known]
    for name in given:
        if name not in names:
            raise BadOptions(f"{game} has no option {shown(name)}; it has {', '.join(names) or 'none'}")
    return {o.name: o.settle(given[o.name]) if o.name in given else o.default for o in known}


def shown(value: object, limit: int = 60) -> str:
    """``value`` as an error sentence may quote it: short, and on one line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list nested thousands deep
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


M = TypeVar("M")
P = TypeVar("P")


class Position(Protocol[M]):
    """A point in a play of a game: an immutable value with equality and a hash."""

    @property
    def to_move(self) -> Side:
        """The side whose turn it is. After the end, whatever the game documents."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """None while the game goes on."""
        ...

    def legal_moves(self) -> Iterator[M]:
        """All legal moves, lazily, in a deterministic order, without duplicates; none after the end."""
        ...

    def check(self, move: M, /) -> None:
        """Raises IllegalMove if the rules forbid ``move`` here. Cheap: never enumerates."""
        ...

    def play(self, move: M, /) -> Self:
        """Check, then the next position; ``self`` stays as it was. Raises IllegalMove."""
        ...

    def score(self, side: Side, /) -> Score:
        """The side's score as it stands now."""
        ...

    def visible(self) -> Self:
        """What players and observers may see; play can go on from it within what is revealed."""
        ...


class Game(Protocol[P, M]):
    """The rules of one game: makes positions, and reads and writes its moves and positions."""

    @property
    def name(self) -> str:
        """Lower-case identifier, e.g. ``towerwars``."""
        ...

    @property
    def title(self) -> str:
        """The name for people, e.g. ``TowerWars``."""
        ...

    @property
    def rules_version(self) -> int:
        """Changes when any legal move or outcome changes."""
        ...

    @property
    def options(self) -> Sequence[Option]:
        """The options with their ranges."""
        ...

    def start(self, options: Mapping[str, object], seed: int = 0) -> P:
        """The first position. Same options and seed, same position, on every platform. Raises BadOptions."""
        ...

    def ply_limit(self, options: Options) -> int | None:
        """After how many plies the referee breaks off a match that the rules would let go on for ever."""
        ...

    def parse(self, text: str, /) -> M:
        """The move that a text in the game's notation means. Raises MalformedMove."""
        ...

    def format(self, move: M, /) -> str:
        """The canonical text of a move; ``parse(format(m)) == m``."""
        ...

    def read_move(self, wire: Plain, /) -> M:
        """The move of a wire form (a map with a ``type``). Raises MalformedMove."""
        ...

    def write_move(self, move: M, /) -> Plain:
        """The canonical wire form of a move."""
        ...

    def read_position(self, wire: Plain, /) -> P:
        """The position of a wire form, from which play can go on. Raises BadPosition."""
        ...

    def write_position(self, position: P, /) -> Plain:
        """The wire form of what is visible of a position: a map with ``game`` and all that is needed to go on."""
        ...


AnyGame: TypeAlias = Game[Any, Any]
AnyPosition: TypeAlias = Position[Any]


def write_outcome(outcome: Outcome | None) -> Plain:
    """The wire form of an outcome: ``{winner, reason, scores: {red, blue}}`` and a map of both sides per extra."""
    if outcome is None:
        return None
    wire: dict[str, Plain] = {
        "winner": None if outcome.winner is None else outcome.winner.value,
        "reason": outcome.reason,
        "scores": {"red": outcome.red.points, "blue": outcome.blue.points},
    }
    for (name, red), (_, blue) in zip(outcome.red.extras, outcome.blue.extras, strict=True):
        wire[name] = {"red": red, "blue": blue}
    return wire


def agrees(wire: Plain, expected: Plain) -> bool:
    """Whether ``wire`` says what is ``expected``: what else it says does not matter, and a field whose value is null
    may be missing, as messages leave such fields out.
    """
    if isinstance(expected, dict):
        return isinstance(wire, dict) and all(agrees(wire.get(key), value) for key, value in expected.items())
    return type(wire) is type(expected) and bool(wire == expected)
