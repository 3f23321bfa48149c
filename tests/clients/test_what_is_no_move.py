"""Whatever a bot takes for a move: in every game it is told in a sentence that says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from triarena.clients.bots import call_bot, chosen_move
from triarena.clients.errors import BotError
from triarena.games import find_game
from triarena.games.core import MalformedMove

GAMES = ("flowerwars", "towerwars", "mississippi_queen")
NO_MOVES = ("", "x", 5, [1], ("A2", "A3"), {"type": "x"}, object(), b"A1->B1")


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("returned", NO_MOVES, ids=lambda value: type(value).__name__ + str(value)[:2])
def test_a_bot_that_returns_no_move_is_told_so(name: str, returned: Any) -> None:
    game = find_game(name)
    with pytest.raises(BotError) as caught:
        chosen_move(game, returned)
    assert caught.value.code == "not_a_move"
    assert f"what choose_move returned is no move of {game.title}: " in caught.value.message
    if not isinstance(returned, str):
        assert "it returned " in caught.value.message


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("attempt", ["play", "check"])
@pytest.mark.parametrize(
    "move", ["A1->B1", "A1", 5, [1], ("A2",), object()], ids=lambda value: type(value).__name__ + str(value)[:2]
)
def test_a_bot_that_plays_what_is_no_move_is_told_so(name: str, attempt: str, move: Any) -> None:
    position = find_game(name).start({}, 1)
    with pytest.raises(MalformedMove) as caught:
        getattr(position, attempt)(move)
    assert "is no move of" in caught.value.message
    assert ("game.parse makes a move of its text" in caught.value.message) is isinstance(move, str)
    with pytest.raises(BotError, match=r"choose_move raised MalformedMove: .* is no move of"):
        call_bot("choose_move", getattr(position, attempt), move)
