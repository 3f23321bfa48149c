"""The cheapest way to pair everybody off: minimum-weight perfect matching in a complete graph.

Edmonds' primal-dual algorithm (J. Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", 1965), one
alternating tree at a time. Every vertex has a dual value, every odd set that was shrunk (a blossom) another one that
is never negative; an edge's slack is its weight minus the duals of its ends, and is never negative either, outside
blossoms. Only edges without slack are used, so by complementary slackness the perfect matching found is a cheapest.

Weights are whole numbers of any size. So several aims can be put into one weight, the more important in higher digits.
64 vertices take some hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

Edge: TypeAlias = tuple[int, int]
Label: TypeAlias = Literal["outer", "inner", None]


def cheapest_matching(weights: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The partner of every vertex, so that the sum of the pairs' weights is the least possible.

    ``weights`` is a symmetric square matrix whose diagonal is not looked at. The same matrix has the same answer, also
    where several matchings are equally cheap. Raises ValueError for an odd number of vertices.
    """
    if len(weights) % 2:
        raise ValueError(f"An odd number of vertices, {len(weights)}, cannot be paired off.")
    search = _Search(weights)
    for vertex in range(len(weights)):
        if search.mate[vertex] is None:
            search.match_one_more(vertex)
    return tuple(mate for mate in search.mate if mate is not None)


def best_pairing(costs: Sequence[Sequence[tuple[int, ...]]]) -> tuple[int, ...]:
    """The partner of everybody, where a pair's costs are several whole numbers from 0, the most important first.

    The sums over all pairs are compared like words in a dictionary: the second one counts among pairings with the
    least first one, and so on.
    """
    pairs = len(costs) // 2
    edges = [costs[u][v] for u in range(len(costs)) for v in range(u)]
    room = [pairs * max(column) + 1 for column in zip(*edges, strict=True)]  # more than that number's sum can be

    def in_one(cost: tuple[int, ...]) -> int:
        weight = 0
        for digit, base in zip(cost, room, strict=True):
            weight = weight * base + digit
        return weight

    return cheapest_matching(
        [[in_one(cost) if u != v else 0 for v, cost in enumerate(row)] for u, row in enumerate(costs)]
    )


class _Node:
    """A vertex, or a blossom: an odd cycle of nodes that is treated as one."""

    __slots__ = ("base", "cycle", "dual", "entry", "label", "leaves", "links")

    def __init__(self, leaves: list[int], base: int, cycle: list[_Node], links: list[Edge]) -> None:
        self.leaves = leaves
        self.base = base  # the vertex by which it is matched to the outside, or not matched at all
        self.cycle = cycle  # the base is in the first one; then each two are matched to each other
        self.links = links  # links[i] leads from cycle[i] to the next
        self.dual = 0  # of a blossom; always even
        self.label: Label = None
        self.entry: Edge | None = None  # of an inner node: from its outer parent into it


class _Search:
    """A matching of some vertices, the duals that prove it cheapest, and the tree that makes it larger by one pair."""

    def __init__(self, weights: Sequence[Sequence[int]]) -> None:
        self.vertices = range(len(weights))
        self.weights = [[2 * weight for weight in row] for row in weights]  # doubled, all duals stay whole numbers
        self.dual = [min(row[:v] + row[v + 1 :]) // 2 for v, row in enumerate(self.weights)]
        self.mate: list[int | None] = [None for _ in self.vertices]
        self.top = [_Node([v], v, [], []) for v in self.vertices]  # the outermost node around each vertex
        self.nearest: list[int | None] = []  # per vertex: the outer vertex with the least slack, in another node
        for u in self.vertices:  # what needs no search
            v = next((v for v in self.vertices if v != u and self.mate[v] is None and not self.slack(u, v)), None)
            if v is not None and self.mate[u] is None:
                self.mate[u], self.mate[v] = v, u

    def slack(self, u: int, v: int) -> int:
        return self.weights[u][v] - self.dual[u] - self.dual[v]

    def match_one_more(self, root: int) -> None:
        """Grows an alternating tree from an unmatched vertex until it reaches another, and swaps along the path."""
        self.nearest = [None for _ in self.vertices]
        self.make_outer(self.top[root])
        while True:
            step, event = self.next_event()
            self.shift_duals(step)
            if isinstance(event, _Node):
                self.expand_inner(event)
                continue
            u, v = event
            reached = self.top[v]
            if reached.label == "outer":
                self.shrink(u, v)
            elif self.mate[reached.base] is None:
                self.augment(u, v)
                break
            else:
                self.grow(u, v)
        self.forget_tree()

    def next_event(self) -> tuple[int, Edge | _Node]:
        """By how much the duals can be shifted, and what happens then: an edge loses its slack, a blossom its dual."""
        found: list[tuple[int, int, Edge | _Node]] = []
        for v in self.vertices:
            label, u = self.top[v].label, self.nearest[v]
            if label != "inner" and u is not None:
                slack = self.slack(u, v)
                found.append((slack // 2 if label == "outer" else slack, v, (u, v)))
        for node in self.tops():
            if node.label == "inner" and node.cycle:
                found.append((node.dual // 2, -1, node))
        step, _, event = min(found, key=lambda each: each[:2])
        return step, event

    def shift_duals(self, step: int) -> None:
        if not step:
            return
        for v in self.vertices:
            label = self.top[v].label
            if label is not None:
                self.dual[v] += step if label == "outer" else -step
        for node in self.tops():
            if node.cycle and node.label is not None:
                node.dual += 2 * step if node.label == "outer" else -2 * step

    def tops(self) -> list[_Node]:
        return list(dict.fromkeys(self.top))

    def make_outer(self, node: _Node) -> None:
        node.label = "outer"
        self.spread(node.leaves)

    def spread(self, new: Iterable[int]) -> None:
        """Vertices have become outer: they may be nearest to others."""
        for u in new:
            for v in self.vertices:
                if self.top[v] is not self.top[u]:
                    nearest = self.nearest[v]
                    if nearest is None or self.slack(u, v) < self.slack(nearest, v):
                        self.nearest[v] = u

    def grow(self, u: int, v: int) -> None:
        """A matched pair of nodes joins the tree: the inner one around v, reached from u, and the outer one behind."""
        inner = self.top[v]
        inner.label, inner.entry = "inner", (u, v)
        behind = self.mate[inner.base]
        assert behind is not None, "an unmatched node ends the search"
        self.make_outer(self.top[behind])

    def parent(self, node: _Node) -> tuple[_Node, Edge] | None:
        """The node above one in the tree, and the edge from there; None above the root."""
        if node.label == "inner":
            assert node.entry is not None, "an inner node was entered"
            return self.top[node.entry[0]], node.entry
        above = self.mate[node.base]
        return None if above is None else (self.top[above], (above, node.base))

    def path_up(self, node: _Node) -> tuple[list[_Node], list[Edge]]:
        """The nodes from one to the root, and the edges between them (each from the upper to the lower node)."""
        nodes, edges = [node], []
        while (above := self.parent(nodes[-1])) is not None:
            nodes.append(above[0])
            edges.append(above[1])
        return nodes, edges

    def shrink(self, u: int, v: int) -> None:
        """An edge between two outer nodes closes an odd cycle: it becomes a blossom, and outer."""
        left, left_edges = self.path_up(self.top[u])
        right, right_edges = self.path_up(self.top[v])
        while len(left) > 1 and len(right) > 1 and left[-2] is right[-2]:
            left.pop()
            right.pop()
        left_edges, right_edges = left_edges[: len(left) - 1], right_edges[: len(right) - 1]
        cycle = [*reversed(left), *right[:-1]]
        links = [*reversed(left_edges), (u, v), *((low, high) for high, low in right_edges)]
        blossom = _Node([leaf for node in cycle for leaf in node.leaves], cycle[0].base, cycle, links)
        blossom.label = "outer"
        new = [leaf for node in cycle if node.label == "inner" for leaf in node.leaves]
        for leaf in blossom.leaves:
            self.top[leaf] = blossom
        for leaf in blossom.leaves:
            outside = [w for w in self.vertices if self.top[w].label == "outer" and self.top[w] is not blossom]
            self.nearest[leaf] = min(outside, key=lambda w: self.slack(w, leaf), default=None)
        self.spread(new)

    def expand_inner(self, blossom: _Node) -> None:
        """An inner blossom without dual falls apart: what lies between its entry and its base stays in the tree."""
        self.dissolve(blossom)
        assert blossom.entry is not None, "an inner node was entered"
        cycle, links, size = blossom.cycle, blossom.links, len(blossom.cycle)
        at = next(i for i, node in enumerate(cycle) if blossom.entry[1] in node.leaves)
        forward = at % 2 == 1  # towards the node that the one at the entry is matched to
        cycle[at].label, cycle[at].entry = "inner", blossom.entry
        while at != 0:
            outer, inner = ((at + 1) % size, (at + 2) % size) if forward else (at - 1, at - 2)
            edge = links[outer] if forward else links[inner][::-1]
            cycle[inner].label, cycle[inner].entry = "inner", edge
            self.make_outer(cycle[outer])
            at = inner

    def dissolve(self, blossom: _Node) -> None:
        """Its nodes are outermost again, and not in the tree."""
        for node in blossom.cycle:
            node.label = node.entry = None
            for leaf in node.leaves:
                self.top[leaf] = node

    def augment(self, u: int, v: int) -> None:
        """Swaps matched and unmatched edges from the unmatched node around v, by the edge to u, up to the root."""
        self.rebase(self.top[v], v)
        self.mate[v] = u
        while True:
            outer = self.top[u]
            above = self.mate[outer.base]
            self.rebase(outer, u)
            self.mate[u] = v
            if above is None:
                return
            inner = self.top[above]
            assert inner.entry is not None, "an inner node was entered"
            u, v = inner.entry
            self.rebase(inner, v)
            self.mate[v] = u

    def rebase(self, node: _Node, base: int) -> None:
        """Matches a blossom's nodes to each other so that a given vertex is left for the outside."""
        node.base = base
        if not node.cycle:
            return
        at = next(i for i, child in enumerate(node.cycle) if base in child.leaves)
        node.cycle = node.cycle[at:] + node.cycle[:at]
        node.links = node.links[at:] + node.links[:at]
        self.rebase(node.cycle[0], base)
        for i in range(1, len(node.cycle), 2):
            u, v = node.links[i]
            self.rebase(node.cycle[i], u)
            self.rebase(node.cycle[i + 1], v)
            self.mate[u], self.mate[v] = v, u

    def forget_tree(self) -> None:
        """Before the next search: no labels, and no blossoms without a dual."""
        waiting = self.tops()
        while waiting:
            node = waiting.pop()
            node.label = node.entry = None
            if node.cycle and not node.dual:
                self.dissolve(node)
                waiting += node.cycle
