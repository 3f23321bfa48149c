"""The geometry of the river, and the boards that are drawn from a seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import pairwise
from math import sqrt

import pytest

from triarena.games import BadOptions
from triarena.games.mississippi_queen import GAME, Direction, River, Segment
from triarena.games.mississippi_queen.boards import draw_board, is_playable
from triarena.games.mississippi_queen.geometry import (
    STEPS,
    Coordinates,
    cell_at,
    field_of,
    local_column_and_row,
    local_field,
    middle_cells,
    next_center,
    next_directions,
    segment_cells,
)
from triarena.games.mississippi_queen.profiles import SEED, SERVER_24_2_5, Profile
from triarena.games.mississippi_queen.river import PASSABLE, SANDBANK
from triarena.games.mississippi_queen.splitmix import SplitMix64

BOARDS = 2000


@pytest.fixture(scope="module")
def boards() -> list[tuple[Segment, ...]]:
    """Boards as the original draws them, none thrown away."""
    return [draw_board(seed, SERVER_24_2_5) for seed in range(BOARDS)]


def digest(board: tuple[Segment, ...]) -> str:
    wire = [[int(segment.direction), segment.center, segment.columns] for segment in board]
    return sha256(json.dumps(wire).encode()).hexdigest()[:16]


def even(counts: Iterable[int]) -> bool:
    """Whether the counts may well be those of equally likely things (chi-square within 5 standard deviations)."""
    counts = list(counts)
    expected, freedom = sum(counts) / len(counts), len(counts) - 1
    return sum((count - expected) ** 2 for count in counts) / expected < freedom + 5 * sqrt(2 * freedom)


def bends(directions: tuple[Direction, ...] = ()) -> Iterator[tuple[Direction, ...]]:
    """All ways in which a river can bend."""
    if len(directions) == 8:
        yield directions
    else:
        for direction in next_directions(directions):
            yield from bends((*directions, direction))


def test_the_first_fields_lie_where_the_rules_say() -> None:
    fields = [field_of(cell) for cell in segment_cells(Direction.RIGHT, (0, 0, 0))]
    assert fields[:5] == [(-1, -2, 3), (-1, -1, 2), (-1, 0, 1), (-2, 1, 1), (-3, 2, 1)]
    assert fields[7] == (0, 0, 0)
    assert fields[15:] == [(2, -2, 0), (2, -1, -1), (2, 0, -2), (1, 1, -2), (0, 2, -2)]


def test_a_column_and_row_are_found_from_the_local_field() -> None:
    for column in range(-1, 5):
        for row in range(5):
            assert local_column_and_row(local_field(column, row)) == (column, row)


def test_a_step_and_its_opposite_cancel_out() -> None:
    for direction in Direction:
        assert STEPS[direction] + STEPS[direction.opposite] == 0
        assert cell_at(direction.vector) == cell_at((0, 0, 0)) + STEPS[direction]


@pytest.mark.parametrize("field", [(1, 1, 1), (40, -40, 0), (0, 37, -37)])
def test_a_field_that_no_river_reaches_is_refused(field: Coordinates) -> None:
    with pytest.raises(ValueError, match="no field"):
        cell_at(field)


def test_no_river_touches_itself_and_all_stay_within_the_cells() -> None:
    count = 0
    for directions in bends():
        count += 1
        centers: list[Coordinates] = []
        for direction in directions:
            centers.append(next_center(centers, direction))
        segments = [segment_cells(*one) for one in zip(directions, centers, strict=True)]
        owner = {cell: index for index, cells in enumerate(segments) for cell in cells}
        assert len(owner) == 160
        assert all(abs(owner[cell] - owner.get(cell + step, owner[cell])) < 2 for cell in owner for step in STEPS)
        assert max(abs(part) for cell in owner for part in field_of(cell)) <= 31
    assert count == 569


def test_the_generator_gives_the_published_numbers() -> None:
    random = SplitMix64(1234567)
    assert [random.next_word() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_a_seed_beyond_64_bits_counts_whole() -> None:
    assert len({SplitMix64(seed).next_word() for seed in (1, 1 + (1 << 64), 1 + (2 << 64), 1 + (1 << 128))}) == 4


def test_draws_below_a_bound_are_even() -> None:
    random = SplitMix64(5)
    assert even(Counter(random.below(6) for _ in range(6000)).values())
    assert even(Counter(tuple(random.sample(range(4), 2)) for _ in range(6000)).values())


@pytest.mark.parametrize(
    ("seed", "rules", "sandbanks", "pinned"),
    [
        (0, SEED, 0, "e31aad3f64a95bde"),
        (1, SEED, 0, "8a076ef136753c1a"),
        (1, SERVER_24_2_5, 0, "8a076ef136753c1a"),
        (2**63, SEED, 2, "910d0565041a93c5"),
        (10**30, SERVER_24_2_5, 1, "f1fb74ac5b7d745c"),
    ],
)
def test_the_board_of_a_seed_never_changes(seed: int, rules: Profile, sandbanks: int, pinned: str) -> None:
    assert digest(draw_board(seed, rules, sandbanks)) == pinned


def test_the_river_bends_evenly(boards: list[tuple[Segment, ...]]) -> None:
    assert all((board[0].direction, board[1].direction) == (Direction.RIGHT, Direction.RIGHT) for board in boards)
    turns: dict[int, Counter[int]] = {2: Counter(), 3: Counter()}
    for board in boards:
        directions = [segment.direction for segment in board]
        choices = next_directions(directions[:7])
        turns[len(choices)][choices.index(directions[7])] += 1
    assert even(turns[2].values())
    assert even(turns[3].values())


def test_contents_are_spread_evenly(boards: list[tuple[Segment, ...]]) -> None:
    islands: Counter[int] = Counter()
    places: Counter[int] = Counter()
    without: Counter[int] = Counter()
    for board in boards:
        marks = ["".join(segment.columns) for segment in board]
        assert marks[0] == "W" * 20
        assert [mark for mark in marks[7] if mark == "G"] == ["G"] * 3
        assert marks[7][16:19] == "GGG"
        assert all(set(segment[15:]) <= {"W", "G"} for segment in marks)
        islands.update(segment.count("I") for segment in marks[1:])
        places.update(place for segment in marks[1:] for place, mark in enumerate(segment) if mark not in "WG")
        passengers = [index for index, segment in enumerate(marks) if set(segment) & set("012345")]
        assert len(passengers) == 5
        assert all(1 <= index <= 6 for index in passengers)
        without.update(set(range(1, 7)) - set(passengers))
    assert islands.keys() == {2, 3}
    assert even(islands.values())
    assert even(without.values())
    assert places.keys() == set(range(15))
    assert max(places.values()) < 1.2 * min(places.values())  # docks make it slightly uneven


def test_about_as_many_docks_as_in_the_original_lie_before_their_segment_or_are_blocked(
    boards: list[tuple[Segment, ...]],
) -> None:
    before = blocked = 0
    for board in boards:
        river = River(board, None)
        for passenger in river.passengers:
            before += river.progress[passenger.dock_cell] // 5 < river.progress[passenger.cell] // 5
            blocked += not river.kinds[passenger.dock_cell] & PASSABLE
    docks = 5 * len(boards)
    assert 0.12 < before / docks < 0.15
    assert 0.003 < blocked / docks < 0.009
    assert 0.015 < sum(not is_playable(board) for board in boards) / len(boards) < 0.045


def test_the_written_rules_get_playable_boards_only() -> None:
    assert all(is_playable(draw_board(seed, SEED, seed % 3)) for seed in range(300))


def test_every_segment_but_the_first_has_as_many_sandbanks_as_the_option_says() -> None:
    for seed in range(100):
        for sandbanks in range(3):
            board = draw_board(seed, SEED, sandbanks)
            assert ["".join(s.columns).count("S") for s in board] == [0] + [sandbanks] * 7
    kinds = River(board, None).kinds
    assert sum(bool(kind & SANDBANK) for kind in kinds) == 14


def test_the_stream_runs_through_the_middle_and_bends_to_the_next_segment() -> None:
    cells = middle_cells(Direction.RIGHT, (4, 0, -4), Direction.DOWN_RIGHT)
    assert [field_of(cell) for cell in cells] == [(3, 0, -3), (4, 0, -4), (4, 1, -5), (4, 2, -6)]


def test_what_is_revealed_later_changes_nothing_of_what_was_seen() -> None:
    for seed in range(20):
        position = GAME.start({}, seed)
        for part, whole in pairwise((position.river, *position.beyond)):
            seen = [cell for segment in part.segments for cell in segment.cells()]
            assert [part.kinds[cell] for cell in seen] == [whole.kinds[cell] for cell in seen]
            assert whole.passengers[: len(part.passengers)] == part.passengers


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True])
def test_a_seed_must_be_a_whole_number_from_zero(seed: int) -> None:
    with pytest.raises(BadOptions, match="seed"):
        GAME.start({}, seed)
