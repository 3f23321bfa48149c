"""The page: nothing that a bot is called or says becomes markup, and it needs nothing but itself."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest

from triarena.organiser.export.markup import join, tag, text
from triarena.organiser.export.rating_chart import NARROW, WIDE, Drawing, rating_chart
from triarena.organiser.export.records import standings_csv
from triarena.organiser.export.writing import export_all
from triarena.organiser.live import plain_view
from triarena.organiser.report import TournamentReport, report_event, report_tournament
from triarena.organiser.spec import FormatName
from triarena.organiser.store import Store, StoreReader
from triarena.organiser.store_file import STORE_NAME
from triarena.organiser.wording import glicko2, rating
from triarena.tournament.ratings import Estimate

from .read_page import page, read_page
from .staged_tournament import BEGIN, Staged, event_of, file_of, stage

LATER = BEGIN + timedelta(minutes=10)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=y>',
    "{match}",
    "&amp;",
    "a\u202eb",
    "</title>",
    "'+1",
    "=2",
)


def report_of(staged: Staged) -> TournamentReport:
    with StoreReader(staged.folder) as reader:
        return report_tournament(staged.file, reader.contents())


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    event = event_of("Towers", names=HOSTILE)
    plain = stage(_folder(tmp_path, "plain"), event_of("Towers"), name="Fine")
    hostile = stage(_folder(tmp_path, "hostile"), replace(event, name="<b>&"), name="</title><script>x()</script>")
    read, unharmed = (read_page(page(report_of(each), LATER, "triarena replay {match}")) for each in (hostile, plain))
    assert read.unclosed == []
    assert {tag for tag, _ in read.elements} == {tag for tag, _ in unharmed.elements}
    assert {key for _, attributes in read.elements for key in attributes} == {
        key for _, attributes in unharmed.elements for key in attributes
    }
    assert sum(tag == "script" for tag, _ in read.elements) == 1
    names = {row[1] for row in read.rows("towers", "standings")}
    assert names == {name.replace("\u202e", "\ufffd") for name in HOSTILE}


def test_what_bots_and_referees_say_stays_text(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"))
    database = sqlite3.connect(staged.folder / STORE_NAME)
    database.execute("UPDATE results SET message = ?, reason = '<u>', match = '<i>'", ("<iframe>\x00",))
    database.execute("UPDATE notes SET text = '<marquee>'")
    database.execute("UPDATE attempts SET why = '<blink>' WHERE state = 'failed'")
    database.commit()
    database.close()
    read = read_page(page(report_of(staged), LATER, "triarena replay {match}"))
    assert {"iframe", "u", "marquee", "blink"}.isdisjoint(tag for tag, _ in read.elements)
    assert "<iframe>\ufffd" in str(read.rows("towers", "games"))


def test_the_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    html = page(report_of(stage(tmp_path, event_of("Towers"), event_of("Flowers"))), LATER, "triarena replay {match}")
    read = read_page(html)
    for tag_name, attributes in read.elements:
        assert tag_name not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not {key for key in attributes if key == "src" or key.startswith("on")}
        assert str(attributes.get("href", "#")).startswith("#")
    assert not re.search(r"https?://|url\(|@import", html)
    policy = next(a["content"] for _, a in read.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")


def test_only_the_page_of_a_running_tournament_loads_itself_anew(tmp_path: Path) -> None:
    running = report_of(stage(_folder(tmp_path, "running"), event_of("Towers"), at_most=3))
    ended = report_of(stage(_folder(tmp_path, "ended"), event_of("Towers")))
    refresh = '<meta http-equiv="refresh"'
    assert refresh in page(running, LATER, "{match}")
    assert refresh not in page(ended, LATER, "{match}")


def test_a_running_event_says_how_far_it_is_and_when_it_will_be_over(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=20)
    assert "20 of 56 games played, 1 running, about 52 s left (until 18:40)" in page(report_of(staged), LATER, "")
    with Store(staged.folder) as store:
        store.set_playing_seconds("towers", 20 * 600)
    assert "about 6 h 00 min left (until 2031-05-05 00:40)" in page(report_of(staged), LATER, "")


def test_an_event_that_nobody_goes_on_with_is_not_called_running(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"), at_most=20)
    with Store(staged.folder) as store:
        store.set_state("interrupted", "It was interrupted.")
    html = page(report_of(staged), LATER, "")
    assert html.count('class="state interrupted"') == 2
    assert "(until" not in html


def test_an_event_without_a_game_has_a_page_too(tmp_path: Path) -> None:
    html = page(report_of(stage(tmp_path, event_of("Towers"), at_most=0)), LATER, "")
    assert "0 of 56 games played" in html
    assert "<svg" not in html


def test_every_game_has_the_command_that_replays_it(tmp_path: Path) -> None:
    report = report_of(stage(tmp_path, event_of("Towers")))
    html = unescape(page(report, LATER, "triarena replay {match} --data-dir server"))
    for game in report.events[0].games():
        assert game.result is not None
        assert f"triarena replay {game.result.match} --data-dir server" in html


def test_failures_and_repeated_attempts_are_told_with_their_games(tmp_path: Path) -> None:
    report = report_of(stage(tmp_path, event_of("Towers")))
    games = [game for game in report.events[0].games() if len(game.attempts) > 1]
    said = str(read_page(page(report, LATER, "{match}")).rows("towers", "games"))
    assert games
    assert "after one attempt that did not count: The server was stopped." in said
    assert "timeout: " in said
    assert "took longer than 1000 ms for ply 17" in said


def test_a_knockout_shows_who_goes_on_and_why(tmp_path: Path) -> None:
    report = report_of(stage(tmp_path, event_of("Cup", "knockout")))
    (cup,) = report.events
    html = unescape(page(report, LATER, "{match}"))
    assert [each.title for each in cup.rounds] == ["Quarter-finals", "Semi-finals", "Final"]
    final = cup.rounds[-1].meetings[0].decision
    assert final is not None
    assert cup.lines[0].player == final.winner
    assert html.count('class="won"') == 7
    assert str(final) in html


def test_a_ladder_shows_the_ratings_that_it_ranks_by(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Ladder", "ladder", rounds=4), event_of("Towers"))
    ladder, towers = report_of(staged).events
    known = [line.ladder for line in ladder.lines if line.ladder is not None]
    assert len(known) == len(ladder.lines)
    assert known == sorted(known, key=lambda each: -each.rating)
    html = unescape(page(report_of(staged), LATER, "{match}"))
    assert all(glicko2(each) in html for each in known)
    assert html.count("Ranked by the Glicko-2 rating") == 1
    assert all(glicko2(each) in plain_view(ladder) for each in known)
    assert "Glicko-2" not in plain_view(towers)
    (head, *rows) = (line.rstrip("\n") for line in standings_csv(report_of(staged)))
    at = head.split(",").index("glicko2")
    assert [float(row.split(",")[at]) for row in rows[: len(known)]] == [each.rating for each in known]
    assert {row.split(",")[at] for row in rows[len(known) :]} == {""}


def test_the_page_says_where_its_commands_are_to_be_given(tmp_path: Path) -> None:
    staged = stage(_folder(tmp_path, "class.tournament"), event_of("Towers"))
    with StoreReader(staged.folder) as reader:
        export_all(staged.folder, staged.file, reader.contents(), LATER)
        elsewhere = unescape((staged.folder / "index.html").read_text("utf-8"))
        (staged.folder / "server").mkdir()
        (staged.folder / "server" / "journal.sqlite3").touch()
        export_all(staged.folder, staged.file, reader.contents(), LATER)
    html = unescape((staged.folder / "index.html").read_text("utf-8"))
    assert html.count(" --boards --data-dir class.tournament/server</code>") == 56
    assert "To see a match again, give its command where the folder class.tournament lies." in html
    assert "--data-dir" not in elsewhere
    assert "give its command where the server keeps them" in elsewhere
    assert "2.3.1 is the first game at table 3 of round 2" in html


@pytest.mark.parametrize("format_", ["knockout", "double_knockout", "round_robin"])
def test_the_cross_table_numbers_everybody_by_the_ranks_of_the_standings(tmp_path: Path, format_: FormatName) -> None:
    report = report_of(stage(tmp_path, event_of("Cup", format_)))
    (cup,) = report.events
    numbers = [row[0].split()[0] for row in read_page(page(report, LATER, "{match}")).rows("cup", "cross")[:8]]
    assert [int(re.sub("[a-z]", "", number)) for number in numbers] == [line.rank for line in cup.lines]
    assert len(set(numbers)) == 8
    ranks = [int(row.split(",")[1]) for row in [*standings_csv(report)][1:]]
    assert ranks == [line.rank for line in cup.lines]


def test_the_page_of_a_knockout_tells_how_far_everybody_came(tmp_path: Path) -> None:
    report = report_of(stage(tmp_path, event_of("Cup", "knockout"), event_of("Towers")))
    read = read_page(page(report, LATER, "{match}"))
    assert [row[4] for row in read.rows("cup", "standings")] == [line.reached for line in report.events[0].lines]
    assert "winner" not in {text for row in read.rows("towers", "standings") for text in row}


def test_byes_stand_in_their_rounds(tmp_path: Path) -> None:
    report = report_of(stage(tmp_path, event_of("Odd", "swiss", names=("A", "B", "C"), rounds=2)))
    byes = [each.byes for each in report.events[0].rounds]
    assert len(byes) == len(set(byes)) == 2
    for (name,) in byes:
        assert f"No opponent in this round: {name}." in page(report, LATER, "{match}")


@pytest.mark.parametrize("drawing", [WIDE, NARROW])
def test_the_chart_has_one_line_per_rated_bot_within_its_picture(tmp_path: Path, drawing: Drawing) -> None:
    names = [f"Bot {number}, which has a very long name" for number in range(8)]
    (event,) = report_of(stage(tmp_path, event_of("Towers", names=names))).events
    chart = rating_chart(event)
    assert chart is not None
    (picture,) = re.findall(rf'<svg class="{drawing.kind}".*?</svg>', chart)
    places = [float(x) for x in re.findall(r'cx="([^"]+)"', picture)]
    ends = [float(x) for each in re.findall(r'class="interval" x1="([^"]+)" x2="([^"]+)"', picture) for x in each]
    assert (len(places), len(ends)) == (8, 16)
    assert all(drawing.left <= x <= drawing.width - drawing.right for x in places + ends)
    if drawing.above:  # both stand in one line
        longest = max(map(len, re.findall(r'class="name"[^>]*>([^<]*)<', picture)))
        assert 7.5 * longest + 7 * len("+1234 ± 1234") < drawing.width


def test_ratings_say_a_over_b_and_never_certainty(tmp_path: Path) -> None:
    (event,) = report_of(stage(tmp_path, event_of("Towers"))).events
    ratings = event.ratings
    assert ratings is not None
    best, *_, worst = ratings.estimates
    assert 0.5 < ratings.over(best, worst).superiority < 1
    assert ratings.over(best, worst).superiority + ratings.over(worst, best).superiority == pytest.approx(1)
    for line in event.lines:
        assert line.rating is not None
        assert line.rating.low < line.rating.elo < line.rating.high


def test_a_rating_that_only_the_prior_made_is_not_shown(tmp_path: Path) -> None:
    report = report_of(stage(tmp_path, event_of("Towers"), at_most=8))
    assert [line.telling for line in report.events[0].lines] == [None] * 8
    rows = read_page(page(report, LATER, "")).rows("towers", "standings")
    assert [row[5] for row in rows] == ["–"] * 8
    assert rating_chart(report.events[0]) is None


@pytest.mark.parametrize(
    ("low", "high", "told"), [(-400, 500, True), (-999, 1200, False), (10, 3000, True), (-3000, -10, True)]
)
def test_a_rating_is_shown_if_its_interval_is_narrow_or_says_on_which_side_of_the_average_it_lies(
    tmp_path: Path, low: float, high: float, told: bool
) -> None:
    report = report_of(stage(tmp_path, event_of("Towers")))
    (event,) = report.events
    first = replace(event.lines[0], rating=Estimate((low + high) / 2, low, high))
    changed = replace(report, events=(replace(event, lines=(first, *event.lines[1:])),))
    shown = page(changed, LATER, "")
    row = read_page(shown).rows("towers", "standings")[0]
    assert (row[5] != "–") is told
    assert ("there are too few games to say" in shown) is not told
    assert (f">{rating(first)}</text>" in shown) is told


def test_only_an_event_that_is_over_has_a_winner(tmp_path: Path) -> None:
    running = report_of(stage(_folder(tmp_path, "running"), event_of("Towers"), at_most=55))
    ended = report_of(stage(_folder(tmp_path, "ended"), event_of("Towers")))
    assert page(running, LATER, "").count('class="winner"') == 0
    assert page(ended, LATER, "").count('class="winner"') == 1


def test_a_result_of_another_schedule_is_refused(tmp_path: Path) -> None:
    staged = stage(tmp_path, event_of("Towers"))
    other = file_of(tmp_path, replace(staged.file.events[0], seed=18))
    with StoreReader(tmp_path) as reader, pytest.raises(Exception, match="tournament's file was changed"):
        report_event(other.events[0], reader.contents())


def test_markup_escapes_texts_and_attributes_once() -> None:
    assert tag("td", '<"&', title='"<', class_="n") == '<td title="&quot;&lt;" class="n">&lt;&quot;&amp;</td>'
    assert tag("p", tag("b", "x"), None, ["&", tag("i")]) == "<p><b>x</b>&amp;<i></i></p>"
    assert tag("details", open=True, id=None) == "<details open></details>"
    assert join("a\x00\ud800b") == text("a\ufffd\ufffdb")


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder
