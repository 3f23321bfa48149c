"""A tournament that nobody played: its file as a value, and a store full of made-up but lawful results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal

from triarena.organiser.pairing import format_of
from triarena.organiser.records import Note, Spent, StoredEvent, StoredPlayer, StoredResult
from triarena.organiser.spec import Event, FormatName, Player, TournamentFile
from triarena.organiser.store import Store, create_store
from triarena.protocol.values import PerMove
from triarena.tournament.points import STANDARD
from triarena.tournament.schedule import playable
from triarena.tournament.values import Fixture, Played

BEGIN = datetime(2031, 5, 4, 18, 30, tzinfo=UTC)
NAMES = ("Ann", "Bob", "Cleo", "Dmitri", "Ève", "Faruk", "greedy", "random")
IRREGULAR = {
    "timeout": "{0} (red) took longer than 1000 ms for ply 17: 1312 ms.",
    "disconnected": "The connection of {0} was lost in ply 9, and did not come back in time.",
    "illegal_move": "{0}: the garden A4-B5 touches a bed of the same colour.",
}


@dataclass(frozen=True)
class Staged:
    """A tournament's folder with its file's value."""

    folder: Path
    file: TournamentFile


def event_of(
    name: str = "Towers",
    format: FormatName = "round_robin",
    names: Sequence[str] = NAMES,
    *,
    game: str = "towerwars",
    options: Mapping[str, int | str] | None = None,
    games: int = 2,
    rounds: int | None = None,
    challengers: tuple[str, ...] = (),
) -> Event:
    """An event, complete."""
    players = tuple(Player(each, "shipped", "random", Path("/")) for each in names)
    return Event(
        name=name,
        slug=name.lower(),
        game=game,
        options={"size": 8} if options is None else options,
        players=players,
        format=format,
        seed=17,
        time_control=PerMove(move_ms=1000),
        points=STANDARD,
        tie_breaks=("direct_encounter", "sonneborn_berger", "wins"),
        rounds=rounds,
        games_per_pairing=games,
        challengers=challengers,
    )


def stage(folder: Path, *events: Event, name: str = "Class of 2031", at_most: int | None = None) -> Staged:
    """Make the folder's store, with all games played but those beyond ``at_most`` in each event."""
    file = file_of(folder, *events, name=name)
    source = folder / "class.toml"
    source.write_text(f"name = '{name}'\n", encoding="utf-8")
    players = [StoredPlayer(player.name, f"token of {player.name}") for player in file.players]
    stored = [StoredEvent(event.slug, event.seed) for event in file.events]
    with create_store(folder, source, stored, players, BEGIN) as store:
        for event in file.events:
            play(store, event, at_most)
        store.set_state("running" if at_most is not None else "finished")
    return Staged(folder, file)


def file_of(folder: Path, *events: Event, name: str = "Class of 2031") -> TournamentFile:
    """The value of a file with these events."""
    players = {player.name: player for event in events for player in event.players}
    return TournamentFile(name=name, folder=folder, events=events, players=tuple(players.values()), concurrency=2)


def play(store: Store, event: Event, at_most: int | None = None) -> None:
    """Play what is left of an event, or until so many games are played; then leave one running."""
    store.set_event_state(event.slug, "running")
    pairing, played = format_of(event), store.played(event.slug)
    while ready := playable(pairing.plan(played), played, ()):
        for fixture in ready:
            at = BEGIN + timedelta(seconds=3 * len(played))
            if len(played) == at_most:
                store.begin_attempt(event.slug, fixture.id, at)
                return
            played[fixture.id] = _play(store, event, fixture, at)
    store.set_event_state(event.slug, "finished")


def _play(store: Store, event: Event, fixture: Fixture, at: datetime) -> Played:
    chance = _chance(event.slug, fixture)
    if chance % 37 == 0:
        failed = store.begin_attempt(event.slug, fixture.id, at)
        store.fail_attempt(failed, "The server was stopped.", at)
        store.note(Note(at, "restarted", f"{fixture.red} had ended, and was started anew.", event.slug, fixture.red))
    attempt = store.begin_attempt(event.slug, fixture.id, at)
    result = decided(event, fixture, chance)
    match = sha256(f"{event.slug} {fixture.id}".encode()).hexdigest()[:12]
    message = IRREGULAR.get(result.reason, "{0} has more points.").format(fixture.red)
    spent = Spent(2.9, 60.0 + chance % 20, 1200.0 + chance % 700, 900.0 + chance % 900)
    ended = at + timedelta(seconds=2.9)
    stored = StoredResult(event.slug, result, attempt.number, match, message, at, ended)
    store.record_result(stored, spent=spent)
    return result


def decided(event: Event, fixture: Fixture, chance: int) -> Played:
    """A result that depends on the game's id only; who is earlier among the players wins more often."""
    ahead = event.names.index(fixture.blue) - event.names.index(fixture.red)
    scores = (12 + chance % 5, 12 + (chance >> 8) % 5)
    if chance % 23 == 0:
        reason = ("timeout", "disconnected", "illegal_move")[(chance >> 4) % 3]
        return Played(fixture, "blue", reason, ("red",), scores[0], scores[1], 17)
    if chance % 11 == 0:
        return Played(fixture, None, "points", (), 12, 12, 60)
    winner: Literal["red", "blue"] = "red" if (chance >> 16) % 20 < 10 + ahead else "blue"
    best, worst = max(scores) + 1, min(scores)
    return Played(
        fixture, winner, "points", (), *((best, worst) if winner == "red" else (worst, best)), 58 + chance % 9
    )


def _chance(slug: str, fixture: Fixture) -> int:
    return int.from_bytes(sha256(f"{slug} {fixture.id} {fixture.red} {fixture.blue}".encode()).digest()[:6], "big")
