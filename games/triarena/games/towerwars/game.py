"""TowerWars as a ``Game``: its options, and the face that every rules engine shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triarena.games.core import Game, IntOption, Option, Options, Plain, settle_options

from . import notation, wire
from .board import MAX_SIZE, MIN_SIZE
from .moves import Step
from .position import TowerWarsPosition

_OPTIONS = (
    IntOption("size", MIN_SIZE, MAX_SIZE, 8, "rows and columns of the board"),
    IntOption(
        "max_plies", 0, 100_000, 1_000, "after so many plies the match is broken off, since a game can be endless"
    ),
)


class TowerWars:
    """The rules of TowerWars; it has no state."""

    name = wire.NAME
    title = "TowerWars"
    rules_version = 1
    options: Sequence[Option] = _OPTIONS

    def start(self, options: Mapping[str, object], seed: int = 0) -> TowerWarsPosition:
        """The first position; no seed changes it. Raises BadOptions."""
        settled = settle_options(self.title, self.options, options)
        return TowerWarsPosition.start(int(settled["size"]))

    def ply_limit(self, options: Options) -> int | None:
        """The option ``max_plies``, or None if it is 0. Raises BadOptions."""
        return int(settle_options(self.title, self.options, options)["max_plies"]) or None

    def parse(self, text: str, /) -> Step:
        """The move of a text like ``A1->B2``. Raises MalformedMove."""
        return notation.parse_step(text)

    def format(self, move: Step, /) -> str:
        """The canonical text of a move."""
        return notation.format_step(move)

    def read_move(self, wire_form: Plain, /) -> Step:
        """The move of a wire form, see ``wire``. Raises MalformedMove."""
        return wire.read_move(wire_form)

    def write_move(self, move: Step, /) -> Plain:
        """The canonical wire form of a move."""
        return wire.write_move(move)

    def read_position(self, wire_form: Plain, /) -> TowerWarsPosition:
        """The position of a wire form, see ``wire``. Raises BadPosition."""
        return wire.read_position(wire_form)

    def write_position(self, position: TowerWarsPosition, /) -> Plain:
        """The wire form of a position."""
        return wire.write_position(position)


GAME: Game[TowerWarsPosition, Step] = TowerWars()
"""The one value of this package that the registry knows."""
