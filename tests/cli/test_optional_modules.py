"""Whatever a command imports comes with the base installation, or with an extra that its error sentence names."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from triarena.cli import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PLATFORM = {"winreg", "msvcrt", "fcntl", "termios", "tty"}
"""Of the standard library, but not on every system."""
THROUGH_PYDANTIC = {"pydantic_core"}
"""Always there where pydantic is."""


def distribution(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return found[0].lower()


def distributions(extra: str) -> set[str]:
    """What an extra installs, with the extras that it includes."""
    found: set[str] = set()
    for requirement in PROJECT["optional-dependencies"][extra]:
        if inner := re.match(r"triarena\[([\w,]+)\]", requirement):
            for name in inner[1].split(","):
                found |= distributions(name)
        else:
            found.add(distribution(requirement))
    return found


BASE = {distribution(requirement) for requirement in PROJECT["dependencies"]}


def imported() -> Iterator[tuple[str, Path]]:
    """Every module of others that the packages import anywhere, also inside of functions, by its top level."""
    for source in ("games", "protocol", "server", "clients"):
        for path in (ROOT / source / "triarena").rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
                    names = [node.module]
                for name in names:
                    top = name.partition(".")[0]
                    if top not in {"triarena", *sys.stdlib_module_names, *PLATFORM}:
                        yield top, path.relative_to(ROOT)


def test_every_module_of_others_is_in_the_base_or_in_a_known_extra() -> None:
    base = {name for name, owners in packages_distributions().items() if {o.lower() for o in owners} & BASE}
    unknown = {(name, str(path)) for name, path in imported() if name not in base | THROUGH_PYDANTIC | set(EXTRAS)}
    assert unknown == set(), "add them to EXTRAS in triarena.cli"


@pytest.mark.parametrize("module", sorted(EXTRAS))
def test_the_extra_that_the_sentence_names_installs_the_module(module: str) -> None:
    owners = {owner.lower() for owner in packages_distributions()[module]}
    assert owners & distributions(EXTRAS[module])


def test_no_module_is_known_that_nothing_imports() -> None:
    drivers = {"psycopg", "psutil"}  # imported by name: for the URL of a database, on some systems
    assert set(EXTRAS) - drivers - {name for name, _ in imported()} == set()
