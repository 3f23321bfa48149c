"""docs/tournament-file.md has every key with its default, and every example there, and examples/class.toml, is good."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from triarena.organiser import schema
from triarena.organiser.dry_run import dry_run
from triarena.organiser.events import DEFAULT_TIE_BREAKS, SWISS_TIE_BREAKS
from triarena.organiser.file import parse_tournament, read_tournament
from triarena.tournament.formats import FORMATS
from triarena.tournament.tie_breaks import TIE_BREAKS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tournament-file.md").read_text("utf-8")
FILES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
TABLES = dict(re.findall(r"<!-- keys (\w+) -->\n\|.*\n\|.*\n((?:\|.*\n)+)", PAGE))
INHERITED = set(schema.EventTable.model_fields)
CLOSED = [
    schema.EventTable,
    schema.ClockTable,
    schema.PointsTable,
    schema.StopTable,
    schema.SprtTable,
    schema.BotTable,
    schema.TournamentTable,
    schema.FileTable,
    schema.LimitsTable,
]


def cells(model: type[BaseModel]) -> list[list[str]]:
    """The rows of the table for a model: key, kind, default, example, meaning."""
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in TABLES[model.__name__].splitlines()]


def own_keys(model: type[BaseModel]) -> list[str]:
    """The keys of a model that are not explained with the settings of all tournaments."""
    shared = INHERITED if issubclass(model, schema.EventTable) and model is not schema.EventTable else ()
    return [key for key in model.model_fields if key not in shared]


def test_there_is_a_table_for_every_model() -> None:
    models = {
        name
        for name, value in vars(schema).items()
        if isinstance(value, type) and issubclass(value, schema.Table) and value is not schema.Table
    }
    assert models == set(TABLES) == {model.__name__ for model in CLOSED}


@pytest.mark.parametrize("model", CLOSED)
def test_every_key_of_the_file_is_explained(model: type[BaseModel]) -> None:
    assert sorted(row[0] for row in cells(model)) == sorted(f"`{key}`" for key in own_keys(model))
    assert all(len(row) == 5 and row[4] for row in cells(model))


@pytest.mark.parametrize("model", CLOSED)
def test_every_default_is_the_one_that_is_taken(model: type[BaseModel]) -> None:
    for key, _, default, *_ in cells(model):
        field = model.model_fields[key.strip("`")]
        if default.startswith("`"):
            (told,) = tomllib.loads(f"value = {default.strip('`')}").values()
            assert told == field.default or field.default is None, key
        elif field.default is not None and isinstance(field.default, int | float | str):
            pytest.fail(f"the default of {key} is {field.default}")


@pytest.mark.parametrize("model", CLOSED)
def test_every_key_has_an_example_that_is_accepted(model: type[BaseModel]) -> None:
    for key, _, _, example, _ in cells(model):
        table = tomllib.loads(example.strip("`"))
        assert list(table) == [key.strip("`")]
        base = {"name": "Ann"} if model is schema.BotTable else {}
        assert key.strip("`") in model.model_validate(base | table).model_fields_set


@pytest.mark.parametrize("text", FILES)
def test_every_file_on_the_page_can_be_used(text: str, tmp_path: Path) -> None:
    for path in re.findall(r"[\w/]+\.py", text):
        for place in (tmp_path / path, tmp_path / "bots" / path):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    file = parse_tournament(text, tmp_path, file="page.toml", draw_seed=lambda slug: 1, concurrency=1)
    assert dry_run(file)


def test_every_format_and_tie_break_is_explained() -> None:
    for name in (*FORMATS, *TIE_BREAKS):
        assert f"| `{name}` |" in PAGE
    for names in (DEFAULT_TIE_BREAKS, SWISS_TIE_BREAKS):
        assert ", ".join(f"`{name}`" for name in names) in " ".join(PAGE.split())


def test_the_example_is_an_evening_with_all_games_three_formats_and_every_kind_of_bot() -> None:
    file = read_tournament(ROOT / "examples" / "class.toml", draw_seed=lambda slug: 1, concurrency=1)
    assert [event.game for event in file.events] == ["flowerwars", "towerwars", "mississippi_queen"]
    assert [event.format for event in file.events] == ["round_robin", "swiss", "double_knockout"]
    assert len(file.players) == 8
    assert {player.kind for player in file.players} == {"file", "shipped", "command", "remote"}
    assert sum(player.kind == "remote" for player in file.players) == 2
    assert "All together: about" in dry_run(file)
