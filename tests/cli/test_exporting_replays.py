"""``triarena replay --export``: what is written, and what is said of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from click.testing import CliRunner

from triarena.cli import main
from triarena.games.mississippi_queen import GAME
from triarena.protocol.replay import FORMAT, from_json


@pytest.fixture
def match(tmp_path: Path) -> str:
    """A replay's file: one ply was played."""
    options = {"rules": "server-24.2.5", "sandbanks": 0}
    move = next(iter(GAME.start(options, 3).legal_moves()))
    plain = {
        "format": FORMAT,
        "software": "triarena 1",
        "match": "m1",
        "room": "r1",
        "game": GAME.name,
        "rules_version": GAME.rules_version,
        "options": options,
        "seed": 3,
        "time_control": {"red": {"type": "unlimited"}, "blue": {"type": "unlimited"}},
        "red": "Ada",
        "blue": "Blaise",
        "started_at": "2025-03-14T10:00:00+00:00",
        "plies": [
            {"ply": 0, "side": "red", "move": GAME.write_move(move), "text": GAME.format(move), "used_ms": 1.5}
        ],
    }  # fmt: skip
    file = tmp_path / "match.json"
    file.write_text(json.dumps(plain))
    return str(file)


@pytest.mark.parametrize(
    ("name", "words"),
    [("game.xml.gz", "XML as the Software-Challenge's programs read it, compressed"), ("game.xml", "read it")],
)
def test_an_export_says_what_was_written_where_and_shows_nothing_else(
    match: str, tmp_path: Path, name: str, words: str
) -> None:
    file = tmp_path / name
    done = CliRunner().invoke(main, ["replay", match, "--format", "software-challenge", "--export", str(file)])
    assert done.exit_code == 0, done.output
    written, verified = done.stdout.splitlines()
    assert written.startswith(f"{file}: written, XML")
    assert written.endswith(words)
    assert verified == "match m1: 1 ply, verified by the rules"
    data = file.read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert len(fromstring(text)) == 2


@pytest.mark.parametrize("speed", ["max", "1000"])
def test_a_film_has_the_speeds_of_a_match_that_is_watched(match: str, speed: str) -> None:
    done = CliRunner().invoke(main, ["replay", match, "--speed", speed])
    assert done.exit_code == 0, done.output
    assert [line for line in done.stdout.splitlines() if line.startswith(("the start", "ply 0, red:"))] == [
        "the start",
        "ply 0, red: M1",
    ]


def test_an_export_shows_boards_if_asked_to(match: str, tmp_path: Path) -> None:
    file = tmp_path / "copy.json"
    done = CliRunner().invoke(main, ["replay", match, "--export", str(file), "--ply", "1"])
    assert "ply 0, red:" in done.stdout
    assert f"{file}: written, JSON as triarena replay reads it" in done.stdout
    assert from_json(file.read_bytes()).match == "m1"
