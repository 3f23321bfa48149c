"""How long pairings take: every format with many players, asked for its plan after every few results.

    python benchmarks/pairings.py [PLAYERS]

Prints per format the time to make it, and the slowest and the mean time of asking. The slowest is a new round's.
"""

from __future__ import annotations

import random
import time

from fleet.arguments import at_least, reader
from fleet.verdict import ended

from triarena.tournament.formats import make_format
from triarena.tournament.values import Fixture, Played

CASES: tuple[tuple[str, int | None, int], ...] = (
    ("round_robin", None, 2),
    ("double_round_robin", None, 2),
    ("gauntlet", None, 2),
    ("swiss", 9, 1),
    ("swiss", 9, 2),
    ("swiss", 31, 1),
    ("knockout", None, 2),
    ("double_knockout", None, 2),
    ("ladder", 60, 2),
)
"""Format, rounds, games per pairing."""
AT_ONCE = 8
"""How many games end between two questions."""


def invented(fixture: Fixture, draw: random.Random) -> Played:
    """A result in which the better seed wins more often."""
    lead = int(fixture.blue) - int(fixture.red)
    winner = None if draw.random() < 0.1 else fixture.side_of(fixture.red if draw.gauss(lead, 10) > 0 else fixture.blue)
    return Played(fixture, winner, "points")


def measure(name: str, players: int, rounds: int | None, games: int) -> str:
    """Plays a tournament out; its line of figures."""
    names = [str(i) for i in range(players)]
    draw = random.Random(1)
    begin = time.perf_counter()
    paired = make_format(
        name,
        names,
        seed=1,
        rounds=rounds,
        games_per_pairing=games,
        challengers=names[:1] if name == "gauntlet" else (),
    )
    made = time.perf_counter() - begin
    played: dict[str, Played] = {}
    asked: list[float] = []
    while True:
        begin = time.perf_counter()
        plan = paired.plan(played)
        asked.append(time.perf_counter() - begin)
        left = [each for each in plan.fixtures() if each.id not in played]
        if not left:
            break
        played |= {each.id: invented(each, draw) for each in left[:AT_ONCE]}
    figures = f"{1000 * made:8.1f} {1000 * max(asked):10.1f} {1000 * sum(asked) / len(asked):8.2f}"
    return f"{name:20}{rounds or '':>7}{games:>7}{len(played):>7} {figures}"


def main() -> None:
    """Prints a table."""
    parser = reader(__doc__)
    parser.add_argument("players", metavar="PLAYERS", type=at_least(2), nargs="?", default=64)
    players = parser.parse_args().players
    print(f"{players} players; milliseconds")
    print(f"{'format':20}{'rounds':>7}{'games':>7}{'played':>7} {'made':>8} {'slowest':>10} {'mean':>8}")
    for name, rounds, games in CASES:
        print(measure(name, players, rounds, games))


if __name__ == "__main__":
    ended(main)
