"""A tournament's folder holds tokens and a secret: nobody else on the machine, and no repository, gets them."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from triarena.organiser.folder import Folder
from triarena.organiser.records import StoreError

from .staged_tournament import BEGIN, event_of, file_of

GIT = shutil.which("git")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes as POSIX has them")


def begin(place: Path, source: Path) -> None:
    source.write_text("name = 'Class'\n", encoding="utf-8")
    Folder(place).make(source, file_of(source.parent, event_of("Towers")), BEGIN).close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def committed(repository: Path) -> set[str]:
    """What ``git add -A`` would take."""
    assert GIT is not None
    subprocess.run([GIT, "init", "-q", "."], cwd=repository, check=True)
    found = subprocess.run(
        [GIT, "ls-files", "--others", "--exclude-standard"], cwd=repository, check=True, capture_output=True, text=True
    )
    return set(found.stdout.split())


@POSIX
def test_only_its_owner_looks_into_the_folder(tmp_path: Path) -> None:
    begin(tmp_path / "class.tournament", tmp_path / "class.toml")
    for name in ("", "server", "logs", "irregular"):
        assert mode(tmp_path / "class.tournament" / name) == 0o700
    assert mode(tmp_path / "class.tournament" / "tournament.sqlite") == 0o600


@POSIX
def test_an_empty_folder_becomes_private_and_one_with_other_things_stays_as_it_is(tmp_path: Path) -> None:
    for name in ("empty", "full"):
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "full" / "thesis.txt").write_text("", encoding="utf-8")
    for name in ("empty", "full"):
        begin(tmp_path / name, tmp_path / "class.toml")
    assert mode(tmp_path / "empty") == 0o700
    assert mode(tmp_path / "full") == 0o755
    assert mode(tmp_path / "full" / "server") == 0o700


@pytest.mark.skipif(GIT is None, reason="git is not installed")
@pytest.mark.parametrize("name", ["class.tournament", "anything"])
def test_git_leaves_the_folder_out_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    begin(tmp_path / name, tmp_path / "class.toml")
    assert committed(tmp_path) == {"class.toml"}


@pytest.mark.skipif(GIT is None, reason="git is not installed")
def test_git_takes_what_else_lies_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("", encoding="utf-8")
    begin(tmp_path, tmp_path / "class.toml")
    (tmp_path / "server" / "admin-secret").write_text("s", encoding="utf-8")
    assert committed(tmp_path) == {"class.toml", "thesis.txt", ".gitignore"}


def test_a_gitignore_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xff mine\n")
    begin(tmp_path, tmp_path / "class.toml")
    assert (tmp_path / ".gitignore").read_bytes() == b"\xff mine\n"


def test_a_folder_below_a_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="can't be written to"):
        begin(tmp_path / "file" / "in", tmp_path / "class.toml")
