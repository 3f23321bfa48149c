"""Two simple players of FlowerWars: one draws lots, the other plants its flowers side by side.

Neither lists the legal pairs, of which a large board has hundreds of thousands: for each field they have the set of
fields that go with it.
"""

from __future__ import annotations

import random

from triarena.games.flowerwars import End, FlowerWarsPosition, Move, Pairs, Plant, bits


def random_move(position: FlowerWarsPosition, rng: random.Random) -> Move:
    """Any legal move, all equally likely. The game must not be over."""
    pairs = position.pairs()
    choices = [(one, pairs.partners(one)) for one in bits(pairs.fields)]
    plants = sum(partners.bit_count() for _, partners in choices) // 2  # each pair was counted from both its fields
    others: list[Move] = [position.board.digs[edge] for edge in bits(position.diggable())]
    if not plants:
        others.append(End())
    lot = rng.randrange(plants + len(others))
    return others[lot] if lot < len(others) else _drawn(position, choices, rng)


def greedy_move(position: FlowerWarsPosition, rng: random.Random) -> Move:
    """A pair of flowers that the game's authors rate highest, drawn by lot among the best. The game must not be over.

    With n1 and n2 own flowers at the sides of the two fields a pair is worth (n1 + 1)(n2 + 1), and twice that if the
    two share a side. A ditch is worth nothing: it digs, anywhere, when it can no longer plant. It never plays End:
    a game that goes on without a pair has a ditch left.
    """
    if position.can_plant:
        return _drawn(position, _best_pairs(position, position.pairs()), rng)
    return position.board.digs[rng.choice(list(bits(position.diggable())))]


def _best_pairs(position: FlowerWarsPosition, pairs: Pairs) -> list[tuple[int, int]]:
    """Fields, each with the later fields with which it makes a pair of the highest rating."""
    beside, own = position.board.beside, position.plot(position.to_move).flowers
    neighbours = {one: (beside[one] & own).bit_count() for one in bits(pairs.fields)}
    with_neighbours = [0] * 4
    for one, count in neighbours.items():
        with_neighbours[count] |= 1 << one
    best = 0
    found: list[tuple[int, int]] = []
    for one, count in neighbours.items():
        later = pairs.partners(one) >> one + 1 << one + 1
        for factor, partners in ((2, later & beside[one]), (1, later & ~beside[one])):
            for other_count, others in enumerate(with_neighbours):
                rating = factor * (count + 1) * (other_count + 1)
                if rating < best or not partners & others:
                    continue
                if rating > best:
                    best, found = rating, []
                found.append((one, partners & others))
    return found


def _drawn(position: FlowerWarsPosition, choices: list[tuple[int, int]], rng: random.Random) -> Plant:
    """One of the pairs of a field and a field of the set beside it, all equally likely."""
    weights = [partners.bit_count() for _, partners in choices]
    (one, partners), *_ = rng.choices(choices, weights)
    flowers = position.board.flowers
    return Plant(flowers[one], flowers[rng.choice(list(bits(partners)))])
