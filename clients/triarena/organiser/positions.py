"""On which line of a TOML text each key stands, since a fault is only half told without its line.

``tomllib`` gives values without their places. This walks once more over a text that ``tomllib`` has accepted, so it
may trust that the text is well-formed, and looks at keys and structure only.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys, and the indices (from 0) of what stands in arrays: ``("bots", 2, "name")``."""

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE: Final = re.compile(r"[^,\]}#\n]*")
_STRINGS: Final = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', re.DOTALL),
    re.compile(r"'''.*?'{3,5}(?!')", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


def locate(text: str) -> Mapping[Path, int]:
    """The line (from 1) of every key, table and array element of a well-formed TOML text, by its path.

    A table is where its header stands, an array of tables where its first header stands.
    """
    return _Walk(text).lines


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of ``path``, or of the nearest thing around it that stands in the text; 1 if there is none."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


class _Walk:
    """One pass over the text; ``lines`` is the result."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tables: dict[Path, int] = {}  # how many tables an array of tables has so far
        self.lines: dict[Path, int] = {}
        self._document()

    def _document(self) -> None:
        table: Path = ()
        self._skip_blank()
        while self._at < len(self._text):
            if self._takes("[["):
                table = self._header(array=True)
            elif self._takes("["):
                table = self._header(array=False)
            else:
                self._key_and_value(table)
            self._skip_blank()

    def _header(self, *, array: bool) -> Path:
        """The path of the table that a header opens; a name of an array of tables means its latest table."""
        line = self._line()
        path: Path = ()
        keys = self._dotted_key()
        for depth, key in enumerate(keys, 1):
            path = (*path, key)
            self.lines.setdefault(path, line)
            if array and depth == len(keys):
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
                self.lines.setdefault(path, line)
        self._at += 2 if array else 1
        return path

    def _key_and_value(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._dotted_key():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self._at += 1  # the sign =
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip_blank()
        if self._takes("["):
            self._array(path)
        elif self._takes("{"):
            self._inline_table(path)
        elif not self._skip_string():
            self._skip(_BARE_VALUE)

    def _array(self, path: Path) -> None:
        index = 0
        while not self._closes("]"):
            self.lines[(*path, index)] = self._line()
            self._value((*path, index))
            index += 1

    def _inline_table(self, path: Path) -> None:
        while not self._closes("}"):
            self._key_and_value(path)

    def _closes(self, bracket: str) -> bool:
        """Goes on to the next element; True once the bracket has been passed instead."""
        self._skip_blank()
        while self._takes(","):
            self._skip_blank()
        return self._takes(bracket)

    def _dotted_key(self) -> list[str]:
        keys = [self._simple_key()]
        self._skip_blank()
        while self._takes("."):
            self._skip_blank()
            keys.append(self._simple_key())
            self._skip_blank()
        return keys

    def _simple_key(self) -> str:
        self._skip_blank()
        start = self._at
        if self._skip_string():
            return str(tomllib.loads(f"key = {self._text[start : self._at]}")["key"])
        self._skip(_BARE_KEY)
        return self._text[start : self._at]

    def _skip_string(self) -> bool:
        for string in _STRINGS:
            if match := string.match(self._text, self._at):
                self._at = match.end()
                return True
        return False

    def _skip_blank(self) -> None:
        self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        if match := pattern.match(self._text, self._at):
            self._at = match.end()

    def _takes(self, sign: str) -> bool:
        if self._text.startswith(sign, self._at):
            self._at += len(sign)
            return True
        return False

    def _line(self) -> int:
        return bisect_right(self._line_starts, self._at)
