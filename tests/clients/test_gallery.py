from .gallery import PAGE, page


def test_the_page_of_boards_shows_what_the_terminal_shows() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python tests/clients/gallery.py"
