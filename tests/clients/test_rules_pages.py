"""What docs/rules/*.md say of boards, codes, notation, options and counts is what the engines do."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from triarena.games import find_game
from triarena.games.core import BadOptions, ChoiceOption
from triarena.games.service import answer, perft

from .rules_pages import PAGES, drawn_anew, shown_positions

TEXTS = {name: page.read_text("utf-8") for name, page in PAGES.items()}
QUICK = 30_000
"""Larger counts are left to the tests of each game."""

JOINT = {"bed_too_large", "new_garden_touches_bed", "new_garden_touches_garden"}
"""Rules of FlowerWars that two flowers can break which break none alone: ``joint_`` and the code."""

each_game = pytest.mark.parametrize("name", PAGES)


def section(name: str, heading: str) -> str:
    found = re.search(rf"^## {heading}.*?\n(.*?)(?=^## |\Z)", TEXTS[name], re.DOTALL | re.MULTILINE)
    assert found, f"no section {heading}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of a table, without its head."""
    table = [line.strip("|\n ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip(" `") for cell in row] for row in table[2:]]


@each_game
def test_the_boards_are_what_the_terminal_shows(name: str) -> None:
    assert "<!-- board" in TEXTS[name]
    assert drawn_anew(name, TEXTS[name]) == TEXTS[name], "run: python -m tests.clients.rules_pages"


@each_game
def test_the_codes_of_refused_moves_are_those_of_the_engine_and_no_others(name: str) -> None:
    told = [row[0] for row in rows(section(name, "Refusals"))]
    assert len(told) == len(set(told))
    assert set(told) == codes_of(name)


def codes_of(name: str) -> set[str]:
    """All codes that stand in the source of an engine."""
    folder = Path(import_module(f"triarena.games.{name}").__path__[0])
    found: set[str] = set()
    for module in folder.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            found.update(_codes_at(node))
    return found | ({f"joint_{code}" for code in JOINT & found} if name == "flowerwars" else set())


def _codes_at(node: ast.AST) -> Iterator[str]:
    """The codes of ``IllegalMove(code, ...)``, ``_refuse(code, ...)``, ``MalformedMove(message, code)``, returned."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ("IllegalMove", "_refuse"):
            yield from _texts(node.args[0])
        elif node.func.id == "MalformedMove":
            yield from _texts(node.args[1]) if len(node.args) > 1 else ["malformed_move"]
    elif isinstance(node, ast.FunctionDef) and node.returns and "tuple[str, str]" in ast.unparse(node.returns):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Tuple):
                yield from _texts(inner.value.elts[0])


def _texts(expression: ast.expr) -> Iterator[str]:
    if isinstance(expression, ast.IfExp):
        yield from _texts(expression.body)
        yield from _texts(expression.orelse)
    elif isinstance(expression, ast.Constant):
        yield str(expression.value)


@each_game
def test_the_examples_of_the_notation_are_canonical_in_both_forms(name: str) -> None:
    game = find_game(name)
    examples = rows(section(name, "Notation"))
    assert len(examples) >= 2
    for text, wire in examples:
        move = game.parse(text)
        assert (game.format(move), game.write_move(move)) == (text, json.loads(wire))


@pytest.mark.parametrize("name", ["flowerwars", "towerwars"])
def test_the_position_on_the_wire_is_that_of_the_picture(name: str) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", TEXTS[name], re.DOTALL)
    assert find_game(name).write_position(shown_positions(name, TEXTS[name])[0]) == json.loads(shown)


@each_game
def test_the_options_are_those_of_the_game(name: str) -> None:
    told = [row[:3] for row in rows(section(name, "Options"))]
    assert told == [
        [o.name, ", ".join(f"`{c}`" for c in o.choices).strip("`"), o.default]
        if isinstance(o, ChoiceOption)
        else [o.name, f"{o.minimum} to {o.maximum}", str(o.default)]
        for o in find_game(name).options
    ]


@each_game
def test_the_counts_of_move_sequences_are_right(name: str) -> None:
    for options, *counts in rows(section(name, "Numbers")):
        for plies, count in enumerate(counts, 1):
            if count and int(count) <= QUICK:
                assert perft(start(name, json.loads(options)), plies) == int(count), (options, plies)


def start(name: str, given: dict[str, int]) -> Any:
    """The first position; ``seed`` among the options is that of the board."""
    seed = given.pop("seed", 0)
    return find_game(name).start(given, seed)


@each_game
def test_the_example_of_triarena_rules_is_true(name: str) -> None:
    (example,) = re.findall(rf"^\$ echo (.*) \| triarena rules {name}\n(.*)$", TEXTS[name], re.MULTILINE)
    assert answer(find_game(name), shlex.split(example[0])[0].encode()) == example[1]


@each_game
def test_the_reasons_of_ends_are_those_of_the_engine(name: str) -> None:
    told = set(re.findall(r"^\* `(\w+)`: ", section(name, "The end"), re.MULTILINE))
    assert (
        told
        == {
            "flowerwars": {"end_move", "no_move"},
            "towerwars": {"base", "no_move"},
            "mississippi_queen": {"goal", "segment_distance", "round_limit", "no_move"},
        }[name]
    )


def test_the_greatest_heights_of_towers_are_right() -> None:
    sizes, heights = re.findall(r"^\| (?:size|highest tower) \| (.*) \|$", TEXTS["towerwars"], re.MULTILINE)
    told = {}
    for span, height in zip(sizes.split(" | "), heights.split(" | "), strict=True):
        first, last = re.findall(r"\d+", span)
        told.update(dict.fromkeys(range(int(first), int(last) + 1), int(height)))
    assert told == {size: size // 3 for size in range(4, 27)}
    for size in (3, 27):
        with pytest.raises(BadOptions):
            find_game("towerwars").start({"size": size})


@each_game
def test_the_links_of_the_page_lead_somewhere(name: str) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]+)(?:#([\w-]+))?\)", TEXTS[name]):
        page = (PAGES[name].parent / target).read_text("utf-8")
        headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
        assert not anchor or anchor in [heading.lower().replace(" ", "-") for heading in headings]
