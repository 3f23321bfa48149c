"""The cheapest perfect matching, against an exhaustive search and against an independent library."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.tournament.matching import best_pairing, cheapest_matching


def symmetric(size: int, values: Sequence[int]) -> list[list[int]]:
    weights = [[0] * size for _ in range(size)]
    each = iter(values)
    for u in range(size):
        for v in range(u):
            weights[u][v] = weights[v][u] = next(each)
    return weights


@st.composite
def weight_matrices(draw: st.DrawFn, largest: int = 8) -> list[list[int]]:
    size = 2 * draw(st.integers(1, largest // 2))
    bound = draw(st.sampled_from([1, 3, 20, 10**30]))
    edges = size * (size - 1) // 2
    return symmetric(size, draw(st.lists(st.integers(-bound, bound), min_size=edges, max_size=edges)))


def by_trying_all(weights: Sequence[Sequence[int]]) -> int:
    @cache
    def least(left: frozenset[int]) -> int:
        if not left:
            return 0
        u = min(left)
        return min(weights[u][v] + least(left - {u, v}) for v in left - {u})

    return least(frozenset(range(len(weights))))


def cost(weights: Sequence[Sequence[int]], partners: Sequence[int]) -> int:
    assert all(partners[v] == u != v for u, v in enumerate(partners))
    return sum(weights[u][v] for u, v in enumerate(partners) if u < v)


@settings(deadline=None)
@given(weight_matrices())
def test_no_matching_is_cheaper(weights: list[list[int]]) -> None:
    assert cost(weights, cheapest_matching(weights)) == by_trying_all(weights)


def test_an_independent_library_finds_none_cheaper_among_large_ones() -> None:
    networkx = pytest.importorskip("networkx", reason="the independent matching library, of the dev group")
    draw = random.Random(20)
    for _ in range(150):
        size = 2 * draw.randint(1, 20)
        points = [(draw.random(), draw.random()) for _ in range(size)]
        bound = draw.choice([2, 5, 1000])
        pairs = [(u, v) for u in range(size) for v in range(u)]
        if draw.random() < 0.5:  # near ones match each other: blossoms within blossoms
            values = [round(1000 * abs(complex(*points[u]) - complex(*points[v]))) for u, v in pairs]
        else:
            values = [draw.randrange(bound) for _ in pairs]
        weights = symmetric(size, values)
        graph = networkx.Graph()
        graph.add_weighted_edges_from((u, v, weights[u][v]) for u, v in pairs)
        theirs = sum(weights[u][v] for u, v in networkx.min_weight_matching(graph))
        assert cost(weights, cheapest_matching(weights)) == theirs


@settings(deadline=None)
@given(weight_matrices())
def test_the_same_weights_have_the_same_answer(weights: list[list[int]]) -> None:
    assert cheapest_matching(weights) == cheapest_matching([list(row) for row in weights])


def test_nobody_at_all_is_paired_off() -> None:
    assert cheapest_matching([]) == ()


def test_an_odd_number_cannot_be_paired_off() -> None:
    with pytest.raises(ValueError, match="odd number of vertices, 3,"):
        cheapest_matching([[0] * 3] * 3)


@settings(deadline=None)
@given(weight_matrices(6), weight_matrices(6))
def test_the_first_aim_comes_before_the_second(first: list[list[int]], second: list[list[int]]) -> None:
    size = min(len(first), len(second))
    costs = [[(abs(first[u][v]), abs(second[u][v])) for v in range(size)] for u in range(size)]
    partners = best_pairing(costs)

    def all_pairings(left: frozenset[int]) -> list[tuple[int, int]]:
        if not left:
            return [(0, 0)]
        u = min(left)
        return [(costs[u][v][0] + a, costs[u][v][1] + b) for v in left - {u} for a, b in all_pairings(left - {u, v})]

    ours = [costs[u][v] for u, v in enumerate(partners) if u < v]
    assert (sum(a for a, _ in ours), sum(b for _, b in ours)) == min(all_pairings(frozenset(range(size))))
