"""What can be played now, and who waits for whom if nothing can."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .values import Fixture, Plan

Cause: TypeAlias = Literal["absent", "playing", "results"]
"""Why a player waits: opponents are not there, or play against others, or later rounds hang on games not over yet."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A player who is there and free, and has nobody to play against now."""

    player: str
    cause: Cause
    whom: tuple[str, ...]
    """Those waited for, in the plan's order."""

    def __str__(self) -> str:
        names = _listed(self.whom)
        several = len(self.whom) > 1
        match self.cause:
            case "absent":
                return f"{self.player} waits for {names}, who {'are' if several else 'is'} not here."
            case "playing":
                return f"{self.player} waits for {names}, who {'are' if several else 'is'} playing."
            case "results":
                return f"{self.player} waits for the end of the games of {names}, on which the next round depends."


def playable(
    plan: Plan, played: Container[str], running: Collection[str], present: Collection[str] | None = None
) -> list[Fixture]:
    """The games that may be started now, all of them at once, in the plan's order.

    ``played`` and ``running`` hold ids of fixtures. A game may be started when it is neither, both its players are
    ``present`` (None: all are), and neither plays another one or has one earlier in the answer.
    """
    busy = _busy(plan, running)
    ready: list[Fixture] = []
    for fixture in _open(plan, played, running):
        red, blue = fixture.red, fixture.blue
        if red in busy or blue in busy or (present is not None and not (red in present and blue in present)):
            continue
        ready.append(fixture)
        busy.update((red, blue))
    return ready


def waits(
    plan: Plan, played: Container[str], running: Collection[str], present: Collection[str] | None = None
) -> tuple[Wait, ...]:
    """Who of those present and free waits for whom, in the order in which the plan names them.

    Empty for a player who could play at once, plays, is not there or has no game left. Who waits for opponents that
    are absent and for others that are playing is named for both reasons.
    """
    busy = _busy(plan, running)
    could_play = busy | {name for each in playable(plan, played, running, present) for name in each.players}
    opponents: dict[str, dict[str, None]] = {name: {} for name in _names(plan)}
    for fixture in _open(plan, played, running):
        opponents[fixture.red][fixture.blue] = None
        opponents[fixture.blue][fixture.red] = None
    unfinished = _still_playing(plan, played)
    found: list[Wait] = []
    for player, against in opponents.items():
        if player in could_play or (present is not None and player not in present):
            continue
        absent = tuple(name for name in against if present is not None and name not in present)
        playing = tuple(name for name in against if name not in absent)
        results = unfinished if not against and not plan.complete else ()
        found += [
            Wait(player, cause, whom)
            for cause, whom in _causes(absent, playing, tuple(name for name in results if name != player))
            if whom
        ]
    return tuple(found)


def _causes(
    absent: tuple[str, ...], playing: tuple[str, ...], results: tuple[str, ...]
) -> tuple[tuple[Cause, tuple[str, ...]], ...]:
    return ("absent", absent), ("playing", playing), ("results", results)


def _open(plan: Plan, played: Container[str], running: Container[str]) -> Iterator[Fixture]:
    return (each for each in plan.fixtures() if each.id not in played and each.id not in running)


def _busy(plan: Plan, running: Collection[str]) -> set[str]:
    return {name for each in plan.fixtures() if each.id in running for name in each.players} if running else set()


def _names(plan: Plan) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for each in plan.rounds:
        for encounter in each.encounters:
            names[encounter.first] = names[encounter.second] = None
        names.update(dict.fromkeys(each.byes))
    return tuple(names)


def _still_playing(plan: Plan, played: Container[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in plan.fixtures() if each.id not in played for name in each.players))


def _listed(names: tuple[str, ...], at_most: int = 6) -> str:
    shown = [*names] if len(names) <= at_most else [*names[:at_most], f"{len(names) - at_most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
