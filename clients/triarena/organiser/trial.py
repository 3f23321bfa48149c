"""Trying bots: short tournaments that nobody's file describes, to see whether a bot can play at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Final

from triarena.tournament.values import Fixture, Played

from .spec import Event, Player, Stop, TournamentFile

OPPONENT: Final = "random-opponent"
"""Who plays against each bot that is tried."""


def trial(file: TournamentFile) -> TournamentFile:
    """One game of each local bot against a random one, in every tournament of the file that differs in its game."""
    taken = {player.name.casefold() for player in file.players}
    names = chain([OPPONENT], map(f"{OPPONENT}-{{}}".format, count(2)))
    name = next(each for each in names if each not in taken)
    opponent = Player(name, "shipped", "random", Path.cwd())
    events: dict[str, Event] = {}
    for event in file.events:
        known = events.get(event.game)
        local = [player for player in event.players if player.local]
        players = {player.name: player for player in [*(known.players[1:] if known else ()), *local]}
        if players:
            events[event.game] = replace(
                event,
                name=f"trial of {event.game}",
                slug=f"trial-{event.game.replace('_', '-')}",
                players=(opponent, *players.values()),
                format="gauntlet",
                challengers=(name,),
                games_per_pairing=1,
                rounds=None,
                seeds=(),
                stop=Stop(),
            )
    everybody = {player.name: player for event in events.values() for player in event.players}
    return replace(file, events=tuple(events.values()), players=tuple(everybody.values()), attempts=1, server={})


def tried(event: Event, fixture: Fixture) -> str:
    """The bot that is tried in a game of such an event."""
    (opponent,) = event.challengers
    return fixture.blue if fixture.red == opponent else fixture.red


def verdict(player: str, played: Played) -> str | None:
    """What was wrong with a bot in its trial; None if nothing was."""
    return played.reason if played.fixture.side_of(player) in played.offenders else None
