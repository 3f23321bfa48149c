"""What the command line sees of the journal."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
import trio

from triarena.server.journal import (
    JournalError,
    MatchEnded,
    MatchOpened,
    PlyPlayed,
    Record,
    ended_since,
    list_matches,
    open_journal,
    read_match,
)
from triarena.server.journal.store import Store

from .conftest import START

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]
Ended = Callable[..., MatchEnded]


@pytest.fixture
def three_matches(url: str, opened: Opened, ply: Ply, ended: Ended) -> str:
    """The URL of a journal with an old finished match, a newer running one with two plies, and a new one."""
    old: list[Record] = [opened("abc-1", minute=0), ended("abc-1")]
    running: list[Record] = [opened("abc-2", minute=1, game="towerwars"), ply(0, "abc-2"), ply(1, "abc-2")]
    store = Store(url)
    store.open()
    assert set(store.save([*old, *running, opened("xyz", minute=2, red="Ada")])) == {None}
    store.close()
    return url


def test_matches_are_listed_newest_first_with_what_is_known_of_them(three_matches: str, ended: Ended) -> None:
    new, running, old = list_matches(three_matches)
    assert [new.match, running.match, old.match] == ["xyz", "abc-2", "abc-1"]
    assert (running.game, running.red, running.blue, running.plies) == ("towerwars", "Jörg", "Blaise", 2)
    assert (running.kind, running.winner, running.reason, running.ended_at) == (None, None, None, None)
    assert (old.kind, old.winner, old.reason, old.ended_at) == ("outcome", "red", "points", ended().at)
    assert old.plies == 0


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"limit": 2}, ["xyz", "abc-2"]),
        ({"game": "towerwars"}, ["abc-2"]),
        ({"player": "Ada"}, ["xyz"]),
        ({"player": "Blaise"}, ["xyz", "abc-2", "abc-1"]),
        ({"finished": True}, ["abc-1"]),
        ({"finished": False}, ["xyz", "abc-2"]),
        ({"finished": False, "game": "flowerwars"}, ["xyz"]),
        ({"player": "nobody"}, []),
    ],
)
def test_a_list_can_be_narrowed(three_matches: str, choice: dict[str, object], expected: list[str]) -> None:
    assert [match.match for match in list_matches(three_matches, **choice)] == expected  # type: ignore[arg-type]


def test_what_has_ended_lately_is_read_with_its_plies(url: str, opened: Opened, ply: Ply, ended: Ended) -> None:
    store = Store(url)
    store.open()
    records: list[Record] = []
    for minute, match in enumerate(("old", "late", "latest")):
        end = replace(ended(match), at=START + timedelta(minutes=10 + minute))
        records += [opened(match, minute=minute), ply(0, match), end]
    assert set(store.save([*records, opened("running", minute=5)])) == {None}
    store.close()
    moment = START + timedelta(minutes=11)
    latest, late = ended_since(url, moment, limit=10)
    assert (latest.match, late.match, late.plies) == ("latest", "late", (ply(0, "late"),))
    assert late.ended is not None
    assert late.ended.at == moment
    assert [match.match for match in ended_since(url, moment, limit=1)] == ["latest"]


def test_the_beginning_of_an_id_is_enough_if_only_one_begins_so(three_matches: str) -> None:
    assert read_match(three_matches, "x").match == "xyz"
    assert read_match(three_matches, "abc-2").match == "abc-2"


@pytest.mark.parametrize("unknown", ["", "q", "XYZ", "xy_", "x%", "xyz1"])
def test_an_id_is_compared_to_the_letter(three_matches: str, unknown: str) -> None:
    with pytest.raises(JournalError) as refused:
        read_match(three_matches, unknown)
    assert refused.value.code == "unknown_match"


def test_an_ambiguous_beginning_names_the_candidates(three_matches: str) -> None:
    with pytest.raises(JournalError, match=r"abc-1, abc-2") as refused:
        read_match(three_matches, "abc")
    assert refused.value.code == "ambiguous_match"


async def test_a_whole_id_wins_over_ids_that_begin_with_it(url: str, opened: Opened) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened("ab"))
        await journal.write(opened("abc"))
    assert read_match(url, "ab").match == "ab"


async def test_reading_works_while_a_server_writes(url: str, opened: Opened, ply: Ply, ended: Ended) -> None:
    """Every look sees a beginning of the match, and each at least as much as the look before it."""
    seen: list[int] = []

    async def look() -> None:
        await trio.lowlevel.checkpoint()
        while not seen or seen[-1] < 100:
            stored = await trio.to_thread.run_sync(read_match, url, "m1")
            assert [played.ply for played in stored.plies] == list(range(len(stored.plies)))
            seen.append(len(stored.plies))

    async with open_journal(url) as journal:
        await journal.write(opened())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            for number in range(100):
                await journal.write(ply(number))
    assert seen == sorted(seen)
    assert seen[-1] == 100


@pytest.mark.parametrize("missing", ["nothing.sqlite3", "no/such/folder/nothing.sqlite3"])
def test_reading_never_creates_a_database(tmp_path: Path, missing: str) -> None:
    url = f"sqlite:///{tmp_path}/{missing}"
    with pytest.raises(JournalError, match=missing) as refused:
        list_matches(url)
    assert refused.value.code == "no_database"
    with pytest.raises(JournalError, match=missing) as refused:
        read_match(url, "m1")
    assert refused.value.code == "no_database"
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_holds_no_journal_and_stays_empty(url: str, tmp_path: Path) -> None:
    if url.startswith("sqlite"):
        (tmp_path / "journal.sqlite3").touch()
    for _ in range(2):
        with pytest.raises(JournalError) as refused:
            list_matches(url)
        assert refused.value.code == "no_database"


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    with pytest.raises(JournalError, match=r"letter\.txt.*not a database") as refused:
        list_matches(f"sqlite:///{path}")
    assert refused.value.code == "cannot_read"


async def test_reading_changes_nothing_in_the_file(sqlite_url: str, tmp_path: Path, opened: Opened) -> None:
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
    path = tmp_path / "journal.sqlite3"
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(list_matches(sqlite_url)) == 1
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


async def test_a_path_may_hold_any_letters(tmp_path: Path, opened: Opened) -> None:
    url = "sqlite:///" + quote(f"{tmp_path}/Größe 100%41? #1 & more/Spiel.sqlite3")
    async with open_journal(url) as journal:
        await journal.write(opened())
    assert read_match(url, "m1").opened == opened()
    assert (tmp_path / "Größe 100%41? #1 & more" / "Spiel.sqlite3").is_file()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "sqlite:///PATH"),
        ("journal.sqlite3", "sqlite:///PATH"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite://host/a.db", "and a path"),
        ("sqlite:///a.db?mode=ro", "more than sqlite:/// and a path"),
        ("mysql://root@localhost/db", "'mysql'"),
        ("postgresql+asyncpg://localhost/db", "'postgresql\\+asyncpg'"),
    ],
)
def test_a_database_that_is_not_supported_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(JournalError, match=sentence) as refused:
        list_matches(url)
    assert refused.value.code == "bad_url"


@pytest.mark.parametrize(
    "url",
    ["postgresql://somebody:swordfish@127.0.0.1:1/db", "postgresql://somebody@127.0.0.1:1/db?password=swordfish"],
)
def test_an_error_never_shows_the_password_of_the_database(url: str) -> None:
    with pytest.raises(JournalError) as refused:
        list_matches(url)
    assert refused.value.code == "cannot_read"
    assert "somebody" in refused.value.message
    assert "swordfish" not in refused.value.message
