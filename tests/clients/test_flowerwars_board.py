"""The terminal board of FlowerWars, character by character."""

from __future__ import annotations

from triarena.clients.boards import draw as draw_any
from triarena.clients.boards.canvas import plain
from triarena.clients.boards.flowerwars import draw
from triarena.games.flowerwars import GAME, FlowerWarsPosition, Move

EMPTY = r"""
             1
            /
       4   +   2
          / \ /
     3   +---+   3
        / \ / \ /
   2   +---+---+   4
      / \ / \ / \ /
 1   +---+---+---+
    /   /   /   /
   1   2   3   4

red to move; points red 0, blue 0
r b flowers   R B gardens   x infertile   # ditch, between letters of its side
a point is (column,row): rows at the left, columns below and at the right
"""

FIGURE = r"""
             1
            /
       4   +   2
          /b\ /
     3   +---+   3
        /x\ /b\ /
   2   r###r---+   4
      /r\x/r\ / \ /
 1   +---+---+---+
    /   /   /   /
   1   2   3   4

blue to move; points red 0, blue 0
r b flowers   R B gardens   x infertile   # ditch, between letters of its side
a point is (column,row): rows at the left, columns below and at the right
"""
FIGURE_MOVES = (
    "{{(1,1),(2,1),(1,2)},{(2,1),(3,1),(2,2)}}",
    "{{(1,3),(2,3),(1,4)},{(2,2),(3,2),(2,3)}}",
    "{{(1,2),(2,2)}}",
)

OVER = r"""
                 1
                /
           6   +   2
              /B\ /
         5   +---+   3
            /r\B/B\ /
       4   +---+---+   4
          /b\r/x\B/ \ /
     3   +---b###b---+   5
        / \r/b\x/R\ /b\ /
   2   +---+---+---+---+   6
      / \r/x\ /R\R/R\b/ \ /
 1   +---r###r---+---+---+
    /   /   /   /   /   /
   1   2   3   4   5   6

red has ended the game, so points decide: a draw; points red 1, blue 1
r b flowers   R B gardens   x infertile   # ditch, between letters of its side
a point is (column,row): rows at the left, columns below and at the right
"""
OVER_MOVES = (
    "{{(2,1),(1,2),(2,2)},{(2,3),(1,4),(2,4)}}",
    "{{(1,3),(2,3),(1,4)},{(2,4),(1,5),(2,5)}}",
    "{{(3,1),(4,1),(3,2)},{(3,2),(4,2),(3,3)}}",
    "{{(2,2),(3,2),(2,3)},{(3,3),(2,4),(3,4)}}",
    "{{(4,1),(3,2),(4,2)},{(4,1),(5,1),(4,2)}}",
    "{{(2,4),(3,4),(2,5)},{(1,5),(2,5),(1,6)}}",
    "{{(2,2),(1,3),(2,3)},{(1,4),(2,4),(1,5)}}",
    "{{(5,1),(4,2),(5,2)},{(4,2),(5,2),(4,3)}}",
    "{{(2,1),(3,1)}}",
    "{{(2,3),(3,3)}}",
    "{End}",
)

SLANTED = r"""
                 1
                /
           6   +   2
              /r\ /
         5   +---r   3
            /b\r/x# /
       4   +---+---r   4
          /b\b/r\b/r\ /
     3   b---+---b---r   5
        #x\r/b\x#x\b/x# /
   2   b---+---b---+---r   6
      /r\b/r\b/b\r/r\b/r\ /
 1   +---+---+---+---+---+
    /   /   /   /   /   /
   1   2   3   4   5   6

red has no move, so points decide: a draw; points red 0, blue 0
r b flowers   R B gardens   x infertile   # ditch, between letters of its side
a point is (column,row): rows at the left, columns below and at the right
"""
SLANTED_MOVES = (
    "{{(4,1),(5,1),(4,2)},{(2,3),(3,3),(2,4)}}",
    "{{(1,3),(2,3),(1,4)},{(3,3),(2,4),(3,4)}}",
    "{{(2,2),(1,3),(2,3)},{(3,3),(4,3),(3,4)}}",
    "{{(5,1),(4,2),(5,2)},{(2,2),(3,2),(2,3)}}",
    "{{(5,1),(6,1),(5,2)},{(2,4),(1,5),(2,5)}}",
    "{{(2,1),(1,2),(2,2)},{(3,1),(4,1),(3,2)}}",
    "{{(3,4),(2,5)}}",
    "{{(3,1),(2,2),(3,2)},{(1,4),(2,4),(1,5)}}",
    "{{(1,1),(2,1),(1,2)},{(2,1),(3,1),(2,2)}}",
    "{{(3,2),(3,3)}}",
    "{{(5,2),(4,3)}}",
    "{{(4,2),(3,3),(4,3)},{(2,3),(1,4),(2,4)}}",
    "{{(4,1),(3,2),(4,2)},{(1,5),(2,5),(1,6)}}",
    "{{(1,2),(1,3)}}",
)


def played(size: int, *moves: str) -> tuple[FlowerWarsPosition, Move | None]:
    position, move = GAME.start({"size": size}), None
    for text in moves:
        move = GAME.parse(text)
        position = position.play(move)
    return position, move


def test_the_empty_meadow_is_a_triangle_with_row_1_at_the_bottom() -> None:
    assert plain(draw(GAME.start({"size": 3}))) == EMPTY[1:]


def test_flowers_a_ditch_its_infertile_fields_and_the_last_move_show_without_colours() -> None:
    assert plain(draw(*played(3, *FIGURE_MOVES))) == FIGURE[1:]


def test_gardens_are_capital_letters_and_the_end_is_told() -> None:
    assert plain(draw(*played(5, *OVER_MOVES))) == OVER[1:]


def test_ditches_in_every_direction_show_between_the_letters_of_their_side() -> None:
    assert plain(draw(*played(5, *SLANTED_MOVES))) == SLANTED[1:]


def test_no_line_of_the_largest_board_is_wider_than_a_wide_terminal() -> None:
    lines = plain(draw(GAME.start({"size": 30}))).splitlines()
    assert max(map(len, lines)) <= 132
    assert lines[62] == " 1   " + "+---" * 30 + "+"
    assert [line.split()[0] for line in lines[2:63:2]] == [str(row) for row in range(31, 0, -1)]


def test_the_last_move_is_highlighted() -> None:
    position, move = played(3, *FIGURE_MOVES[:1])
    styles = {(text, style) for line in draw(position, move) for text, style in line}
    assert ("r", "red reverse") in styles
    assert ("r", "red reverse") not in {span for line in draw(position) for span in line}


def test_any_game_is_drawn_by_its_name() -> None:
    assert draw_any("flowerwars", GAME.start({})) == draw(GAME.start({}))
