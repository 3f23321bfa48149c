"""The numbers of move sequences from the start, counted by an independent engine as well."""

from __future__ import annotations

import pytest

from triarena.games.towerwars import TowerWarsPosition

SEQUENCES = {
    4: [20, 400, 8_798, 187_186, 3_653_608],
    5: [20, 400, 9_120, 207_936],
    6: [40, 1_600, 81_840],
    8: [66, 4_356, 362_868],
    10: [98, 9_604],
    12: [136, 18_496],
    26: [570, 324_900],
}
"""By size: how many sequences of 1, 2, ... moves there are."""


def perft(position: TowerWarsPosition, plies: int) -> int:
    if plies == 1:
        return sum(1 for _ in position.legal_moves())
    return sum(perft(position.play(move), plies - 1) for move in position.legal_moves())


@pytest.mark.parametrize(
    ("size", "plies", "expected"),
    [(size, plies, count) for size, counts in SEQUENCES.items() for plies, count in enumerate(counts, 1)],
)
def test_the_number_of_sequences_from_the_start(size: int, plies: int, expected: int) -> None:
    assert perft(TowerWarsPosition.start(size), plies) == expected
