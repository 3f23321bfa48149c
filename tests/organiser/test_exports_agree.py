"""Page, tables and JSON lines say what the store says, to the last game, also after a resumption."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console

from triarena.organiser.export.writing import NAMES, export_all, exports
from triarena.organiser.live import Live, live_view, plain_view
from triarena.organiser.report import EventReport, TournamentReport
from triarena.organiser.spec import Event
from triarena.organiser.store import Store, StoreReader
from triarena.organiser.store_file import STORE_NAME
from triarena.organiser.wording import number

from .read_page import read_page
from .staged_tournament import BEGIN, Staged, event_of, play, stage
from .staged_tournament import NAMES as BOTS

LATER = BEGIN + timedelta(minutes=10)


def events() -> tuple[Event, ...]:
    return (
        event_of("Towers", "round_robin"),
        event_of("Flowers", "swiss", game="flowerwars", options={"size": 5}, rounds=4, names=BOTS[:7]),
        event_of("River", "double_knockout", game="mississippi_queen", options={}),
        event_of("Challenge", "gauntlet", names=BOTS[:5], challengers=("Ann",), games=4),
        event_of("Single", "double_round_robin", names=BOTS[:4]),
    )


def text_of_live(report: EventReport) -> str:
    out = io.StringIO()
    Console(file=out, width=120).print(live_view(Live(report, LATER), 120))
    return out.getvalue()


def export(staged: Staged) -> TournamentReport:
    with StoreReader(staged.folder) as reader:
        return export_all(staged.folder, staged.file, reader.contents(), LATER)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def assert_agreement(staged: Staged, report: TournamentReport) -> int:
    """All exports against the database; returns how many games there are."""
    folder = staged.folder
    games = rows_of(folder / "games.csv")
    lines = [json.loads(line) for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines()]
    standings = rows_of(folder / "standings.csv")
    page = read_page((folder / "index.html").read_text(encoding="utf-8"))
    database = sqlite3.connect(folder / STORE_NAME)
    query = "SELECT event, fixture, red, blue, seed, winner, reason, red_score, blue_score, plies, match FROM results"
    stored = sorted(database.execute(query).fetchall())
    failed = database.execute("SELECT count(*) FROM attempts WHERE state = 'failed'").fetchone()[0]
    database.close()

    keys = ("event", "id", "red", "blue", "seed", "winner_side", "reason", "red_score", "blue_score", "plies", "match")
    assert sorted(tuple(line[key] for key in keys) for line in lines) == stored
    assert sorted(tuple(game[key] for key in keys) for game in games) == sorted(
        tuple("" if value is None else str(value) for value in row) for row in stored
    )
    assert sum(attempt["state"] == "failed" for line in lines for attempt in line["attempts"]) == failed
    for event in report.events:
        slug = event.event.slug
        mine = [game for game in games if game["event"] == slug]
        shown = [row for row in page.rows(slug, "games") if len(row) == 10]
        assert [(row[0], row[1], row[3], row[9].split()[2]) for row in shown] == [
            (game["id"], game["red"], game["blue"], game["match"]) for game in mine
        ]
        assert [row[6] for row in shown] == [game["plies"] for game in mine]
        won = {"red": "1–0", "blue": "0–1", "": "½–½"}
        assert [row[2] for row in shown] == [won[game["winner_side"]] for game in mine]
        table = [line for line in standings if line["event"] == slug]
        for line, known in zip(table, event.lines, strict=True):  # to the last digit
            rated = [line[key] for key in ("rating", "rating_low", "rating_high")]
            estimate = known.rating
            assert rated == ["" if estimate is None else str(getattr(estimate, key)) for key in ("elo", "low", "high")]
        assert [(row[1], row[2], row[3]) for row in page.rows(slug, "standings")] == [
            (line["player"], number(float(line["points"])), f"{line['wins']}-{line['draws']}-{line['losses']}")
            for line in table
        ]
        for line in table:
            own = [game for game in mine if line["player"] in (game["red"], game["blue"])]
            assert len(own) == int(line["played"])
            assert sum(game["winner"] == line["player"] for game in own) == int(line["wins"])
            made = sum(float(game["red_points" if game["red"] == line["player"] else "blue_points"]) for game in own)
            assert made + int(line["byes"]) == float(line["points"])
            failures = sum(int(line[kind]) for kind in ("no_shows", "time_outs", "crashes", "illegal_moves"))
            assert sum(line["player"] in game["offenders"].split() for game in own) == failures
    return len(games)


def test_all_exports_of_all_formats_agree_with_the_store(tmp_path: Path) -> None:
    staged = stage(tmp_path, *events())
    report = export(staged)
    assert assert_agreement(staged, report) == sum(event.progress.done for event in report.events) > 140
    assert all(event.progress.left == 0 and not event.progress.more for event in report.events)


def test_exports_agree_in_the_middle_and_are_the_same_after_a_resumption_as_without(tmp_path: Path) -> None:
    interrupted, straight = tmp_path / "interrupted", tmp_path / "straight"
    interrupted.mkdir()
    straight.mkdir()
    staged = stage(interrupted, *events(), at_most=9)
    halfway = export(staged)
    assert assert_agreement(staged, halfway) == 9 * len(events())
    assert all(event.progress.running == 1 and event.progress.left > 0 for event in halfway.events)
    with Store(interrupted) as store:
        store.give_up_running("The tool was killed.", BEGIN)
        for event in staged.file.events:
            play(store, event)
        store.set_state("finished")
    assert_agreement(staged, export(staged))
    other = stage(straight, *events())
    export(other)
    assert (interrupted / "standings.csv").read_text() == (straight / "standings.csv").read_text()


def test_exports_are_the_same_each_time_they_are_made(tmp_path: Path) -> None:
    staged = stage(tmp_path, *events())
    first, second = (
        {name: "".join(pieces) for name, pieces in exports(export(staged), LATER, "x {match}").items()}
        for _ in range(2)
    )
    assert first == second
    assert {path.name for path in tmp_path.iterdir()} >= set(NAMES)


@pytest.mark.parametrize("at_most", [None, 0, 1, 9])
def test_exports_and_live_tables_are_the_same_whether_games_are_read_at_once_or_round_by_round(
    tmp_path: Path, at_most: int | None
) -> None:
    staged = stage(tmp_path, *events(), event_of("Steps", "ladder", rounds=4), at_most=at_most)
    said: list[list[str]] = []
    with StoreReader(tmp_path) as reader, reader.snapshot() as snapshot:
        for source in (StoreReader(tmp_path).contents(), snapshot):
            report = export_all(tmp_path, staged.file, source, LATER)
            said.append([(tmp_path / name).read_text(encoding="utf-8") for name in NAMES])
            said[-1] += [plain_view(event) for event in report.events]
            said[-1] += [text_of_live(event) for event in report.events]
    assert said[0] == said[1]
