"""``triarena serve``: what its options do to the settings, and what it prints at the start."""

from __future__ import annotations

import io
import socket
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from triarena.cli import main, serve
from triarena.server.secret import Vault
from triarena.server.settings import ServerSettings, Settings


def clock(file: Path, *arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["serve", "--config", str(file), *arguments, "--print-config"])
    assert done.exit_code == 0, done.output
    settings: dict[str, Any] = tomllib.loads(done.stdout)["clock"]
    return settings


def test_a_move_time_on_the_command_line_takes_the_place_of_a_budget_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "triarena.toml"
    file.write_text("[clock]\nbudget_seconds = 300\nincrement_seconds = 2\n", encoding="utf-8")
    assert clock(file)["budget_seconds"] == 300
    changed = clock(file, "--move-time", "5")
    assert (changed["move_seconds"], changed["budget_seconds"], changed["increment_seconds"]) == (5, 0, 0)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_new_secret_is_shown_on_a_terminal_and_in_no_log(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Out(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    secret, settings = Vault(tmp_path).keep(), Settings(server=ServerSettings(data_dir=tmp_path))
    monkeypatch.setattr(sys, "stdout", out := Out())
    serve._announce(settings, secret, "triarena 1", [("127.0.0.1", 13055)], [])
    assert (secret.value in out.getvalue()) is terminal
    assert str(secret.path) in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--database", "mysql://nowhere"], "bad_url"),
        (["--database", "sqlite:///tls.toml/j.db"], "cannot_open"),
        (["--host", "192.0.2.1"], "cannot_listen"),
        (["--config", "tls.toml"], "bad_settings"),
        (["--port-file", "nowhere/port"], "port_file"),
    ],
)
def test_a_start_that_fails_makes_no_secret_and_announces_nothing(
    arguments: list[str], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tls.toml").write_text("[server]\ntls_certificate = 'none.pem'\n")
    done = CliRunner().invoke(main, ["serve", "--port", "0", "--data-dir", "data", *arguments])
    assert done.exit_code in (1, 2)
    assert f"[{code}]" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "data" / "admin-secret").exists()
    if code in ("bad_settings", "port_file", "cannot_open"):
        assert str(tmp_path) in done.stderr, "errors tell the full path"


def test_a_taken_port_is_told_with_another_one_for_the_server_and_for_the_others(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        done = CliRunner().invoke(main, ["serve", "--port", str(port), "--data-dir", str(tmp_path)])
    assert done.exit_code == 1
    assert f"(--port {port + 1}, and for the commands that talk to it TRIARENA_PORT={port + 1})" in done.stderr
    assert not (tmp_path / "journal.sqlite3").exists()


def test_a_taken_port_for_xml_is_named_by_what_sets_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(main, ["serve", "--port", "0", "--data-dir", str(tmp_path), "--socha-port", port])
    assert done.exit_code == 1
    assert "[cannot_listen]" in done.stderr
    for name in (port, "--socha-port", "socha.port", "TRIARENA_SOCHA__PORT"):
        assert name in done.stderr


def test_the_option_for_the_port_for_xml_opens_it(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["serve", "--print-config", "--socha-port", "13051", "--data-dir", str(tmp_path)], catch_exceptions=False
    )
    settings = tomllib.loads(done.stdout)
    assert settings["socha"]["enabled"] is True
    assert settings["socha"]["port"] == 13051


def test_a_command_for_an_old_bot_is_told_if_it_may_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret, settings = Vault(tmp_path).keep(), Settings(server=ServerSettings(data_dir=tmp_path))
    serve._announce(settings, secret, "triarena 1", [("127.0.0.1", 13055)], [("0.0.0.0", 13050)])
    assert "java -jar my-old-bot.jar --host 127.0.0.1 --port 13050" in capsys.readouterr().out
    serve._announce(settings, secret, "triarena 1", [("127.0.0.1", 13055)], [])
    assert "java" not in capsys.readouterr().out


def test_a_variable_without_effect_is_told_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIARENA_MOVE_TIME", "5")
    monkeypatch.setenv("TRIARENA_TOKEN", "a client's")
    arguments = ["serve", "--data-dir", str(tmp_path), "--database", "mysql://nowhere", "--log-format", "json"]
    done = CliRunner().invoke(main, arguments)
    assert done.stderr.count("has no effect") == 1
    assert "TRIARENA_MOVE_TIME has no effect: did you mean TRIARENA_CLOCK__MOVE_SECONDS?" in done.stderr
