from triarena.games import Side

from .gallery import PAGE, PICTURES, page, reached


def test_the_page_of_boards_shows_what_the_terminal_shows() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python tests/clients/gallery.py"


def test_the_pictures_show_what_a_reader_will_look_for() -> None:
    """A ditch, gardens, and a race that has left the start and is not yet at the goal."""
    flowerwars, _, race = (reached(picture)[0] for picture in PICTURES)
    assert any(flowerwars.ditches(side) for side in Side)
    assert all(flowerwars.score(side).points for side in Side)
    assert 2 < len(race.river.segments) < 8


def test_the_lines_below_a_board_fit_a_terminal_of_80_columns() -> None:
    starts = ("r b ", "a point", "~ stream", "R", "B", "red ", "blue ")
    lines = [line for line in page().splitlines() if line.startswith(starts)]
    assert len(lines) > 6
    assert max(map(len, lines)) <= 80
