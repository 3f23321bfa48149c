"""Drawing a board: where the river bends, and where islands, passengers and sandbanks lie.

The seed says "randomly distributed"; the distributions are those of the original program. A board is the eight
segments in river order.
"""

from __future__ import annotations

from .geometry import (
    COLUMNS,
    DIRECTIONS,
    ROWS,
    SEGMENTS,
    STEPS,
    Coordinates,
    Direction,
    add,
    local_column_and_row,
    local_field,
    next_center,
    next_directions,
)
from .profiles import Profile
from .river import GOAL, GOAL_MARK, ISLAND_MARK, PASSABLE, SANDBANK_MARK, WAITING_MARKS, WATER_MARK, River, Segment
from .splitmix import SplitMix64

PASSENGERS = 5
_CONTENT_PLACES = range((COLUMNS - 1) * ROWS)
"""Islands, passengers and sandbanks lie in the columns 0 to 2; a place is 5 * column + row."""


def draw_board(seed: int, profile: Profile, sandbanks: int = 0) -> tuple[Segment, ...]:
    """The board of a seed; under a profile that wants it, the first one on which nothing is blocked."""
    random = SplitMix64(seed)
    while True:
        board = _draw(random, sandbanks)
        if not profile.redraw_blocked_boards or is_playable(board):
            return board


def is_playable(board: tuple[Segment, ...]) -> bool:
    """Whether every dock lies in the water and a ship can get from the start to the goal."""
    river = River(board, None)
    if not all(river.kinds[passenger.dock_cell] & PASSABLE for passenger in river.passengers):
        return False
    start = board[0].cells()[0]
    reached, todo = {start}, [start]
    while todo:
        cell = todo.pop()
        if river.kinds[cell] & GOAL:
            return True
        for step in STEPS:
            if river.kinds[cell + step] & PASSABLE and cell + step not in reached:
                reached.add(cell + step)
                todo.append(cell + step)
    return False


def _draw(random: SplitMix64, sandbanks: int) -> tuple[Segment, ...]:
    directions: list[Direction] = []
    centers: list[Coordinates] = []
    while len(directions) < SEGMENTS:
        choices = next_directions(directions)
        directions.append(choices[random.below(len(choices))])
        centers.append(next_center(centers, directions[-1]))
    last = SEGMENTS - 1
    with_passenger = set(random.sample(range(1, last), PASSENGERS))
    board = []
    for index, (direction, center) in enumerate(zip(directions, centers, strict=True)):
        marks = [WATER_MARK] * (COLUMNS * ROWS)
        if index:
            islands = 2 + random.below(2)
            marks = _draw_contents(random, direction, islands, index in with_passenger, sandbanks)
        if index == last:
            front = (COLUMNS - 1) * ROWS
            marks[front + 1 : front + 4] = [GOAL_MARK] * 3
        columns = tuple("".join(marks[ROWS * column : ROWS * (column + 1)]) for column in range(COLUMNS))
        board.append(Segment(direction, center, columns))
    return tuple(board)


def _draw_contents(
    random: SplitMix64, direction: Direction, islands: int, passenger: bool, sandbanks: int
) -> list[str]:
    """The marks of a segment; drawn again until the passenger finds a dock."""
    while True:
        marks = [WATER_MARK] * (COLUMNS * ROWS)
        places = random.sample(_CONTENT_PLACES, passenger + islands + sandbanks)
        for place in places[passenger : passenger + islands]:
            marks[place] = ISLAND_MARK
        for place in places[passenger + islands :]:
            marks[place] = SANDBANK_MARK
        if not passenger:
            return marks
        for dock in random.shuffled(DIRECTIONS):
            if _is_dock(marks, places[0], dock):
                marks[places[0]] = WAITING_MARKS[(dock + direction) % 6]
                return marks


def _is_dock(marks: list[str], place: int, dock: Direction) -> bool:
    """Whether the neighbour of a place, in a segment that points right, is water or just before the segment.

    Before the segment it is taken for water of the previous one, which can be wrong beside a bend.
    """
    column, row = local_column_and_row(add(local_field(*divmod(place, ROWS)), dock.vector))
    if not (-1 <= column < COLUMNS and 0 <= row < ROWS):
        return False
    return column == -1 or marks[ROWS * column + row] == WATER_MARK
