"""A full server is listed, asked and watched by its administrator; nobody else is shown the secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.clients.lost_connections import GAME, POSITIONS
from tests.clients.scripted_server import INFO, Peer, Script, one_after_another, over, serving

from triarena.cli import main
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.room_views import RoomView

VIEW = RoomView.model_validate({"info": INFO, "position": GAME.write_position(POSITIONS[0])})
FULL = s.Goodbye(code="server_full", message="the server has 8 connections, and no more")


def turn_away(peer: Peer) -> None:
    """A script: who is no administrator has no place."""
    peer.greet()
    assert isinstance(peer.receive(), c.ListRooms)
    peer.send(FULL)


def admitting(secrets: list[str], *answers: tuple[Any, Any], then: Any = None) -> Script:
    """A script: an administrator authenticates and asks."""

    def script(peer: Peer) -> None:
        peer.greet()
        secrets.append(peer.answer(c.Authenticate, s.Authenticated()).secret)
        for request, answer in answers:
            peer.answer(request, answer)
        if then is not None:
            peer.send(then)

    return script


def run(script: Script, *arguments: str, **environment: str) -> Result:
    with serving(script) as server:
        return CliRunner().invoke(main, [*arguments, "--port", str(server.port)], env=environment)


@pytest.fixture
def own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server was started on this machine, and keeps its secret where it usually does."""
    (tmp_path / "admin-secret").write_text("from its place", encoding="utf-8")
    monkeypatch.setenv("TRIARENA_SERVER__DATA_DIR", str(tmp_path))


LISTED = (c.ListRooms, s.Rooms(rooms=[INFO]))
WATCHED = (c.Observe, s.Observing(room="r1", view=VIEW))


@pytest.mark.parametrize(
    ("command", "answer", "then", "told"),
    [(["rooms"], [LISTED], None, "towerwars size=4"), (["health"], [], None, "is up"),
     (["watch", "r1"], [WATCHED], over(), "so it ended")],
)  # fmt: skip
@pytest.mark.usefixtures("own_server")
def test_a_full_server_is_seen_with_the_secret_of_the_server_on_this_machine(
    command: list[str], answer: list[Any], then: Any, told: str
) -> None:
    secrets: list[str] = []
    done = run(one_after_another(turn_away, admitting(secrets, *answer, then=then)), *command)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    assert told in done.stdout
    assert secrets == ["from its place"]


@pytest.mark.usefixtures("own_server")
def test_a_server_that_has_room_is_shown_no_secret_that_nobody_has_typed() -> None:
    heard: list[str] = []

    def script(peer: Peer) -> None:
        peer.greet()
        heard.append(type(peer.answer(*LISTED)).__name__)
        heard.append(type(peer.answer(*LISTED)).__name__)

    assert run(script, "rooms").exit_code == 0
    assert run(script, "rooms", TRIARENA_SECRET="s3").exit_code == 0
    assert set(heard) == {"ListRooms"}


@pytest.mark.parametrize("place", ["--secret", "--secret-file"])
def test_a_secret_on_the_command_line_is_shown_at_once(place: str, tmp_path: Path) -> None:
    (tmp_path / "s3").write_text("s3\n", encoding="utf-8")
    secrets: list[str] = []
    value = "s3" if place == "--secret" else str(tmp_path / "s3")
    assert run(admitting(secrets, LISTED), "rooms", place, value).exit_code == 0
    assert secrets == ["s3"]


@pytest.mark.usefixtures("own_server")
def test_where_the_secret_is_another_servers_the_full_one_has_the_last_word() -> None:
    def refuse(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Authenticate, s.Error(code="wrong_secret", message="that is not it", request="authenticate"))

    done = run(one_after_another(turn_away, refuse), "rooms")
    assert (done.exit_code, done.stderr) == (1, f"Error: {FULL.message} [server_full]\n")


def test_without_any_secret_a_full_server_says_so() -> None:
    done = run(turn_away, "rooms")
    assert (done.exit_code, done.stderr) == (1, f"Error: {FULL.message} [server_full]\n")


def test_an_administrator_who_watches_a_full_server_comes_back_as_one() -> None:
    secrets: list[str] = []
    scripts = [admitting(secrets, WATCHED), admitting(secrets, WATCHED, then=over())]
    done = run(one_after_another(*scripts), "watch", "r1", "--secret", "s3")
    assert done.exit_code == 0, done.output
    assert secrets == ["s3", "s3"]
