"""What a terminal and a pipe show of a tournament while it runs."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from triarena.organiser.live import Live, RunningGame, live_view, plain_view
from triarena.organiser.report import EventReport, report_event
from triarena.organiser.spec import Event
from triarena.organiser.store import StoreReader
from triarena.organiser.wording import number, percent, seconds, signed

from .staged_tournament import BEGIN, event_of, stage

RUNNING = (RunningGame("4.1.1", "[bold]Ann", "Bob", "ply 12", 3.2),)
WAITS = tuple(f"Bot {number} waits for Cleo, who is not here." for number in range(9))


def report_of(folder: Path, event: Event, at_most: int | None = None) -> EventReport:
    staged = stage(folder, event, at_most=at_most)
    with StoreReader(staged.folder) as reader:
        return report_event(event, reader.contents(), concurrency=2)


def shown(live: Live, height: int | None = None, width: int = 110) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, force_terminal=False).print(live_view(live, height))
    return out.getvalue()


def test_the_live_table_shows_standings_progress_games_waits_and_the_last_results(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers"), at_most=20)
    text = shown(Live(report, BEGIN + timedelta(minutes=1), RUNNING, WAITS))
    assert "20 of 56 games played, 1 running, about 52 s left (until 18:31)" in text
    for line in report.lines:
        assert line.player in text
    assert "[bold]Ann v Bob  ply 12, 3.2 s" in text
    assert "Bot 3 waits for Cleo" in text
    assert "Bot 4 waits for Cleo" not in text
    assert "and 5 more wait" in text
    newest = max((game for game in report.games() if game.result), key=lambda game: game.result.ended_at)  # type: ignore[union-attr]
    assert f"{newest.fixture.id}: {newest.fixture.red}" in text


def test_the_live_table_fits_the_terminal(tmp_path: Path) -> None:
    names = tuple(f"Bot number {number:02}, which has a long name" for number in range(24))
    report = report_of(tmp_path, event_of("Towers", names=names), at_most=50)
    for height in (15, 24, 50):
        lines = shown(Live(report, BEGIN, RUNNING, WAITS), height, width=80).splitlines()
        assert len(lines) <= max(height, 21)
        assert max(map(len, lines)) <= 80


def test_the_plain_table_has_a_line_per_bot_under_headings(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers"))
    head, terms, done, empty, above, titles, *rows = plain_view(report).splitlines()
    assert (head, done, empty) == ("Towers: finished", "56 games played, 2 attempts failed and did not count", "")
    assert terms == "TowerWars (size 8) · Round robin · 2 games per pairing · 1 s a move · seed 17"
    assert above.split() == ["direct", "illegal"]
    assert " ".join(titles.split()) == "# bot points W-D-L rating encounter no-shows time-outs crashes moves"
    assert [row.split()[1] for row in rows] == list(report.names)


def test_what_only_the_lot_decided_is_shown_as_such(tmp_path: Path) -> None:
    report = report_of(tmp_path, replace(event_of("Towers"), tie_breaks=()), at_most=0)
    assert plain_view(report).count("(lot)") == 8


def test_numbers_read_well() -> None:
    assert [number(value) for value in (0.0, -0.0, 0.5, 12.0, 31.25, 1 / 3)] == ["0", "0", "0.5", "12", "31.25", "0.33"]
    assert [number(value) for value in (-1.5, -1e9)] == ["\u22121.5", "\u22121000000000"]
    assert [signed(value) for value in (0.4, 12.5, -99.7)] == ["0", "+12", "\u2212100"]
    assert [percent(value) for value in (0.0, 0.004, 0.5, 0.976, 0.9999)] == ["<1", "<1", "50", "98", ">99"]
    assert [seconds(value) for value in (0.254, 48.4, 100, 3599, 3600 * 3 + 300)] == [
        *("0.25 s", "48 s", "2 min", "1 h 00 min", "3 h 05 min")
    ]
