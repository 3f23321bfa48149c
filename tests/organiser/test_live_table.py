"""What a terminal and a pipe show of a tournament while it runs."""

from __future__ import annotations

import io
import re
import sqlite3
from contextlib import closing
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
from triarena.organiser.store_file import STORE_NAME
from triarena.organiser.wording import FAILURE_TITLES, number, percent, rank, record, seconds, signed, winners

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


def test_how_long_it_takes_is_told_once_a_twentieth_is_played(tmp_path: Path) -> None:
    for at_most, told in ((0, False), (2, False), (3, True)):
        report = report_of(_folder(tmp_path, str(at_most)), event_of("Towers"), at_most=at_most)
        assert (report.progress.seconds_left is not None) == told
        assert (" left" in shown(Live(report, BEGIN))) == told


def test_games_that_nobody_came_to_say_nothing_of_how_long_games_take(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=6)
    with Store(staged.folder) as store, closing(sqlite3.connect(staged.folder / STORE_NAME)) as database:
        before = report_event(staged.file.events[0], store.contents()).progress.seconds_left
        database.execute("UPDATE attempts SET match = '', seconds = 0.01 WHERE rowid IN (2, 3)")
        database.execute("UPDATE results SET match = '' WHERE rowid IN (2, 3)")
        database.commit()
        assert report_event(staged.file.events[0], store.contents()).progress.seconds_left == pytest.approx(before)


def test_what_may_become_more_is_told_as_the_least(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Cup", "knockout"), at_most=4)
    assert report.progress.more
    text = shown(Live(report, BEGIN))
    assert re.search(r"4 of at least 14 games played, 1 running, at least \d+ s left \(not before \d\d:\d\d\)", text)
    assert len(report.lines) == 8


@pytest.mark.parametrize("width", [50, 60, 80])
def test_how_far_it_is_takes_one_line_whatever_there_is_to_say(tmp_path: Path, width: int) -> None:
    report = report_of(tmp_path, event_of("Towers"), at_most=20)
    much = replace(report, progress=replace(report.progress, repeated=12, seconds_left=86_400.0 * 3))
    lines = shown(Live(much, BEGIN), None, width).splitlines()
    (at,) = (at for at, line in enumerate(lines) if line.startswith("20 of 56 games played"))
    assert "…" not in lines[at]
    assert lines[at + 1].split() == ["direct"] or lines[at + 1].split()[0] in ("#", "direct")


def test_at_first_the_length_of_the_games_tells_how_long_it_takes_then_the_pace(tmp_path: Path) -> None:
    """Games of 2.9 s, two at a time; the tool has needed 100 s so far."""
    for at_most, expected in ((3, 53 * 2.9 / 2), (4, 52 * 100 / 4)):
        staged = stage(_folder(tmp_path, str(at_most)), event_of("Towers"), at_most=at_most)
        with Store(staged.folder) as store:
            store.set_playing_seconds("towers", 100)
            report = report_event(staged.file.events[0], store.contents(), concurrency=2)
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


def test_whom_only_a_lot_will_part_share_their_rank_until_it_is_over(tmp_path: Path) -> None:
    staged = stage(tmp_path, replace(event_of("Towers"), tie_breaks=()), at_most=1)
    with Store(staged.folder) as store:
        report = report_event(staged.file.events[0], store.contents())
        assert [line.rank for line in report.lines] == [1, *[2] * 7]
        assert " lot" not in plain_view(report)
        store.set_event_state("towers", "stopped", "it was to end after one game")
        report = report_event(staged.file.events[0], store.contents())
        assert [line.rank for line in report.lines] == list(range(1, 9))
        assert plain_view(report).count(" lot ") == 7


def test_a_knockout_is_told_by_the_rounds_that_were_reached(tmp_path: Path) -> None:
    report = report_of(tmp_path, event_of("Cup", "knockout"))
    lines = plain_view(report, 80).splitlines()
    heads = next(at for at, line in enumerate(lines) if line.startswith("#"))
    assert "reached" in lines[heads]
    assert "points" not in lines[heads]
    reached = [line.reached for line in report.lines]
    assert reached == ["winner", "final", *["semi-finals"] * 2, *["quarter-finals"] * 4]
    assert all(
        line.reached and line.reached in text for line, text in zip(report.lines, lines[heads + 1 :], strict=True)
    )
    assert [line.reached for line in report_of(_folder(tmp_path, "towers"), event_of("Towers")).lines] == [None] * 8


def test_byes_have_a_column_wherever_there_are_any(tmp_path: Path) -> None:
    odd = event_of("Odd", "swiss", names=("A", "B", "C"), rounds=2)
    assert "byes" in plain_view(report_of(_folder(tmp_path, "odd"), odd))
    assert "byes" not in plain_view(report_of(_folder(tmp_path, "even"), event_of("Towers")))


def test_the_winner_of_an_event_is_told_in_a_line_once_it_is_over(tmp_path: Path) -> None:
    over = report_of(_folder(tmp_path, "over"), event_of("Meadow"))
    first, second, third, *_ = over.names
    assert winners(over) == f"Meadow: {first} wins, then {second} and {third}"
    assert winners(report_of(_folder(tmp_path, "runs"), event_of("Meadow"), at_most=55)) is None


def test_long_names_leave_room_for_how_a_game_stands(tmp_path: Path) -> None:
    long = RunningGame(
        "4.1.1", "Anna Amalia of Brunswick-Wolfenbuettel 7", "The other one of forty letters and more", "ply 12", 3.2
    )
    lines = shown(Live(report_of(tmp_path, event_of("Towers"), at_most=3), BEGIN, (long,)), 24, 80).splitlines()
    (line,) = (line for line in lines if "ply 12" in line)
    assert line.endswith("  ply 12, 3.2 s")
    assert "Anna Amalia" in line
    assert "The other" in line


def test_a_cancelled_event_has_no_games_that_run(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=20)
    with Store(staged.folder) as store:
        store.set_state("cancelled", "it was cancelled")
        report = report_event(staged.file.events[0], store.contents())
    text = shown(Live(report, BEGIN, RUNNING, WAITS))
    assert "ply 12" not in text
    assert "waits for" not in text
    assert "cancelled; what runs is broken off" in text


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
