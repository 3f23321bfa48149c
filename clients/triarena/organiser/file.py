"""Reading a tournament's file: TOML to a ``TournamentFile``, or everything that is wrong with it at once.

``positions`` finds lines, ``schema`` has the keys, ``entrants`` looks for the bots, ``events`` reads the tournaments,
``contradictions`` finds what doesn't go together, ``problems`` says it. Every table is checked by itself, so that a
fault in one doesn't hide those of others.
"""

from __future__ import annotations

import errno
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from .entrants import read_player, tell_names
from .events import Draw, EventReading
from .positions import locate
from .problems import Notes, Problem, TournamentFileError
from .schema import MAX_BOTS, MAX_TOURNAMENTS, BotTable, FileTable
from .spec import BotLimits, Event, Player, TournamentFile

MOST_BYTES: Final = 4 << 20
"""Of a file; of those that people write, the largest are a hundredth of it."""
OUR_OWN_SERVER_SETTINGS: Final = {
    "server": ("data_dir", "port_file", "database"),
    "clock": ("move_seconds", "margin_ms", "strikes", "hard_seconds", "budget_seconds", "increment_seconds"),
}
"""Settings of the embedded server that are not the file's to choose."""
ServerSettings: TypeAlias = Mapping[str, Mapping[str, object]]
ServerCheck: TypeAlias = Callable[[ServerSettings], Iterable[tuple[tuple[str, ...], str]]]
"""Says where something is wrong with settings, by section and key, and what. Only who knows the server can."""


def unchecked(settings: ServerSettings) -> Iterable[tuple[tuple[str, ...], str]]:
    """Leaves it to the server to say what is wrong with its settings."""
    return ()


def read_tournament(
    path: Path, *, draw_seed: Draw, concurrency: int, check_server: ServerCheck = unchecked
) -> TournamentFile:
    """The tournaments of a file. ``concurrency`` is taken where the file says nothing.

    Raises TournamentFileError with code ``unreadable_tournament``, ``not_toml`` or ``bad_tournament``.
    """
    try:
        text = _text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise TournamentFileError(
            "unreadable_tournament", str(path), [Problem(0, "", f"the file cannot be read: {why}")]
        ) from None
    folder = path.absolute().parent
    return parse_tournament(
        text, folder, file=path.name, draw_seed=draw_seed, concurrency=concurrency, check_server=check_server
    )


def _text_of(path: Path) -> str:
    """What stands in a file. Raises OSError, also for what has no end, or would be read for ever."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MiB")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def parse_tournament(
    text: str,
    folder: Path,
    *,
    file: str,
    draw_seed: Draw,
    concurrency: int,
    check_server: ServerCheck = unchecked,
) -> TournamentFile:
    """The same for the text of a file, whose paths are relative to ``folder``; ``file`` names it in errors."""
    try:
        tree, lines = tomllib.loads(text), locate(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise TournamentFileError("not_toml", file, [_not_toml(error, text)]) from None
    except RecursionError:
        raise TournamentFileError("not_toml", file, [Problem(1, "", "it is nested too deep")]) from None
    notes = Notes(lines)
    found = _Reading(tree, notes, folder.absolute(), Path(file).stem, draw_seed, concurrency, check_server).file()
    if found is None or notes.problems:
        raise TournamentFileError("bad_tournament", file, sorted(notes.problems))
    return found


def _not_toml(error: ValueError, text: str) -> Problem:
    """The parser's sentence with its line, which stands at its end."""
    if not isinstance(error, tomllib.TOMLDecodeError):
        return Problem(1, "", "this is not TOML: it has a number that is too long to be read")
    what, _, place = str(error).rpartition(" (at ")
    line = re.match(r"line (\d+)", place)
    number = int(line[1]) if line else text.count("\n") + 1
    written = text.splitlines()[number - 1 : number]
    hint = ""
    if what.startswith(TWICE) and written and (array := ARRAY.match(written[0])):
        return Problem(number, array[1], _double_brackets(array[1]))
    if "Invalid value" in what:
        switch = written and SWITCH.search(written[0])
        hint = "; write true or false, without quotes" if switch else "; texts stand in quotes"
    return Problem(number, "", f"this is not TOML: {what or error}{hint}")


def _double_brackets(key: str) -> str:
    """What to do about an array of tables that was written as one table."""
    return f"write [[{key}]] with double brackets, once for each"


TWICE: Final = ("Cannot declare", "Cannot overwrite")
"""How the parser begins to say that a table stands there again."""
ARRAY: Final = re.compile(r"\s*\[{1,2}\s*(bots|tournaments)\s*\]")
"""The head of a table of which there may be many."""
SWITCH: Final = re.compile(r"=\s*(?:yes|no|on|off|true|false)\b", re.IGNORECASE)
"""How people who don't know TOML write what is true or false."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One pass over a file that is TOML."""

    tree: Mapping[str, Any]
    notes: Notes
    folder: Path
    stem: str
    draw_seed: Draw
    concurrency: int
    check_server: ServerCheck

    def file(self) -> TournamentFile | None:
        """Everything; None, or any value, where there are problems."""
        top = {key: value for key, value in self.tree.items() if key not in ("bots", "tournaments")}
        table = self.notes.table(FileTable, top)
        players = self._players()
        faulty = self.notes.faulty(FileTable, top) if table is None else frozenset()
        events = self._events(top, table, faulty, players)
        if "server" not in faulty:
            self._server(top.get("server", {}))
        if table is None:
            return None
        limits = table.limits
        return TournamentFile(
            name=table.name or self.stem,
            folder=self.folder,
            events=tuple(event for event in events if event is not None),
            players=tuple(player for player in players.values() if player is not None),
            concurrency=table.concurrency or max(1, self.concurrency),
            limits=BotLimits(limits.memory_mb or None, limits.cpu_seconds or None, limits.processes or None),
            patience_seconds=table.patience_seconds,
            start_seconds=table.start_seconds,
            attempts=table.attempts,
            server=table.server,
        )

    def _tables(self, key: str, most: int) -> list[Any]:
        """The tables of an array of tables; a problem and nothing if it is something else."""
        found = self.tree.get(key, [])
        if not isinstance(found, list):
            self.notes.tell((key,), _double_brackets(key))
            return []
        if len(found) > most:
            self.notes.tell((key, most), f"there may be at most {most} {key}, and there are {len(found)}")
        return found[:most]

    def _players(self) -> dict[str, Player | None]:
        """All bots by name; None for one that cannot be used, so that its name is known all the same."""
        tables = self._tables("bots", MAX_BOTS)
        names = [
            (("bots", at, "name"), each["name"])
            for at, each in enumerate(tables)
            if isinstance(each, dict) and isinstance(each.get("name"), str)
        ]
        tell_names(names, self.notes.tell)
        players: dict[str, Player | None] = {name: None for _, name in names}
        for at, each in enumerate(tables):
            table = self.notes.table(BotTable, each, ("bots", at))
            if table is not None:
                players[table.name] = read_player(table, ("bots", at), self.folder, self.notes.tell)
        return players

    def _server(self, settings: ServerSettings) -> None:
        for section, keys in OUR_OWN_SERVER_SETTINGS.items():
            for key in keys:
                if key in settings.get(section, {}):
                    instead = "write it under [clock]" if section == "clock" else "the tool chooses it itself"
                    self.notes.tell(("server", section, key), f"it is not for the file of a tournament: {instead}")
        for path, sentence in self.check_server(settings):
            self.notes.tell(("server", *path), sentence)

    def _events(
        self,
        top: Mapping[str, Any],
        table: FileTable | None,
        faulty: frozenset[str],
        players: Mapping[str, Player | None],
    ) -> list[Event | None]:
        """The tournaments; what is wrong at the top of the file counts as absent, since it has been told."""
        tables = self._tables("tournaments", MAX_TOURNAMENTS)
        bots = self.tree.get("bots", [])
        all_known = isinstance(bots, list) and len(bots) == len(players)
        alone = "tournaments" not in self.tree or tables == []
        title = (table.name if table is not None else None) or self.stem
        names: dict[str, str] = {}
        events = []
        for at, own in enumerate([{}] if alone else tables):
            path = () if alone else ("tournaments", at)
            reading = EventReading(self.notes, top, faulty, own, path, players, self.draw_seed, all_known)
            events.append(reading.event(names, title if alone or len(tables) == 1 else None))
            if reading.endless and at < len(tables) - 1:
                sentence = "this ladder never ends, so the tournaments after it would never begin; give rounds or stop"
                self.notes.tell(reading.place("format"), sentence)
        return events
