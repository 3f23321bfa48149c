"""The rules of FlowerWars agree with what the game's original program gave, record by record."""

from __future__ import annotations

import gzip
import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
DATA = TESTS / "data" / "flowerwars"


@pytest.fixture(scope="module")
def golden() -> ModuleType:
    spec = spec_from_file_location("flowerwars_golden", TESTS / "golden" / "flowerwars_golden.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_record_agrees(golden: ModuleType) -> None:
    results = golden.run(DATA)
    assert results.keys() == {f"{name}.jsonl.gz" for name in golden.CHECKS}
    for name, (records, disagreements) in results.items():
        assert records > 0, name
        assert disagreements == 0, name


def test_every_reason_of_refusal_occurs_in_the_data(golden: ModuleType) -> None:
    reasons = {re.sub(r"_\d+$", "", record["reason"]) for record in read("illegal")}
    assert reasons == golden.CODES.keys()


def test_the_small_copy_has_digests_of_large_boards_too() -> None:
    for record in read("games-large"):
        assert sum("sha256" in ply for ply in record["plies"]) >= 10


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("all-positions-size-3", lambda record: record.update(sha256="0" * 64)),
        ("all-positions-size-3", lambda record: record.update(points=[1, 0])),
        ("end-rule-cases", lambda record: record["seed"]["legal_moves"].pop()),
        ("figures", lambda record: record["checks"][0].update(legal=not record["checks"][0]["legal"])),
        ("figures", lambda record: record.update(points=[1, 1])),
        ("games", lambda record: record["plies"][0]["legal"].update(flower=35)),
        ("games", lambda record: record["plies"][0].update(move="{End}")),
        ("illegal", lambda record: record.update(reason="same_flower_twice")),
        ("scoring-cases", lambda record: record.update(points=[3, 0])),
        ("tester-cases", lambda record: record["checks"][0].update(expected="Ok")),
    ],
)
def test_a_spoiled_record_is_found(
    golden: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, spoil: Any
) -> None:
    record = read(name)[0]
    spoil(record)
    with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    assert golden.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{name}.jsonl.gz 1 1\n"
