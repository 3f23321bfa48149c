"""How matches are shown: at a pace that an eye can follow, on terminals too small for the board, and in lists."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.test_player_commands import match_of_one_ply, rooms_are, run
from tests.clients.scripted_server import INFO, Peer, over, serving

from triarena.cli import main
from triarena.cli.pacing import BACKLOG, paced
from triarena.cli.scenes import as_text, fitted, headline, state
from triarena.clients.boards import draw
from triarena.clients.connection import Connection
from triarena.clients.errors import ConnectionLost
from triarena.clients.spectator import Scene
from triarena.games import find_game
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.room_views import RoomView, Seat

GAME = find_game("towerwars")
FREE = Seat(connected=False, reserved=False, used_ms=0)
KEPT = Seat(connected=False, reserved=True, used_ms=0)
WAITING = INFO.model_copy(update={"state": "waiting", "to_move": None, "match": None})


class Line:
    """A connection of which ``arriving`` messages come at every listening, on a clock of the test's."""

    def __init__(self, arriving: int = 0, lost: bool = False) -> None:
        self.waiting: list[None] = []
        self.time = 0.0
        self.slept = 0.0
        self._arriving = arriving
        self._lost = lost

    def listen(self, timeout: float) -> None:
        if self._lost:
            raise ConnectionLost("connection_lost", "it is gone")
        self.time += timeout
        self.waiting += [None] * self._arriving

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.slept += seconds


def scenes(number: int) -> Iterator[Scene]:
    for _ in range(number):
        yield Scene(info=INFO, position=None, last_move=None, text="")


def shown_at(line: Any, speed: float, number: int = 4) -> list[float]:
    """The times at which the scenes are shown."""
    return [line.time for _ in paced(scenes(number), line, speed, lambda: line.time, line.sleep)]


def test_scenes_are_shown_at_the_pace_asked_for_while_more_is_listened_to() -> None:
    assert shown_at(line := Line(), 4) == [0, 0.25, 0.5, 0.75]
    assert line.slept == 0


def test_at_full_speed_nothing_is_waited_for() -> None:
    assert shown_at(Line(), math.inf) == [0, 0, 0, 0]


def test_what_is_kept_back_is_bounded() -> None:
    line = Line(arriving=BACKLOG)
    shown_at(line, 1)
    assert len(line.waiting) == BACKLOG
    assert line.slept == 3


def test_the_pace_is_kept_when_the_connection_is_lost() -> None:
    assert shown_at(Line(lost=True), 4) == [0, 0.25, 0.5, 0.75]


def test_a_fast_match_is_shown_whole() -> None:
    """The server is done and gone before the first ply has been shown."""
    with serving(match_of_one_ply) as server, Connection.open(server.host, server.port) as connection:
        from triarena.clients.spectator import watch

        seen = [scene.info.ply for scene in paced(watch(connection, "r1"), connection, 100)]
    assert seen == [0, 1, 1]


@pytest.mark.parametrize(
    ("reason", "possible"),
    [("cancelled", ([], [0])), ("ply_limit", ([0, 1],))],
    ids=["cancelled, maybe before anything was shown", "at its limit of plies"],
)
def test_of_a_match_that_was_cancelled_the_end_is_shown_at_once(reason: str, possible: tuple[list[int], ...]) -> None:
    def script(peer: Peer) -> None:
        match_of_one_ply(peer, over(kind="aborted", reason=reason, winner=None))

    with serving(script) as server, Connection.open(server.host, server.port) as connection:
        from triarena.clients.spectator import watch

        scenes = list(paced(watch(connection, "r1"), connection, 1))
    assert [scene.info.ply for scene in scenes if scene.result is None] in possible
    assert scenes[-1].result is not None


@pytest.mark.parametrize("command", ["watch", "replay"])
@pytest.mark.parametrize("speed", ["0", "fast", "nan", "-1", "2000"])
def test_a_speed_that_is_none_is_wrong_use(speed: str, command: str) -> None:
    done = CliRunner().invoke(main, [command, "r1", "--speed", speed])
    assert done.exit_code == 2
    assert "nor max" in done.stderr


def test_a_terminal_that_is_too_small_is_told_what_is_needed() -> None:
    pytest.importorskip("rich")
    drawing = draw("towerwars", GAME.start({"size": 26}))
    assert "cropped" not in fitted("heading", drawing, (200, 40)).plain
    lines = fitted("heading", drawing, (80, 24)).plain.splitlines()
    assert lines[1] == f"cropped: needs {max(map(len, lines[2:]))}x{len(lines)}, the terminal has 80x24"


def test_before_a_match_it_is_told_for_whom_the_seats_are_and_that_it_is_paused() -> None:
    info = WAITING.model_copy(update={"red": KEPT, "blue": FREE, "paused": True})
    assert headline(info).splitlines() == [
        "room r1  towerwars  waiting (paused)  ply 0",
        "  red   (reserved)  0.0 s",
        "  blue  (open)  0.0 s",
    ]
    assert "waits for triarena resume" in as_text(Scene(info=info, position=None, last_move=None, text=""))


@pytest.mark.parametrize(
    ("options", "shown"),
    [([], ["a", "b", "c", "d"]), (["--open"], ["a"]), (["--running"], ["c"]), (["--open", "--running"], ["a", "c"])],
)
def test_the_list_of_rooms_can_be_narrowed(options: list[str], shown: list[str]) -> None:
    infos = [
        WAITING.model_copy(update={"room": "a", "blue": FREE}),
        WAITING.model_copy(update={"room": "b", "blue": KEPT}),
        INFO.model_copy(update={"room": "c"}),
        INFO.model_copy(update={"room": "d", "state": "over", "blue": FREE}),
    ]
    rows = run("rooms", rooms_are(*infos), *options).stdout.splitlines()[1:]
    assert [row.split()[0] for row in rows] == shown


def test_a_narrowed_list_without_rooms_says_so() -> None:
    assert run("rooms", rooms_are(INFO), "--open").stdout.startswith("no such rooms; ")


def test_what_has_arrived_can_be_looked_at_and_is_received_later() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.expect(c.Observe)
        view = RoomView(info=INFO)
        peer.send(s.Observing(id=1, room="r1", view=view), over())

    with serving(script) as server, Connection.open(server.host, server.port) as connection:
        connection.request(c.Observe(room="r1"))
        assert list(connection.waiting) == [over()]
        with pytest.raises(ConnectionLost):
            connection.listen(20)
        assert connection.receive() == over()
        with pytest.raises(ConnectionLost):
            connection.receive()


def test_a_match_that_waits_for_players_says_for_whom_and_for_how_long_at_most() -> None:
    def away(milliseconds: float) -> Seat:
        return Seat(name="Ann", connected=False, reserved=False, used_ms=0, awaited_ms=milliseconds)

    running = INFO.model_copy(update={"state": "running"})
    assert state(running) == "running"
    assert state(running.model_copy(update={"red": away(29_400)})) == "running, waits for red (29 s)"
    both = running.model_copy(update={"red": away(60_000), "blue": away(12_000)})
    assert state(both) == "running, waits for red and blue (12 s)"
