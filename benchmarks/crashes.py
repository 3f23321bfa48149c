"""Is anything forgotten that was announced? The server is killed again and again in the middle of many matches.

    uv run python benchmarks/crashes.py --rounds 5
    uv run python benchmarks/crashes.py --rounds 200 --database $(.ci/postgres start /tmp/crashes)

``kill -9`` at random instants, a start on the same port and data, and the players come back by themselves: they are the
reference client. Every client keeps a diary of what it was told. From the diaries alone, never from the server's
journal, it is seen whether a ply was lost, changed or told twice, whether both sides saw the same end, and whether it
is the one that the rules give to the moves. Exit code 1 if not, 2 if no match has ended or the database is not there.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from fleet.arguments import count, duration, new_folder, reader
from fleet.database import Unreachable, own_database
from fleet.diary import Diary, contradictions
from fleet.figures import machine, spread
from fleet.scripts import SMALL, any_move
from fleet.server import ServerProcess
from fleet.verdict import Verdict, ended, too_few

from triarena.clients import play
from triarena.clients.admin import Administrator
from triarena.clients.backoff import Backoff
from triarena.clients.connection import Connection
from triarena.clients.errors import ClientError, ServerError

T = TypeVar("T")
SETTINGS = {
    "clock.move_seconds": 10,
    "clock.startup_seconds": 60,
    "rooms.resume_seconds": 120,
}
LAST_MATCHES_SECONDS = 180.0
"""After the last round all matches must have ended by then."""
THINKING_SECONDS = 0.03
PROGRESS_SECONDS = 5.0


@dataclass(slots=True)
class Tally:
    """What came of it all. Shared by threads: only appended to and counted up under ``lock``."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    matches: int = 0
    plies: int = 0
    returns: int = 0
    crashes_survived: Counter[int] = field(default_factory=Counter)
    """How many matches were come back to how often."""
    games: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, game: str, red: Diary, blue: Diary, wrong: list[str]) -> None:
        """A match has ended, for both sides or not."""
        with self.lock:
            self.matches += 1
            self.games[game] += 1
            self.plies += len(red.plies)
            self.returns += red.returns + blue.returns
            self.crashes_survived[max(red.returns, blue.returns)] += 1
            self.wrong.extend(wrong)


class Table(threading.Thread):
    """Two bots that play one prepared match after the other, until there shall be no more."""

    def __init__(self, server: ServerProcess, seed: int, closing: threading.Event, tally: Tally) -> None:
        super().__init__(name=f"table-{seed}", daemon=True)
        self._server, self._closing, self._tally = server, closing, tally
        self._random = random.Random(seed)

    def run(self) -> None:
        """Play on."""
        while not self._closing.is_set():
            game, options = self._random.choice(SMALL)
            seed = self._random.randrange(2**32)
            codes = self._persist(partial(self._prepare, game, options, seed))
            self._play(game, options, seed, codes)

    def _prepare(self, game: str, options: Any, seed: int) -> list[str]:
        with Connection.open(port=self._server.port) as connection:
            administrator = Administrator.authenticate(connection, self._server.secret)
            return [str(code) for code in administrator.prepare(game, options, seed=seed).reservations]

    def _play(self, game: str, options: Any, seed: int, codes: list[str]) -> None:
        red, blue = Diary(), Diary()
        errors: list[str] = []
        threads = [
            threading.Thread(target=self._sit, args=(code, diary, self._random.randrange(2**32), errors), daemon=True)
            for code, diary in zip(codes, (red, blue), strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        try:
            errors += contradictions(red, blue, game, options, seed)
        except Exception as error:  # what cannot even be compared is wrong as well
            errors.append(f"{red.match}: {error!r}")
        self._tally.add(game, red, blue, errors)

    def _sit(self, code: str, diary: Diary, seed: int, errors: list[str]) -> None:
        chance = random.Random(seed)

        def choose_move(position: Any) -> Any:
            time.sleep(chance.uniform(0, THINKING_SECONDS))
            return any_move(position, chance)

        backoff = Backoff(patience=LAST_MATCHES_SECONDS, longest_pause=0.3)
        try:
            self._persist(
                lambda: play(
                    choose_move,
                    reservation=code,
                    port=self._server.port,
                    on_event=diary.hear,
                    report=lambda line: None,
                    backoff=backoff,
                )
            )
        except Exception as error:
            errors.append(f"{diary.match} after {len(diary.plies)} plies: {type(error).__name__}: {error}")

    def _persist(self, attempt: Callable[[], T]) -> T:
        """Try until the server is there; only what it says itself is an answer."""
        while True:
            try:
                return attempt()
            except ServerError as error:
                if error.code != "server_stopping":
                    raise
            except ClientError:
                pass
            time.sleep(0.1)


def crash_on(server: ServerProcess, options: argparse.Namespace, starts: list[float], tally: Tally) -> None:
    """So many times: let them play for a while, kill the server, start it again."""
    chance = random.Random(options.seed)
    due = time.monotonic() + PROGRESS_SECONDS
    for number in range(1, options.rounds + 1):
        time.sleep(chance.uniform(0.05, options.longest))
        server.kill()
        began = time.monotonic()
        server.start()
        starts.append(time.monotonic() - began)
        if time.monotonic() >= due:
            tell(f"killed {number} of {options.rounds} times; {tally.matches} matches have ended")
            due = time.monotonic() + PROGRESS_SECONDS


def tell(sentence: str) -> None:
    """How far it is, apart from the figures."""
    print(sentence, file=sys.stderr, flush=True)


def main() -> int:
    """Reads the options, and says what can't be measured."""
    parser = reader(__doc__)
    parser.add_argument("--rounds", type=count, default=5)
    parser.add_argument("--matches", type=count, default=20, help="at once")
    parser.add_argument("--longest", type=duration, default=2.0, help="seconds that a server lives at most")
    parser.add_argument("--database", help="a PostgreSQL URL; SQLite if left out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=new_folder, help="where the server's folder is copied to if anything is wrong")
    try:
        return measure(parser.parse_args())
    except Unreachable as error:
        print(error, file=sys.stderr)
        return Verdict.UNJUDGED


def measure(options: argparse.Namespace) -> Verdict:
    """Runs the rounds and prints what the diaries say. Raises Unreachable."""
    tally, closing, starts = Tally(), threading.Event(), list[float]()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        own_database(options.database) as database,
        ServerProcess(Path(folder), SETTINGS, database) as server,
    ):
        tables = [Table(server, options.seed + number, closing, tally) for number in range(options.matches)]
        for table in tables:
            table.start()
        tell(f"{options.matches} matches at once, {options.rounds} kills; how far it is stands here now and then")
        crash_on(server, options, starts, tally)
        closing.set()
        tell("no more kills; the last matches end")
        deadline = time.monotonic() + LAST_MATCHES_SECONDS
        for table in tables:
            table.join(max(0.0, deadline - time.monotonic()))
        open_ends = sum(table.is_alive() for table in tables)
        if tally.wrong and options.keep is not None:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True)
    crashes = sum(count for times, count in tally.crashes_survived.items() if times)
    print(machine())
    print(f"database              {'SQLite' if options.database is None else 'PostgreSQL'}")
    print(f"kill -9               {options.rounds} times during {options.matches} matches at once")
    print(f"restarts took         {spread(starts, 's')}")
    print(f"matches ended         {tally.matches}: {', '.join(f'{n} {game}' for game, n in tally.games.most_common())}")
    print(f"  of them come back to {crashes}, at most {max(tally.crashes_survived, default=0)} times")
    print(f"plies announced       {tally.plies}")
    print(f"seats taken back      {tally.returns}")
    print(f"matches without end   {open_ends}")
    print(f"contradictions        {len(tally.wrong)}")
    print(f"took                  {time.monotonic() - began:.0f} s")
    for sentence in tally.wrong[:20]:
        print(f"WRONG: {sentence}")
    if not tally.matches:
        too_few("no match has ended; give --rounds or --longest more")
    return Verdict.of(broken=bool(tally.wrong or open_ends), enough=bool(tally.matches and options.rounds))


if __name__ == "__main__":
    ended(main)
