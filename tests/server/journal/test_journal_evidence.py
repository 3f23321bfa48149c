"""What is kept of a match that goes on: replaced as often as something happens, until the end brings all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from triarena.server.journal import (
    EvidenceKept,
    JournalError,
    MatchEnded,
    MatchOpened,
    PlyPlayed,
    open_journal,
    read_match,
)

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]
Ended = Callable[..., MatchEnded]


def visits(count: int) -> dict[str, Any]:
    return {"red": {"visits": [{"connection": str(number)} for number in range(count)]}}


async def test_the_latest_is_kept_and_read_with_the_match(url: str, opened: Opened, ply: Ply) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        assert read_match(url, "m1").evidence is None
        for count in range(3):
            await journal.write(EvidenceKept("m1", visits(count)))
            await journal.write(ply(count))
        assert read_match(url, "m1").evidence == visits(2)


async def test_the_end_brings_its_own_and_nothing_comes_after_it(url: str, opened: Opened, ended: Ended) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        await journal.write(EvidenceKept("m1", visits(1)))
        await journal.write(replace(ended(), evidence=visits(2)))
        with pytest.raises(JournalError) as refused:
            await journal.write(EvidenceKept("m1", visits(3)))
        assert refused.value.code == "match_ended"
        assert journal.healthy
    match = read_match(url, "m1")
    assert match.ended is not None
    assert (match.ended.evidence, match.evidence) == (visits(2), None)


async def test_of_an_unknown_match_nothing_is_kept(url: str) -> None:
    async with open_journal(url) as journal:
        with pytest.raises(JournalError) as refused:
            await journal.write(EvidenceKept("m1", visits(1)))
    assert refused.value.code == "unknown_match"


async def test_what_was_written_before_and_is_found_as_it_is_counts_as_written(url: str, opened: Opened) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        await journal.write(EvidenceKept("m1", visits(1)))
        await journal.write(EvidenceKept("m1", visits(1)), again=True)
    assert read_match(url, "m1").evidence == visits(1)
