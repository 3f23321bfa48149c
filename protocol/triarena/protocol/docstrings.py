"""What the sources say about fields and constants, which Python does not keep: the strings written below them.

Read when the documentation is made, so that a client that merely talks does not pay for it.
"""

from __future__ import annotations

import ast
import inspect
import re
from enum import Enum
from functools import cache
from itertools import pairwise
from types import ModuleType

from pydantic import BaseModel

from . import game_values, values

ALIASES_FROM = (values, game_values)
"""The modules whose named types (``Name``, ``Secret``, ...) explain the fields that use them."""


def one_line(text: str) -> str:
    """A docstring as one line of Markdown."""
    return " ".join(text.split()).replace("``", "`")


def of_class(kind: type) -> str:
    """What a class says about itself."""
    return one_line(kind.__doc__ or "")


def of_members(kind: type[Enum]) -> dict[str, str]:
    """What an enumeration says about its members, by their values."""
    said = _module(inspect.getmodule(kind)).get(kind.__name__, {})
    return {str(member.value): said.get(member.name, "") for member in kind}


def of_field(model: type[BaseModel], field: str) -> str:
    """What a model says about a field: below it, or else below the definition of the field's named type."""
    for kind in model.__mro__:
        if field in inspect.get_annotations(kind):
            own = _module(inspect.getmodule(kind)).get(kind.__name__, {}).get(field)
            return own or _of_named_types(str(inspect.get_annotations(kind)[field]))
    return ""


def _of_named_types(annotation: str) -> str:
    named = re.findall(r"\w+", annotation)
    return " ".join(text for module in ALIASES_FROM for name, text in _module(module)[""].items() if name in named)


@cache
def _module(module: ModuleType | None) -> dict[str, dict[str, str]]:
    """Class name ("" for the module itself) -> name -> the string that stands below its definition."""
    assert module is not None, "only for classes that stand in a module"
    tree = ast.parse(inspect.getsource(module))
    classes = {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
    return {name: _strings_below(body) for name, body in {"": tree.body, **classes}.items()}


def _strings_below(body: list[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement, below in pairwise(body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(target, ast.Name) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[target.id] = one_line(str(below.value.value))
    return found
