"""The store: what was said to be recorded is there, whatever died in between, and nothing is misread."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from triarena.organiser.claim import claim_folder, is_claimed
from triarena.organiser.folder import BROKEN_OFF, Folder
from triarena.organiser.records import (
    NOBODYS_FAILURES,
    Note,
    Spent,
    StoredEvent,
    StoredPlayer,
    StoredResult,
    StoreError,
    TournamentState,
)
from triarena.organiser.store import Store, StoreReader, check_agreement, create_store
from triarena.organiser.store_file import STORE_NAME, VERSION
from triarena.organiser.wording import reason
from triarena.tournament.values import Encounter, Fixture, Plan, Played, Round

from .staged_tournament import event_of, file_of, stage

NOW = datetime(2031, 5, 4, 12, 30, tzinfo=UTC)
EVENTS = (StoredEvent("towers", 2**53 - 1), StoredEvent("flowers", 7))
PLAYERS = (StoredPlayer("Ann", "secret-of-ann"), StoredPlayer("Bob"), StoredPlayer("<Cy>"))
FIRST = Fixture(1, 1, 1, "Ann", "Bob", 2**53 - 1, "1.1/1")
SECOND = Fixture(1, 1, 2, "Bob", "Ann", 2**53 - 1, "1.1/1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "class.toml"
    path.write_text("name = 'Évening'\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "class.tournament"
    folder.mkdir()
    return folder


@pytest.fixture
def store(folder: Path, file: Path) -> Iterator[Store]:
    with create_store(folder, file, EVENTS, PLAYERS, NOW) as store:
        yield store


def result_of(fixture: Fixture, attempt: int = 1, match: str = "m1") -> StoredResult:
    played = Played(fixture, "blue", "timeout", ("red",), 3.0, 4.5, 17)
    return StoredResult("towers", played, attempt, match, "Ann took too long.", NOW, NOW + timedelta(seconds=2))


def test_a_new_store_holds_the_file_and_its_place_and_the_drawn_seeds(store: Store, file: Path) -> None:
    contents = store.contents()
    assert (contents.file_text, contents.file_folder) == (file.read_text(encoding="utf-8"), file.parent)
    assert (contents.created_at, contents.state, contents.events) == (NOW, "running", EVENTS)
    assert contents.players == ("Ann", "Bob", "<Cy>")
    assert store.players() == PLAYERS


def test_only_the_owner_may_read_the_store_and_what_lies_beside_it(store: Store, folder: Path) -> None:
    store.set_state("interrupted")
    files = [path for path in folder.iterdir() if path.name.startswith(STORE_NAME)]
    assert len(files) == 3
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_tokens_are_neither_in_the_contents_nor_in_the_representation_of_a_player(store: Store) -> None:
    assert "secret-of-ann" not in repr(store.contents())
    assert "secret-of-ann" not in repr(store.players())


def test_a_result_comes_back_as_it_was_recorded_from_another_opening(store: Store, folder: Path) -> None:
    attempt = store.begin_attempt("towers", FIRST.id, NOW)
    store.place_attempt(attempt, room="r1")
    spent = Spent(2.0, 15.5, 1000.25, 900.0)
    store.record_result(result_of(FIRST), spent=spent, folder="irregular/towers-1.1.1")
    store.close()
    with Store(folder) as again:
        contents = again.contents()
        assert contents.results == (result_of(FIRST),)
        assert again.played("towers") == contents.played("towers") == {"1.1.1": result_of(FIRST).played}
        assert again.played("flowers") == {}
        (ended,) = contents.attempts
        assert (ended.state, ended.room, ended.match, ended.spent) == ("played", "r1", "m1", spent)
        assert (ended.ended_at, ended.folder) == (NOW + timedelta(seconds=2), "irregular/towers-1.1.1")


def test_different_reasons_of_both_who_failed_are_kept(store: Store) -> None:
    reasons = ("start_failed", "no_show")
    played = Played(FIRST, None, "no_show", ("red", "blue"), reasons=reasons)
    store.begin_attempt("towers", FIRST.id, NOW)
    store.record_result(replace(result_of(FIRST), played=played))
    assert store.played("towers") == {FIRST.id: played}
    assert [played.reason_of(side) for side in played.offenders] == list(reasons)
    assert reason(played) == "start failed: Ann; no show: Bob"


def test_a_failed_attempt_is_no_result_and_the_next_one_has_the_next_number(store: Store) -> None:
    first = store.begin_attempt("towers", FIRST.id, NOW)
    store.fail_attempt(first, "The server died.", NOW, folder="irregular/x")
    second = store.begin_attempt("towers", FIRST.id, NOW)
    assert (first.number, second.number) == (1, 2)
    assert store.played("towers") == {}
    assert [(each.state, each.why) for each in store.attempts("towers", FIRST.id)] == [
        ("failed", "The server died."),
        ("running", ""),
    ]


@pytest.mark.parametrize("why", sorted(NOBODYS_FAILURES))
def test_an_attempt_that_somebody_broke_off_did_not_go_wrong(store: Store, why: str) -> None:
    first = store.begin_attempt("towers", FIRST.id, NOW)
    store.fail_attempt(first, "The server died.", NOW)
    store.begin_attempt("towers", FIRST.id, NOW)
    store.give_up_running(why, NOW)
    assert [(each.state, each.went_wrong) for each in store.attempts("towers", FIRST.id)] == [
        ("failed", True),
        ("failed", False),
    ]


def test_a_folder_is_added_to_an_attempt_that_has_its_result(store: Store) -> None:
    attempt = store.begin_attempt("towers", FIRST.id, NOW)
    store.record_result(result_of(FIRST))
    store.keep_folder(attempt, "irregular/towers-1.1.1")
    (ended,) = store.attempts("towers", FIRST.id)
    assert (ended.state, ended.folder) == ("played", "irregular/towers-1.1.1")


def test_the_options_of_the_last_time_are_kept_also_in_a_store_of_an_earlier_version(
    store: Store, folder: Path
) -> None:
    assert store.options() == {}
    store.keep_options({"--host": "0.0.0.0", "--port": "1"})
    store.keep_options({"--port": "2"})
    assert store.options() == {"--port": "2"}
    store.close()
    with closing(sqlite3.connect(folder / STORE_NAME)) as connection:
        connection.execute("DROP TABLE options")
    with Store(folder) as again:
        assert again.options() == {}


def test_a_fixture_is_tried_once_at_a_time(store: Store) -> None:
    store.begin_attempt("towers", FIRST.id, NOW)
    with pytest.raises(StoreError, match="being played already") as caught:
        store.begin_attempt("towers", FIRST.id, NOW)
    assert caught.value.code == "already_running"


def test_a_fixture_has_one_result_for_ever(store: Store) -> None:
    store.begin_attempt("towers", FIRST.id, NOW)
    store.record_result(result_of(FIRST))
    with pytest.raises(StoreError, match="is not running"):
        store.record_result(result_of(FIRST))
    with pytest.raises(StoreError) as caught:
        store.begin_attempt("towers", FIRST.id, NOW)
    assert caught.value.code == "already_played"
    assert len(store.results("towers")) == 1


def test_a_result_without_a_running_attempt_is_refused_and_leaves_no_trace(store: Store) -> None:
    attempt = store.begin_attempt("towers", FIRST.id, NOW)
    store.fail_attempt(attempt, "cancelled", NOW)
    with pytest.raises(StoreError) as caught:
        store.record_result(result_of(FIRST))
    assert caught.value.code == "not_running"
    assert store.contents().results == ()


def test_a_refused_result_leaves_its_attempt_running(store: Store) -> None:
    store.begin_attempt("towers", FIRST.id, NOW)
    stranger = Fixture(1, 1, 1, "Ann", "Nobody", 1, "p")
    with pytest.raises(StoreError):
        store.record_result(result_of(stranger))
    assert [attempt.state for attempt in store.attempts("towers", FIRST.id)] == ["running"]


def test_what_a_killed_tool_left_running_is_given_up_and_told(store: Store, folder: Path) -> None:
    attempt = store.begin_attempt("towers", FIRST.id, NOW)
    store.place_attempt(attempt, room="r9", match="m9")
    store.begin_attempt("towers", SECOND.id, NOW)
    store.close()
    with Store(folder) as again:
        left = again.give_up_running("The tool was killed.", NOW)
        assert [(each.fixture, each.match) for each in left] == [("1.1.1", "m9"), ("1.1.2", "")]
        assert {each.state for each in again.contents().attempts} == {"failed"}
        assert again.give_up_running("again", NOW) == ()


def test_states_notes_and_playing_time_are_kept(store: Store) -> None:
    store.set_state("cancelled", "It was cancelled by the organiser.")
    store.set_event_state("flowers", "stopped", "Ann is better.")
    store.set_playing_seconds("flowers", 12.5)
    note = Note(NOW, "cannot_start", "Bob can't be started.", event="flowers", player="Bob")
    store.note(note)
    contents = store.contents()
    assert store.state() == "cancelled"
    assert (contents.state, contents.why) == ("cancelled", "It was cancelled by the organiser.")
    assert contents.event("flowers") == StoredEvent("flowers", 7, "stopped", "Ann is better.", 12.5)
    assert contents.notes == (note,)


def test_an_unknown_event_is_told(store: Store) -> None:
    with pytest.raises(StoreError, match="no event 'boats'"):
        store.set_event_state("boats", "running")
    with pytest.raises(StoreError, match="no event 'boats'; it has towers, flowers"):
        store.contents().event("boats")


def test_moments_without_a_zone_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        store.begin_attempt("towers", FIRST.id, NOW.replace(tzinfo=None))


def test_readers_read_while_the_tool_writes_and_see_whole_results(store: Store, folder: Path) -> None:
    torn: list[str] = []
    seen: list[list[int]] = []
    done = threading.Event()

    def read() -> None:
        counts: list[int] = []
        seen.append(counts)
        with StoreReader(folder) as reader:
            while not done.is_set() or counts[-1:] != [60]:
                contents = reader.contents()
                ended = {attempt.fixture for attempt in contents.attempts if attempt.state == "played"}
                if ended != set(contents.played("towers")):
                    torn.append(f"{ended}")
                counts.append(len(contents.results))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, 61):
        fixture = Fixture(1, 1, number, "Ann", "Bob", number, f"p{number}")
        store.begin_attempt("towers", fixture.id, NOW)
        store.record_result(result_of(fixture))
    done.set()
    for reader in readers:
        reader.join(30)
    assert torn == []
    assert [counts[-1] for counts in seen] == [60, 60]
    assert all(counts == sorted(counts) for counts in seen)


def test_a_reader_cannot_write(store: Store, folder: Path) -> None:
    with StoreReader(folder) as reader:
        assert not hasattr(reader, "set_state")
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._connection.execute("UPDATE tournament SET state = 'finished'")


def test_a_second_tournament_is_not_made_over_the_first(store: Store, folder: Path, file: Path) -> None:
    with pytest.raises(StoreError, match="already holds a tournament") as caught:
        create_store(folder, file, EVENTS, PLAYERS, NOW)
    assert caught.value.code == "store_exists"
    assert store.contents().state == "running"


def test_of_several_who_begin_a_tournament_in_one_folder_at_the_same_moment_one_does(
    tmp_path: Path, file: Path
) -> None:
    several, begun, refused = 6, list[Store](), list[str]()
    start = threading.Barrier(several)

    def begin() -> None:
        start.wait(30)
        try:
            begun.append(Folder(tmp_path / "new.tournament").make(file, file_of(tmp_path, event_of("Towers")), NOW))
        except StoreError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=begin) for _ in range(several)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert refused == ["store_exists"] * (several - 1)
    (store,) = begun
    with store:
        assert store.is_in_place()
        assert store.contents().state == "running"


def test_a_store_half_made_is_none(folder: Path, file: Path) -> None:
    (folder / f"{STORE_NAME}.new").write_bytes(b"torn")
    with pytest.raises(StoreError) as caught:
        StoreReader(folder)
    assert caught.value.code == "no_store"
    create_store(folder, file, EVENTS, PLAYERS, NOW).close()
    assert not (folder / f"{STORE_NAME}.new").exists()


def test_missing_foreign_damaged_and_newer_stores_are_told_apart(folder: Path, file: Path) -> None:
    path = folder / STORE_NAME

    def code() -> str:
        with pytest.raises(StoreError) as caught:
            Store(folder).close()
        assert str(caught.value).endswith(".")
        return caught.value.code

    assert code() == "no_store"
    path.write_bytes(b"")
    assert code() == "not_a_store"
    path.write_bytes(b"name = 'my tournament'\n" * 100)
    assert code() == "not_a_store"
    path.unlink()
    sqlite3.connect(path).executescript("CREATE TABLE songs (title); INSERT INTO songs VALUES ('x')")
    assert code() == "not_a_store"
    path.unlink()
    create_store(folder, file, EVENTS, PLAYERS, NOW).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert code() == "damaged"
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    assert code() == "other_version"


def test_results_must_agree_with_the_plan() -> None:
    plan = Plan((Round(1, (Encounter(1, "Ann", "Bob", (FIRST, SECOND)),)),), complete=True)
    check_agreement("towers", plan, {"1.1.1": Played(FIRST, None, "points")})
    other_seed = Fixture(1, 1, 1, "Ann", "Bob", 5, "1.1/1")
    with pytest.raises(StoreError, match=r"stored as Ann v Bob, seed 5, but .* Ann v Bob, seed 9007199254740991"):
        check_agreement("towers", plan, {"1.1.1": Played(other_seed, None, "points")})
    third = Fixture(2, 1, 1, "Ann", "Bob", 5, "2.1/1")
    with pytest.raises(StoreError, match="no such game"):
        check_agreement("towers", plan, {"2.1.1": Played(third, None, "points")})


HOLD = """
import sys
from pathlib import Path
from triarena.organiser.claim import claim_folder, is_claimed
from triarena.organiser.folder import BROKEN_OFF, Folder
with claim_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_claimed_folder_is_refused_with_its_holder_and_free_once_that_is_killed(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreError, match=f"process {holder.pid} on ") as caught, claim_folder(folder, patience=0):
            pass
        assert caught.value.code == "folder_in_use"
    finally:
        holder.kill()
        holder.communicate()
    with claim_folder(folder):
        pass


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from triarena.organiser.records import StoredResult
from triarena.organiser.store import Store
from triarena.tournament.values import Fixture, Played
at = datetime(2031, 5, 4, tzinfo=UTC)
store = Store(Path(sys.argv[1]))
for number in range(1, 31):
    fixture = Fixture(1, 1, number, "Ann", "Bob", number, f"p{number}")
    store.begin_attempt("towers", fixture.id, at)
    store.record_result(StoredResult("towers", Played(fixture, "red", "base"), 1, "m", "won", at, at))
    print(fixture.id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_every_result_that_was_recorded_survives_a_kill(store: Store, folder: Path) -> None:
    store.close()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, str(folder)]
    killed = subprocess.run(command, check=False, capture_output=True, env=environment)
    assert killed.returncode < 0, killed.stderr
    with StoreReader(folder) as reader:
        assert sorted(reader.played("towers")) == sorted(killed.stdout.decode().split())
        assert len(reader.played("towers")) == 30


def test_a_tournament_that_nobody_runs_any_more_was_broken_off(tmp_path: Path) -> None:
    stage(tmp_path, event_of(), at_most=3)
    folder = Folder(tmp_path)
    with claim_folder(tmp_path):
        assert folder.contents().state == "running"
    contents = folder.contents()
    assert (contents.state, contents.why) == ("interrupted", BROKEN_OFF)
    with StoreReader(tmp_path) as reader:
        assert reader.state() == "running"


@pytest.mark.parametrize("state", ["interrupted", "finished", "cancelled"])
def test_a_tournament_that_was_ended_in_order_stands_as_it_was_left(tmp_path: Path, state: TournamentState) -> None:
    stage(tmp_path, event_of(), at_most=3)
    with Store(tmp_path) as store:
        store.set_state(state, "so it is")
    assert (Folder(tmp_path).contents().state, Folder(tmp_path).contents().why) == (state, "so it is")


def test_asking_who_holds_a_folder_takes_it_from_nobody(tmp_path: Path) -> None:
    assert not is_claimed(tmp_path)
    with claim_folder(tmp_path):
        assert is_claimed(tmp_path)
        assert is_claimed(tmp_path)
    assert not is_claimed(tmp_path)
    with claim_folder(tmp_path, patience=0):
        pass
