"""Which of a process's last lines are told as the reason why it failed."""

from __future__ import annotations

import pytest

from triarena.organiser.last_words import last_words, told_by_itself

NODE = (
    "/srv/ada/bot.js:3",
    "const x = undefined.field",
    "TypeError: Cannot read properties of undefined (reading 'field')",
    "    at Object.<anonymous> (/srv/ada/bot.js:3:21)",
    "    at Module._compile (node:internal/modules/cjs/loader:1554:14)",
    "    at node:internal/main/run_main_module:28:49",
    "",
    "Node.js v22.1.0",
)
JAVA = (
    'Exception in thread "main" java.lang.IllegalStateException: no board',
    "    at Bot.choose(Bot.java:12)",
    "    at Bot.play(Bot.java:7)",
    "    at Bot.main(Bot.java:3)",
)
PYTHON = (
    "Traceback (most recent call last):",
    '  File "bot.py", line 1, in <module>',
    "    import nothing_like_it",
    "ModuleNotFoundError: No module named 'nothing_like_it'",
)


@pytest.mark.parametrize(
    ("lines", "important"),
    [(NODE, "TypeError: Cannot read"), (JAVA, "IllegalStateException: no board"), (PYTHON, "ModuleNotFoundError: No")],
)
def test_the_line_that_names_the_error_is_told_wherever_it_stands(lines: tuple[str, ...], important: str) -> None:
    said = last_words(lines)
    assert important in said
    assert said.endswith(lines[-1].strip())
    assert said.count(" / ") <= 3


def test_without_an_error_the_last_lines_are_told() -> None:
    assert last_words(("one", "two", " ", "three", "four")) == "two / three / four"
    assert last_words(()) == ""


def test_the_reason_for_leaving_is_told_without_its_code() -> None:
    told = told_by_itself("bot_failed: ply 0: choose_move raised ValueError: oops\x1b[2J in crash.py, line 2")
    assert told == "ply 0: choose_move raised ValueError: oops\N{REPLACEMENT CHARACTER}[2J in crash.py, line 2"
    assert told_by_itself("out of memory") == "out of memory"
