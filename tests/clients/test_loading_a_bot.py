"""A bot is found by a word or a path, and whatever is wrong with its file is said in one sentence."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from triarena.clients.bots import load_bot
from triarena.clients.errors import BotError
from triarena.games import find_game

START = find_game("towerwars").start({"size": 4})


@pytest.fixture(autouse=True)
def _clean_imports() -> Iterator[None]:
    """Loading a bot leaves its module and its folder behind, as a script would."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def bot_file(folder: Path, text: str, name: str = "my_bot.py") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def failure(spec: str) -> BotError:
    with pytest.raises(BotError) as caught:
        load_bot(spec, "towerwars")
    return caught.value


def test_a_file_with_choose_move_is_a_bot(tmp_path: Path) -> None:
    bot = load_bot(bot_file(tmp_path, "def choose_move(position): return 'A2->A3'"), "towerwars")
    assert bot.choose_move(START, None) == "A2->A3"
    assert bot.get_ready is None


def test_a_file_may_take_the_clock_and_get_ready(tmp_path: Path) -> None:
    text = "def choose_move(position, clock): return clock\ndef get_ready(match): return match * 2"
    bot = load_bot(bot_file(tmp_path, text), "towerwars")
    assert bot.choose_move(START, "the clock") == "the clock"
    assert bot.get_ready is not None
    assert bot.get_ready(21) == 42


def test_a_file_may_be_told_of_coming_back(tmp_path: Path) -> None:
    text = "def choose_move(position): pass\ndef come_back(match): return match * 3"
    come_back = load_bot(bot_file(tmp_path, text), "towerwars").come_back
    assert come_back is not None
    assert come_back(2) == 6


def test_a_come_back_that_takes_no_match_is_told_so_before_it_matters(tmp_path: Path) -> None:
    error = failure(bot_file(tmp_path, "def choose_move(position): pass\ndef come_back(): pass"))
    assert error.code == "bad_signature"
    assert "come_back must take (match)" in error.message


def test_a_file_may_import_its_neighbours_and_hold_dataclasses(tmp_path: Path) -> None:
    bot_file(tmp_path, "MOVE = 'A2->A3'", "openings_of_mine.py")
    text = """
from __future__ import annotations
from dataclasses import dataclass
from openings_of_mine import MOVE
@dataclass
class Memory:
    last: str = MOVE
def choose_move(position): return Memory().last
"""
    assert load_bot(bot_file(tmp_path, text), "towerwars").choose_move(START, None) == "A2->A3"


def test_a_seed_makes_a_file_that_draws_lots_play_the_same_again(tmp_path: Path) -> None:
    file = bot_file(tmp_path, "import random\ndef choose_move(position): return random.random()")
    drawn = [load_bot(file, "towerwars", seed=5).choose_move(START, None) for _ in range(2)]
    assert drawn == [random.Random(5).random()] * 2


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_the_bots_that_come_along_choose_legal_moves_and_repeat_them_by_seed(name: str) -> None:
    def moves(seed: int) -> list[Any]:
        bot, position, chosen = load_bot(name, "towerwars", seed), START, []
        for _ in range(12):
            chosen.append(bot.choose_move(position, None))
            position = position.play(chosen[-1])
        return chosen

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)


def test_a_missing_file_is_told_together_with_the_names_of_the_bots_that_come_along() -> None:
    error = failure("nowhere/bot.py")
    assert error.code == "bot_not_found"
    assert error.message.endswith("give the path of a Python file, or random or greedy")


def test_a_misspelt_bot_that_comes_along_is_recognised() -> None:
    assert failure("grredy").message == "there is no file grredy; did you mean greedy?"


def test_a_folder_cannot_be_read_as_a_bot(tmp_path: Path) -> None:
    assert failure(str(tmp_path)).code == "bot_unreadable"


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    error = failure(bot_file(tmp_path, "def choose_move(position):\n    return (1 +\n"))
    assert error.code == "bot_syntax_error"
    assert error.message == "my_bot.py, line 2: '(' was never closed in return (1 +"


def test_a_syntax_error_in_a_neighbour_names_the_neighbour(tmp_path: Path) -> None:
    bot_file(tmp_path, "x = = 1", "broken_neighbour.py")
    error = failure(bot_file(tmp_path, "import broken_neighbour"))
    assert error.message == "broken_neighbour.py, line 1: invalid syntax in x = = 1"


NO_PYTHON = {
    "bytes that are no UTF-8": b"\xff\xfe\x00\x00",
    "null bytes": b"def choose_move(position):\n    return \x00\n",
    "UTF-16": "def choose_move(position): pass".encode("utf-16"),
    "an unknown encoding": b"# -*- coding: no-such-code -*-\n",
    "an expression nested too deep": b"x = " + b"-" * 100_000 + b"1",
    "brackets nested too deep": b"x = " + b"(" * 1000,
    "a number of too many digits": b"x = " + b"9" * 5000,
    "a return outside of a function": b"return 1\n",
}


@pytest.mark.parametrize("content", NO_PYTHON.values(), ids=NO_PYTHON)
def test_a_file_that_cannot_be_compiled_is_no_python(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "my_bot.py").write_bytes(content)
    error = failure(str(tmp_path / "my_bot.py"))
    assert error.code == "bot_syntax_error"
    assert "my_bot.py" in error.message
    assert error.traceback == ""


def test_a_neighbour_that_is_no_text_is_told_with_the_line_that_imports_it(tmp_path: Path) -> None:
    (tmp_path / "unreadable_neighbour.py").write_bytes(NO_PYTHON["null bytes"])
    error = failure(bot_file(tmp_path, "import unreadable_neighbour"))
    assert error.code != "bot_not_found"
    assert "my_bot.py, line 1" in error.message
    assert "null bytes" in error.message


@pytest.mark.parametrize("raised", ["SystemExit(3)", "GeneratorExit()", "BaseException('own')", "exec('raise 1')"])
def test_whatever_a_file_raises_while_it_is_loaded_is_the_bots_failure(tmp_path: Path, raised: str) -> None:
    assert failure(bot_file(tmp_path, f"raise {raised}")).code == "bot_failed"


@pytest.mark.parametrize(("call", "code"), [("exit()", 0), ("sys.exit(3)", 3), ("sys.exit('no')", 1)])
def test_a_file_that_ends_its_program_while_it_is_loaded_is_told_what_to_do(
    tmp_path: Path, call: str, code: int
) -> None:
    message = failure(bot_file(tmp_path, f"import sys\n{call}\n")).message
    assert f"ended its own program in my_bot.py, line 2 while it was loaded (exit code {code})" in message
    assert 'under if __name__ == "__main__"' in message


def test_ctrl_c_while_a_file_is_loaded_is_no_failure_of_the_bot(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        load_bot(bot_file(tmp_path, "raise KeyboardInterrupt"), "towerwars")


def test_a_missing_package_is_told_with_what_to_do(tmp_path: Path) -> None:
    error = failure(bot_file(tmp_path, "\nimport no_such_package_anywhere\n"))
    assert error.code == "bot_import_error"
    assert "cannot import something in my_bot.py, line 2: No module named 'no_such_package_anywhere'" in error.message
    assert error.message.endswith("install it where triarena is installed")


def test_an_exception_while_loading_shows_the_bots_frames_only(tmp_path: Path) -> None:
    error = failure(bot_file(tmp_path, "def f():\n    return 1 / 0\nf()\n"))
    assert error.code == "bot_failed"
    assert "raised ZeroDivisionError: division by zero in my_bot.py, line 2 while it was loaded" in error.message
    assert error.traceback.count('File "') == 2
    assert "loading.py" not in error.traceback


def test_a_misspelt_function_is_recognised(tmp_path: Path) -> None:
    error = failure(bot_file(tmp_path, "def chose_move(position): pass"))
    assert error.code == "no_choose_move"
    assert error.message.endswith("defines no function choose_move(position); did you mean chose_move?")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def choose_move(): pass", "choose_move must take (position) or (position, clock), not ()"),
        ("def choose_move(a, b, c): pass", "choose_move must take (position) or (position, clock), not (a, b, c)"),
        ("async def choose_move(position): pass", "choose_move is an 'async def'; write a plain"),
        ("choose_move = 5", "choose_move is no function, but int"),
        ("def choose_move(position): pass\ndef get_ready(): pass", "get_ready must take (match), not ()"),
    ],
)
def test_functions_that_cannot_be_called_are_refused_before_the_match(tmp_path: Path, text: str, sentence: str) -> None:
    error = failure(bot_file(tmp_path, text))
    assert error.code == "bad_signature"
    assert sentence in error.message


def test_a_game_without_a_greedy_bot_says_so() -> None:
    with pytest.raises(BotError, match="there is no greedy bot for nim") as caught:
        load_bot("greedy", "nim")
    assert caught.value.code == "no_such_bot"


def test_random_plays_any_game() -> None:
    class Heap:
        def legal_moves(self) -> Iterator[int]:
            return iter([7])

    assert load_bot("random", "nim", 0).choose_move(Heap(), None) == 7
