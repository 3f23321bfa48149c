"""A whole tournament of bots that hang, die, shout, eat and multiply: it ends, says so, and leaves nothing behind."""

from __future__ import annotations

import csv
import json
import os
import secrets
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from .hostile_bots import FILES, FORFEITS, HARMLESS, PROGRAMS, write_tournament

MARK = "TRIARENA_TEST_OF_HOSTILE_BOTS"
LONGEST = 300.0


def marked(mark: str) -> list[int]:
    """All processes that have inherited the mark, whoever their parents are."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environment:
                found.append(int(folder.name))
    return found


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose environment a process has")
def test_a_tournament_of_hostile_bots_ends_and_says_what_they_did(tmp_path: Path) -> None:
    file, mark = write_tournament(tmp_path, games_per_pairing=1), secrets.token_hex(8)
    tool = [sys.executable, "-m", "triarena.cli", "tournament"]
    done = subprocess.run(
        [*tool, "run", str(file)],
        cwd=tmp_path, env={**os.environ, MARK: mark}, capture_output=True, text=True, timeout=LONGEST, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert marked(mark) == []

    folder = tmp_path / "rude.tournament"
    games = rows(folder / "games.csv")
    bots = len(FILES | PROGRAMS) + 1
    assert len(games) == bots * (bots - 1) / 2
    reasons = defaultdict(set)
    for game in games:
        for name in game["offenders"].split():
            reasons[name].add(game["reason"])
    assert not reasons.keys() & HARMLESS
    assert {name for name, expected in FORFEITS.items() if reasons[name] - expected} == set()

    # In the right columns, and nothing else than failing has cost the good ones a game.
    columns = {"no_show": "no_shows", "timeout": "time_outs", "disconnected": "crashes", "left": "crashes"}
    columns["start_failed"] = "crashes"
    standings = {row["player"]: row for row in rows(folder / "standings.csv")}
    for name, expected in FORFEITS.items():
        counted = sum(int(standings[name][columns.get(reason, "illegal_moves")]) for reason in expected)
        assert counted == sum(name in game["offenders"].split() for game in games) > 0, name
    assert {row["player"] for row in rows(folder / "standings.csv")[:4]} == HARMLESS

    irregular = [game for game in games if game["offenders"]]
    places = places_of(folder)
    for game in irregular:
        assert_evidence(places[game["id"]], game)
    assert set((folder / "irregular").iterdir()) == set(places.values())
    starved = [game["message"] for game in irregular if game["offenders"] == "Eats"]
    assert any("MiB of memory, the limit is 512 MiB" in message for message in starved)
    assert any("exit code 3" in game["message"] for game in irregular if game["offenders"] == "Dies")
    for name in ("Hangs", "Stays", "Exits", "Mumbles"):
        assert f"{name} could not be brought to 3 matches in a row" in done.stdout

    assert all(log.stat().st_size < 1 << 20 for log in folder.rglob("*.log"))
    assert "bytes left out" in (folder / "logs" / "Shouts-1.log").read_text("utf-8", "replace")
    replay = next(line for line in game_notes(folder, "Cheats") if line.startswith("see it again:"))
    moved = folder.rename(folder.with_name("moved.tournament"))
    seen = subprocess.run(
        replay.partition(":")[2], shell=True, cwd=moved, capture_output=True, text=True, timeout=60, check=False
    )
    assert seen.returncode == 0, seen.stderr
    assert "Cheats" in seen.stdout


def assert_evidence(place: Path, game: dict[str, str]) -> None:
    """The folder of an irregular match has all that a judge may ask for."""
    notes = (place / "README.txt").read_text("utf-8")
    if not game["match"]:  # it never began: there is one folder for all the games of an absence
        assert f"{game['id']}  {game['red']} (red) against {game['blue']} (blue)" in notes or game["message"] in notes
        return
    assert game["message"] in notes
    assert (place / "result.json").exists()
    assert "replay " + game["match"] in notes
    assert {path.name for path in place.glob("*.log")} == {"red.log", "blue.log"}
    report = (place / "report.txt").read_text("utf-8")
    assert "what was last said over red's connection" in report
    assert "match_started" in report


def places_of(folder: Path) -> dict[str, Path]:
    """The folders of irregular games, by the games' numbers."""
    games = map(json.loads, (folder / "games.jsonl").read_text("utf-8").splitlines())
    return {game["id"]: folder / each["folder"] for game in games for each in game["attempts"] if each["folder"]}


def game_notes(folder: Path, name: str) -> list[str]:
    """The notes on a match that this bot has forfeited."""
    game = next(each for each in rows(folder / "games.csv") if each["offenders"] == name and each["match"])
    return (places_of(folder)[game["id"]] / "README.txt").read_text("utf-8").splitlines()
