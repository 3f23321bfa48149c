"""Whatever stands in a tournament's file, it is read or refused with sentences and lines; nothing else comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triarena.organiser import schema
from triarena.organiser.durations import estimate
from triarena.organiser.file import parse_tournament
from triarena.organiser.problems import Problem, TournamentFileError
from triarena.organiser.spec import TournamentFile


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {written(item)}" for key, item in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else str(value).lower()


def parsed(text: str) -> TournamentFile:
    return parse_tournament(text, Path(__file__).parent, file="f.toml", draw_seed=lambda slug: 1, concurrency=1)


KEYS = sorted({key for model in vars(schema).values() if hasattr(model, "model_fields") for key in model.model_fields})
WORDS = [
    "towerwars",
    "flowerwars",
    "swiss",
    "gauntlet",
    "knockout",
    "ladder",
    "lot",
    "wins",
    "greedy",
    "Ann",
    "Bob",
    "",
    "\0",
]
keys = st.one_of(st.sampled_from(KEYS), st.text(st.characters(codec="utf-8"), max_size=4))
scalars = st.one_of(
    st.sampled_from(WORDS),
    st.integers(-2, 9),
    st.sampled_from([2**53, -(2**70)]),
    st.booleans(),
    st.floats(),
    st.text(st.characters(codec="utf-8"), max_size=6),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
bots = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["Ann", "Bob", "Cy", "ann"])},
            optional={key: values for key in schema.BotTable.model_fields if key != "name"},
        ),
        st.sampled_from([{"name": "Dee", "remote": True}, {"name": "Ed", "shipped": "random"}]),
        values,
    ),
    max_size=4,
)
files = st.fixed_dictionaries(
    {"game": st.one_of(st.just("towerwars"), values), "bots": st.one_of(bots, values)},
    optional={key: values for key in (*schema.FileTable.model_fields, "tournaments") if key != "game"},
)


@given(files)
def test_any_tree_is_read_or_refused_with_lines(tree: dict[str, Any]) -> None:
    text = "".join(f"{quoted(key)} = {written(value)}\n" for key, value in tree.items())
    told: tuple[Problem, ...] = ()
    try:
        file = parsed(text)
    except TournamentFileError as error:
        file, told = None, error.problems
    for event in file.events if file is not None else ():
        estimate(event, 1)
    assert (file is None) == bool(told)
    for problem in told:
        assert 1 <= problem.line <= text.count("\n") + 1
        assert 0 < len(problem.message) < 1000


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(TournamentFileError):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deep"),
        ("a = " + "9" * 5000, "a number that is too long to be read"),
        ("game = " + quoted("x" * 100_000), "there is no game 'xxx"),
        ('game = "towerwars"\n' + "[[tournaments]]\n" * 200, "at most 100 tournaments, and there are 200"),
        ('game = "towerwars"\n' + "[[bots]]\n" * 300, "at most 256 bots, and there are 300"),
    ],
    ids=["deep", "long number", "long text", "many tournaments", "many bots"],
)
def test_what_is_far_too_much_is_told(text: str, sentence: str) -> None:
    with pytest.raises(TournamentFileError) as caught:
        parsed(text)
    assert sentence in caught.value.message
