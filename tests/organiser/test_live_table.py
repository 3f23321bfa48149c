"""What a terminal and a pipe show of a tournament while it runs."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from triarena.organiser.columns import standings_columns, text_of
from triarena.organiser.export.standings_table import standings_table
from triarena.organiser.live import Live, RunningGame, live_view, plain_view
from triarena.organiser.report import EventReport, report_event
from triarena.organiser.spec import Event
from triarena.organiser.store import Store, StoreReader
from triarena.organiser.wording import FAILURE_TITLES, number, percent, rank, record, seconds, signed

from .staged_tournament import BEGIN, event_of, stage

RUNNING = (RunningGame("4.1.1", "[bold]Ann", "Bob", "ply 12", 3.2),)
WAITS = tuple(f"Bot {number} waits for Cleo, who is not here." for number in range(9))


def report_of(folder: Path, event: Event, at_most: int | None = None) -> EventReport:
    staged = stage(folder, event, at_most=at_most)
    with StoreReader(staged.folder) as reader:
        return report_event(event, reader.contents(), concurrency=2)


def shown(live: Live, height: int | None = None, width: int = 110) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, force_terminal=False).print(live_view(live, width, height))
    return out.getvalue()


def class_of(bots: int, folder: Path, at_most: int | None = 30) -> EventReport:
    """A tournament of so many bots, some with long names, in which nobody has come late or not at all."""
    names = [f"Bot {number:02}{' of the longest name there is' * (number % 5 == 0)}" for number in range(bots)]
    return report_of(folder, event_of("Towers", names=names, games=2), at_most=at_most)


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


SIZES = [(60, 24), (80, 24), (100, 30), (120, 40), (200, 60)]


@pytest.mark.parametrize("bots", [2, 8, 40])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_live_table_fits_the_terminal_and_never_shortens_what_ranks(
    tmp_path: Path, width: int, height: int, bots: int
) -> None:
    report = class_of(bots, tmp_path, at_most=1 if bots == 2 else 30)
    games = tuple(RunningGame(f"4.{number}.1", "Ann", "Bob", "ply 12", 3.2) for number in range(20))
    lines = shown(Live(report, BEGIN, games, WAITS), height, width).splitlines()
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    whole = r" *{} +{}  .* {} +{}( |$)"
    top = [
        line
        for line in report.lines
        if any(
            re.match(
                whole.format(*map(re.escape, (rank(line), line.player, number(line.row.points), record(line)))), each
            )
            for each in lines
        )
    ]
    assert [line.player for line in top] == list(report.names[: len(top)])
    assert len(top) >= min(bots, 7)
    assert (f"and {bots - len(top)} more" in text) == (len(top) < bots)
    assert "games played" in text
    assert "and 15 more games" in text


@pytest.mark.parametrize("bots", [2, 8, 40])
@pytest.mark.parametrize("width", [width for width, _ in SIZES])
def test_the_table_at_the_end_has_the_layout_of_the_live_one(tmp_path: Path, width: int, bots: int) -> None:
    report = class_of(bots, tmp_path)
    lines = plain_view(report, width).splitlines()
    assert max(map(len, lines)) <= width
    table = lines[lines.index("") + 1 :]
    live = [line.rstrip() for line in shown(Live(report, BEGIN), None, width).splitlines()]
    assert "\n".join(table) in "\n".join(live)


def test_what_has_no_room_is_left_out_the_least_telling_first(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers"))
    harmless = [title for at, title in enumerate(FAILURE_TITLES) if not any(line.failures[at] for line in report.lines)]
    failed = [title for title in FAILURE_TITLES if title not in harmless]
    assert harmless
    assert failed

    def titles(width: int) -> list[str]:
        return " ".join(" ".join(cell.text for cell in standings_columns(report, width).headings[-1]).split()).split()

    whole = titles(200)
    assert whole == ["#", "bot", "points", "W-D-L", "rating", "encounter", *(t.split()[-1] for t in FAILURE_TITLES)]
    gone: list[str] = []
    for width in range(200, 20, -1):
        left = titles(width)
        gone += [title for title in whole if title not in left and title not in gone]
        intervals = any("±" in line for line in text_of(standings_columns(report, width)))
        assert intervals == (not {"encounter", "rating"} & set(gone) and width >= with_intervals(report))
    order = [*(t.split()[-1] for t in reversed(harmless)), "encounter", "rating"]
    assert gone == [*order, *(t.split()[-1] for t in reversed(failed))]


def with_intervals(report: EventReport) -> int:
    """How wide the table is without the failures that nobody has."""
    for width in range(20, 200):
        lines = text_of(standings_columns(report, width))
        if any("±" in line for line in lines):
            return width
    raise AssertionError("no width has room for intervals")


def test_a_name_without_room_goes_on_in_the_next_line(tmp_path: Path) -> None:
    names = ("Anna Amalia of Brunswick-Wolfenbuettel 07", "B" * 40, "王" * 20)
    report = report_of(tmp_path, event_of("Towers", names=names))
    lines = text_of(standings_columns(report, 40))
    assert max(map(cell_len, lines)) <= 40
    together = "".join("".join(line.split()[:9]) for line in lines)
    assert "王" * 3 in together
    assert sum(line.count("B") for line in lines) == 41  # and that of Anna's Brunswick
    assert sum(line.count("王") for line in lines) == 20


def test_before_the_first_game_is_over_the_duration_is_a_guess_that_is_told_as_such(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers"), at_most=0)
    assert not report.progress.measured
    assert re.search(r"roughly \d+ s to play, by clock and game \(until \d\d:\d\d\)", shown(Live(report, BEGIN)))


def test_at_first_the_length_of_the_games_tells_how_long_it_takes_then_the_pace(tmp_path: Path) -> None:
    """Games of 2.9 s, two at a time; the tool has needed 100 s so far."""
    for at_most, expected in ((3, 53 * 2.9 / 2), (4, 52 * 100 / 4)):
        staged = stage(_folder(tmp_path, str(at_most)), event_of("Towers"), at_most=at_most)
        with Store(staged.folder) as store:
            store.set_playing_seconds("towers", 100)
            report = report_event(staged.file.events[0], store.contents(), concurrency=2)
        assert report.progress.measured
        assert report.progress.seconds_left == pytest.approx(expected)


def test_of_a_cancelled_tournament_nothing_is_left_to_play(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=20)
    with Store(staged.folder) as store:
        store.set_state("cancelled", "it was cancelled")
        text = plain_view(report_event(staged.file.events[0], store.contents()))
    assert text.startswith("Towers: cancelled\n")
    assert "\n20 games played, 1 attempt failed and did not count\n" in text


def test_why_an_event_ended_early_is_told_beside_that(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=20)
    with Store(staged.folder) as store:
        store.set_event_state("towers", "stopped", "it was to end after 20 games")
        text = plain_view(report_event(staged.file.events[0], store.contents()))
    assert text.startswith("Towers: ended early: it was to end after 20 games\n")


def test_a_game_that_is_not_installed_has_no_duration(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers", game="hex", options={}), at_most=0)
    assert report.progress.seconds_left is None


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def test_nobody_has_a_rank_before_the_first_game(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers"), at_most=0)
    *_, first = plain_view(report).splitlines()
    assert first.startswith("–  ")
    assert plain_view(report).count("(lot)") == 0


def test_the_plain_table_has_a_line_per_bot_under_headings(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers"))
    head, terms, done, empty, above, titles, *rows = plain_view(report).splitlines()
    assert (head, done, empty) == ("Towers: finished", "56 games played, 2 attempts failed and did not count", "")
    assert terms == "TowerWars (size 8) · Round robin · 2 games per pairing · 1 s a move · seed 17"
    assert above.split() == ["direct", "illegal"]
    assert " ".join(titles.split()) == "# bot points W-D-L rating encounter no-shows time-outs crashes moves"
    assert [row.split()[1] for row in rows] == list(report.names)


def test_what_only_the_lot_decided_is_shown_as_such(tmp_path: Path) -> None:
    report = report_of(tmp_path, replace(event_of("Towers"), tie_breaks=()), at_most=1)
    assert plain_view(report).count("(lot)") == 7


def test_games_without_a_decision_have_a_column_as_soon_as_there_are_any(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Towers"))
    assert "unfinished" not in plain_view(report)
    lines = tuple(replace(line, row=replace(line.row, unfinished=3)) for line in report.lines)
    assert "unfinished" in plain_view(replace(report, lines=lines))
    assert "unfinished" in standings_table(replace(report, lines=lines))


def test_numbers_read_well() -> None:
    assert [number(value) for value in (0.0, -0.0, 0.5, 12.0, 31.25, 1 / 3)] == ["0", "0", "0.5", "12", "31.25", "0.33"]
    assert [number(value) for value in (-1.5, -1e9)] == ["\u22121.5", "\u22121000000000"]
    assert [signed(value) for value in (0.4, 12.5, -99.7)] == ["0", "+12", "\u2212100"]
    assert [percent(value) for value in (0.0, 0.004, 0.5, 0.976, 0.9999)] == ["<1", "<1", "50", "98", ">99"]
    assert [seconds(value) for value in (0.254, 48.4, 100, 3599, 3600 * 3 + 300)] == [
        *("0.25 s", "48 s", "2 min", "1 h 00 min", "3 h 05 min")
    ]
