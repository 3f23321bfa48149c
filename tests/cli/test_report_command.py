"""``triarena report``: what it tells of a match that a forfeit ended, for a person and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from triarena.cli import main
from triarena.cli.report import _words
from triarena.cli.tournament.evidence import Evidence
from triarena.organiser.folder import Folder
from triarena.server.journal import EvidenceKept, MatchEnded, MatchOpened, PlyPlayed, Record, open_journal

START = datetime(2031, 5, 4, 12, 30, 15, tzinfo=UTC)
CLOCK = {"type": "per_move", "move_ms": 2000.0, "margin_ms": 50.0, "hard_ms": None, "strikes": 0}
SEATS = {side: {"key": "digest-of-a-token", "software": "ada 1.2"} for side in ("red", "blue")}


def frame(second: int, content: dict[str, Any], *, taken: bool = True) -> dict[str, Any]:
    at = (START + timedelta(seconds=second)).isoformat(timespec="milliseconds")
    return {"at": at, "taken": at if taken else None, "bytes": 40, **content}


def visit(until: str | None, why: str | None) -> dict[str, Any]:
    since = START.isoformat(timespec="milliseconds")
    return {
        "connection": "7",
        "address": "192.0.2.1",
        "software": "ada 1.2",
        "since": since,
        "until": until,
        "why": why,
    }


EVIDENCE = {
    "red": {
        "visits": [visit(None, None)],
        "frames": {
            "from_client": [
                frame(1, {"message": {"type": "ready", "room": "r1"}}),
                frame(3, {"message": {"type": "move", "room": "r1", "ply": 0, "move": {"type": "step"}}}),
            ],
            "to_client": [frame(2, {"message": {"type": "your_turn", "room": "r1", "ply": 0}, "cut": True})],
        },
    },
    "blue": {
        "visits": [visit("2031-05-04T12:30:19.500+00:00", "the connection broke")],
        "frames": {
            "from_client": [frame(4, {"hex": "474554"})],
            "to_client": [frame(5, {"message": {"type": "your_turn", "room": "r1", "ply": 1}}, taken=False)],
        },
    },
}

RESULT = {
    "kind": "forfeit",
    "winner": "red",
    "reason": "disconnected",
    "sides": {"red": {"score": 3, "extras": {}}, "blue": {"score": 0, "extras": {}}},
    "detail": {"message": "blue is gone: the connection broke", "offenders": ["blue"], "ply": 1},
}

LEFT = {
    **RESULT,
    "reason": "left",
    "detail": {"message": "blue left the match", "offenders": ["blue"], "ply": 0},
}
WHY = "bot_failed: ZeroDivisionError: \x1b[31mdivision by zero"
LEAVING = {
    "visits": [{**visit(None, None), "software": "\x1b[2J"}],
    "frames": {
        "from_client": [frame(1, {"message": {"type": "leave", "room": "r3", "reason": WHY}})],
        "to_client": [],
    },
}

RECORDS: list[Record] = [
    MatchOpened(
        match="m1",
        room="r1",
        game="towerwars",
        rules_version=1,
        options={"size": 4},
        seed=7,
        time_control={"red": CLOCK, "blue": {"type": "unlimited"}},
        red="Ann",
        blue="Bob",
        settings={"server": "triarena 0.1", "startup_seconds": 30.0, "seats": SEATS},
        at=START,
    ),
    PlyPlayed("m1", 0, "red", {"type": "step"}, "A2->B1", 412.5, START, 2000.0, None, 1.25),
    PlyPlayed("m1", 1, "blue", {"type": "step"}, "D3->C4", 96.0, START, None, 0.31, 2.5),
    MatchEnded("m1", RESULT, "forfeit", "red", "disconnected", START + timedelta(seconds=9), EVIDENCE),
    MatchOpened("m3", "r3", "towerwars", 1, {"size": 4}, 7, {}, "Ann", "Bob", {"seats": SEATS}, START),
    MatchEnded("m3", LEFT, "forfeit", "red", "left", START + timedelta(seconds=9), {"blue": LEAVING}),
    MatchOpened("m2", "r2", "towerwars", 1, {"size": 4}, 7, {}, "Ann", "Bob", {"seats": SEATS}, START),
]


@pytest.fixture
async def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/journal.sqlite3"
    async with open_journal(url) as journal:
        for record in RECORDS:
            await journal.write(record)
    return url


def report(database: str, *arguments: str) -> str:
    done = CliRunner().invoke(main, ["report", *arguments, "--database", database])
    assert done.exit_code == 0, done.output
    return done.stdout


async def test_a_person_is_told_terms_result_times_and_last_words(database: str) -> None:  # noqa: ASYNC124 - its fixture is async
    text = report(database, "m1")
    assert text.splitlines() == [
        "match m1 in room r1: towerwars (size 4; seed 7), version 1 of the rules, on triarena 0.1",
        "started 2031-05-04T12:30:15.000+00:00, ended 2031-05-04T12:30:24.000+00:00, 2 plies",
        "red wins: blue is gone: the connection broke [disconnected]; red 3, blue 0",
        "",
        "red   Ann: 2000 ms a move (and 50 ms for the network); used 412 ms",
        "      ada 1.2, connection 7 from 192.0.2.1, from 12:30:15.000 to the end",
        "blue  Bob: no clock; used 96 ms",
        "      ada 1.2, connection 7 from 192.0.2.1, from 12:30:15.000 to 12:30:19.500 (the connection broke)",
        "",
        "ply  side  arrived (UTC)  move    used   limit   overhead  lag",
        "0    red   12:30:15.000   A2->B1  412.5  2000.0  -         1.2",
        "1    blue  12:30:15.000   D3->C4  96.0   -       0.3       2.5",
        "",
        "what was last said over red's connection; >> by the player, << by the server",
        "12:30:16.000 >> ready: room r1",
        "12:30:17.000 << your_turn: ply 0, room r1 ...",
        '12:30:18.000 >> move: ply 0, move {"type": "step"}, room r1',
        "",
        "what was last said over blue's connection; >> by the player, << by the server",
        "12:30:19.000 >> 40 bytes that are no message: 474554",
        "12:30:20.000 << your_turn: ply 1, room r1 (never taken)",
        "",
        f"check it by the rules, and see it again: triarena replay m1 --database {database} --boards",
    ]


async def test_why_a_side_left_is_told_without_what_a_terminal_would_obey(database: str) -> None:  # noqa: ASYNC124 - its fixture is async
    text = report(database, "m3")
    why = "bot_failed: ZeroDivisionError: \N{REPLACEMENT CHARACTER}[31mdivision by zero"
    assert f"blue left and gave as its reason: {why}" in text.splitlines()
    assert "\x1b" not in text


def played(number: int) -> PlyPlayed:
    return PlyPlayed("m4", number, "blue" if number % 2 else "red", {"type": "step"}, "A2->B1", 400.0, START, 2000.0)


async def reported(tmp_path: Path, plies: int, end: MatchEnded | EvidenceKept, *arguments: str) -> str:
    """The report of a match of so many plies that ended so, or goes on."""
    url = f"sqlite:///{tmp_path}/journal.sqlite3"
    clocks = {"red": CLOCK, "blue": CLOCK}
    async with open_journal(url) as journal:
        await journal.write(
            MatchOpened("m4", "r4", "towerwars", 1, {"size": 4}, 7, clocks, "Ann", "Bob", {"seats": SEATS}, START)
        )
        for number in range(plies):
            await journal.write(played(number))
        await journal.write(end)
    return report(url, "m4", *arguments)


def ended(evidence: dict[str, Any]) -> MatchEnded:
    return MatchEnded("m4", RESULT, "forfeit", "red", "timeout", START + timedelta(seconds=9), evidence)


TURN = {
    "side": "blue",
    "ply": 1,
    "asked_at": "2031-05-04T12:30:20.000+00:00",
    "arrived_at": None,
    "answered": False,
    "used_ms": 2051.0,
    "limit_ms": 2000.0,
    "overhead_ms": 0.25,
    "lag_ms": 3.0,
}


async def test_the_turn_that_ran_out_is_the_last_line_of_the_table_and_part_of_the_time_used(tmp_path: Path) -> None:
    lines = (await reported(tmp_path, 1, ended({"last_turn": TURN}))).splitlines()
    start = lines.index("ply  side  arrived (UTC)  move         used    limit   overhead  lag")
    assert lines[start + 1 : start + 4] == [
        "0    red   12:30:15.000   A2->B1       400.0   2000.0  -         -",
        "1*   blue  -              (no answer)  2051.0  2000.0  0.2       3.0",
        "* the turn in which the match ended; it was asked for at 12:30:20.000",
    ]
    assert any(line.startswith("blue  Bob") and line.endswith("used 2051 ms") for line in lines)


async def test_a_move_that_was_refused_is_told_in_the_last_line(tmp_path: Path) -> None:
    turn = {**TURN, "answered": True, "arrived_at": "2031-05-04T12:30:20.500+00:00", "used_ms": 500.0}
    end = ended({"last_turn": turn})
    refused = replace(end, result={**RESULT, "detail": {"message": "no", "offenders": ["blue"], "move": "A1->Z9"}})
    text = await reported(tmp_path, 1, refused)
    assert "1*   blue  12:30:20.500   A1->Z9  500.0  2000.0  0.2       3.0" in text.splitlines()


async def test_restarts_are_told_between_the_plies_and_visits_that_nobody_saw_end(tmp_path: Path) -> None:
    restarts = [{"at": f"2031-05-04T12:3{minute}:00.000+00:00", "ply": minute} for minute in (0, 2, 3)]
    evidence = {"red": {"visits": [visit(None, "the server stopped or died")]}, "restarts": restarts}
    text = await reported(tmp_path, 3, EvidenceKept("m4", evidence))
    table = text.split("lag\n")[1].split("\n\n")[0].splitlines()
    assert [line[:3] for line in table] == ["---", "0  ", "1  ", "---", "2  ", "---"]
    assert table[3] == "--- the server was started again at 12:32:00.000 ---"
    assert "ada 1.2, connection 7 from 192.0.2.1, from 12:30:15.000 until the server stopped or died" in text
    assert json.loads(report(f"sqlite:///{tmp_path}/journal.sqlite3", "m4", "--json"))["evidence"] == evidence


async def test_pauses_are_told_between_the_plies_with_those_who_made_them(tmp_path: Path) -> None:
    by = {"by": "administrator", "address": "192.0.2.7"}
    pauses = [
        {"at": "2031-05-04T12:31:00.000+00:00", "until": "2031-05-04T12:31:05.000+00:00", "ply": 1, **by},
        {"at": "2031-05-04T12:33:00.000+00:00", "until": None, "ply": 2, **by},
    ]
    restarts = [{"at": "2031-05-04T12:32:00.000+00:00", "ply": 2}]
    text = await reported(tmp_path, 2, EvidenceKept("m4", {"pauses": pauses, "restarts": restarts}))
    table = text.split("lag\n")[1].split("\n\n")[0].splitlines()
    assert [line[:3] for line in table] == ["0  ", "---", "1  ", "---", "---"]
    assert table[1] == "--- paused by an administrator from 12:31:00.000 to 12:31:05.000 ---"
    assert table[3] == "--- the server was started again at 12:32:00.000 ---"
    assert table[4] == "--- paused by an administrator from 12:33:00.000 on ---"


YOUR_TURN = {
    "type": "your_turn",
    "room": "r4",
    "ply": 12,
    "clock": {"limit_ms": 2000.0, "remaining_ms": 1234.5, "last_used_ms": None},
    "position": {"board": "x" * 500},
}


async def test_ply_and_clock_of_a_message_come_first_and_positions_only_when_all_is_asked_for(tmp_path: Path) -> None:
    frames = {"from_client": [], "to_client": [frame(1, {"message": YOUR_TURN})]}
    text = await reported(tmp_path, 1, ended({"red": {"visits": [], "frames": frames}}))
    said = "12:30:16.000 << your_turn: ply 12, limit_ms 2000.0, remaining_ms 1234.5, room r4"
    assert f"{said} ..." in text.splitlines()
    wide = report(f"sqlite:///{tmp_path}/journal.sqlite3", "m4", "--wide")
    assert f'{said}, position {{"board": "{"x" * 500}"}}' in wide.splitlines()


@pytest.mark.parametrize("innocent", ["red", "blue"])
async def test_who_left_an_earlier_match_over_the_same_connection_has_not_left_this_one(
    tmp_path: Path, innocent: str
) -> None:
    def left(room: str, why: str) -> dict[str, Any]:
        said = [frame(1, {"message": {"type": "leave", "room": room, "reason": why}})]
        return {"visits": [], "frames": {"from_client": said, "to_client": []}}

    guilty = "blue" if innocent == "red" else "red"
    evidence = {innocent: left("r3", "bot_failed: before"), guilty: left("r4", "bot_failed: now")}
    evidence[guilty]["frames"]["from_client"][:0] = left("r3", "bot_failed: before")["frames"]["from_client"]
    record = ended(evidence)
    result = {**LEFT, "detail": {**LEFT["detail"], "offenders": [guilty]}}  # type: ignore[dict-item]
    text = await reported(tmp_path, 1, replace(record, result=result, reason="left"))
    told = [line for line in text.splitlines() if "gave as its reason" in line]
    assert told == [f"{guilty} left and gave as its reason: bot_failed: now"]
    why = Evidence(Folder(tmp_path), f"sqlite:///{tmp_path}/journal.sqlite3").why_left("m4")
    assert why == "now"


async def test_json_has_all_that_is_stored_but_the_digests_of_tokens(database: str) -> None:  # noqa: ASYNC124 - its fixture is async
    told = json.loads(report(database, "m1", "--json"))
    assert told["evidence"] == EVIDENCE
    assert told["result"] == RESULT
    assert (told["match"], told["red"], told["settings"]["startup_seconds"]) == ("m1", "Ann", 30.0)
    assert [ply["lag_ms"] for ply in told["plies"]] == [1.25, 2.5]
    assert "digest-of-a-token" not in json.dumps(told)


async def test_a_match_that_broke_off_is_reported_as_far_as_it_came(database: str) -> None:  # noqa: ASYNC124 - its fixture is async
    text = report(database, "m2")
    assert "no result is stored" in text
    assert "no ply was played" in text
    assert json.loads(report(database, "m2", "--json"))["evidence"] is None


async def test_an_unknown_match_is_told_in_a_sentence(database: str) -> None:  # noqa: ASYNC124 - its fixture is async
    done = CliRunner().invoke(main, ["report", "nope", "--database", database])
    assert done.exit_code == 1
    assert "unknown_match" in done.stderr


async def test_the_command_that_shows_it_again_finds_the_same_database(tmp_path: Path) -> None:
    database = await reported(tmp_path, 2, ended({}))
    folder = CliRunner().invoke(main, ["report", "m4", "--data-dir", str(tmp_path)]).output
    for text in (database, folder):
        command, match, *where, boards = shlex.split(text.splitlines()[-1].partition(" triarena ")[2])
        assert (command, match, boards) == ("replay", "m4", "--boards")
        again = CliRunner().invoke(main, ["report", match, *where])
        assert again.exit_code == 0, again.output
        assert again.output == text


def test_what_was_said_by_xml_stands_on_one_line_and_as_it_is() -> None:
    text = '<room roomId="r1">\n  <data class="moveRequest"/>\n</room>'
    said: list[Mapping[str, Any]] = [frame(1, {"message": {"type": "xml", "text": text}})]
    frames = {"from_client": said, "to_client": list[Mapping[str, Any]]()}
    (line,) = _words(frames, wide=False)
    assert line.endswith('>> <room roomId="r1"> <data class="moveRequest"/> </room>')


def not_resumed(*away: str) -> Record:
    """The end of a match in which these were not there after a restart."""
    gone = visit(None, "the server stopped or died")
    evidence = {side: {"visits": [gone] if side in away else [gone, visit(None, None)]} for side in ("red", "blue")}
    restarts = [{"at": "2031-05-04T12:31:00.000+00:00", "ply": 0}]
    aborted = {**RESULT, "kind": "aborted", "winner": None, "reason": "not_resumed", "detail": {"message": "so it is"}}
    return MatchEnded("m2", aborted, "aborted", None, "not_resumed", START, {**evidence, "restarts": restarts})


@pytest.mark.parametrize("command", ["report", "replay"])
async def test_sentences_of_the_journal_begin_and_end_like_those_of_all_commands(command: str, tmp_path: Path) -> None:
    where = ["--data-dir", str(tmp_path)]
    missing = CliRunner().invoke(main, [command, "m9", *where])
    async with open_journal(f"sqlite:///{tmp_path}/journal.sqlite3"):
        pass  # without a match
    unknown = CliRunner().invoke(main, [command, "m9", *where])
    for done, beginning in ((missing, "there is no journal at "), (unknown, "no match in the journal has the id 'm9'")):
        assert done.exit_code == 1
        assert done.stderr.startswith(f"Error: {beginning}")
        assert "." not in done.stderr.rpartition(" [")[0][-1:]


@pytest.mark.parametrize("away", [("red",), ("blue",), ("red", "blue")])
async def test_the_lines_of_those_that_did_not_come_back_after_a_restart_say_so(
    database: str, away: tuple[str, ...]
) -> None:
    async with open_journal(database) as journal:
        await journal.write(not_resumed(*away))
    told = report(database, "m2")
    red, blue = told.split("\nblue ", 1)
    word = "was not there when the wait after the restart of the server was over"
    assert [word in red, word in blue] == ["red" in away, "blue" in away]
    assert "\nwhat was said before the server was started again was lost with it\n" in told
