"""What is kept of a match that did not end by the rules: one folder with everything that a judge may ask for."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from triarena.cli.invocation import command
from triarena.organiser.attempt import SIDES, Attempt, Outcome, Sporting
from triarena.organiser.crew import Bot
from triarena.organiser.folder import Folder
from triarena.organiser.last_words import IN_A_FILE, told_by_itself
from triarena.organiser.records import Source, StoreError
from triarena.organiser.report import report_event
from triarena.organiser.runner import Keeper
from triarena.organiser.spec import Event, Player, TournamentFile
from triarena.tournament.values import SideName

NEVER_BEGAN: Final = "the match never began, so no ply was played"
MOST_LINES: Final = 200
QUIET: Final = frozenset(["server_lost", "no_server", "connection_lost"])
"""Codes of failures of which a folder would say nothing new."""


@dataclass(slots=True)
class Absences:
    """Who is away, and since when it has a folder: one for all the games that are lost by the same absence."""

    irregular: Path
    event: Event
    _open: dict[str, Path] = field(default_factory=dict)

    def whose(self, attempt: Attempt, outcome: Outcome) -> tuple[SideName, ...]:
        """The sides that were not even asked to play; whoever has played is there again."""
        if outcome.match:
            for side in SIDES:
                self._open.pop(getattr(attempt.fixture, side), None)
            return ()
        if not isinstance(outcome, Sporting) or attempt.room is not None:
            return ()
        return tuple(side for side in SIDES if side in outcome.played.offenders)

    def place(self, name: str) -> tuple[Path, bool]:
        """The folder of a player's absence, and whether it was made now. Raises OSError."""
        if name in self._open:
            return self._open[name], False
        number = 1
        while (place := self.irregular / f"{self.event.slug}-absent-{name}-{number}").exists():  # before a resumption
            number += 1
        place.mkdir(parents=True)
        self._open[name] = place
        return place, True


@dataclass(frozen=True, slots=True)
class Evidence:
    """Writes the folders of irregular matches."""

    folder: Folder
    journal: str | None
    """The database of the server that refereed them; None if it can't be reached."""
    own: bool = False
    """Whether that is the tournament's own server, whose data lie in the folder."""
    in_place: Callable[[], bool] = lambda: True
    """Whether the folder is where it was."""

    def keeper(self, event: Event) -> Keeper:
        """For the matches of one tournament."""
        absences, lock = Absences(self.folder.irregular, event), Lock()

        def keep(attempt: Attempt, outcome: Outcome) -> str:
            with lock:  # several games may end at once, and be lost by the same absence
                gone = absences.whose(attempt, outcome)
            if isinstance(outcome, Sporting) and not outcome.irregular:
                return ""
            if not isinstance(outcome, Sporting) and outcome.code in QUIET:
                return ""
            if not self.in_place():  # somebody has moved or deleted it: it is not made anew
                return ""
            try:
                if gone and isinstance(outcome, Sporting):
                    with lock:
                        place = self._write_absences(absences, gone, attempt, outcome)
                else:
                    place = self.folder.irregular / f"{event.slug}-{attempt.fixture.id}-{attempt.number}"
                    place.mkdir(parents=True, exist_ok=True)
                    self._write(place, event, attempt, outcome)
            except OSError:  # a full disk: the result matters more, and is told otherwise
                return ""
            return place.relative_to(self.folder.path).as_posix()

        return keep

    def _write_absences(
        self, absences: Absences, gone: Collection[SideName], attempt: Attempt, outcome: Sporting
    ) -> Path:
        """Note a game with each absence by which it was lost; the folder of the first one."""
        fixture, places = attempt.fixture, []
        for side in gone:
            player = absences.event.player(getattr(fixture, side))
            place, is_new = absences.place(player.name)
            notes = place / "README.txt"
            if is_new:
                process = self._process(place, player, side, attempt.bots.get(side))
                head = [f"{absences.event.name}: {player.name} did not come", outcome.message, *process]
                notes.write_text("\n".join([*head, "", "the games that it lost so:"]) + "\n", encoding="utf-8")
            with notes.open("a", encoding="utf-8") as lines:
                lines.write(f"{fixture.id}  {fixture.red} (red) against {fixture.blue} (blue)\n")
            places.append(place)
        return places[0]

    def why_left(self, match: str) -> str:
        """Why the program that left a match says it did, as far as the server's database tells."""
        from triarena.cli.report import leaving
        from triarena.server.evidence import known_evidence
        from triarena.server.journal import JournalError, read_match

        if self.journal is None or not self.in_place():
            return ""
        try:
            stored = read_match(self.journal, match)
        except JournalError:
            return ""
        return "; ".join(told_by_itself(reason) for _, reason in leaving(stored, known_evidence(stored)))

    def _write(self, place: Path, event: Event, attempt: Attempt, outcome: Outcome) -> None:
        fixture = attempt.fixture
        sporting = isinstance(outcome, Sporting)
        lines = [
            f"{event.name}, game {fixture.id}, attempt {attempt.number}",
            f"{fixture.red} (red) against {fixture.blue} (blue)",
            outcome.message,
            "it counts" if sporting else "it does not count: the game is played again",
        ]
        for side in SIDES:
            lines += self._process(place, event.player(getattr(fixture, side)), side, attempt.bots.get(side))
        if not outcome.match:
            lines += [f"see it again:   {NEVER_BEGAN}", f"all about it:   {NEVER_BEGAN}"]
            (place / "report.txt").write_text(self._without_match(attempt), encoding="utf-8")
        else:
            where = self._where()
            if self.own:
                lines += ["in the tournament's folder, two levels above this file:"]
            lines += [f"see it again:   {command('replay', outcome.match, *where, '--boards')}"]
            lines += [f"all about it:   {command('report', outcome.match, *where)}"]
            (place / "report.txt").write_text(self._report(outcome.match), encoding="utf-8")
        (place / "README.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if isinstance(outcome, Sporting):
            (place / "result.json").write_text(json.dumps(asdict(outcome), indent=2) + "\n", encoding="utf-8")

    def _where(self) -> list[str]:
        """The option that names the database, for commands; by a path in the folder, which may be renamed or copied."""
        if self.own:
            return ["--data-dir", self.folder.server.relative_to(self.folder.path).as_posix()]
        return ["--database", self.journal] if self.journal else []

    def _process(self, place: Path, player: Player, side: SideName, bot: Bot | None) -> list[str]:
        """How a player's process fares and what it said last, in lines; its log is copied."""
        if not player.local:
            return [f"{side}, {player.name}: it runs on its owner's machine, who has what it printed"]
        if bot is None:
            return [f"{side}, {player.name}: no process of it was started for this game"]
        how = bot.ended.detail if bot.ended is not None else "its process still runs: it plays on"
        try:
            shutil.copyfile(bot.log, place / f"{side}.log")
        except OSError as error:
            return [f"{side}, {player.name}: {how}; it has left no log ({error.strerror or error})"]
        last = [f"    | {line}" for line in bot.last_words()[-IN_A_FILE:]] if bot.ended is not None else []
        return [f"{side}, {player.name}: {how}; what it said is in {side}.log" + (", at last:" if last else ""), *last]

    def _without_match(self, attempt: Attempt) -> str:
        """Why there is no report, and what the server said of the room in its place."""
        lines = [f"There is no report of the match, and nothing to replay: {NEVER_BEGAN}.", ""]
        if attempt.room is None:
            return "\n".join([*lines, "No room was prepared for it, so nothing was said over any connection.", ""])
        try:
            log = (self.folder.logs / "server.log").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return "\n".join([*lines, f"It was to be played in room {attempt.room}; the server's log is not here.", ""])
        mention = re.compile(rf"\b{re.escape(attempt.room)}\b")
        about = [line for line in log if mention.search(line)][-MOST_LINES:]
        return "\n".join([*lines, f"What the server noted about its room {attempt.room}:", *about, ""])

    def _report(self, match: str) -> str:
        """What ``triarena report`` prints, the last frames of both sides included."""
        from triarena.cli.report import sections
        from triarena.server.journal import JournalError, read_match

        if self.journal is None:
            return "The server's database is not known here; ask its organiser for: triarena report " + match + "\n"
        try:
            return "\n".join(sections(read_match(self.journal, match), where=self._where())) + "\n"
        except JournalError as error:
            return f"The server's journal can't be read: {error.message}\n"


class Farewells:
    """What each player is told at the end: its places. They are looked up once for all of them."""

    def __init__(self, file: TournamentFile) -> None:
        self._file = file
        self._said: dict[str, list[str]] | None = None

    def of(self, name: str, contents: Callable[[], Source]) -> str:
        """A player's; ``contents`` are read for the first one only. Raises StoreError."""
        if self._said is None:
            self._said = self._places(contents())
        said = self._said.get(name)
        return f"the tournament is over; {name}: " + "; ".join(said) if said else "the tournament is over"

    def _places(self, contents: Source) -> dict[str, list[str]]:
        said: dict[str, list[str]] = {}
        for event in self._file.events:
            with suppress(StoreError):
                rows = [line.row for line in report_event(event, contents).lines]
                for row in rows:
                    said.setdefault(row.player, []).append(f"{event.name}: place {row.rank} of {len(rows)}")
        return said
