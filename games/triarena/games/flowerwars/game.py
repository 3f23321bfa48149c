"""The rules of FlowerWars as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triarena.games.core import Game, IntOption, Option, Options, Plain, Side, settle_options

from .board import MAX_SIZE, MIN_SIZE, board
from .moves import Move
from .notation import format_move, parse
from .planting import Plot
from .position import FlowerWarsPosition
from .position_wire import NAME, read_position, write_position
from .wire import read_move, write_move


class FlowerWars:
    """Makes positions of FlowerWars, reads and writes them and their moves."""

    name = NAME
    title = "FlowerWars"
    rules_version = 1
    options: Sequence[Option] = (IntOption("size", MIN_SIZE, MAX_SIZE, 8, "the length of the board's sides"),)

    def start(self, options: Mapping[str, object], seed: int = 0) -> FlowerWarsPosition:
        """The empty board; the seed is of no importance. Raises BadOptions."""
        size = settle_options(self.name, self.options, options)["size"]
        return FlowerWarsPosition.of(board(int(size)), Side.RED, Plot(), Plot())

    def ply_limit(self, options: Options) -> None:
        """None: every move takes a field or a point from the board, so that every match ends."""
        return

    def parse(self, text: str) -> Move:
        """The move of a text such as ``{{(3,1),(4,1)}}``. Raises MalformedMove."""
        return parse(text)

    def format(self, move: Move) -> str:
        """The canonical text of a move."""
        return format_move(move)

    def read_move(self, wire: Plain) -> Move:
        """The move of a wire form. Raises MalformedMove."""
        return read_move(wire)

    def write_move(self, move: Move) -> Plain:
        """The canonical wire form of a move."""
        return write_move(move)

    def read_position(self, wire: Plain) -> FlowerWarsPosition:
        """The position of a wire form. Raises BadPosition."""
        return read_position(wire)

    def write_position(self, position: FlowerWarsPosition) -> Plain:
        """The wire form of a position."""
        return write_position(position)


GAME: Game[FlowerWarsPosition, Move] = FlowerWars()
