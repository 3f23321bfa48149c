"""How fast are the rules? Every game and size by itself, and beside the original programs.

    uv run python benchmarks/rules.py
    uv run python benchmarks/rules.py --short     # proves that it works; its figures mean nothing

It takes four to five minutes, with ``--short`` a few seconds; what is done meanwhile is told on standard error.

One thread; CPU time, the best of several rounds. The references are the original programs' own figures per CPU second
on a machine of the kind that the figures of docs/performance.md come from, their virtual machine warmed up. Only the
ratios mean anything, and on another kind of machine not even those exactly. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from fleet.arguments import new_file, reader
from fleet.figures import leave, machine
from fleet.verdict import ended
from speed.bars import Bar, judged, table
from speed.golden import golden_positions, golden_refusals
from speed.playing import Figures, board_figures, listing_figures, play_micros, refusal_micros
from speed.samples import Options, Sample
from speed.timing import FULL, SHORT, Effort, Work, median_and_worst

from triarena.games import AnyPosition
from triarena.games.flowerwars import FlowerWarsPosition
from triarena.games.flowerwars.planting import can_plant
from triarena.games.mississippi_queen import MississippiQueenPosition
from triarena.games.mississippi_queen.listing import can_move
from triarena.games.towerwars import TowerWarsPosition

BOARDS: Final[Sequence[tuple[str, str, Sequence[int]]]] = (
    ("towerwars", "size", (4, 8, 12, 26)),
    ("flowerwars", "size", (3, 5, 10, 20, 30)),
    ("mississippi_queen", "sandbanks", (0, 2)),
)
SHORT_BOARDS: Final[Sequence[tuple[str, str, Sequence[int]]]] = (
    ("towerwars", "size", (4, 8)),
    ("flowerwars", "size", (3, 5)),
    ("mississippi_queen", "sandbanks", (0,)),
)
PLAYOUTS: Final[Mapping[tuple[str, int], tuple[float, float, float]]] = {
    ("towerwars", 8): (56_000, 0.6, 1),
    ("towerwars", 12): (10_600, 1.5, 3),
    ("towerwars", 26): (880, 4, 10),
    ("flowerwars", 5): (2_700, 2, 6),
    ("flowerwars", 10): (205, 3, 10),
    ("flowerwars", 20): (13, 3, 10),
    ("flowerwars", 30): (2.4, 3, 10),
}
"""By game and size: the original's plies per second in random games, then bar and aim of the ratio."""
CHECK: Final[Mapping[str, tuple[float, float]]] = {
    "towerwars": (3, 1),
    "flowerwars": (10, 10 / 3),
    "mississippi_queen": (10, 10 / 3),
}
"""By game: what a check may cost in microseconds, and what it should."""
COLUMNS: Final = {
    "check_legal": "check legal µs",
    "check_illegal": "illegal µs",
    "play": "play µs",
    "write": "write µs",
    "lists": "lists/s",
    "listed": "moves listed/s",
    "plies": "random plies/s",
    "games": "games/s",
    "memory": "bytes/position",
    "shared_memory": "bytes/game besides",
}
GOLDEN_COLUMNS: Final = {
    "positions": "positions",
    "has_move_median": "has a move: median µs",
    "has_move_worst": "worst µs",
    "play": "play µs",
    "slowest_refusal": "slowest reason to refuse µs",
    "lists": "lists/s",
    "listed": "moves listed/s",
}


def has_move(position: AnyPosition) -> Work:
    """The test whether the side to move can move, as the engine makes it at the end of ``play``."""
    if isinstance(position, TowerWarsPosition):
        return partial(TowerWarsPosition, position.size, position.cells, position.to_move)
    if isinstance(position, FlowerWarsPosition):
        flowers = position
        return lambda: can_plant(flowers.board, flowers.plot(flowers.to_move), flowers.free) or flowers.diggable() != 0
    assert isinstance(position, MississippiQueenPosition)
    side = position.to_move
    return partial(can_move, position.river, position.ship(side), position.ship(side.other))


def golden_figures(name: str, effort: Effort) -> Figures:
    """What the engine makes of the positions that the original program reached, with a random move for each."""
    positions = golden_positions(name)[:: effort.share]
    rng = random.Random(1)
    found = [Sample(position, rng.choice(list(position.legal_moves())), None) for position in positions]
    median, worst = median_and_worst([has_move(position) for position in positions], effort.rounds)
    return {
        "positions": len(positions),
        "has_move_median": median * 1e6,
        "has_move_worst": worst * 1e6,
        "play": play_micros(found, effort),
        "slowest_refusal": max(refusal_micros(refused, effort) for refused in golden_refusals(name).values()),
        **listing_figures(found, effort),
    }


def bars(boards: Mapping[tuple[str, int], Figures], golden: Mapping[str, Figures]) -> Iterator[Bar]:
    """Everything that is asked for, of what was measured."""
    for key, (reference, bar, aim) in PLAYOUTS.items():
        if key in boards:
            yield Bar(f"{key[0]} {key[1]}: random games", boards[key]["plies"], "plies/s", reference, bar, aim)
    queen, where = golden["mississippi_queen"], "mississippi_queen, golden"
    yield Bar(f"{where}: full lists", queen["lists"], "lists/s", 3_100, 0.25, 1)
    yield Bar(f"{where}: moves listed", queen["listed"], "moves/s", 1_200_000, 0.25, 1)
    yield Bar(f"{where}: check and play", 1e6 / queen["play"], "/s", 60_000, 0.5, 1)
    if ("flowerwars", 20) in boards:
        yield Bar("flowerwars 20: play of a move", 1e6 / boards["flowerwars", 20]["play"], "/s", 15, 500, 2_000)
    for name, (bar, aim) in CHECK.items():
        for kind in ("legal", "illegal"):
            slowest = max(figures[f"check_{kind}"] for (game, _), figures in boards.items() if game == name)
            yield Bar(f"{name}: check, {kind} move, slowest size", slowest, "µs", None, bar, aim, at_most=True)


def main() -> int:
    """Measures and prints; the exit code."""
    parser = reader(__doc__)
    parser.add_argument("--short", action="store_true", help="prove that it works in a few seconds, and judge nothing")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="leave the figures there")
    arguments = parser.parse_args()
    effort = SHORT if arguments.short else FULL

    boards: dict[tuple[str, int], Figures] = {}
    for name, option, values in SHORT_BOARDS if arguments.short else BOARDS:
        for value in values:
            options: Options = {option: value}
            boards[name, value] = board_figures(name, options, effort)
            _tell(f"{name} {value}")
    named = {f"{name} {value}": figures for (name, value), figures in boards.items()}
    print(_figures_table("random games", COLUMNS, named), "\n")

    golden = {}
    for name, *_ in BOARDS:
        golden[name] = golden_figures(name, effort)
        _tell(f"{name}, golden positions")
    print(_figures_table("golden positions", GOLDEN_COLUMNS, golden), "\n")

    found = list(bars(boards, golden))
    verdicts, good = judged(found, meant=not arguments.short)
    print(verdicts, "\n")
    print(machine(short=arguments.short))
    plain = [bar.plain(meant=not arguments.short) for bar in found]
    leave({"short": arguments.short, "boards": named, "golden": golden, "bars": plain}, arguments.json)
    return 0 if good else 1


def _tell(what: str) -> None:
    print(f"{what}: done", file=sys.stderr, flush=True)


def _figures_table(what: str, columns: Mapping[str, str], lines: Mapping[str, Figures]) -> str:
    cells = [[name, *(_shown(figures[column]) for column in columns)] for name, figures in lines.items()]
    return table([what, *columns.values()], cells)


def _shown(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:.3g}"


if __name__ == "__main__":
    ended(main)
