"""The terminal board of TowerWars, character by character."""

from __future__ import annotations

import pytest

from triarena.clients.boards import draw as draw_any
from triarena.clients.boards.canvas import Drawing, plain
from triarena.clients.boards.towerwars import draw
from triarena.games.towerwars import Step, TowerWarsPosition

START = """\
  A   B   C   D
 1  R   r   r   .   1
   2  r   r   .   b   2
     3  r   .   b   b   3
       4  .   b   b   B   4
            A   B   C   D

red to move; score red 0, blue 0; stones red 5, blue 5
r b stones   R B bases   r2 tower of height 2   r2x blocked   - > last move
"""

CROWDED = """\
  A   B   C   D   E   F
 1  R   .   .   .   .   .   1
   2  .  -r1  .   .   .   .   2
     3  .   .  >r   b2x .   .   3
       4  .   b1  .   .   .   .   4
         5  .   .   .   r2x r   r   5
           6  .   .   r   b2x b2  B   6
                A   B   C   D   E   F

red to move; score red 0, blue 0; stones red 9, blue 11
r b stones   R B bases   r2 tower of height 2   r2x blocked   - > last move
"""

WON = """\
  A   B   C   D
 1 >b   .   .   .   1
   2 -.   r   .   .   2
     3  .   .   .   .   3
       4  .   .   .   B   4
            A   B   C   D

blue has won by taking the base; score red 0, blue 1; stones red 1, blue 1
r b stones   R B bases   r2 tower of height 2   r2x blocked   - > last move
"""


def crowded() -> Drawing:
    text = "R...../.r1..../..rb2x../.b1..../...r2xrr/..rb2xb2B R"
    return draw(TowerWarsPosition.from_text(text), Step("B2", "C3"))


def test_the_start_as_a_parallelogram() -> None:
    assert plain(draw(TowerWarsPosition.start(4))) == START


def test_towers_blocked_towers_and_the_last_move_show_without_colours() -> None:
    assert plain(crowded()) == CROWDED


def test_a_captured_base_and_the_winner() -> None:
    assert plain(draw(TowerWarsPosition.from_text("b.../.r../..../...B R"), Step("A2", "A1"))) == WON


def test_a_side_that_cannot_move_is_named() -> None:
    status = plain(draw(TowerWarsPosition.from_text("R.../.r../..../...B B"))).splitlines()[-2]
    assert status == "red has won: blue has no move; score red 1, blue 0; stones red 1, blue 0"


def test_styles_tell_the_sides_the_bases_and_blocked_towers_apart() -> None:
    spans = {(text.strip(), style) for line in crowded() for text, style in line}
    assert spans >= {("R", "reverse red"), ("B", "reverse blue"), ("r2x", "strike red"), ("b2x", "strike blue")}
    assert spans >= {("r", "bold red"), ("r1", "bold red"), ("b2", "bold blue"), (".", "dim"), ("-", "bold yellow")}


@pytest.mark.parametrize("size", [4, 9, 10, 26])
def test_rows_line_up_on_boards_of_any_size(size: int) -> None:
    lines = plain(draw(TowerWarsPosition.start(size))).splitlines()
    for row in range(1, size + 1):
        fields = lines[row][3 + 2 * (row - 1) :]
        assert len(fields) == 4 * size + len(f" {row}")
        assert lines[row].split()[0] == lines[row].split()[-1] == str(row)
        assert all(fields[4 * column] == " " and fields[4 * column + 1] != " " for column in range(size))
    letters = [chr(ord("A") + column) for column in range(size)]
    assert lines[0].split() == lines[size + 1].split() == letters
    assert lines[0].index("A") == lines[1].index("R") - 2
    assert lines[size + 1].rindex(letters[-1]) == lines[size].rindex("B") + 2


def test_the_board_is_found_by_the_name_of_the_game() -> None:
    assert plain(draw_any("towerwars", TowerWarsPosition.start(4))) == START
