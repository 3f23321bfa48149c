"""Where keys stand in a TOML text: compared with tables written by hand, and for every key of generated texts."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from triarena.organiser.positions import Path, line_of, locate

TEXT = '''\
# a comment with = and [brackets]
name = "evening"   # line 2
"quoted key" = 'a # b'
a.b.c = 1
text = """
looks = "like a key"
[and.a.header]
a quote at the end: """"
raw = \'\'\'
x = 1\'\'\'
list = [
  1, # one
  { x = 2, y.z = [3,
    4] },
  "]",
]

[clock]
move_seconds = 2

[[bots]]
name = "Ann"
env = { LEVEL = "3", "A B" = "}" }
[bots.extra]
deep = true
[[bots]]
name = "Bob"
[[bots.inner]]
k = 1
[[bots.inner]]
k = 2
[ server . "limits" ]
rooms = 5
'''


def test_every_kind_of_key_is_found_on_its_line() -> None:
    lines = locate(TEXT)
    expected: dict[Path, int] = {
        ("name",): 2,
        ("quoted key",): 3,
        ("a", "b", "c"): 4,
        ("text",): 5,
        ("raw",): 9,
        ("list",): 11,
        ("list", 0): 12,
        ("list", 1): 13,
        ("list", 1, "y", "z"): 13,
        ("list", 1, "y", "z", 1): 14,
        ("list", 2): 15,
        ("clock",): 18,
        ("clock", "move_seconds"): 19,
        ("bots",): 21,
        ("bots", 0): 21,
        ("bots", 0, "name"): 22,
        ("bots", 0, "env", "A B"): 23,
        ("bots", 0, "extra", "deep"): 25,
        ("bots", 1): 26,
        ("bots", 1, "name"): 27,
        ("bots", 1, "inner", 0, "k"): 29,
        ("bots", 1, "inner", 1, "k"): 31,
        ("server", "limits"): 32,
        ("server", "limits", "rooms"): 33,
    }
    assert {path: lines.get(path) for path in expected} == expected
    assert ("looks",) not in lines
    assert ("and",) not in lines


def test_what_is_not_there_is_where_the_thing_around_it_stands() -> None:
    lines = locate(TEXT)
    assert line_of(lines, ("bots", 1, "seed")) == 26
    assert line_of(lines, ("clock", "strikes", 3)) == 18
    assert line_of(lines, ("game",)) == 1


keys = st.one_of(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.text(st.characters(codec="utf-8"), max_size=5))
scalars = st.one_of(st.integers(), st.booleans(), st.text(st.characters(codec="utf-8"), max_size=8))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)
spaces = st.sampled_from(["", " ", "\n", "# ] } , = \n", "\n\n"])


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value in TOML, with blanks and comments where arrays allow them."""
    if isinstance(value, list):
        return "[" + "".join(f"{draw(spaces)}{draw(written(item))}{draw(spaces)}," for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {draw(written(item))}" for key, item in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else str(value).lower()


def paths(value: Any, path: Path = ()) -> set[Path]:
    """All paths within a value that has been read."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} | {deeper for key, item in inner for deeper in paths(item, (*path, key))}


@given(st.dictionaries(keys, values, max_size=4), st.data())
def test_the_walk_finds_exactly_the_keys_that_the_parser_finds(tree: dict[str, Any], data: st.DataObject) -> None:
    text = "".join(f"{quoted(key)} = {data.draw(written(value))}\n" for key, value in tree.items())
    lines = locate(text)
    assert set(lines) | {()} == paths(tomllib.loads(text))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
