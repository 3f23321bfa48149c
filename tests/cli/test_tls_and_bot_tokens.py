"""A server that speaks TLS only and knows a bot by its token, as an organiser and a student use it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from click.testing import CliRunner, Result

from triarena.cli import main
from triarena.cli.children import Children
from triarena.protocol.identity import canonical, token_digest
from triarena.server.bots import load_bot_tokens


@dataclass(frozen=True)
class Hall:
    """The server, and what its organiser has given out."""

    port: int
    authority: Path
    token: str
    folder: Path
    log: Path
    """What the server has said."""

    def run(self, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        """A ``triarena`` command, beside the server's data."""
        place = {"TRIARENA_PORT": str(self.port), "TRIARENA_SERVER__DATA_DIR": str(self.folder)}
        return subprocess.run(
            [sys.executable, "-m", "triarena.cli", *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
            env={**os.environ, **place, **environment}, cwd=cwd,
        )  # fmt: skip

    @property
    def trust(self) -> list[str]:
        return ["--tls-ca", str(self.authority)]


def token_in(made: Result) -> str:
    """The token, as ``triarena token`` tells it to the owner of the bot."""
    assert made.exit_code == 0, made.output
    return made.stderr.split("TRIARENA_TOKEN=")[1].split()[0]


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")
    made = CliRunner().invoke(main, ["token", "Ada"])
    (folder / "bots.toml").write_text(made.stdout, encoding="utf-8")  # as does: triarena token Ada > bots.toml
    token = token_in(made)
    settings = {
        "TRIARENA_SERVER__TLS_CERTIFICATE": str(folder / "server.pem"),
        "TRIARENA_BOTS__TOKENS": str(folder / "bots.toml"),
        "TRIARENA_BOTS__REQUIRED": "true",
    }
    with Children(folder) as children:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            port = children.serve(folder)
        yield Hall(port, folder / "ca.pem", token, folder, children.log("server"))
        log = children.log("server").read_text("utf-8")
    assert token not in log


def test_without_tls_the_way_is_shown(hall: Hall) -> None:
    done = hall.run("health")
    assert done.returncode == 1
    assert "--tls" in done.stderr
    assert "[tls_required]" in done.stderr


def test_with_the_certificate_every_command_works(hall: Hall) -> None:
    assert "is up" in hall.run("health", *hall.trust).stdout
    assert hall.run("rooms", *hall.trust).returncode == 0
    assert "towerwars" in hall.run("games", "--host", "127.0.0.1", *hall.trust).stdout


def test_a_prepared_room_is_played_with_the_printed_commands(hall: Hall) -> None:
    done = hall.run("prepare", "towerwars", *hall.trust, "--option", "size=4")
    assert done.returncode == 0, done.stderr
    joins = [line.split("#")[0].partition(" join ")[2].split() for line in done.stdout.splitlines() if " join " in line]
    assert len(joins) == 2
    players = [
        subprocess.Popen(
            [sys.executable, "-m", "triarena.cli", "join", "random", *arguments, "--json"],
            stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )
        for _bot, *arguments in joins
    ]  # fmt: skip
    for player in players:
        said, _ = player.communicate(timeout=60)
        assert player.returncode == 0
        assert json.loads(said)["result"]["kind"] == "outcome"


def test_the_name_takes_its_token(hall: Hall) -> None:
    join = ["join", "--game", "towerwars", "--name", "Ada", *hall.trust]
    done = hall.run(*join)
    assert done.returncode == 1
    assert "[wrong_token]" in done.stderr
    assert "[wrong_token]" in hall.run(*join, TRIARENA_TOKEN="guess").stderr
    assert hall.token not in hall.run(*join, "--help").stdout


def test_where_tokens_are_required_nobody_else_takes_an_open_seat(hall: Hall) -> None:
    done = hall.run("join", "--game", "towerwars", "--name", "Bob", *hall.trust)
    assert "[token_required]" in done.stderr
    assert "give its name and token (--name and --token" in done.stderr


def test_others_are_told_the_certificate_by_its_name_and_not_by_the_organisers_folder(hall: Hall) -> None:
    done = hall.run("prepare", "towerwars", *hall.trust, "--public-host", "play.example.org")
    joins = [line for line in done.stdout.splitlines() if " join " in line]
    assert all("--host play.example.org" in line and line.endswith("--tls-ca ca.pem") for line in joins)
    assert f"give the players your certificate {hall.authority}, as ca.pem beside their bots" in done.stdout


def test_so_they_are_where_the_organiser_is_in_the_folder_of_the_certificate(hall: Hall) -> None:
    beside = [*hall.trust[:-1], hall.authority.name]
    done = hall.run("prepare", "towerwars", *beside, "--public-host", "play.example.org", cwd=hall.authority.parent)
    assert "  triarena join my_bot.py --reservation " in done.stdout
    assert f"give the players your certificate {hall.authority.name}, as ca.pem beside their bots" in done.stdout


def test_the_bot_with_the_token_plays_against_itself(hall: Hall) -> None:
    command = [
        sys.executable, "-m", "triarena.cli", "join", "--game", "towerwars", "--option", "size=4", "--name", "Ada",
        "--port", str(hall.port), *hall.trust,
    ]  # fmt: skip
    environment = {**os.environ, "TRIARENA_TOKEN": hall.token}
    first = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    said, _ = first.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0), (said, second.stderr)
    assert "called Ada" in said


def test_the_command_that_the_server_prints_works_with_name_and_token(hall: Hall) -> None:
    assert hall.run("health", *hall.trust).returncode == 0  # it answers nobody before it has said all that it prints
    (line,) = [line for line in hall.log.read_text("utf-8").splitlines() if line.startswith("a bot joins with:")]
    variable, _, command = line.partition(":  ")[2].partition(" triarena join ")
    short = ["--option", "size=4"]  # on the usual board, every fifth match of random bots reaches the limit of plies
    arguments = [*shlex.split(command.replace("NAME", "Ada")), *short]
    environment = {**os.environ, variable.partition("=")[0]: hall.token}
    players = [
        subprocess.Popen(
            [sys.executable, "-m", "triarena.cli", "join", *arguments, "--json"],
            env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [json.loads(player.communicate(timeout=60)[0])["result"]["kind"] for player in players] == ["outcome"] * 2


def test_a_certificate_that_cannot_be_used_ends_the_start_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "server.pem").write_text("no certificate")
    done = CliRunner().invoke(
        main,
        ["serve", "--data-dir", str(tmp_path), "--port", "0"],
        env={"TRIARENA_SERVER__TLS_CERTIFICATE": str(tmp_path / "server.pem")},
    )
    assert done.exit_code == 2
    assert "server.tls_certificate: " in done.stderr
    assert "[bad_settings]" in done.stderr
    assert "_ssl.c" not in done.stderr


def test_a_key_alone_is_no_tls(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["serve", "--data-dir", str(tmp_path)], env={"TRIARENA_SERVER__TLS_KEY": "k"})
    assert done.exit_code == 2
    assert "takes a server.tls_certificate" in done.stderr


def test_every_token_is_another() -> None:
    assert len({token_in(CliRunner().invoke(main, ["token", "Ada"])) for _ in range(20)}) == 20


def test_a_token_is_given_first_in_the_form_that_others_on_the_machine_do_not_see() -> None:
    first, second, _ = CliRunner().invoke(main, ["token", "Ada"]).stderr.splitlines()
    assert "TRIARENA_TOKEN=" in first
    assert "--token" not in first
    assert "--token" in second


def test_what_goes_into_the_servers_file_is_the_line_and_nothing_secret() -> None:
    made = CliRunner().invoke(main, ["token", "Ada"])
    assert made.stdout == f'"Ada" = "{token_digest(token_in(made))}"\n'
    assert token_in(made) not in made.stdout


def test_lines_are_added_to_a_file_that_the_server_then_takes(tmp_path: Path) -> None:
    file = tmp_path / "bots.toml"
    add = ["token", "--file", str(file)]
    tokens = {name: token_in(CliRunner().invoke(main, [*add, name])) for name in ("Ada", "Bo B")}
    file.write_text(file.read_text("utf-8").rstrip("\n"), encoding="utf-8")  # as some editors leave it
    tokens["Cy"] = token_in(CliRunner().invoke(main, [*add, "Cy"]))
    assert load_bot_tokens(file) == {canonical(name): token_digest(token) for name, token in tokens.items()}


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [('"Ada" = "TOKEN"', "Bob", "bad_settings"), ("Ada: TOKEN", "Bob", "bad_settings"), (None, "ADA", "name_taken")],
)
def test_a_file_that_takes_no_such_line_stays_as_it_is(tmp_path: Path, text: str | None, name: str, code: str) -> None:
    file = tmp_path / "bots.toml"
    if text is None:
        CliRunner().invoke(main, ["token", "Ada", "--file", str(file)])
    else:
        file.write_text(text, encoding="utf-8")
    before = file.read_bytes()
    made = CliRunner().invoke(main, ["token", name, "--file", str(file)])
    assert made.exit_code == 1
    assert f"[{code}]" in made.stderr
    assert "TRIARENA_TOKEN" not in made.stderr, "a token that is of no use is not told"
    assert file.read_bytes() == before


@pytest.mark.parametrize("text", ['"Ada" = "TOKEN"', "for the owner of the bot: TRIARENA_TOKEN=TOKEN"])
def test_a_wrong_file_of_tokens_is_told_with_the_form_of_its_lines_and_without_a_token(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "bots.toml").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        main,
        ["serve", "--data-dir", str(tmp_path), "--port", "0"],
        env={"TRIARENA_BOTS__TOKENS": str(tmp_path / "bots.toml")},
    )
    assert done.exit_code == 2
    assert 'of the form "Ada" = "sha256:..." with 64 digits' in done.stderr
    assert "triarena token NAME" in done.stderr
    assert "TOKEN" not in done.stderr


def test_a_token_for_what_can_be_no_name_is_wrong_use() -> None:
    done = CliRunner().invoke(main, ["token", "A\nda"])
    assert done.exit_code == 2
    assert "cannot be a player's name" in done.stderr
