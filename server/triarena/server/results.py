"""How a match can end, as values: by the rules, by a forfeit, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from triarena.games import AnyGame, AnyPosition, MoveError, Outcome, Score, Side
from triarena.games.core import Plain, shown
from triarena.protocol.values import AbortReason, Detail, ForfeitReason, Result, Scores, SideName, SideScore

from .clock import ms

OUTCOME_REASONS = {
    "points": "by points",
    "base": "by taking the opponent's base",
    "no_move": "because the side to move has no legal move",
    "end_move": "because a side ended it; points decide",
    "goal": "by reaching the goal with two passengers",
    "segment_distance": "because a ship is more than three segments behind",
    "round_limit": "because the last round is over",
}
"""What the reasons of our games mean; another game's reason is shown as it is."""
SERVER_STOPPING = "server_stopping"
EMPTY_ROOM = "empty_room"
"""Why a room was closed before a match began in it, if no administrator wanted it."""


def by_the_rules(outcome: Outcome) -> Result:
    """The result of an outcome."""
    why = OUTCOME_REASONS.get(outcome.reason, outcome.reason)
    if outcome.reason == "no_move" and _points_decide(outcome):
        why += "; points decide"
    return Result(
        kind="outcome",
        winner=_name(outcome.winner),
        reason=outcome.reason,
        sides=Scores(red=_score(outcome.red), blue=_score(outcome.blue)),
        detail=Detail(message=f"the game is over {why}"),
    )


def _points_decide(outcome: Outcome) -> bool:
    """Whether who has won is told by the points, and not the points by who has won: there are rules by which who can't
    move has lost, and has none for that.
    """
    red, blue = outcome.red.points, outcome.blue.points
    leader = Side.RED if red > blue else Side.BLUE if blue > red else None
    return leader is outcome.winner and min(red, blue) != 0


def forfeit(
    reason: ForfeitReason,
    offenders: Sequence[Side],
    position: AnyPosition,
    message: str,
    *,
    ply: int | None = None,
    code: str | None = None,
    move: str | None = None,
) -> Result:
    """One side (or both at once) loses by the referee; an offender's score is 0, the other's is what it has."""
    return Result(
        kind="forfeit",
        winner=_name(offenders[0].other) if len(offenders) == 1 else None,
        reason=reason,
        sides=_scores(position, offenders),
        detail=Detail(message=message, offenders=[side.value for side in offenders], ply=ply, code=code, move=move),
    )


def illegal_move(side: Side, position: AnyPosition, ply: int, game: AnyGame, wire: Plain, error: MoveError) -> Result:
    """``side`` made a move that the rules, or the wire form of moves, do not know."""
    text = shown(wire, 300)
    with suppress(MoveError):  # no move of this game: shown as it came
        text = game.format(game.read_move(wire))
    why = error.message if error.message.startswith(text) else f"{text}: {error.message}"
    sentence = f"{side.value} made an illegal move at ply {ply}: {why}"
    return forfeit("illegal_move", [side], position, sentence[:2000], ply=ply, code=error.code, move=text)


def timeout(
    side: Side, position: AnyPosition, ply: int, *, limit_ms: float, margin_ms: float, used: float, answered: bool
) -> Result:
    """``side`` overran its clock; ``used`` seconds had passed when its move came, or when the wait was given up."""
    used_ms = ms(used)
    overrun = max(0.0, round(used_ms - limit_ms, 3))
    granted = f", with a margin of {margin_ms:.0f} ms" if margin_ms else ""
    came = f"its move came after {used_ms:.0f} ms" if answered else f"no move had come after {used_ms:.0f} ms"
    return Result(
        kind="forfeit",
        winner=_name(side.other),
        reason="timeout",
        sides=_scores(position, [side]),
        detail=Detail(
            message=f"{side.value} overran its time at ply {ply}: {came}, the limit is {limit_ms:.0f} ms{granted}",
            offenders=[side.value],
            ply=ply,
            limit_ms=limit_ms,
            used_ms=used_ms,
            overrun_ms=overrun,
        ),
    )


def aborted(reason: AbortReason, position: AnyPosition | None, message: str, code: str | None = None) -> Result:
    """Nobody's win and nobody's loss; ``code`` says more about the reason."""
    return Result(
        kind="aborted",
        winner=None,
        reason=reason,
        sides=_scores(position, []),
        detail=Detail(message=message, code=code),
    )


def _scores(position: AnyPosition | None, offenders: Sequence[Side]) -> Scores:
    def score(side: Side) -> SideScore:
        if position is None:
            return SideScore(score=0)
        has = _score(position.score(side))
        return has.model_copy(update={"score": 0}) if side in offenders else has

    return Scores(red=score(Side.RED), blue=score(Side.BLUE))


def _score(score: Score) -> SideScore:
    return SideScore(score=score.points, extras=dict(score.extras))


def _name(side: Side | None) -> SideName | None:
    return None if side is None else side.value
