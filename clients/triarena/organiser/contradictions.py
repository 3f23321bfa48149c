"""What a tournament's file may say alone but not together: settings that don't fit the format, the game, the bots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from triarena.games.core import shown
from triarena.protocol.values import Budget, PerMove, Unlimited
from triarena.tournament.tie_breaks import TIE_BREAKS

from .problems import meant
from .schema import ClockTable, EventTable

Tell: TypeAlias = Callable[[tuple[str | int, ...], str], None]
"""Notes a problem: the path within the tournament's table, and the sentence."""

ROUNDS_OF: Final = ("swiss", "ladder")
"""Formats whose number of rounds is chosen."""
SEEDED: Final = ("swiss", "ladder", "knockout", "double_knockout")
"""Formats to which the bots' order, the strongest first, makes a difference."""
KNOCKOUTS: Final = ("knockout", "double_knockout")
DEFAULT_MARGIN_MS: Final = 50.0


@dataclass(frozen=True, slots=True)
class Terms:
    """A tournament's table with the names of its players, to be looked through."""

    table: EventTable
    players: Sequence[str]
    all_known: bool = True
    """Whether there are no more players than these; else something is wrong with the others, and was told."""

    @property
    def endless(self) -> bool:
        """A ladder that only an interrupt or ``triarena tournament cancel`` ends."""
        stop = self.table.stop
        return (
            self.table.format == "ladder"
            and self.table.rounds is None
            and stop.max_games is None
            and stop.max_minutes is None
        )


def tell_contradictions(terms: Terms, tell: Tell) -> None:
    """Tells of everything in a tournament that can't work."""
    if len(terms.players) < 2 and terms.all_known:
        who = f"only {shown(terms.players[0])} plays" if terms.players else "nobody plays"
        tell(("bots",), f"a tournament needs two bots at least, and {who}; add [[bots]]")
    _rounds(terms, tell)
    _games(terms, tell)
    _challengers(terms, tell)
    _tie_breaks(terms, tell)
    _sprt(terms, tell)
    _seeds(terms, tell)
    if terms.table.seeding is not None and terms.table.format not in SEEDED:
        tell(("seeding",), f"it makes no difference to a {terms.table.format}, where everybody's opponents are fixed")
    if terms.table.tie_pairs is not None and terms.table.format not in KNOCKOUTS:
        tell(("tie_pairs",), f"only a knockout breaks ties by further games, and the format is {terms.table.format}")


def _rounds(terms: Terms, tell: Tell) -> None:
    format_, rounds, opponents = terms.table.format, terms.table.rounds, len(terms.players) - 1
    if rounds is None:
        return
    if format_ not in ROUNDS_OF:
        tell(("rounds",), f"the rounds of a {format_} follow from the number of bots; leave the key out")
    elif format_ == "swiss" and rounds > opponents >= 1:
        tell(
            ("rounds",),
            f"a Swiss tournament of {opponents + 1} bots can't have {rounds} rounds, since nobody meets an opponent "
            f"twice; take {opponents} at most, or the format round_robin",
        )


def _games(terms: Terms, tell: Tell) -> None:
    games = terms.table.games_per_pairing
    if games > 1 and games % 2:
        tell(
            ("games_per_pairing",),
            f"it must be 1 or even, since games come in pairs on the same board, not {games}; take {games + 1}",
        )
    elif games == 1 and terms.table.format == "double_round_robin":
        tell(("games_per_pairing",), "a double round robin needs 2 at least: it counts the games of both legs")


def _seeds(terms: Terms, tell: Tell) -> None:
    """Two players who meet shall have a new board for every pair of their games."""
    seeds, table = terms.table.seeds, terms.table
    known: set[int] = set()
    for at, seed in enumerate(seeds):
        if seed in known:
            tell(("seeds", at), f"the seed {seed} stands there twice, so the same board would be played twice")
        known.add(seed)
    further = (1 if table.tie_pairs is None else table.tie_pairs) if table.format in KNOCKOUTS else 0
    least = max(1, table.games_per_pairing // 2) + further
    if seeds and len(seeds) < least:
        ties = f" and up to {further} more to break ties" if further else ""
        played = f"two bots that meet play {table.games_per_pairing} games, two on each board{ties}"
        tell(("seeds",), f"{played}; so give {least} seeds at least, not {len(seeds)}")


def _challengers(terms: Terms, tell: Tell) -> None:
    challengers = terms.table.challengers
    if terms.table.format != "gauntlet":
        for key in ("challengers", "challengers_meet"):
            if getattr(terms.table, key) is not None:
                tell((key,), f"only a gauntlet has challengers, and the format is {terms.table.format}")
        return
    if not challengers:
        example = shown(terms.players[0] if terms.players else "Ann")
        tell(
            ("format",) if challengers is None else ("challengers",),
            f"a gauntlet needs challengers, who meet all the others, e.g. challengers = [{example}]",
        )
        return
    strangers = False
    for at, name in enumerate(challengers):
        if name not in terms.players:
            strangers = True
            tell(("challengers", at), f"no bot called {shown(name)} plays here{meant(name, terms.players)}")
        elif name in challengers[:at]:
            tell(("challengers", at), f"{shown(name)} stands there twice")
    if not strangers and len(set(challengers)) == len(terms.players):
        tell(("challengers",), "every bot is a challenger, so nobody is left to challenge; take round_robin")


def _tie_breaks(terms: Terms, tell: Tell) -> None:
    names = terms.table.tie_breaks or []
    for at, name in enumerate(names):
        if name not in TIE_BREAKS:
            tell(("tie_breaks", at), f"there is no tie-break {shown(name)}{meant(name, TIE_BREAKS)}")
        elif name in names[:at]:
            tell(("tie_breaks", at), f"{name} stands there twice; the second can break no tie")


def _sprt(terms: Terms, tell: Tell) -> None:
    sprt = terms.table.stop.sprt
    if sprt is None:
        return
    if len(terms.players) > 2:
        tell(("stop", "sprt"), f"the sequential test compares two bots, and {len(terms.players)} play; leave it out")
    if terms.table.format in KNOCKOUTS:
        tell(("stop", "sprt"), f"a {terms.table.format} ends by itself; for a test of two bots take round_robin")
    if terms.table.games_per_pairing == 1:
        tell(
            ("stop", "sprt"),
            "the sequential test counts pairs of games with sides swapped, so games_per_pairing must be even: "
            "as many games as the test may take, e.g. 2000",
        )
    if sprt.elo0 >= sprt.elo1:
        tell(("stop", "sprt"), f"elo0 ({sprt.elo0:g}) must be below elo1 ({sprt.elo1:g})")


def read_clock(clock: ClockTable, tell: Tell) -> PerMove | Budget | Unlimited | None:
    """The protocol's time control; None after telling what doesn't go together."""
    kinds = [key for key in ("move_seconds", "budget_seconds", "unlimited") if getattr(clock, key) is not None]
    if len(kinds) > 1:
        tell(
            ("clock", kinds[1]),
            f"a clock has one of move_seconds, budget_seconds and unlimited, not {' and '.join(kinds)}",
        )
        return None
    kind = kinds[0] if kinds else "move_seconds"
    fitting = {
        "move_seconds": ("move_seconds", "strikes", "hard_seconds", "margin_ms", "game_minutes"),
        "budget_seconds": ("budget_seconds", "increment_seconds", "margin_ms", "game_minutes"),
        "unlimited": ("unlimited", "game_minutes"),
    }[kind]
    strange = [key for key in clock.model_fields_set if key not in fitting]
    for key in strange:
        tell(("clock", key), f"it does not go together with {kind}; leave one of them out")
    if strange:
        return None
    margin = DEFAULT_MARGIN_MS if clock.margin_ms is None else clock.margin_ms
    if kind == "unlimited":
        return Unlimited()
    if clock.budget_seconds is not None:
        increment = 1000 * (clock.increment_seconds or 0)
        return Budget(budget_ms=1000 * clock.budget_seconds, increment_ms=increment, margin_ms=margin)
    return _per_move(clock, margin, tell)


def _per_move(clock: ClockTable, margin: float, tell: Tell) -> PerMove | None:
    move, strikes, hard = clock.move_seconds or 2.0, clock.strikes or 0, clock.hard_seconds
    if hard is not None and not strikes:
        tell(("clock", "hard_seconds"), "it says how long an overrun is waited for that is forgiven; add strikes")
        return None
    if hard is not None and hard < move:
        tell(("clock", "hard_seconds"), f"it must be at least move_seconds ({move:g}), not {hard:g}")
        return None
    if strikes and hard is None:
        hard = 5 * move
    hard_ms = None if hard is None else min(1000 * hard, 86_400_000.0)
    return PerMove(move_ms=1000 * move, margin_ms=margin, strikes=strikes, hard_ms=hard_ms)
