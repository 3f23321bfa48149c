"""The game as the registry knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from triarena.games.core import BadOptions, ChoiceOption, Game, IntOption, Option, Options, Plain, settle_options, shown

from .boards import draw_board
from .moves import Actions
from .notation import format_move, parse_move
from .position import MississippiQueenPosition, start_position
from .position_wire import MAX_SANDBANKS, NAME, read_position, write_position
from .profiles import PROFILES, SEED
from .wire import read_move, write_move


class MississippiQueen:
    """Two paddle steamers race up a river of which they see the next bend only."""

    name = NAME
    title = "Mississippi Queen"
    rules_version = 1
    options: ClassVar[Sequence[Option]] = (
        ChoiceOption(
            "rules", tuple(PROFILES), SEED.name, "seed: the written rules; server-24.2.5: the original program of 2024"
        ),
        IntOption("sandbanks", 0, MAX_SANDBANKS, 0, "sandbanks per segment"),
    )

    def start(self, options: Mapping[str, object], seed: int = 0) -> MississippiQueenPosition:
        """The first position on the board that is drawn from the seed. Raises BadOptions."""
        settled = settle_options(self.name, self.options, options)
        if type(seed) is not int or seed < 0:
            raise BadOptions(f"the seed must be a whole number from 0, not {shown(seed)}")
        profile, sandbanks = PROFILES[str(settled["rules"])], int(settled["sandbanks"])
        return start_position(draw_board(seed, profile, sandbanks), profile, sandbanks)

    def ply_limit(self, options: Options) -> int | None:
        """None: after 30 rounds the rules themselves end the game."""
        return None

    def parse(self, text: str, /) -> Actions:
        """The move that a text means. Raises MalformedMove."""
        return parse_move(text)

    def format(self, move: Actions, /) -> str:
        """The canonical text of a move."""
        return format_move(move)

    def read_move(self, wire: Plain, /) -> Actions:
        """The move of a wire form. Raises MalformedMove."""
        return read_move(wire)

    def write_move(self, move: Actions, /) -> Plain:
        """The wire form of a move."""
        return write_move(move)

    def read_position(self, wire: Plain, /) -> MississippiQueenPosition:
        """The position of a wire form. Raises BadPosition."""
        return read_position(wire)

    def write_position(self, position: MississippiQueenPosition, /) -> Plain:
        """The wire form of what is revealed of a position."""
        return write_position(position)


GAME: Game[MississippiQueenPosition, Actions] = MississippiQueen()
