"""What the owners of a tournament's remote bots get: a command that works from where they are."""

from __future__ import annotations

import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from triarena.cli import main
from triarena.cli.tournament.owners import instructions
from triarena.cli.tournament.server_choice import Choice
from triarena.organiser.folder import Folder, read_new

LOCAL = '[[bots]]\nname = "Ann"\nshipped = "random"\n'
REMOTE = '[[bots]]\nname = "Rosa"\nremote = true\n[[bots]]\nname = "Remo"\nremote = true\n'
FOR_THIS_COMPUTER = "only this computer can reach a server that listens at 127.0.0.1"


def write(folder: Path, bots: str, settings: str = "") -> str:
    file = folder / "class.toml"
    file.write_text(f'game = "towerwars"\nseed = 1\n{settings}{bots}', encoding="utf-8")
    return str(file)


def told(
    folder: Path, host: str, port: int = 13055, *, running: bool = False, public_host: str | None = None
) -> list[str]:
    source = Path(write(folder, LOCAL + REMOTE))
    file, place = read_new(source, 1), Folder(folder / "class.tournament")
    place.make(source, file, datetime.now(UTC)).close()
    return list(instructions(place, file, host, port, running=running, public_host=public_host))


def hosts(lines: list[str]) -> set[str]:
    return {host for line in lines for host in re.findall(r"joins with: .*--host (\S+)", line)}


@pytest.fixture
def two_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of 127.0.0.0/8 is this machine, so that its addresses may stand for those of a network."""
    monkeypatch.setattr("triarena.cli.invocation.reachable_addresses", lambda: ["127.0.0.9", "127.0.0.8"])


@pytest.mark.usefixtures("two_addresses")
def test_an_open_server_is_told_with_an_address_that_others_can_use_and_with_its_other_ones(tmp_path: Path) -> None:
    lines = told(tmp_path, "0.0.0.0")
    assert [line.split()[0] for line in lines[:2]] == ["Rosa", "Remo"]
    assert hosts(lines) == {"127.0.0.9"}
    assert lines[2:] == ["if 127.0.0.9 can't be reached from there: this computer has 127.0.0.8, too"]


def test_an_address_that_cannot_be_found_out_is_left_to_the_organiser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triarena.cli.invocation.reachable_addresses", list)
    lines = told(tmp_path, "0.0.0.0")
    assert hosts(lines) == {"ADDRESS"}
    assert "put this computer's address in the place of ADDRESS" in lines[2]


def test_a_server_for_this_computer_only_is_told_with_a_warning(tmp_path: Path) -> None:
    lines = told(tmp_path, "127.0.0.1")
    assert hosts(lines) == {"127.0.0.1"}
    assert FOR_THIS_COMPUTER in lines[2]
    assert lines[2].startswith("Rosa and Remo are remote, but")
    assert lines[2].endswith("run the tournament with --host 0.0.0.0")


@pytest.mark.usefixtures("two_addresses")
def test_a_running_server_that_others_can_reach_is_told_with_their_address(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.8", 0)) as server:
        assert hosts(told(tmp_path, "127.0.0.1", server.getsockname()[1], running=True)) == {"127.0.0.8"}


@pytest.mark.usefixtures("two_addresses")
def test_a_running_server_that_only_this_computer_reaches_is_told_with_a_warning(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        lines = told(tmp_path, "127.0.0.1", server.getsockname()[1], running=True)
    assert hosts(lines) == {"127.0.0.1"}
    assert "only this computer can reach 127.0.0.1" in lines[2]


def test_the_public_host_is_printed_whatever_the_server_listens_at(tmp_path: Path) -> None:
    lines = told(tmp_path, "127.0.0.1", public_host="arena.example.org")
    assert hosts(lines) == {"arena.example.org"}
    assert len(lines) == 2


def test_the_command_that_resumes_keeps_the_public_host() -> None:
    assert Choice(host="0.0.0.0", public_host="a.example.org").words[-2:] == ["--public-host", "a.example.org"]


@pytest.mark.parametrize("command", [("check", "--dry-run"), ("run", "--dry-run")])
@pytest.mark.parametrize(
    ("bots", "settings", "warned"),
    [
        (LOCAL + REMOTE, "", True),
        (LOCAL + REMOTE, 'server.server.host = "0.0.0.0"\n', False),
        (LOCAL + LOCAL.replace("Ann", "Bob"), "", False),
    ],
)
def test_bots_that_could_not_join_are_told_before_the_evening(
    tmp_path: Path, command: tuple[str, str], bots: str, settings: str, warned: bool
) -> None:
    done = CliRunner().invoke(main, ["tournament", *command, write(tmp_path, bots, settings)])
    assert done.exit_code == 0, done.output
    assert (FOR_THIS_COMPUTER in done.output) == warned


def test_a_dry_run_for_the_network_does_not_warn(tmp_path: Path) -> None:
    words = ["tournament", "run", write(tmp_path, LOCAL + REMOTE), "--dry-run", "--host", "0.0.0.0"]
    assert "--host 0.0.0.0" not in CliRunner().invoke(main, words).output


def test_one_of_a_thing_is_told_as_one(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["tournament", "check", "--dry-run", write(tmp_path, LOCAL + REMOTE)])
    assert "3 bots, 1 tournament: class (towerwars, round_robin, 3 bots)" in done.output
