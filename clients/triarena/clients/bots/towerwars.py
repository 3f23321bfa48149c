"""Two simple players of TowerWars: one draws lots, the other takes what it can get and runs for the base."""

from __future__ import annotations

import random

from triarena.games.towerwars import Step, TowerWarsPosition, distance

RISK = 2
"""By how many fields less a move seems to gain if the opponent can land on its target."""


def random_move(position: TowerWarsPosition, rng: random.Random) -> Step:
    """Any legal move, all equally likely."""
    return rng.choice(list(position.legal_moves()))


def greedy_move(position: TowerWarsPosition, rng: random.Random) -> Step:
    """The move that looks best at once; ties are broken by lot.

    It wins if it can: takes the base, or leaves the opponent without a move. Else, if the opponent could take
    its base, it captures or blocks what makes that possible. Else it captures, the highest tower first, or gains
    most on the way to the opponent's base: fields and reach, less something where the opponent can strike.
    """
    moves = list(position.legal_moves())
    against = [move for move in moves if _meets_opponent(position, move)]
    if wins := [move for move in against if position.play(move).outcome is not None]:
        return rng.choice(wins)
    home, goal = _bases(position)
    dangerous = _in_reach(TowerWarsPosition(position.size, position.cells, position.to_move.other))
    if home in dangerous:  # nothing can be put in the way, so only a move against a piece can help
        moves = [move for move in against if home not in _in_reach(position.play(move))] or moves
    ratings = [_rating(position, move, goal, dangerous) for move in moves]
    best = max(ratings)
    return rng.choice([move for move, rating in zip(moves, ratings, strict=True) if rating == best])


def _rating(position: TowerWarsPosition, move: Step, goal: str, dangerous: set[str]) -> tuple[int, int, int]:
    """The stones that the move captures, then how much closer it gets to striking at ``goal``, then how near it is."""
    away = distance(move.target, goal)
    closer = distance(move.start, goal) - away
    if _meets_opponent(position, move):
        return _captured(position, move), closer, -away
    closer += position.reach(move.target) - position.reach(move.start)
    return 0, closer - (RISK if move.target in dangerous else 0), -away


def _captured(position: TowerWarsPosition, move: Step) -> int:
    """How many stones of the opponent leave the board: none when a tower is blocked from afar."""
    met = position.piece(move.target)
    if met is None or (met.kind == "tower" and distance(move.start, move.target) > 1):
        return 0
    return met.stones


def _meets_opponent(position: TowerWarsPosition, move: Step) -> bool:
    met = position.piece(move.target)
    return met is not None and met.side is not position.to_move


def _bases(position: TowerWarsPosition) -> tuple[str, str]:
    """The fields of the own base and of the opponent's."""
    bases = {piece.side: field for field, piece in position.pieces() if piece.kind == "base"}
    return bases[position.to_move], bases[position.to_move.other]


def _in_reach(position: TowerWarsPosition) -> set[str]:
    """The fields on which a stone of the side to move can land."""
    stones = {field for field, piece in position.pieces() if piece.kind == "stone"}
    return {move.target for move in position.legal_moves() if move.start in stones}
