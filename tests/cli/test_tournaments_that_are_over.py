"""Whatever moment a tool was killed in, of a tournament that is over everything says so in the end."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.organiser.staged_tournament import event_of, stage

from triarena.cli import main
from triarena.organiser.claim import claim_folder
from triarena.organiser.export.writing import NAMES
from triarena.organiser.records import TournamentState
from triarena.organiser.store import Store, StoreReader

TEXT = 'name = "Class"\ngame = "towerwars"\noptions.size = 4\nseed = 17\ngames_per_pairing = 8\n'
BOTS = '[[bots]]\nname = "Ann"\nshipped = "random"\n[[bots]]\nname = "Bob"\nshipped = "greedy"\n'
RENEWED = "its page and tables were written anew"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class.tournament").mkdir()
    return tmp_path / "class.tournament"


def said(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["tournament", *words])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


def killed(folder: Path, state: TournamentState, at_most: int | None) -> None:
    """A tournament whose tool was killed right after it, or ``cancel``, had stored the state; its page says running."""
    event = event_of("Class", names=("Ann", "Bob"), options={"size": 4, "max_plies": 1000}, games=8)
    stage(folder, event, at_most=at_most)
    with sqlite3.connect(folder / "tournament.sqlite") as database:
        database.execute("UPDATE tournament SET file_text = ?", (TEXT + BOTS,))
    database.close()
    with Store(folder) as store:
        store.set_state("running")
        with claim_folder(folder):
            said("export", "class.tournament")
        store.set_state(state, "it was cancelled" if state == "cancelled" else "")
    assert states(folder)["page"] == {"running"} if at_most is not None else {"running", "finished"}


def states(folder: Path) -> dict[str, set[str]]:
    """What the tournament's state and its event's are called, wherever they are."""
    page = (folder / "index.html").read_text(encoding="utf-8")
    with StoreReader(folder) as reader:
        contents = reader.contents()
    return {
        "page": set(re.findall('class="state ([a-z]+)"', page))
        | ({"running"} if "http-equiv=refresh" in page else set()),
        "store": {contents.state, *(event.state for event in contents.events)},
        "json": {json.loads(line)["state"] for line in said("standings", "class", "--json").splitlines()},
        "text": {re.findall("^Class: ([a-z ]+)", said("standings", "class"), re.MULTILINE)[-1]},  # of its event
    }


def everywhere(state: str) -> dict[str, set[str]]:
    return {where: {state} for where in ("page", "store", "json", "text")}


def running_attempts(folder: Path) -> int:
    with StoreReader(folder) as reader:
        return sum(attempt.state == "running" for attempt in reader.contents().attempts)


def test_to_resume_what_is_finished_writes_what_a_killed_tool_has_not(folder: Path) -> None:
    killed(folder, "finished", None)
    text = said("resume", "class.tournament")
    assert f"is finished: there is nothing to go on with; {RENEWED}" in text
    assert states(folder) == everywhere("finished")


def test_to_resume_what_was_cancelled_ends_what_a_killed_tool_has_not(folder: Path) -> None:
    killed(folder, "cancelled", 3)
    text = said("resume", "class.tournament", code=1)
    assert f"is cancelled: there is nothing to go on with; {RENEWED} [is_over]" in text
    assert states(folder) == everywhere("cancelled")
    assert running_attempts(folder) == 0


def test_to_cancel_again_ends_what_a_killed_tool_has_not(folder: Path) -> None:
    killed(folder, "cancelled", 3)
    assert running_attempts(folder) == 1
    assert said("cancel", "class") == f"the tournament in class is cancelled already; {RENEWED}\n"
    assert states(folder) == everywhere("cancelled")
    assert running_attempts(folder) == 0


def test_to_cancel_without_a_tool_ends_the_events_as_well(folder: Path) -> None:
    killed(folder, "running", 3)
    assert said("cancel", "class") == "the tournament in class is cancelled\n"
    assert states(folder) == everywhere("cancelled")


def test_what_a_tool_is_about_to_do_is_left_to_it(folder: Path) -> None:
    killed(folder, "cancelled", 3)
    with claim_folder(folder):
        assert said("cancel", "class") == "the tournament in class is cancelled already; nothing was changed\n"
        assert RENEWED not in said("resume", "class", code=1)
    assert running_attempts(folder) == 1


@pytest.mark.parametrize("state", ["running", "interrupted", "cancelled", "finished"])
def test_all_that_is_shown_of_a_tournament_calls_its_state_the_same(folder: Path, state: TournamentState) -> None:
    killed(folder, state, None if state == "finished" else 3)
    said("export", "class")
    shown = states(folder)
    assert shown["page"] == shown["json"] == shown["text"] == {"interrupted" if state == "running" else state}


@pytest.mark.parametrize("command", ["cancel", "resume", "export"])
def test_what_cannot_be_written_anew_is_told_and_the_rest_is_written(folder: Path, command: str) -> None:
    killed(folder, "cancelled", 3)
    for name in NAMES:
        (folder / name).unlink()
    (folder / "games.csv").mkdir()
    assert f"{folder / 'games.csv'} can't be written: " in said(command, "class", code=1)
    assert all((folder / name).is_file() for name in NAMES if name != "games.csv")
    assert running_attempts(folder) == (1 if command == "export" else 0)
