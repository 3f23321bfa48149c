"""A small helping of the fuzzing: see fuzz.py for a large one."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = spec_from_file_location("protocol_fuzz", Path(__file__).with_name("fuzz.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_but_messages_and_faults_comes_out(fuzz: ModuleType, seed: int) -> None:
    counts = fuzz.Fuzzer(seed).run(10_000)
    faults = {what.removeprefix("fault ") for what in counts if what.startswith("fault ")}
    assert faults == fuzz.CODES, "every kind of fault was met"
    assert counts["message"] > 500
    assert counts["said"] > 100
    assert counts["not allowed to say"] > 1000


def test_the_fuzzer_finds_what_raises(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise KeyError("room")

    fuzzer = fuzz.Fuzzer(1)
    monkeypatch.setattr("triarena.protocol.session.decode", broken)
    with pytest.raises(fuzz.Violation, match=r"KeyError\('room'\) came out of receive"):
        fuzzer.run(1000)
