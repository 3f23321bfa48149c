"""How a match ended, as clients of the Software-Challenge read it: their scores, and the German reasons they know.

Beside the original's words stand our own codes (attributes ``code`` and ``rule``), which those clients skip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from triarena.games.mississippi_queen import GAME
from triarena.games.mississippi_queen.ending import in_goal
from triarena.protocol.game_values import MississippiQueenPosition
from triarena.protocol.values import Result, SideName
from triarena.server.results import EMPTY_ROOM, SERVER_STOPPING

from .conversation import Names
from .hearing import NOT_ASKED
from .markup import attributes, element, leaf
from .moves import NO_DIRECTION
from .state import TEAMS

MISTAKES: Final = {
    "no_actions": "Der Zug enthält keine Aktionen",
    "push_action_required": "Wenn du auf einem gegnerischen Schiff landest, muss darauf eine Abdrängaktion folgen.",
    "sand_bank_end": "Zug auf eine Sandbank muss letzte Aktion sein.",
    "first_action_accelerate": "Du kannst nur in der ersten Aktion beschleunigen.",
    "movement_points_left": "Es sind noch Bewegungspunkte übrig.",
    "invalid_distance": "Zurückzulegende Distanz ist ungültig.",
    "insufficient_push": "Nicht genug Bewegungspunkte für notwendige nachfolgende Abdrängaktion.",
    "ship_already_in_target": "Kann nicht durch einen Gegner ziehen.",
    "sandbank_push": "Von einer Sandbank ist abdrängen nicht möglich.",
    "move_end_on_sandbank": "Zug sollte bereits enden, da auf Sandbank gefahren wurde.",
    "field_is_blocked": "Feld ist blockiert.",
    "advance_movement_points_missing": "Nicht genug Bewegungspunkte.",
    "push_movement_points_missing": "Nicht genug Bewegungspunkte.",
    "blocked_field_push": "Ein Spieler darf nicht auf ein blockiertes Feld abgedrängt werden.",
    "invalid_field_push": "Ein Spieler darf nicht auf ein nicht vorhandenes (oder nicht sichtbares) Feld abgedrängt "
    "werden.",
    "same_field_push": "Um einen Spieler abzudrängen muss man sich auf demselben Feld wie der Spieler befinden.",
    "backward_pushing_restricted": "Ein Spieler darf nicht auf das Feld abdrängen, von dem er kommt.",
    "zero_acc": "Es kann nicht um den Wert 0 beschleunigt werden.",
    "above_max_speed": "Die maximale Geschwindigkeit von 6 darf nicht überschritten werden.",
    "below_min_speed": "Die minimale Geschwindigkeit von 1 darf nicht unterschritten werden.",
    "insufficient_coal": "Nicht genug Kohle für die Aktion vorhanden.",
    "on_sandbank": "Auf einer Sandbank kann nicht beschleunigt werden.",
    "rotation_on_sandbank_not_allowed": "Drehung auf Sandbank nicht erlaubt.",
    "not_enough_coal_for_rotation": "Nicht genug Kohle für Drehung.",
    "no_coal_for_reverse": "Nicht genug Kohle für die Aktion vorhanden.",
    "malformed_move": "Der Zug ist kein Zug dieses Spiels.",
}
"""The original's words for what a move can break, by our codes."""

_ABORTED: Final = {
    "cancelled": "Das Spiel wurde von der Spielleitung abgebrochen.",
    "internal_error": "Das Spiel wurde wegen eines Fehlers des Servers abgebrochen.",
    "not_resumed": "Das Spiel wurde unterbrochen, und nicht alle kamen rechtzeitig wieder.",
    SERVER_STOPPING: "Der Server wird angehalten, bevor das Spiel begann. Wird er wieder gestartet, "
    "gilt ein Reservierungscode noch einmal.",
    EMPTY_ROOM: "Der Raum wurde geschlossen, da niemand mehr darin war.",
}
"""By our code, or else our reason."""
_VIOLATIONS: Final = {
    NOT_ASKED: "Es kam ein Zug, obwohl keiner angefordert war.",
    NO_DIRECTION: "In einer Aktion fehlt die Richtung.",
}
"""How the sentence about a violation ends, and what that is in German."""
_DEFINITION: Final = element(
    "definition",
    "",
    [
        element(
            "fragment",
            attributes(name=name),
            [leaf("aggregation", aggregation), leaf("relevantForRanking", "true")],
        )
        for name, aggregation in (("Siegpunkte", "SUM"), ("Punkte", "AVERAGE"), ("Passagiere", "AVERAGE"))
    ],
)
_SIDES: Final[tuple[SideName, SideName]] = ("red", "blue")


def write_result(result: Result, names: Names, end: MississippiQueenPosition | None) -> str:
    """The ``data`` element of a result. ``names`` are those of the players who have one; ``end`` is the last position,
    if a match had begun.
    """
    entries = [
        element(
            "entry",
            "",
            [
                element("player", attributes(name=names[side], team=TEAMS[side])),
                element("score", "", [leaf("part", str(part)) for part in _parts(result, side)]),
            ],
        )
        for side in _SIDES
    ]
    winner = attributes(
        team=None if result.winner is None else TEAMS[result.winner],
        regular=is_regular(result, end),
        reason=reason(result, names, end),
        code=_code(result),
        rule=None if result.kind == "aborted" else result.detail.code,
    )
    children = [_DEFINITION, element("scores", "", entries), element("winner", winner)]
    return element("data", ' class="result"', children)


def is_regular(result: Result, end: MississippiQueenPosition | None) -> bool:
    """Whether the original calls such an end regular: not a forfeit, and not because a side was stuck."""
    return result.kind == "outcome" and not _by_being_stuck(result, end)


def mistake(code: str | None) -> str:
    """What was wrong with a move, in the original's words."""
    return MISTAKES.get(code or "", MISTAKES["malformed_move"])


def reproach(message: str) -> str:
    """What was not allowed at that time, in German if that is known."""
    return next((german for english, german in _VIOLATIONS.items() if message.endswith(english)), message)


def reason(result: Result, names: Names, end: MississippiQueenPosition | None) -> str:
    """The reason in German; players without a name are called by their teams."""
    called = {side: names[side] or TEAMS[side] for side in _SIDES}
    match result.kind:
        case "outcome":
            return _outcome(result, called, end)
        case "forfeit":
            return _forfeit(result, [called[side] for side in result.detail.offenders])
        case "aborted":
            return _ABORTED.get(_code(result), "Das Spiel wurde abgebrochen.")


def _code(result: Result) -> str:
    """The reason; of a room in which no match began, why it was closed."""
    return (result.detail.code if result.kind == "aborted" else None) or result.reason


def _parts(result: Result, side: SideName) -> tuple[int, int, int]:
    """Victory points, points, passengers; nothing for who has forfeited."""
    if side in result.detail.offenders:
        return 0, 0, 0
    drawn = result.kind == "outcome" and result.winner is None
    victory = 2 if result.winner == side else 1 if drawn else 0
    has = result.sides.red if side == "red" else result.sides.blue
    return victory, has.score, has.extras.get("passengers", 0)


def _outcome(result: Result, called: Mapping[SideName, str], end: MississippiQueenPosition | None) -> str:
    winner = None if result.winner is None else called[result.winner]
    if _by_being_stuck(result, end) and result.winner is not None:
        loser: SideName = "blue" if result.winner == "red" else "red"
        return f"{called[loser]} kann sich nicht mehr bewegen."
    if winner is None:
        return "Beide Teams sind gleichauf"
    if result.reason == "goal" and not _both_in_goal(end):
        return f"{winner} hat das Ziel zuerst erreicht."
    if result.reason == "segment_distance" and (end is None or end.rules != "seed"):
        return f"{winner} liegt 3 Segmente vorne."
    if result.sides.red.score == result.sides.blue.score:
        return f"{winner} hat mehr Passagiere befördert."
    return f"{winner} hat mehr Punkte."


def _by_being_stuck(result: Result, end: MississippiQueenPosition | None) -> bool:
    """Whether who can't move has lost by that; under the rules of the seed, points decide."""
    return result.reason == "no_move" and (end is None or end.rules != "seed")


def _both_in_goal(end: MississippiQueenPosition | None) -> bool:
    if end is None:
        return False
    position = GAME.read_position(end.model_dump())
    return in_goal(position.river, position.red) and in_goal(position.river, position.blue)


def _forfeit(result: Result, called: Sequence[str]) -> str:
    detail = result.detail
    offenders, have = " und ".join(called), "haben" if len(called) > 1 else "hat"
    left = f"{offenders} {have} das Spiel verlassen"
    match result.reason:
        case "illegal_move":
            return f"Regelverletzung von {offenders}: {mistake(detail.code)}"
        case "timeout":
            seconds = f"{(detail.limit_ms or 0) / 1000:g}"
            return f"{offenders} {have} innerhalb von {seconds} Sekunden nach Aufforderung keinen Zug gesendet."
        case "protocol_violation" if not _thrown_out(result):
            return f"Missachtung des Spielablaufs von {offenders}: {_violation(detail.message)}"
        case "protocol_violation":
            return f"{left}: PROTOCOL_ERROR"
        case "disconnected" | "stalled":
            return f"{left}: LOST_CONNECTION"
        case "no_show":
            return f"{offenders} {have} sich nicht rechtzeitig bereit gemeldet."
        case "surrender":
            return f"{offenders} {have} aufgegeben."
        case _:
            return f"{left}: DISCONNECTED"


def _violation(message: str) -> str:
    known = (german for english, german in _VIOLATIONS.items() if message.endswith(english))
    return next(known, "Die Nachricht war da nicht erlaubt.")


def _thrown_out(result: Result) -> bool:
    """Whether the connection itself was ended for what came over it, and not the match for a move out of turn."""
    return " is gone: " in result.detail.message
