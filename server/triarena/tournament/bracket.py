"""Knockout brackets: which encounters there are, and where winners and losers go. No results yet.

The best seeds are placed so that they meet as late as possible, the first v the last. If players are missing to a power
of two, the first seeds have byes. An entry of a bracket is therefore known beforehand to be somebody or nobody, and an
encounter with nobody is none at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Seeded:
    """The player of that name comes here."""

    player: str


@dataclass(frozen=True, slots=True)
class Sent:
    """The winner or the loser of an encounter comes here."""

    what: Literal["winner", "loser"]
    round: int
    table: int


Entry: TypeAlias = Seeded | Sent


@dataclass(frozen=True, slots=True)
class Slot:
    """An encounter of a bracket."""

    round: int
    table: int
    first: Entry
    second: Entry
    if_second_wins: Slot | None = None
    """It takes place only if that encounter was won by the second entry: the second final."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A round of a bracket."""

    number: int
    title: str
    slots: tuple[Slot, ...]
    byes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bracket:
    """A whole knockout, drawn up before it begins."""

    players: tuple[str, ...]
    """In seeding order."""
    stages: tuple[Stage, ...]

    def slots(self) -> Iterator[Slot]:
        """All encounters there can be, each after those that its players come from."""
        return (slot for stage in self.stages for slot in stage.slots)


@dataclass(slots=True)
class _Drawing:
    """A bracket while it is drawn."""

    stages: list[Stage]

    def numbered(self, title: str) -> str:
        """The title of the next round of that kind."""
        return f"{title} {1 + sum(stage.title.startswith(title) for stage in self.stages)}"

    def play(self, pairings: Sequence[tuple[Entry | None, Entry | None]], title: str) -> tuple[list[Entry | None], ...]:
        """Adds a round; tells where its winners and losers come from. Who meets nobody goes on, and nobody loses."""
        number = len(self.stages) + 1
        slots: list[Slot] = []
        winners: list[Entry | None] = []
        losers: list[Entry | None] = []
        byes: list[str] = []
        for first, second in pairings:
            if first is not None and second is not None:
                slots.append(Slot(number, len(slots) + 1, first, second))
                winners.append(Sent("winner", number, len(slots)))
                losers.append(Sent("loser", number, len(slots)))
            else:
                alone = first or second
                byes += [alone.player] if isinstance(alone, Seeded) else []
                winners.append(alone)
                losers.append(None)
        if slots:
            self.stages.append(Stage(number, title, tuple(slots), tuple(byes)))
        return winners, losers


def single_elimination(players: Sequence[str]) -> Bracket:
    """The rounds of a knockout in which one defeat is the end. Players come in seeding order."""
    drawing = _Drawing([])
    entries = _seeded(players)
    while len(entries) > 1:
        entries, _ = drawing.play(_neighbours(entries), _title(len(entries)))
    return Bracket(tuple(players), tuple(drawing.stages))


def double_elimination(players: Sequence[str]) -> Bracket:
    """The rounds of a knockout in which the second defeat is the end.

    Who loses goes on among the losers: those who lost in the same round are paired off with the survivors there, in
    an order reversed every other time, so that old opponents meet late. The last one left of each bracket meet in the
    final; if the undefeated one loses that, there is a second final.
    """
    drawing = _Drawing([])
    above, below = drawing.play(_neighbours(_seeded(players)), drawing.numbered("winners' round"))
    reverse = True
    while len(above) > 1:
        below, _ = drawing.play(_neighbours(below), drawing.numbered("losers' round"))
        above, fallen = drawing.play(_neighbours(above), drawing.numbered("winners' round"))
        fresh = fallen[::-1] if reverse else fallen
        reverse = not reverse
        below, _ = drawing.play(list(zip(fresh, below, strict=True)), drawing.numbered("losers' round"))
    drawing.play([(above[0], below[0])], "final")
    final = drawing.stages[-1].slots[0]
    number = final.round + 1
    again = Slot(number, 1, final.first, final.second, if_second_wins=final)
    return Bracket(tuple(players), (*drawing.stages, Stage(number, "second final", (again,))))


def _seeded(players: Sequence[str]) -> list[Entry | None]:
    """Players in the order of the bracket's lines: 1, 8, 4, 5, 2, 7, 3, 6 for eight; None where there is a bye."""
    order = [0]
    while len(order) < len(players):
        size = 2 * len(order)
        order = [seed for each in order for seed in (each, size - 1 - each)]
    return [Seeded(players[seed]) if seed < len(players) else None for seed in order]


def _neighbours(entries: Sequence[Entry | None]) -> list[tuple[Entry | None, Entry | None]]:
    return list(zip(entries[0::2], entries[1::2], strict=True))


def _title(size: int) -> str:
    return {2: "final", 4: "semi-finals", 8: "quarter-finals"}.get(size, f"round of {size}")
