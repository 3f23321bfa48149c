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
DATA = TESTS / "data" / "mississippi_queen"


@pytest.fixture(scope="module")
def golden() -> ModuleType:
    spec = spec_from_file_location("mississippi_queen_golden", TESTS / "golden" / "mississippi_queen_golden.py")
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
    assert results.keys() == {path.name for path in DATA.glob("*.gz")} == golden.CHECKS.keys()
    for name, (records, disagreements) in results.items():
        assert records > 0, name
        assert disagreements == 0, name


def test_every_reason_of_refusal_occurs_in_the_data_and_has_a_code_of_its_own(golden: ModuleType) -> None:
    dry = [r for r in read("illegal.jsonl.gz") if not any("S" in c for segment in r["board"] for c in segment["cols"])]
    assert {record["kindRevealedOnly"] for record in dry} == golden.CODES.keys()
    assert len(set(golden.CODES.values())) == len(golden.CODES)


def test_every_kind_of_end_occurs_in_the_data(golden: ModuleType) -> None:
    results = [record["result"] for record in read("games.jsonl.gz")]
    reasons = {result.get("reason") for result in results}
    assert reasons == {"GOAL", "STUCK", "SEGMENT_DISTANCE", "DIFFERING_SCORES", "TIE", None}
    assert {condition for result in results for condition in result.get("conds", [])} >= golden.CONDITIONS.keys()


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("boards.jsonl.gz", lambda record: record["segments"][0]["fields"][0].update(stream="L")),
        ("boards-special.jsonl.gz", lambda record: record.update(dock=[0, 0, 0])),
        ("games.jsonl.gz", lambda record: record["plies"][1].update(n=3)),
        ("games.jsonl.gz", lambda record: record["plies"][1].update(sha="0" * 64)),
        ("games.jsonl.gz", lambda record: record["plies"][1]["state"]["ONE"].update(coal=-1)),
        ("games.jsonl.gz", lambda record: record["plies"][0].update(move="M6")),
        ("games.jsonl.gz", lambda record: record["result"]["scores"]["ONE"].append(1)),
        ("games.jsonl.gz", lambda record: record["final"].update(vis=1)),
        ("illegal.jsonl.gz", lambda record: record.update(kindRevealedOnly="OK")),
        ("scenarios.jsonl.gz", lambda record: record["steps"][0]["after"].update(nextDir="L")),
        ("scenarios.jsonl.gz", lambda record: record["steps"][0]["result"].update(over=True)),
    ],
)
def test_a_spoiled_record_is_found(
    golden: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, spoil: Any
) -> None:
    record = read(name)[0]
    spoil(record)
    with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    assert golden.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{name} 1 1\n"
