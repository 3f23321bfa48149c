"""Commands that are printed can be pasted: as the program is called here, with an address that others can use."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner
from tests.cli.test_administrator_commands import Office, run
from tests.clients.scripted_server import serving

from triarena.cli import invocation, main
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

PREPARED = s.Prepared(room="r7", reservations=["RED", "BLUE"])


def prepare(*arguments: str) -> list[str]:
    done, _ = run(Office(c.Prepare, PREPARED), "prepare", "towerwars", *arguments)
    assert done.exit_code == 0, done.output
    return commands(done.stdout)


def commands(printed: str) -> list[str]:
    """The lines that are there to be pasted."""
    return [line for line in printed.splitlines() if line.startswith("  ")]


def test_within_uv_run_commands_are_printed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert all(line.startswith("  uv run triarena ") for line in prepare())


def test_nothing_stands_behind_a_command_since_not_every_shell_knows_comments() -> None:
    prepared = PREPARED.model_copy(update={"socha_port": 13050})
    arguments = ["--name-red", "Ann", "--paused", "--option", "rules=server-24.2.5"]
    done, _ = run(Office(c.Prepare, prepared), "prepare", "mississippi_queen", *arguments)
    assert len(commands(done.stdout)) == 6
    assert "#" not in done.stdout


def test_without_the_command_on_the_path_they_are_printed_for_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert invocation.command("watch", "r 1") == f"{sys.executable} -m triarena.cli watch 'r 1'"
    done = subprocess.run(invocation.command("--version"), shell=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0


def test_a_sentence_that_quotes_a_command_quotes_it_as_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert "start a server with 'uv run triarena serve'" in CliRunner().invoke(main, ["health", "--port", "1"]).stderr


def test_the_public_host_is_printed_whatever_host_was_connected_to() -> None:
    assert all(" --host chess.example.org " in line for line in prepare("--public-host", "chess.example.org"))


def test_a_server_for_this_machine_only_is_printed_without_a_host() -> None:
    assert not any("--host" in line for line in prepare())


def test_a_server_that_others_can_reach_is_printed_with_an_address_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of 127.0.0.0/8 is this machine, so that one of its addresses may stand for that of a network."""
    monkeypatch.setattr("triarena.cli.invocation.reachable_addresses", lambda: ["127.0.0.9"])
    office = Office(c.Prepare, PREPARED)
    with serving(lambda peer: office(peer) if not office.secret else None, host="0.0.0.0") as server:
        arguments = ["prepare", "towerwars", "--port", str(server.port), "--secret", "s"]
        done = CliRunner().invoke(main, arguments)
    assert all(" --host 127.0.0.9 " in line for line in commands(done.stdout)), done.output


@pytest.mark.parametrize(
    ("host", "loopback", "any_"),
    [
        ("127.0.0.1", True, False),
        ("::1", True, False),
        ("localhost", True, False),
        ("0.0.0.0", False, True),
        ("::", False, True),
        ("192.168.1.20", False, False),
        ("chess.example.org", False, False),
    ],
)
def test_hosts_are_known_for_what_they_are(host: str, loopback: bool, any_: bool) -> None:
    assert (invocation.is_loopback(host), invocation.is_any(host)) == (loopback, any_)


def test_addresses_for_others_are_no_loopback_and_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["127.0.1.1", "192.168.1.20", "fe80::1%eth0", "192.168.1.20", "::1", "10.0.0.7"]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(None, None, None, "", (one, 0)) for one in found])
    monkeypatch.setattr(invocation, "UNREACHED", ())
    assert invocation.reachable_addresses() == ["192.168.1.20", "10.0.0.7"]


@pytest.mark.parametrize(
    ("listening", "hosts"),
    [
        (["127.0.0.1"], []),
        (["0.0.0.0"], ["10.0.0.7"]),
        (["::", "0.0.0.0"], ["10.0.0.7", "fd00::7"]),
        (["192.168.1.20", "127.0.0.1"], ["192.168.1.20"]),
    ],
)
def test_a_server_tells_under_which_hosts_others_reach_it(
    monkeypatch: pytest.MonkeyPatch, listening: list[str], hosts: list[str]
) -> None:
    monkeypatch.setattr(invocation, "reachable_addresses", lambda: ["10.0.0.7", "fd00::7"])
    assert invocation.hosts_for_others(listening) == hosts


def test_a_machine_without_network_or_name_has_no_addresses_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    monkeypatch.setattr(socket, "socket", fail)
    assert invocation.reachable_addresses() == []
