"""The rows of the tables: one flat record per game with a result, one per bot and event."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final, TypeAlias

from triarena.organiser.records import Attempt
from triarena.organiser.report import FAILURES, EventReport, TournamentReport
from triarena.organiser.rounds import Game

Record: TypeAlias = dict[str, object]

GAME_FIELDS: Final = (
    *("event", "game", "id", "round", "table", "number", "pair", "seed", "red", "blue", "winner", "winner_side"),
    *("reason", "offenders", "red_points", "blue_points", "red_score", "blue_score", "plies"),
    *("red_ms", "blue_ms", "overhead_ms", "seconds", "attempts", "match", "started_at", "ended_at", "message"),
    "offender_reasons",
)
TIE_BREAK: Final = "tie_break_"
"""Before a tie-break's name: one of them is called ``wins``, as the number of wins is."""
FAILURE_FIELDS: Final = tuple(kind.replace(" ", "_").replace("-", "_") for kind in FAILURES)


def games(report: TournamentReport) -> Iterator[tuple[EventReport, Game]]:
    """All games with results, by events, rounds and tables."""
    return ((each, game) for each in report.events for game in each.games() if game.result is not None)


def standings(report: TournamentReport) -> Iterator[Record]:
    """All bots of all events, the best first."""
    return (record for each in report.events for record in _standings(each))


def games_csv(report: TournamentReport) -> Iterator[str]:
    """The games as lines of a table, headings first."""
    return _csv(GAME_FIELDS, (_game(each, game) for each, game in games(report)))


def standings_csv(report: TournamentReport) -> Iterator[str]:
    """The standings as lines of a table, headings first; a tie-break that an event doesn't use is left empty there."""
    tie_breaks = dict.fromkeys(f"{TIE_BREAK}{name}" for each in report.events for name in each.tie_breaks)
    head = ("event", "rank", "player", "played", "wins", "draws", "losses", "points", "byes")
    tail = (
        "by_lot",
        "rating",
        "rating_low",
        "rating_high",
        *FAILURE_FIELDS,
        "unfinished",
        "glicko2",
        "glicko2_deviation",
    )
    return _csv((*head, *tie_breaks, *tail), standings(report))


def games_jsonl(report: TournamentReport) -> Iterator[str]:
    """The games as lines of one JSON object, with all the attempts at each, those that didn't count included."""
    for each, game in games(report):
        line = {
            **_game(each, game),
            "offenders": _offenders(game),
            "offender_reasons": _offender_reasons(game),
            "attempts": [_attempt(a) for a in game.attempts],
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _game(report: EventReport, game: Game) -> Record:
    result, fixture, spent = game.result, game.fixture, _spent(game)
    assert result is not None
    played = result.played
    points = report.event.points
    return {
        "event": report.event.slug,
        "game": report.event.game,
        "id": fixture.id,
        "round": fixture.round,
        "table": fixture.table,
        "number": fixture.number,
        "pair": fixture.pair,
        "seed": fixture.seed,
        "red": fixture.red,
        "blue": fixture.blue,
        "winner": played.winner_name,
        "winner_side": played.winner,
        "reason": played.reason,
        "offenders": " ".join(_offenders(game)),
        "red_points": points.points(played, fixture.red),
        "blue_points": points.points(played, fixture.blue),
        "red_score": played.red_score,
        "blue_score": played.blue_score,
        "plies": played.plies,
        **spent,
        "attempts": len(game.attempts),
        "match": result.match,
        "started_at": result.started_at.isoformat(),
        "ended_at": result.ended_at.isoformat(),
        "message": result.message,
        "offender_reasons": " ".join(_offender_reasons(game)),
    }


def _offender_reasons(game: Game) -> list[str]:
    """Why each offender forfeited, in their order."""
    played = game.played
    return [] if played is None else [played.reason_of(side) for side in played.offenders]


def _offenders(game: Game) -> list[str]:
    """Names, not sides: whoever reads a table looks for a bot."""
    assert game.played is not None
    fixture = game.fixture
    return [fixture.red if side == "red" else fixture.blue for side in game.played.offenders]


def _spent(game: Game) -> Record:
    """What the attempt that counts took."""
    assert game.result is not None
    for attempt in game.attempts:
        if attempt.number == game.result.attempt:
            spent = attempt.spent
            known = {"red_ms": spent.red_ms, "blue_ms": spent.blue_ms, "overhead_ms": spent.overhead_ms}
            return {**known, "seconds": spent.seconds}
    return dict.fromkeys(("red_ms", "blue_ms", "overhead_ms", "seconds"))


def _attempt(attempt: Attempt) -> Record:
    values = {name: value for name, value in asdict(attempt).items() if name not in ("event", "fixture", "spent")}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in (values | asdict(attempt.spent)).items()
    }


def _standings(report: EventReport) -> Iterator[Record]:
    for line in report.lines:
        row, rating = line.row, line.rating
        yield {
            "event": report.event.slug,
            "rank": line.rank,
            "player": row.player,
            "played": row.played,
            "wins": row.wins,
            "draws": row.draws,
            "losses": row.losses,
            "points": row.points,
            "byes": row.byes,
            **{f"{TIE_BREAK}{name}": value for name, value in row.tie_breaks.items()},
            "by_lot": "yes" if line.by_lot else "no",
            "rating": None if rating is None else _plain(rating.elo),
            "rating_low": None if rating is None else _plain(rating.low),
            "rating_high": None if rating is None else _plain(rating.high),
            **dict(zip(FAILURE_FIELDS, line.failures, strict=True)),
            "unfinished": row.unfinished,
            "glicko2": None if line.ladder is None else line.ladder.rating,
            "glicko2_deviation": None if line.ladder is None else line.ladder.deviation,
        }


def _plain(elo: float) -> float:
    """Without what arithmetic leaves of a zero."""
    return 0.0 if abs(elo) < 1e-9 else elo


def _csv(fields: Sequence[str], records: Iterable[Mapping[str, object]]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.DictWriter(line, fields, lineterminator="\n", restval="")
    writer.writeheader()
    yield line.getvalue()
    for record in records:
        line.seek(0)
        line.truncate()
        writer.writerow(record)
        yield line.getvalue()
