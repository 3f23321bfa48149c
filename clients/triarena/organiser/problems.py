"""What is wrong in a tournament's file: where, in a sentence, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from triarena.games.core import shown

from .positions import Path, line_of
from .schema import FileTable

_MANY: Final = 12
T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault."""

    line: int
    """In the file, from 1; 0 if it is about no line."""
    key: str
    """Which key it is about, e.g. ``bots[2].file``, counted from 1 as people count; empty for the whole file."""
    message: str
    """What is wrong, and what would be right."""

    def __str__(self) -> str:
        line = [f"line {self.line}"] if self.line else []
        return ": ".join([*line, *([self.key] if self.key else []), self.message])


class TournamentFileError(Exception):
    """A tournament's file that cannot be used. ``code`` is stable, ``message`` has a line for each problem."""

    def __init__(self, code: str, file: str, problems: Sequence[Problem]) -> None:
        self.code = code
        self.problems = tuple(problems)
        self.message = "\n".join(f"{file}{', ' if each.line else ': '}{each}" for each in problems)
        super().__init__(self.message)


@dataclass(frozen=True, slots=True)
class Notes:
    """Collects what is wrong with a file."""

    lines: Mapping[Path, int]
    """Where its keys stand."""
    problems: set[Problem] = field(default_factory=set)

    def tell(self, path: Path, sentence: str) -> None:
        """Note a problem with what stands at ``path``."""
        self.problems.add(Problem(line_of(self.lines, path), key_text(path), sentence))

    def table(
        self, model: type[T], values: object, at: Path = (), place: Callable[..., Path] | None = None
    ) -> T | None:
        """``values`` as ``model``; None after telling what is wrong with them.

        The table stands at ``at``; where its keys can stand elsewhere, ``place(*path)`` gives their path in the file.
        """
        try:
            return model.model_validate(values)
        except ValidationError as error:
            for path, sentence in _faults(error, model, at):
                self.tell((*at, *path) if place is None or not path else place(*path), sentence)
            return None

    def faulty(self, model: type[BaseModel], values: object) -> frozenset[str]:
        """The keys of a table whose values are wrong by themselves; tells nothing."""
        try:
            model.model_validate(values)
        except ValidationError as error:
            return frozenset(str(path[0]) for path, _ in _faults(error, model, ()) if path)
        return frozenset()


def key_text(path: Path) -> str:
    """A path as people write it: ``tournaments[1].clock.move_seconds``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            quoted = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else shown(part)
            text += f".{quoted}" if text else quoted
    return text


def meant(word: object, known: Iterable[str]) -> str:
    """``; did you mean 'swiss'?``, if ``word`` resembles one of ``known``; else which there are."""
    names = list(known)
    if isinstance(word, str):
        by_folded = {name.casefold(): name for name in names}
        close = get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
        if close:
            return f"; did you mean {by_folded[close[0]]!r}?"
    listed = ", ".join(names[:_MANY]) + (", ..." if len(names) > _MANY else "")
    return f"; there is {listed}" if len(names) == 1 else f"; there are {listed}" if names else ""


def misplaced(path: Path) -> str:
    """A key of the file's top stands in a table; what that means in TOML surprises those who don't know it."""
    *table, key = path
    where = "[[" + key_text(tuple(table[:-1])) + "]]" if isinstance(table[-1], int) else f"[{key_text(tuple(table))}]"
    return (
        f"{where} has no key {key}: in TOML a key belongs to the last [table] above it; write {key} at the top of the "
        "file, before the first table"
    )


def _faults(error: ValidationError, model: type[BaseModel], at: Path) -> list[tuple[Path, str]]:
    """The path within ``model``, which stands at ``at``, and a sentence for every fault of a table: one for a path."""
    found: dict[Path, str] = {}
    for fault in error.errors(include_url=False):
        path = _path_in_file(fault["loc"], model)
        surprising = fault["type"] == "extra_forbidden" and path[-1] in FileTable.model_fields and len(at + path) > 1
        found.setdefault(path, misplaced((*at, *path)) if surprising else _sentence(fault, path, model))
    # A value that may be of several kinds has a fault for each; the one that looked inside knows best.
    inner = {path[:depth] for path in found for depth in range(len(path))}
    return [(path, sentence) for path, sentence in found.items() if path not in inner]


def _path_in_file(loc: tuple[int | str, ...], model: type[BaseModel]) -> Path:
    """Where the fault is in the file: pydantic adds the names of a union's branches, and ``[key]``, to its path."""
    if not loc or loc[0] not in model.model_fields:
        return loc
    inner = _table_of(model, str(loc[0]))
    if inner is not None:
        return (loc[0], *_path_in_file(loc[1:], inner))
    if loc[0] == "command":
        return (loc[0], *(part for part in loc[1:] if isinstance(part, int)))
    keys = loc[1:]
    if loc[0] == "server":
        keys = keys[:2]
    elif loc[0] in ("options", "env"):
        keys = keys[:1]
    return (loc[0], *keys)


def _table_of(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The model of a table within ``model``."""
    annotation: Any = model.model_fields[key].annotation
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _sentence(fault: ErrorDetails, path: Path, model: type[BaseModel]) -> str:
    """What is wrong with a value."""
    kind, value, ctx = fault["type"], fault["input"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        return f"there is no such key{meant(path[-1], _fields_at(path[:-1], model))}"
    if kind == "missing":
        return "it is missing; add it"
    if kind == "literal_error":
        return _one_of(str(ctx["expected"]), value)
    return f"it must be {_wanted(kind, ctx, path)}, not {shown(value)}"


def _fields_at(path: Path, model: type[BaseModel]) -> list[str]:
    """The keys of the table at ``path``."""
    inner: type[BaseModel] | None = model
    for part in path:
        inner = _table_of(inner, str(part)) if inner is not None else None
    return list(inner.model_fields) if inner is not None else []


def _one_of(expected: str, value: object) -> str:
    """``expected`` is pydantic's list of the words, in quotes."""
    words = re.findall(r"'([^']*)'", expected)
    if not words:  # a switch that can only be on
        quotes = ", without quotes" if isinstance(value, str) else ""
        return f"it can only be true{quotes}, not {shown(value)}; leave the key out otherwise"
    close = meant(value, words)
    return f"it must be one of {', '.join(words)}, not {shown(value)}" + (close if "did you mean" in close else "")


_KINDS: Final = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text in quotes",
    "bool_type": "true or false, without quotes",
    "bool_parsing": "true or false, without quotes",
    "list_type": "a list in [ ]",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "string_too_short": "a text that is not empty",
    "string_too_long": "a text of at most {max_length} characters",
    "string_pattern_mismatch": "one line of text without blanks at its ends and without control characters",
    "too_short": "a list that is not empty",
    "too_long": "a list of at most {max_length}",
    "int_from_float": "a whole number",
}


def _wanted(kind: str, ctx: dict[str, Any], path: Path) -> str:
    """What a value must be, by pydantic's name for the fault."""
    if path == ("command",) and kind.endswith("_type"):
        return 'a list of words, e.g. ["java", "-jar", "bot.jar"], or one text that is split into words'
    if (path[:1] == ("options",) and len(path) == 2) or (path[:1] == ("server",) and len(path) == 3):
        return "a number, a text, true or false"
    bounds = {name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in ctx.items()}
    return _KINDS.get(kind, "something else").format(**bounds)
