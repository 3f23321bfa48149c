"""The board of Mississippi Queen in a terminal."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

from triarena.clients.boards import draw, plain
from triarena.games import Side
from triarena.games.mississippi_queen import GAME, Direction, MississippiQueenPosition, Segment, Ship
from triarena.games.mississippi_queen.geometry import cell_at
from triarena.games.mississippi_queen.position import settled
from triarena.games.mississippi_queen.profiles import SEED
from triarena.games.mississippi_queen.river import rivers

WATER = ("WWWWW",) * 4


def bent(red: Ship, blue: Ship, turn: int = 3, taken: int = 0) -> MississippiQueenPosition:
    """A whole river with two bends and one of everything."""
    right, up = Direction.RIGHT, Direction.UP_RIGHT
    segments = (
        Segment(right, (0, 0, 0), WATER),
        Segment(right, (4, 0, -4), ("WWWWW", "W3IWW", "WWSWW", "WWWWW")),
        Segment(up, (8, -4, -4), ("WWWWW", "WW0WW", "WWWWI", "WWWWW")),
        Segment(right, (12, -4, -8), WATER),
        *(Segment(right, (12 + 4 * k, -4, -8 - 4 * k), WATER) for k in range(1, 4)),
        Segment(right, (28, -4, -24), ("WWWWW", "WWWWW", "WWWWW", "WGGGW")),
    )
    (river,) = rivers(segments, 8)
    return settled(river, (), SEED, 1, turn, Side.RED, red, blue, taken)


def text(position: MississippiQueenPosition, move: str | None = None) -> str:
    return plain(draw("mississippi_queen", position, None if move is None else GAME.parse(move)))


def test_the_start_shows_two_segments_and_where_the_stream_bends_to() -> None:
    assert text(GAME.start({"sandbanks": 1}, 1)) == dedent(
        """\
             0   2   4   6
         -2 . . . . . . . ~
         -1  R→. . . P↙. ~ .
          0   ~ ~ ~ ~ ~ ~ # .
          1  B→. . . . S . .
          2 . . . . # . . .
               -2  0   2   4

        ~ stream   # island   P passenger, dock at the arrow   G goal   S sandbank

        R→ red  at (-1, -1, 2): speed 1, coal 6, free turns 1, passengers 0, points 0
        B→ blue at (-2, 1, 1): speed 1, coal 6, free turns 1, passengers 0, points 0

        ply 0; red to move
        """
    )


def test_a_whole_river_bends_and_shows_everything() -> None:
    red = Ship(cell_at((5, 1, -6)), Direction.UP_LEFT, speed=2, coal=3, passengers=1)
    blue = Ship(cell_at((29, -3, -26)), Direction.DOWN_RIGHT, speed=4, free_turns=2)
    assert text(bent(red, blue), "A1 M1 TUL M1") == dedent(
        """\
                         8   10  12  14  16  18  20  22  24  26  28  30
         -6               . . . . . . . . . . . . . . . . . . . . . . .
         -5              . . . . . . . . . . . . . . . . . . . . . . . G
         -4             . . P→~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ G
         -3            . . ~ . # . . . . . . . . . . . . . . . . . . . B↘
         -2 . . . . . . . ~ . . . . . . . . . . . . . . . . . . . . . .
         -1  . . . . . P←~ . .
          0   ~ ~ ~ ~ ~ # S .
          1  . . . . . . . R↖
          2 . . . . . . . .
               -2  0   2   4

        ~ stream   # island   P passenger, dock at the arrow   G goal   S sandbank

        R↖ red  at (5, 1, -6): speed 2, coal 3, free turns 1, passengers 1, points 13
        B↘ blue at (29, -3, -26): speed 4, coal 6, free turns 2, passengers 0, points 38

        ply 3; red to move
        """
    )


def test_a_taken_passenger_is_drawn_like_an_island() -> None:
    ships = Ship(cell_at((5, 1, -6))), Ship(cell_at((29, -3, -26)))
    assert text(bent(*ships)).count("P←") == 1
    assert text(bent(*ships, taken=1)).count("P←") == 0
    assert text(bent(*ships, taken=1)).count("#") == text(bent(*ships)).count("#") + 1


def test_the_end_is_told() -> None:
    won = bent(Ship(cell_at((30, -4, -26)), speed=2, passengers=2), Ship(cell_at((24, -3, -21))), turn=8)
    assert text(won).endswith("ply 8; the goal is reached: red has won\n")
    drawn = bent(Ship(cell_at((12, -4, -8))), Ship(cell_at((12, -5, -7))), turn=60)
    assert text(drawn).endswith("ply 60; the last round is over: a draw\n")


def test_letters_tell_the_sides_apart_and_colours_do_too() -> None:
    spans = [span for line in draw("mississippi_queen", GAME.start({}, 1)) for span in line]
    assert ("R→", "bold red") in spans
    assert ("B→", "bold blue") in spans


def test_hidden_segments_are_not_drawn() -> None:
    position = GAME.start({}, 1)
    assert text(position) == text(position.visible()) != text(replace(position, river=position.beyond[0]))
