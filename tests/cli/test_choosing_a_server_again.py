"""A resumed tournament goes to the server of the last time, unless the command line says otherwise."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from triarena.cli.tournament.server_choice import Choice

OWN = Choice(host="0.0.0.0", port=13055, public_host="arena.example")
RUNNING = Choice(running=("::1", 13055), secret="hush", secret_file=Path("/s"), database="sqlite:///x")


@pytest.mark.parametrize("choice", [OWN, RUNNING, Choice(), Choice(port=0)])
def test_without_options_all_is_as_it_was_but_the_secret(choice: Choice) -> None:
    again = Choice().over(choice.kept)
    assert again.words == choice.words
    assert again.secret is None
    assert "hush" not in str(choice.kept)


@pytest.mark.parametrize(
    ("given", "before", "words"),
    [
        (Choice(port=1), OWN, ["--host", "0.0.0.0", "--port", "1", "--public-host", "arena.example"]),
        (Choice(port=1), RUNNING, ["--port", "1"]),
        (Choice(host="127.0.0.1"), RUNNING, ["--host", "127.0.0.1"]),
        (Choice(running=("a", 2)), OWN, ["--server", "a:2", "--public-host", "arena.example"]),
        (Choice(running=("a", 2)), RUNNING, ["--server", "a:2"]),
        (Choice(running=("::1", 13055)), RUNNING, RUNNING.words),
        (Choice(secret_file=Path("/t")), RUNNING, [*RUNNING.words[:2], "--secret-file", "/t", *RUNNING.words[4:]]),
    ],
)
def test_what_is_given_goes_before_what_was(given: Choice, before: Choice, words: list[str]) -> None:
    assert given.over(before.kept).words == words


def test_a_file_with_the_secret_is_found_from_every_folder() -> None:
    kept = Choice(running=("a", 2), secret_file=Path("secret.txt")).kept
    assert Path(kept["--secret-file"]).is_absolute()


def test_what_is_for_a_running_server_takes_one() -> None:
    with pytest.raises(click.UsageError, match="name it with --server"):
        Choice(database="sqlite:///x").over(OWN.kept).check()
    Choice(database="sqlite:///x").over(RUNNING.kept).check()
