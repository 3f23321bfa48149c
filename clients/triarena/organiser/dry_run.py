"""What a tournament will be, as text, without a single game played: ``triarena tournament run FILE --dry-run``."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from triarena.tournament.formats import FORMATS
from triarena.tournament.values import Encounter, Round

from .durations import SHARE_OF_TIME, Estimate, estimate
from .spec import Event, Player, TournamentFile
from .wording import clock, counted, format_title, game_title, listed, seconds

_BOARDS = 3
WITHOUT_BYES = ("round_robin", "double_round_robin")
"""Formats in which who has no opponent in a round gets no points for it."""


def dry_run(file: TournamentFile, drawn: Collection[str] = ()) -> str:
    """The schedules of all tournaments of a file, and how long they will take.

    ``drawn`` are the slugs of those whose seed the file leaves open: it will be another one at the start.
    """
    estimates = [(event, estimate(event, file.concurrency)) for event in file.events]
    lines = [f"{file.name}: {_bots(file.players)}; at most {counted(file.concurrency, 'game')} at a time"]
    for event, known in estimates:
        lines += ["", *_event(event, known, event.slug in drawn)]
    if len(estimates) > 1:
        lines += ["", f"All together: {_duration([known for _, known in estimates])}"]
    return "\n".join((*lines, "", *_assumptions()))


def _event(event: Event, known: Estimate, drawn: bool) -> Iterator[str]:
    options = "".join(f", {name} {value}" for name, value in event.options.items())
    yield f"{event.name}: {game_title(event)}{options}"
    kind = FORMATS[event.format]
    by_lot = ", seeded by lot" if event.seeding == "lot" else ""
    yield f"  {format_title(event)}{by_lot}: {kind.summary}"
    terms = f"{event.games_per_pairing} when two meet; {clock(event.time_control)}; {_seed(event, drawn)}"
    yield f"  {_games(known)}; {terms}"
    plies = counted(known.plies, "ply", "plies")
    yield f"  {_duration([known])}; a game has about {plies}; {counted(known.at_once, 'game')} at a time"
    yield from (f"  {sentence}" for sentence in _stop(event))
    for each in known.plan.rounds:
        yield from _round(each, boards=not drawn or bool(event.seeds))
        if event.format in WITHOUT_BYES and each.encounters:
            busy = {name for encounter in each.encounters for name in (encounter.first, encounter.second)}
            if free := [name for name in event.names if name not in busy]:
                yield f"    {listed(free)} {'is' if len(free) == 1 else 'are'} free"
    if not known.plan.complete:
        first = len(known.plan.rounds) + 1
        if event.rounds is None:
            yield f"  Round {first} and those after it are paired by the results."
        elif first < event.rounds:
            yield f"  Rounds {first} to {event.rounds} are paired by the results."
        elif first == event.rounds:
            yield f"  Round {first} is paired by the results."


def _seed(event: Event, drawn: bool) -> str:
    if not drawn:
        return f"seed {event.seed}"
    lot = ", and with it the lot by which this here is only an example" if event.seeding == "lot" else ""
    return f"its seed is drawn at the start{lot}"


def _round(each: Round, *, boards: bool) -> Iterator[str]:
    yield f"  Round {each.number}" + (f" ({each.title})" if each.title else "")
    width = max((len(_pairing(encounter)) for encounter in each.encounters), default=0)
    for encounter in each.encounters:
        yield f"    table {encounter.table}: {_pairing(encounter):{width}}  {_boards(encounter, known=boards)}"
    for name in each.byes:
        yield f"    {name} has a bye"


def _pairing(encounter: Encounter) -> str:
    """Who is red, then who is blue, in the first game."""
    return f"{encounter.first} (red) - {encounter.second} (blue)"


def _boards(encounter: Encounter, *, known: bool) -> str:
    """On which boards (or, if those are drawn later, how many) they play, and whether with swapped sides, too."""
    seeds = list(dict.fromkeys(fixture.seed for fixture in encounter.fixtures))
    reds = {fixture.red for fixture in encounter.fixtures}
    swapped = ", then sides swapped" if len(reds) > 1 else ""
    if not known:
        return counted(len(seeds), "board") + swapped
    more = ", ..." if len(seeds) > _BOARDS else ""
    return f"board {', '.join(map(str, seeds[:_BOARDS]))}{more}{swapped}"


def _games(known: Estimate) -> str:
    least, most = known.games_least, known.games_most
    if most is None:
        return "games without end"
    return counted(most, "game") if least == most else f"{least} to {most} games"


def _duration(estimates: list[Estimate]) -> str:
    """The sum, as far as it is known."""
    expected = [known.expected_seconds for known in estimates]
    longest = [known.longest_seconds for known in estimates]
    sure = [value for value in expected if value is not None]
    if len(sure) < len(expected):
        return "it cannot be told how long it takes: there is no clock, or no end"
    at_most = [value for value in longest if value is not None]
    bound = f", at most {seconds(sum(at_most))}" if len(at_most) == len(longest) else ""
    return f"about {seconds(sum(sure))}{bound}"


def _stop(event: Event) -> Iterator[str]:
    stop = event.stop
    if stop.max_games is not None:
        yield f"It ends after {counted(stop.max_games, 'game')}."
    if stop.max_minutes is not None:
        yield f"It ends after {seconds(60 * stop.max_minutes)} of playing, when the games that run then are over."
    if (test := stop.sprt) is not None:
        first, second = event.names
        yield (
            f"It ends as soon as it is decided whether {first} is {test.elo0:g} or {test.elo1:g} Elo over {second} "
            f"(alpha {test.alpha:g}, beta {test.beta:g})."
        )


def _bots(players: tuple[Player, ...]) -> str:
    remote = sum(1 for player in players if not player.local)
    return counted(len(players), "bot") + (f", {remote} of them remote" if remote else "")


def _assumptions() -> Iterator[str]:
    """What the durations rest on."""
    yield (
        f"Durations are rough: bots are taken to use {SHARE_OF_TIME:.0%} of their time, those that come along hardly "
        "any, and results to fall as the bots are listed. What games really take is measured while it runs."
    )
    yield "At most: every game as long as it can be, every move at its limit; no bot slow to start, away or repeated."
