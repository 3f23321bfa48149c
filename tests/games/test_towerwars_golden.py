"""The engine agrees with what the game's original program gave, record by record."""

from __future__ import annotations

import gzip
import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
DATA = TESTS / "data" / "towerwars"


@pytest.fixture(scope="module")
def golden() -> ModuleType:
    spec = spec_from_file_location("towerwars_golden", TESTS / "golden" / "towerwars_golden.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_record_agrees(golden: ModuleType) -> None:
    results = golden.run(DATA)
    assert results.keys() == {path.relative_to(DATA).as_posix() for path in DATA.rglob("*.gz")}
    for name, (records, disagreements) in results.items():
        assert records > 0, name
        assert disagreements == 0, name


def test_every_reason_of_refusal_occurs_in_the_data(golden: ModuleType) -> None:
    assert {record["reason"] for record in read("small/illegal.jsonl.gz")} == golden.CODES.keys()


def test_every_kind_of_end_occurs_in_the_data(golden: ModuleType) -> None:
    ends = {record["end"]["kind"] for record in read("small/games.jsonl.gz")}
    ends |= {after[4] for record in read("positions.jsonl.gz") for after in record["after"]}
    assert ends - {"surrender"} == golden.REASONS.keys() - {"capped"}


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("start.jsonl.gz", lambda record: record.update(hmax=9)),
        ("edge.jsonl.gz", lambda record: record["cases"][0].update(n_next=99)),
        ("positions.jsonl.gz", lambda record: record["after"].pop()),
        ("illegal.jsonl.gz", lambda record: record.update(reason="game_over")),
        ("games.jsonl.gz", lambda record: record["plies"][0].update(ms="0" * 64)),
        ("games.jsonl.gz", lambda record: record["plies"][0].update(m="A1->A2")),
    ],
)
def test_a_spoiled_record_is_found(
    golden: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, spoil: Any
) -> None:
    record = read(name if (DATA / name).exists() else f"small/{name}")[0]
    spoil(record)
    with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    assert golden.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{name} 1 1\n"
