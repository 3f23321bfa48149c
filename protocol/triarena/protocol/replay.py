"""A stored match as a value: read it, write it, and play it through to see whether the rules agree with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, ValidationError

from triarena.games import (
    AnyGame,
    AnyPosition,
    BadOptions,
    MalformedMove,
    MoveError,
    Outcome,
    Side,
    UnknownGame,
    find_game,
)

from .room_views import Turned
from .values import GameName, Options, Result, TimeControl, Value

FORMAT: Final = 1
"""The version of the stored form. Changes only when an old reader would misread something."""


class BadReplay(ValueError):
    """A text that is no replay. ``code`` is stable (``not_json``, ``newer_format``, ``invalid_replay``)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class TimeControls(Value):
    """How each side's time was limited; the two may differ."""

    red: TimeControl
    blue: TimeControl


class Replay(Value):
    """Everything about a match: what it was played by, what was played, and how it ended."""

    format: Annotated[int, Field(ge=1, le=FORMAT)] = FORMAT
    software: str
    """The program that recorded it, with its version."""
    match: str
    room: str
    game: GameName
    rules_version: int
    options: Options
    """All options with their effective values."""
    seed: int
    time_control: TimeControls
    red: str
    """The name of red's player."""
    blue: str
    started_at: str
    """ISO 8601, UTC."""
    ended_at: str | None = None
    plies: list[Turned]
    result: Result | None = None
    """Absent while the match goes on, or if its end was not recorded."""


def to_json(replay: Replay) -> str:
    """The stored form: one JSON object, on one line."""
    return replay.model_dump_json(exclude_none=True)


def from_json(text: str | bytes) -> Replay:
    """The replay of its stored form; unknown fields are ignored. Raises BadReplay."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadReplay("not_json", f"this is no replay, it is not even JSON: {str(error)[:200]}") from None
    if not isinstance(raw, dict):
        raise BadReplay("invalid_replay", "a replay is a JSON object")
    number = raw.get("format")
    if type(number) is int and number > FORMAT:
        raise BadReplay(
            "newer_format",
            f"this replay has format {number}, and this program reads formats up to {FORMAT}: update the program",
        )
    if "format" not in raw:
        raise BadReplay("invalid_replay", "this is no replay: it has no field 'format'")
    try:
        return Replay.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:200]
        raise BadReplay("invalid_replay", f"the replay is invalid at {where}: {first['msg'][:300]}") from None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Something in which a replay and the rules differ."""

    ply: int | None
    """Where; None if it is about the match as a whole."""
    message: str


@dataclass(frozen=True, slots=True)
class Verified:
    """A replay that was played through."""

    positions: tuple[AnyPosition, ...]
    """The first position and one after each ply, as far as it could be played; whole ones, nothing hidden."""
    disagreements: tuple[Disagreement, ...]
    """Empty if the rules say the same as the replay."""


def verify(replay: Replay) -> Verified:
    """Play a replay through by the rules, and compare sides, texts, numbers and the result. Never raises."""
    try:
        game = find_game(replay.game)
        start = game.start(replay.options, replay.seed)
    except (UnknownGame, BadOptions) as error:
        return Verified((), (Disagreement(None, f"this match can't be played here: {error}"),))
    found: list[Disagreement] = []
    if replay.rules_version != game.rules_version:
        versions = f"version {replay.rules_version} of the rules, and these are version {game.rules_version}"
        found.append(Disagreement(None, f"the match was played by {versions}; what follows may come from that"))
    positions = [start]
    for number, turned in enumerate(replay.plies):
        found += _compared(game, positions[-1], number, turned)
        try:
            positions.append(positions[-1].play(game.read_move(_wire(turned))))
        except MoveError as error:
            found.append(Disagreement(number, f"{turned.text[:200]} can't be played: {error}"))
            return Verified(tuple(positions), tuple(found))
    if replay.result is not None:
        found += _result_compared(game, replay, replay.result, positions[-1])
    return Verified(tuple(positions), tuple(found))


def _wire(turned: Turned) -> object:
    return turned.move.model_dump()


def _compared(game: AnyGame, position: AnyPosition, number: int, turned: Turned) -> Iterator[Disagreement]:
    """In what a recorded ply differs from the rules, apart from its legality."""
    if turned.ply != number:
        yield Disagreement(number, f"the ply is numbered {turned.ply}")
    if position.outcome is None and turned.side != position.to_move:
        yield Disagreement(number, f"{turned.side} moved, but it was the turn of {position.to_move}")
    try:
        text = game.format(game.read_move(_wire(turned)))
    except MalformedMove:
        return  # it is told when the move is played
    if turned.text != text:
        yield Disagreement(number, f"the move is {text}, but its text says {turned.text[:200]}")


def _result_compared(game: AnyGame, replay: Replay, result: Result, end: AnyPosition) -> Iterator[Disagreement]:
    if result.kind == "outcome":
        yield from _outcome_compared(result, end.outcome)
        return
    if end.outcome is not None:
        yield Disagreement(None, f"the result is {_named(result)}, but the rules had decided: {end.outcome.reason}")
    elif result.kind == "forfeit":
        yield from _forfeit_compared(game, replay, result, end)
    elif result.winner is not None:
        yield Disagreement(None, f"an aborted match has no winner, but the result names {result.winner}")
    elif result.reason == "ply_limit" and len(replay.plies) != game.ply_limit(replay.options):
        yield Disagreement(None, f"the result is {_named(result)}, but {len(replay.plies)} plies are not the limit")


def _outcome_compared(result: Result, outcome: Outcome | None) -> Iterator[Disagreement]:
    if outcome is None:
        yield Disagreement(None, f"the result is {_named(result)}, but by the rules the game goes on")
        return
    if (result.winner, result.reason) != (outcome.winner, outcome.reason):
        by_rules = f"{outcome.reason}, winner {outcome.winner or 'none'}"
        yield Disagreement(None, f"the result is {_named(result)}, winner {result.winner or 'none'}; it is {by_rules}")
    for side, recorded in ((Side.RED, result.sides.red), (Side.BLUE, result.sides.blue)):
        due = outcome.score(side)
        if (recorded.score, recorded.extras) != (due.points, dict(due.extras)):
            says = f"the result says {_points(recorded.score, recorded.extras)}"
            yield Disagreement(None, f"{side} has {_points(due.points, dict(due.extras))}, but {says}")


def _forfeit_compared(game: AnyGame, replay: Replay, result: Result, end: AnyPosition) -> Iterator[Disagreement]:
    offenders = result.detail.offenders
    winner = Side(offenders[0]).other if len(offenders) == 1 else None
    if result.winner != winner:
        said = f"the offenders are {', '.join(offenders) or 'nobody'}"
        yield Disagreement(None, f"{said}, so the winner is {winner or 'nobody'}, not {result.winner or 'nobody'}")
    if result.reason != "illegal_move":
        return
    if offenders != [end.to_move]:
        yield Disagreement(None, f"an illegal move can only be that of {end.to_move}, whose turn it was")
    if result.detail.ply != len(replay.plies):
        yield Disagreement(None, f"the illegal move is that of ply {len(replay.plies)}, not {result.detail.ply}")
    yield from _illegal_compared(game, result, end)


def _illegal_compared(game: AnyGame, result: Result, end: AnyPosition) -> Iterator[Disagreement]:
    text, code = result.detail.move or "", result.detail.code
    try:
        end.check(game.parse(text))
    except MalformedMove:
        return  # no move of this game: as the result says, it was recorded as it came
    except MoveError as error:
        if error.code != code:
            yield Disagreement(None, f"{text[:200]} breaks the rule {error.code}, but the result says {code}")
    else:
        yield Disagreement(None, f"{text[:200]} is legal, but the result says that it breaks the rule {code}")


def _points(points: int, extras: dict[str, int]) -> str:
    return ", ".join([f"score {points}", *(f"{name} {count}" for name, count in extras.items())])


def _named(result: Result) -> str:
    return f"{result.kind} ({result.reason})"
