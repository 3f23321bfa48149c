"""The format by which an event is paired, made from its settings."""

from __future__ import annotations

from triarena.tournament.formats import CountedFormat, make_format

from .spec import Event


def format_of(event: Event) -> CountedFormat:
    """How an event is paired. Raises ValueError, with a sentence, for settings that don't fit together."""
    return make_format(
        event.format,
        event.names,
        seed=event.seed,
        games_per_pairing=event.games_per_pairing,
        rounds=event.rounds,
        seeds=event.seeds,
        challengers=event.challengers,
        challengers_meet=event.challengers_meet,
        tie_pairs=event.tie_pairs,
        points=event.points,
        seeding=event.seeding,
    )
