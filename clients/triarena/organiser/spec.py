"""What a tournament is, once its file has been checked: who plays, what, how often, under which clock.

All values are complete: defaults are filled in, paths are absolute, options settled, seeds drawn. ``file`` makes them
from TOML; the runner, the store and the exports take them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from triarena.protocol.values import Budget, PerMove, Unlimited
from triarena.tournament.formats import Seeding
from triarena.tournament.points import PointTable

PlayerKind: TypeAlias = Literal["file", "shipped", "command", "remote"]
"""``file`` and ``shipped`` are played by ``triarena join``, ``command`` is any program, ``remote`` is started by
its owner."""
FormatName: TypeAlias = Literal[
    "round_robin", "double_round_robin", "gauntlet", "swiss", "knockout", "double_knockout", "ladder"
]
SettingValue: TypeAlias = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Player:
    """A bot that takes part."""

    name: str
    """As the protocol allows names; no other player's is the same up to case and compatible letters."""
    kind: PlayerKind
    source: str | tuple[str, ...]
    """The absolute path of the bot's file; the name of the shipped bot; the command's words; empty for a remote one."""
    cwd: Path
    """In which folder its process runs: absolute."""
    seed: int | None = None
    """Distinguishes two bots that are the same program; None: the name does."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of its process."""

    @property
    def local(self) -> bool:
        """Whether the tool starts it."""
        return self.kind != "remote"

    @property
    def kept(self) -> bool:
        """Whether one process plays match after match, invited through the lobby; a command plays one match."""
        return self.kind != "command"


@dataclass(frozen=True, slots=True)
class Sprt:
    """When a comparison of two bots is decided: a sequential probability ratio test on pairs of games."""

    elo0: float = 0.0
    """The first bot is better than the second by this much, if the null hypothesis is true."""
    elo1: float = 20.0
    alpha: float = 0.05
    """How often elo1 may be accepted although elo0 is true."""
    beta: float = 0.05
    """How often elo0 may be accepted although elo1 is true."""


@dataclass(frozen=True, slots=True)
class Stop:
    """What ends a tournament early; the first that applies. Games that run by then are played to their end."""

    max_games: int | None = None
    max_minutes: float | None = None
    """Of playing: what passes between an interrupt and the resumption does not count."""
    sprt: Sprt | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One tournament of a file, all settled."""

    name: str
    """For people, e.g. ``Towers``."""
    slug: str
    """For file names, links and the store: lower-case letters, digits and ``-``; unique in its file."""
    game: str
    options: Mapping[str, int | str]
    """Every option of the game with its effective value."""
    players: tuple[Player, ...]
    """In seeding order: the strongest first."""
    format: FormatName
    seed: int
    """Everything that is drawn derives from it: boards, lots, the bots' own seeds. 0 <= seed < 2**53."""
    time_control: PerMove | Budget | Unlimited
    points: PointTable
    tie_breaks: tuple[str, ...]
    """In the order of their application; the seeded lot comes after them."""
    rounds: int | None = None
    """Of a Swiss tournament or a ladder; None where the format knows it, and for a ladder without end."""
    games_per_pairing: int = 2
    """1, or even: whole pairs of games on the same board."""
    seeds: tuple[int, ...] = ()
    """Of the boards, to be taken in turn; empty: derived from ``seed``."""
    challengers: tuple[str, ...] = ()
    """Of a gauntlet: the names of those who meet all the others."""
    challengers_meet: bool = False
    """Of a gauntlet: whether they meet each other as well."""
    seeding: Seeding = "given"
    """Of formats that go by strength: the order of ``players``, or one drawn by lot from ``seed``."""
    tie_pairs: int = 1
    """Of a knockout: how many further pairs of games a drawn encounter gets before its tie is broken otherwise."""
    stop: Stop = Stop()
    game_seconds: float | None = None
    """How long a game may last, whatever its clock says; None: as long as that lets it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names, in seeding order."""
        return tuple(player.name for player in self.players)

    def player(self, name: str) -> Player:
        """The player of that name. Raises KeyError."""
        for player in self.players:
            if player.name == name:
                return player
        raise KeyError(name)

    def bot_seed(self, player: str, fixture: str) -> int:
        """The seed for a player's own randomness in the game with that id: the same whenever the game is played.

        A SHA-256 of the tournament's seed, the player's (its ``seed``, else its name) and the game's id, reduced to
        53 bits; so it does not depend on the order in which games are played, nor on how often one is repeated.
        """
        known = self.player(player)
        own = f"name {known.name}" if known.seed is None else f"seed {known.seed}"
        return int.from_bytes(sha256(f"{self.seed}\n{own}\n{fixture}".encode()).digest()[:8], "big") >> 11


@dataclass(frozen=True, slots=True)
class BotLimits:
    """What the processes of one local bot may use, together. None: no limit."""

    memory_mb: int | None = 2048
    """Mebibytes of memory."""
    cpu_seconds: float | None = None
    """Of processor time in one match."""
    processes: int | None = 64
    """At the same time."""


@dataclass(frozen=True, slots=True)
class TournamentFile:
    """Everything that a tournament's file says: one tournament, or several in turn."""

    name: str
    folder: Path
    """To which paths in the file are relative: absolute."""
    events: tuple[Event, ...]
    """Played one after another."""
    players: tuple[Player, ...]
    """Everybody who plays in any of them, in the file's order."""
    concurrency: int
    """How many games are played at the same time, at most."""
    limits: BotLimits = BotLimits()
    patience_seconds: float = 600.0
    """How long a remote bot that is not there is waited for before it loses a game as a no-show."""
    start_seconds: float = 30.0
    """How long a local bot may take from its start until it waits for a match."""
    attempts: int = 3
    """How often a game is tried whose attempts fail for reasons that are no player's fault."""
    server: Mapping[str, Mapping[str, SettingValue]] = field(default_factory=dict)
    """Settings for the embedded server, by section and key, as its own file has them."""

    @property
    def server_environment(self) -> dict[str, str]:
        """The settings for the embedded server as it reads them from its environment."""
        return {
            f"TRIARENA_{section}__{key}".upper(): str(value).lower() if isinstance(value, bool) else str(value)
            for section, values in self.server.items()
            for key, value in values.items()
        }
