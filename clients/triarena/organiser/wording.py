"""How a tournament's values read: the same words and numbers on the page, in the terminal and in pipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from triarena.games import UnknownGame, find_game
from triarena.protocol.values import Budget, PerMove, Unlimited
from triarena.tournament.formats import FORMATS
from triarena.tournament.glicko2 import Rating
from triarena.tournament.tally import IRREGULAR
from triarena.tournament.values import Played

from .report import EventReport, Line, Progress
from .rounds import Game
from .spec import Event

TIE_BREAK_TITLES: Final[Mapping[str, str]] = {
    "direct_encounter": "direct encounter",
    "buchholz": "Buchholz",
    "buchholz_cut_1": "Buchholz cut 1",
    "sonneborn_berger": "Sonneborn-Berger",
    "wins": "wins",
    "game_scores": "game scores",
}
"""Headings of columns; a name that isn't here stands for itself."""
FAILURE_TITLES: Final = tuple(IRREGULAR)
STATES: Final[Mapping[str, str]] = {
    "waiting": "not begun",
    "running": "running",
    "interrupted": "interrupted",
    "finished": "finished",
    "stopped": "ended early",
    "cancelled": "cancelled",
}
OBVIOUS: Final = frozenset(["", "it was interrupted", "it was cancelled"])
"""Reasons of a state that say no more than the state itself."""
CRASHED: Final = frozenset(["left"])
"""The referee's reasons that say less than the column in which they are counted: only a bot that failed goes away."""
MINUS: Final = "\u2212"


def number(value: float) -> str:
    """Points and scores: without needless digits, at most two after the point."""
    text = f"{round(value, 2) + 0.0:g}" if abs(value) < 1e6 else f"{value:.0f}"
    return text.replace("-", MINUS)


def counted(count: int, one: str, many: str = "") -> str:
    """``1 game``, ``2 games``; ``many`` is for words that don't take an s."""
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"


def signed(value: float) -> str:
    """A rating: rounded, with its sign."""
    rounded = round(value)
    return f"+{rounded}" if rounded > 0 else f"{MINUS}{-rounded}" if rounded < 0 else "0"


def rating(line: Line) -> str:
    """A bot's rating with half the width of its 95 % interval, e.g. ``+120 ± 45``; a dash if too little is known."""
    known = line.telling
    return "–" if known is None else f"{signed(known.elo)} ± {(known.high - known.low) / 2:.0f}"


def glicko2(known: Rating) -> str:
    """A ladder's rating with its deviation, e.g. ``1612 ± 84``."""
    return f"{known.rating:.0f} ± {known.deviation:.0f}"


def rating_alone(line: Line) -> str:
    """The same without its interval, where there is no room."""
    known = line.telling
    return "–" if known is None else signed(known.elo)


def rank(line: Line) -> str:
    """A bot's place, with a word if only the lot decided it; a dash before there is anything to rank."""
    if line.rank is None:
        return "–"
    return f"{line.rank} lot" if line.by_lot else str(line.rank)


def record(line: Line) -> str:
    """Wins, draws, losses."""
    return f"{line.row.wins}-{line.row.draws}-{line.row.losses}"


def percent(share: float) -> str:
    """A likelihood that never claims certainty: ``<1`` and ``>99`` at the ends."""
    return "<1" if share < 0.01 else ">99" if share > 0.99 else f"{share * 100:.0f}"


def seconds(value: float) -> str:
    """A duration as people say it: ``0.25 s``, ``48 s``, ``12 min``, ``3 h 05 min``."""
    if value < 10:
        return f"{value:.2g} s"
    if value < 99.5:
        return f"{value:.0f} s"
    minutes = round(value / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def milliseconds(value: float | None) -> str:
    """Time that a clock was charged; a dash if it isn't known."""
    return "–" if value is None else f"{value:.0f} ms" if value < 1000 else seconds(value / 1000)


def clock(control: PerMove | Budget | Unlimited) -> str:
    """A time control in a few words."""
    match control:
        case PerMove(move_ms=move, strikes=strikes):
            forgiven = f", {counted(strikes, 'overrun')} forgiven" if strikes else ""
            return f"{seconds(move / 1000)} a move{forgiven}"
        case Budget(budget_ms=budget, increment_ms=increment):
            added = f" and {seconds(increment / 1000)} a move" if increment else ""
            return f"{seconds(budget / 1000)} a game{added}"
        case Unlimited():
            return "no clock"


def game_title(event: Event) -> str:
    """The game's name for people."""
    try:
        return find_game(event.game).title
    except UnknownGame:  # of a distribution that isn't installed here
        return event.game


def format_title(event: Event) -> str:
    """The format's name for people."""
    kind = FORMATS.get(event.format)
    return kind.title if kind is not None else event.format.replace("_", " ")


def terms(event: Event) -> tuple[str, ...]:
    """What is played and how, in a few short clauses."""
    options = ", ".join(f"{name} {value}" for name, value in event.options.items())
    games = f"{counted(event.games_per_pairing, 'game')} per pairing"
    if event.stop.sprt is not None:
        games = f"{counted(event.games_per_pairing, 'game')} at most, as many as the test needs"
    rounds = () if event.rounds is None else (counted(event.rounds, "round"),)
    return (
        f"{game_title(event)} ({options})" if options else game_title(event),
        format_title(event),
        *rounds,
        games,
        clock(event.time_control),
        f"seed {event.seed}",
    )


def progress(value: Progress, at: datetime | None = None, width: int | None = None) -> str:
    """How far an event is: ``12 of 30 games played, 2 running, about 4 min left (until 21:40)``.

    When it will probably be over is told only if ``at``, which is now, is given, in its zone. What matters least is
    left out where it would not fit into ``width`` cells.
    """
    total = f"at least {value.total}" if value.more else f"{value.total}"
    more = f"{value.done} of {total} game{'s' * (value.total != 1)} played"
    done = more if value.left or value.more else f"{counted(value.done, 'game')} played"
    running = [f"{value.running} running"] if value.running else []
    repeated = [f"{counted(value.repeated, 'attempt')} failed and did not count"] if value.repeated else []
    left, end = _left(value, at)
    ways = (
        [done, *running, *left, *repeated],
        [done, *running, *left],
        [done, *running, *(each.removesuffix(end) for each in left)],
        [done, *(each.removesuffix(end) for each in left)],
        [done],
    )
    said = [", ".join(parts) for parts in ways]
    return next((each for each in said if width is None or len(each) <= width), said[-1])


def _left(value: Progress, at: datetime | None) -> tuple[list[str], str]:
    """How long it still takes, if that is known; and the clause in it that says when it is over."""
    if not value.left or value.seconds_left is None:
        return [], ""
    about, end = "about", "" if at is None else _until(value.seconds_left, at)
    if value.more:  # games that results may still add are not counted
        about, end = "at least", end.replace("until", "not before")
    left = seconds(value.seconds_left if value.seconds_left >= 10 else max(1, round(value.seconds_left)))
    return [f"{about} {left} left{end}"], end


def _until(left: float, at: datetime) -> str:
    try:
        end = at + timedelta(seconds=left)
    except OverflowError:
        return ""
    return f" (until {end:%H:%M})" if end.date() == at.date() else f" (until {end:%Y-%m-%d %H:%M})"


def score(played: Played) -> str:
    """A result from red's side: ``1–0``, ``½–½``, and ``0–0`` if both failed."""
    if played.winner is not None:
        return "1–0" if played.winner == "red" else "0–1"
    return "0–0" if played.offenders else "½–½"


def reason(played: Played) -> str:
    """Why a game ended, and through whom if somebody forfeited."""
    if played.reasons:
        names = {side: played.fixture.red if side == "red" else played.fixture.blue for side in played.offenders}
        return "; ".join(f"{played.reason_of(side).replace('_', ' ')}: {name}" for side, name in names.items())
    who = " and ".join(played.fixture.red if side == "red" else played.fixture.blue for side in played.offenders)
    return f"{kind(played)}: {who}" if who else kind(played)


def kind(played: Played) -> str:
    """In which way a game ended, in a word or two."""
    return "crashed" if played.reason in CRASHED else played.reason.replace("_", " ")


def winners(report: EventReport) -> str | None:
    """Who has won an event, and who came next: ``Meadow: Greta wins, then Gustav and Paula``; None before the end."""
    if not report.over or not report.progress.done:
        return None
    first, *others = report.names
    then = listed(others[:2])
    return f"{report.event.name}: {first} wins" + (f", then {then}" if then else "")


def listed(names: Sequence[str], at_most: int = 4) -> str:
    """``Ann``, ``Ann and Bob``, ``Ann, Bob and 7 more``."""
    shown = list(names) if len(names) <= at_most else [*names[: at_most - 1], f"{len(names) - at_most + 1} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def brief(sentence: str, most: int = 200) -> str:
    """A sentence for a line among others: of a long one the beginning and the end, in which errors are told."""
    if len(sentence) <= most:
        return sentence
    head = most * 2 // 3
    return f"{sentence[:head].rstrip()} ... {sentence[head + 5 - most :].lstrip()}"


def standing(game: Game) -> str:
    """How a game without a result stands."""
    last = game.last
    if last is None:
        return "to be played"
    return "being played" if last.state == "running" else "to be repeated"


def tie_break(name: str) -> str:
    """The heading of a tie-break's column."""
    return TIE_BREAK_TITLES.get(name, name.replace("_", " "))
