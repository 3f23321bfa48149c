"""Real servers on both databases, killed with ``kill -9``: what they confirmed is there again; one serves at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from triarena.clients import Connection, ServerError
from triarena.clients.admin import Administrator
from triarena.games import find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.from_client import Slot
from triarena.protocol.values import Unlimited

pytestmark = pytest.mark.soak

M = TypeVar("M")
START_SECONDS = 60.0


@dataclass
class Servers:
    """Starts servers, one after the other, on one database."""

    folder: Path
    database: str
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "triarena.cli", *arguments, "--database", self.database]

    def serve(self) -> list[str]:
        return self.command("serve", "--port", "0", "--port-file", self.port_file, "--data-dir", str(self.folder))

    @property
    def port_file(self) -> str:
        return str(self.folder / f"port-{len(self.running)}")

    def start(self) -> int:
        """Start a server; its port once it listens."""
        port_file = Path(self.port_file)
        with (self.folder / f"server-{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(self.serve(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.running.append(process)
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            assert process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.01)
        return int(port_file.read_text(encoding="ascii"))

    def kill(self) -> None:
        """At once, as a power cut would; nobody waits for it to be gone."""
        self.running[-1].kill()

    def log(self) -> str:
        return (self.folder / f"server-{len(self.running) - 1}.log").read_text(encoding="utf-8", errors="replace")

    def connect(self, port: int) -> Connection:
        self.connections.append(Connection.open(port=port))
        return self.connections[-1]

    def take(self, port: int, code: str | None) -> tuple[Connection, s.Joined]:
        player = self.connect(port)
        return player, player.request(c.JoinReserved(reservation=str(code)))

    def end(self) -> None:
        for connection in self.connections:
            connection.close()
        for process in self.running:
            process.kill()
            process.wait()

    def administrator(self, port: int) -> Administrator:
        secret = (self.folder / "admin-secret").read_text(encoding="utf-8").strip()
        return Administrator.authenticate(self.connect(port), secret)


@pytest.fixture
def servers(url: str, tmp_path: Path) -> Iterator[Servers]:
    made = Servers(tmp_path, url)
    yield made
    made.end()


def wait_for(player: Connection, kind: type[M]) -> M:
    while not isinstance(message := player.receive(timeout=60), kind):
        pass
    return message


def get_ready(*players: Connection) -> None:
    for player in players:
        player.send(c.Ready(room=wait_for(player, s.MatchStarted).room))


def move(player: Connection, turn: s.YourTurn) -> None:
    assert turn.position is not None
    game = find_game(turn.position.game)
    first = next(iter(game.read_position(turn.position.model_dump()).legal_moves()))
    player.send(c.Move.model_validate({"room": turn.room, "ply": turn.ply, "move": game.write_move(first)}))


@pytest.mark.slow
def test_after_a_kill_both_codes_of_a_confirmed_room_work_once_and_the_match_is_played(servers: Servers) -> None:
    port = servers.start()
    admin = servers.administrator(port)
    prepared = admin.prepare("towerwars", {"size": 4}, slots=[Slot(name="Ann"), Slot(name="Bob")])
    servers.kill()
    port = servers.start()
    red, joined = servers.take(port, prepared.reservations[0])
    assert (joined.room, joined.side, joined.name) == (prepared.room, "red", "Ann")
    servers.kill()  # red's code is used, and the match has not begun

    port = servers.start()
    red, joined = servers.take(port, prepared.reservations[0])
    blue, other = servers.take(port, prepared.reservations[1])
    assert (joined.side, other.side, other.name) == ("red", "blue", "Bob")
    with pytest.raises(ServerError) as refused:
        servers.take(port, prepared.reservations[1])
    assert refused.value.code == "reservation_used"
    get_ready(red, blue)
    move(red, wait_for(red, s.YourTurn))
    assert wait_for(blue, s.YourTurn).ply == 1


@pytest.mark.slow
def test_after_a_kill_a_paused_match_stays_paused_until_it_is_resumed(servers: Servers) -> None:
    port = servers.start()
    admin = servers.administrator(port)
    room = admin.prepare("towerwars", {"size": 4}, time_control=Unlimited()).room
    other = admin.prepare("towerwars", {"size": 5}, paused=True).room
    admin.cancel(other)
    codes = admin.prepare("towerwars", {"size": 4}, time_control=Unlimited())
    (red, red_seat), (blue, blue_seat) = [servers.take(port, code) for code in codes.reservations]
    get_ready(red, blue)
    turn = wait_for(red, s.YourTurn)
    admin.pause(codes.room)
    move(red, turn)
    wait_for(red, s.Moved)
    servers.kill()
    port = servers.start()
    admin = servers.administrator(port)
    rooms = {info.room: info for info in admin.rooms()}
    assert set(rooms) == {room, codes.room}, "the cancelled one is gone"
    info = rooms[codes.room]
    assert (info.state, info.paused, info.ply) == ("paused", True, 1)
    red, blue = servers.connect(port), servers.connect(port)
    for player, seat in ((red, red_seat), (blue, blue_seat)):
        player.request(c.Rejoin(token=seat.token))
        get_ready(player)
    assert {info.room: info.ply for info in admin.rooms()}[codes.room] == 1
    admin.resume(codes.room)
    assert wait_for(blue, s.YourTurn).ply == 1
    servers.kill()
    port = servers.start()
    admin = servers.administrator(port)
    assert not {info.room: info for info in admin.rooms()}[codes.room].paused


@pytest.mark.slow
def test_a_second_server_is_refused_in_a_sentence_and_the_commands_that_read_are_not(servers: Servers) -> None:
    servers.start()
    second = subprocess.run(
        servers.serve(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert second.returncode == 1
    assert "database_in_use" in second.stderr
    assert f"process {servers.running[0].pid} on " in second.stderr
    assert "Traceback" not in second.stderr
    assert "swordfish" not in second.stderr
    listed = subprocess.run(
        servers.command("matches", "--json"), capture_output=True, text=True, timeout=60, check=False, env=os.environ
    )
    assert (listed.returncode, listed.stdout) == (0, "")
    servers.kill()
    servers.start()


@pytest.mark.slow
def test_a_server_whose_database_another_one_took_over_ends_and_says_so(postgresql_url: str, tmp_path: Path) -> None:
    """The session that holds the claim is ended, as by a restart of PostgreSQL, and another server is faster."""
    import sqlalchemy as sa

    servers = Servers(tmp_path, postgresql_url)
    try:
        servers.start()
        engine = sa.create_engine(postgresql_url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            key = connection.exec_driver_sql(
                "SELECT (l.classid::bigint << 32) + l.objid::bigint, l.pid FROM pg_locks l JOIN pg_stat_activity a"
                f" USING (pid) WHERE l.locktype = 'advisory' AND a.application_name LIKE"
                f" 'triarena, process {servers.running[0].pid} on %%'"
            ).one()
            # Who waits for the lock gets it at the very moment when the session ends.
            waiting = engine.connect()
            waiting.exec_driver_sql("SET lock_timeout = 0")
            ender = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    "import sys, time, psycopg; time.sleep(1); c = psycopg.connect(sys.argv[1], autocommit=True);"
                    "c.execute('SELECT pg_terminate_backend(%s)', [int(sys.argv[2])]); c.close()",
                    sa.make_url(postgresql_url).set(drivername="postgresql").render_as_string(hide_password=False),
                    str(key[1]),
                ]
            )
            waiting.exec_driver_sql(f"SELECT pg_advisory_lock({key[0]})")
            ender.wait(60)
            assert servers.running[0].wait(60) == 1
            waiting.close()
        assert "database_in_use" in servers.log()
        assert "Traceback" not in servers.log()
    finally:
        servers.end()
