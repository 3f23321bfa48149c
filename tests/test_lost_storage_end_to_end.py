"""A full disk and a database that goes away during matches of a real server: what players and observers were told is
what is stored afterwards, and every match comes to its end.
"""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio
from tests.server.conftest import Client

from triarena.cli.children import Children
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.values import Result
from triarena.server.journal import read_match

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[1]
MATCHES = 6
PLIES = 300
GATED_AT = 40
"""At this ply half of the matches wait until the database is lost, so that it is lost to a move under way."""
OUTAGE_SECONDS = 3.0
AT_MOST_SECONDS = 120

Announced = tuple[int, str, str, float]
"""A ply as it was told: number, side, move, milliseconds used."""


@dataclass
class Witness:
    """What one client was told about its match."""

    match: str = ""
    plies: list[Announced] = field(default_factory=list)
    result: Result | None = None
    notices: list[str] = field(default_factory=list)


@dataclass
class Play:
    """Matches under way, and what everybody in them was told."""

    port: int
    lost: trio.Event = field(default_factory=trio.Event)
    """The database is lost: whoever waited for that goes on."""
    halfway: trio.Event = field(default_factory=trio.Event)
    noticed: trio.Event = field(default_factory=trio.Event)
    witnesses: list[Witness] = field(default_factory=list)

    async def begin(self, nursery: trio.Nursery, gated: bool) -> None:
        """Let two players meet and an observer watch."""
        red, watcher, blue = [await self.client() for _ in range(3)]
        joined = await red.join("towerwars", size=5, max_plies=PLIES)
        await watcher.say(c.Observe(room=joined.room))
        await watcher.hear(s.Observing)
        await blue.join("towerwars", size=5, max_plies=PLIES)
        for client in (red, blue, watcher):
            nursery.start_soon(self.follow, client, gated)

    async def client(self) -> Client:
        return await Client(await trio.open_tcp_stream("127.0.0.1", self.port)).greet()

    async def follow(self, client: Client, gated: bool) -> None:
        """Answer what is asked, and remember what is told, to the end."""
        async with client.stream:
            await self.listen(client, gated)

    async def listen(self, client: Client, gated: bool) -> None:
        witness = Witness()
        self.witnesses.append(witness)
        while witness.result is None:
            match await client._next():
                case s.MatchStarted(match=name, room=room):
                    witness.match = name
                    await client.say(c.Ready(room=room))
                case s.Snapshot(view=view):
                    witness.match = view.info.match or ""
                case s.Moved(ply=ply, side=side, text=text, used_ms=used):
                    witness.plies.append((ply, side, text, used))
                case s.YourTurn(ply=ply) as turn:
                    if gated and ply == GATED_AT:
                        self.halfway.set()
                        await self.lost.wait()
                    await client.move(turn, index=ply // 7)
                case s.Notice(code=code):
                    witness.notices.append(code)
                    self.noticed.set()
                case s.MatchOver(result=result):
                    witness.result = result
                case other:
                    raise AssertionError(other)

    def check(self, url: str) -> None:
        """Everything that anybody was told is in the journal, and nothing was told twice or otherwise."""
        assert len(self.witnesses) == 3 * MATCHES
        for witness in self.witnesses:
            stored = read_match(url, witness.match)
            plies = [(ply.ply, ply.side, ply.text, ply.used_ms) for ply in stored.plies]
            assert witness.plies == plies
            assert witness.result is not None
            assert witness.result.model_dump(exclude_none=True) == stored.result
            assert witness.result.reason in ("ply_limit", "base", "no_move", "points")
            assert witness.notices in ([], ["storage_lost", "storage_back"])
        waited = sum(bool(witness.notices) for witness in self.witnesses)
        assert waited
        told = sum(len(witness.plies) for witness in self.witnesses)
        print(f"{waited} of {len(self.witnesses)} clients saw their match wait; {told} announced plies, none missing")


@dataclass
class Server:
    """A server process."""

    pid: int
    port: int


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Server]]:
    """Starts a server with a database."""
    with Children(tmp_path) as children:

        def begin(url: str) -> Server:
            port_file, data = tmp_path / "port", tmp_path / "data"
            arguments = ["serve", "--port", "0", "--port-file", str(port_file), "--data-dir", str(data)]
            process = children.start("server", [*arguments, "--database", url, "--move-time", "30"])
            deadline = time.monotonic() + AT_MOST_SECONDS
            while not port_file.exists():
                children.check()
                assert time.monotonic() < deadline, "the server listens"
                time.sleep(0.02)
            return Server(process.pid, int(port_file.read_text(encoding="ascii")))

        yield begin


async def outlive(port: int, lose: Callable[[], object], restore: Callable[[], object]) -> Play:
    """Play matches during which the database is lost for a while."""
    play = Play(port)
    with trio.fail_after(AT_MOST_SECONDS):
        async with trio.open_nursery() as nursery:
            for number in range(MATCHES):
                await play.begin(nursery, gated=number % 2 == 0)
            await play.halfway.wait()
            await trio.to_thread.run_sync(lose)
            play.lost.set()
            await play.noticed.wait()
            await trio.sleep(OUTAGE_SECONDS)  # several attempts to write go wrong
            await trio.to_thread.run_sync(restore)
    return play


@pytest.mark.slow
async def test_nothing_announced_is_missing_after_the_disk_was_full(
    tmp_path: Path, start: Callable[[str], Server]
) -> None:
    """The quota of a file's size stands for the disk: no file of the server may grow any more."""
    url = f"sqlite:///{tmp_path}/journal.sqlite3"
    server = start(url)
    hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)[1]

    def quota(soft: int) -> None:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (soft, hard))

    play = await outlive(server.port, lambda: quota(16_384), lambda: quota(hard))
    play.check(url)


class Cluster:
    """A PostgreSQL of this test alone, which can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        self._script, self._folder = ROOT / ".ci" / "postgres", folder
        started = subprocess.run(
            [self._script, "start", folder], capture_output=True, text=True, check=True, timeout=300
        )
        self.url = started.stdout.strip()
        command, *options = shlex.split((folder / "data" / "postmaster.opts").read_text("utf-8"))
        self._control = Path(command).with_name("pg_ctl")
        self._options = shlex.join(options[2:])  # without -D DIR

    def stop(self) -> None:
        self._run("stop", "--mode=immediate")

    def start(self) -> None:
        self._run("start", f"--options={self._options}", f"--log={self._folder / 'server.log'}")

    def remove(self) -> None:
        subprocess.run([self._script, "stop", self._folder], check=True, timeout=60)

    def _run(self, *arguments: str) -> None:
        owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*owner, str(self._control), f"--pgdata={self._folder / 'data'}", "--wait", "--silent", *arguments]
        subprocess.run(command, cwd=self._folder, check=True, timeout=60, stdout=subprocess.DEVNULL)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if not os.environ.get("TRIARENA_TEST_POSTGRES"):
        pytest.skip("TRIARENA_TEST_POSTGRES is not set; `.ci/postgres start DIR` starts a PostgreSQL and prints a URL")
    made = Cluster(Path(tempfile.mkdtemp(prefix="triarena-")))  # pytest's folders are closed to PostgreSQL's own user
    yield made
    made.remove()


@pytest.mark.slow
async def test_nothing_announced_is_missing_after_the_database_was_stopped_and_started(
    cluster: Cluster, start: Callable[[str], Server]
) -> None:
    play = await outlive(start(cluster.url).port, cluster.stop, cluster.start)
    play.check(cluster.url)
