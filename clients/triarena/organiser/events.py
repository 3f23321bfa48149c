"""The tournaments of a file: each is what it says itself over what the top of the file says for all."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from triarena.games import BadOptions, UnknownGame, find_game, games, settle_options
from triarena.games.core import AnyGame, shown
from triarena.protocol.identity import canonical
from triarena.tournament.points import PointTable

from .contradictions import ROUNDS_OF, Terms, read_clock, tell_contradictions
from .positions import Path
from .problems import Notes, meant, misplaced
from .schema import EVENT_KEYS, WITH_FORMAT, WITH_GAME, ClockTable, TournamentTable
from .spec import Event, Player, Sprt, Stop

DEFAULT_TIE_BREAKS: Final = ("direct_encounter", "sonneborn_berger", "wins", "game_scores")
SWISS_TIE_BREAKS: Final = ("buchholz_cut_1", "buchholz", "direct_encounter", "sonneborn_berger", "wins")
UNLIMITED_MINUTES: Final = 60.0
"""How long a game without a clock may last if the file does not say."""
ASTRAY: Final = ("bots", "clock", "limits", "options", "points", "stop")
"""Tables below which the game's name is written by those who don't know TOML."""
Draw: TypeAlias = Callable[[str], int]
"""Gives the seed of the tournament with that slug, where the file gives none: drawn, or taken from the store."""


@dataclass(slots=True)
class EventReading:
    """One tournament: what it says itself, and what it takes over from the top of the file."""

    notes: Notes
    top: Mapping[str, Any]
    """What the file says for all tournaments."""
    faulty: frozenset[str]
    """Keys of the top that are wrong by themselves, and count as absent."""
    own: Any
    path: Path
    """Where the tournament's own table stands; empty if it is the top of the file."""
    players: Mapping[str, Player | None]
    draw_seed: Draw
    all_known: bool = True
    """Whether every bot of the file is among the players; a name that two have stands there once."""
    endless: bool = False
    """Set by ``event``: only an interrupt ends this tournament."""

    def place(self, *path: str | int) -> Path:
        """Where in the file something of this tournament stands: at the top, if it was taken over."""
        inherited = path[0] in EVENT_KEYS and path[0] not in self.own and path[0] in self.top
        return path if inherited else (*self.path, *path)

    def tell(self, path: Path, sentence: str) -> None:
        """Note a problem with a key of this tournament."""
        self.notes.tell(self.place(*path), sentence)

    def event(self, names: dict[str, str], title: str | None) -> Event | None:
        """The tournament; None after telling what is wrong.

        ``names`` holds the names of those before it, by slug; ``title`` is its name if it gives itself none.
        """
        if not isinstance(self.own, dict):
            self.notes.tell(self.path, "write [[tournaments]] with double brackets, once for each tournament")
            return None
        table = self.notes.table(TournamentTable, self._merged(), self.path, self.place)
        game = self._game()
        if table is None:
            return None
        names_of_players = self._names(table)
        terms = Terms(table, names_of_players, self.all_known or table.bots is not None)
        self.endless = terms.endless
        tell_contradictions(terms, self.tell)
        clock, points = read_clock(table.clock, self.tell), self._points(table)
        options = None if game is None else self._options(game, table.options)
        name = table.name or title or (game.title if game is not None else "")
        slug = self._slug(name, names)
        players = tuple(p for p in map(self.players.get, names_of_players) if p is not None)
        if game is None or options is None or clock is None or points is None:
            return None
        return Event(
            name=name,
            slug=slug,
            game=game.name,
            options=options,
            players=players,
            format=table.format,
            seed=self.draw_seed(slug) if table.seed is None else table.seed,
            time_control=clock,
            points=points,
            tie_breaks=_tie_breaks(table),
            rounds=_rounds(table, len(players)),
            games_per_pairing=table.games_per_pairing,
            seeds=tuple(table.seeds),
            challengers=tuple(table.challengers or ()),
            challengers_meet=bool(table.challengers_meet),
            seeding=table.seeding or "given",
            tie_pairs=1 if table.tie_pairs is None else table.tie_pairs,
            stop=_stop(table),
            game_seconds=_game_seconds(table.clock),
        )

    def _merged(self) -> dict[str, Any]:
        """This tournament's own keys over those of the top; a game's options and a format's settings go with it."""
        changed = set(self.own) | self.faulty
        alone = (WITH_GAME if "game" in changed else ()) + (WITH_FORMAT if "format" in changed else ())
        taken = {k: self.top[k] for k in EVENT_KEYS if k in self.top and k not in alone and k not in self.faulty}
        return taken | dict(self.own)

    def _game(self) -> AnyGame | None:
        """The game; None after telling that there is none, or (a value of another type) elsewhere."""
        name = self._merged().get("game")
        if isinstance(name, str):
            try:
                return find_game(name)
            except UnknownGame:
                self.tell(("game",), f"there is no game {shown(name)}{meant(name, games())}")
        elif name is None and "game" not in self.faulty:
            if astray := [path for path in self.notes.lines if path[-1] == "game" and path[0] in ASTRAY]:
                for path in astray:
                    self.notes.tell(path, misplaced(path))
                return None
            example, known = next(iter(games())), ", ".join(games())
            self.notes.tell(self.path, f'which game? add e.g. game = "{example}"; there are {known}')
        return None

    def _options(self, game: AnyGame, given: Mapping[str, object]) -> dict[str, int | str] | None:
        """Every option settled, each checked by itself so that all faults are told."""
        known = {option.name: option for option in game.options}
        good = True
        for key, value in given.items():
            try:
                if key in known:
                    known[key].settle(value)
                    continue
                sentence = f"{game.name} has no such option{meant(key, known)}"
            except BadOptions as error:
                sentence = str(error)
            self.tell(("options", key), sentence)
            good = False
        return settle_options(game.name, game.options, given) if good else None

    def _names(self, table: TournamentTable) -> list[str]:
        """Who plays, in seeding order."""
        if table.bots is None:
            return list(self.players)
        names: list[str] = []
        for at, name in enumerate(table.bots):
            if name not in self.players:
                close = {canonical(known): known for known in self.players}.get(canonical(name))
                hint = f"; did you mean {close!r}?" if close else meant(name, self.players)
                self.tell(("bots", at), f"there is no bot {shown(name)}{hint}")
            elif name in names:
                self.tell(("bots", at), f"{shown(name)} stands there twice")
            else:
                names.append(name)
        return names

    def _points(self, table: TournamentTable) -> PointTable | None:
        try:
            given = table.points.model_dump(exclude_none=True)
            if table.format == "swiss":
                given.setdefault("bye", table.points.win * table.games_per_pairing)
            return PointTable(**given)
        except ValueError as error:
            self.tell(("points",), str(error))
            return None

    def _slug(self, name: str, names: dict[str, str]) -> str:
        """A name for files and links, different from those so far."""
        if name and canonical(name) in map(canonical, names.values()):
            where = ("name",) if isinstance(self.own, dict) and "name" in self.own else ("game",)
            sentence = f'two tournaments are called {shown(name)}; give each a name of its own, e.g. name = "{name} 2"'
            self.notes.tell((*self.path, *where), sentence)
        ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        base = re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-") or "tournament"
        slug, number = base, 2
        while slug in names:
            slug, number = f"{base}-{number}", number + 1
        names[slug] = name
        return slug


def _tie_breaks(table: TournamentTable) -> tuple[str, ...]:
    if table.tie_breaks is not None:
        return tuple(table.tie_breaks)
    return SWISS_TIE_BREAKS if table.format == "swiss" else DEFAULT_TIE_BREAKS


def _rounds(table: TournamentTable, players: int) -> int | None:
    """The rounds as given; of a Swiss tournament else as many as a knockout takes, which single out a winner."""
    if table.format not in ROUNDS_OF:
        return None
    if table.format == "swiss" and table.rounds is None:
        return max(1, math.ceil(math.log2(max(players, 2))))
    return table.rounds


def _game_seconds(clock: ClockTable) -> float | None:
    """How long a game may last: without a clock, nothing else would end one in which a bot hangs."""
    minutes = clock.game_minutes or (UNLIMITED_MINUTES if clock.unlimited else None)
    return None if minutes is None else 60 * minutes


def _stop(table: TournamentTable) -> Stop:
    sprt = table.stop.sprt
    return Stop(
        max_games=table.stop.max_games,
        max_minutes=table.stop.max_minutes,
        sprt=None if sprt is None else Sprt(**sprt.model_dump()),
    )
