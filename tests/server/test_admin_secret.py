"""The administrator's secret: made once, kept to the owner, never shown by accident."""

import os
import threading
from pathlib import Path

import pytest

from triarena.server.secret import FILE_NAME, AdminSecret, SecretError, Vault

posix = pytest.mark.skipif(os.name == "nt", reason="file modes mean nothing on Windows")


def write(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / FILE_NAME
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_the_first_start_makes_a_secret_and_later_ones_find_it(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    first = Vault(folder).keep()
    second = Vault(folder).keep()
    assert (first.is_new, second.is_new) == (True, False)
    assert first.value == second.value
    assert not second.guessable
    assert first.warning is second.warning is None
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]


def test_every_server_has_another_secret_of_at_least_128_bits(tmp_path: Path) -> None:
    values = {Vault(tmp_path / str(number)).keep().value for number in range(20)}
    assert len(values) == 20
    assert min(map(len, values)) * 6 >= 128  # url-safe base64: six bits a letter


@posix
def test_only_the_owner_may_read_it_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        secret = Vault(tmp_path / "data").keep()
    finally:
        os.umask(before)
    assert secret.path.stat().st_mode & 0o777 == 0o600
    assert secret.path.parent.stat().st_mode & 0o777 == 0o700


def test_servers_that_start_at_once_agree(tmp_path: Path) -> None:
    found: list[AdminSecret] = []
    barrier = threading.Barrier(8)

    def start() -> None:
        barrier.wait()
        found.append(Vault(tmp_path).keep())

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({secret.value for secret in found}) == 1
    assert [secret.is_new for secret in found].count(True) == 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("taken", [False, True])
def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool) -> None:
    def no_links(_source: Path, target: Path) -> None:
        if taken:
            target.write_text("the other server's secret")
            target.chmod(0o600)
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    secret = Vault(tmp_path).keep()
    assert secret.is_new is not taken
    assert (secret.value == "the other server's secret") is taken
    assert Vault(tmp_path).keep().value == secret.value
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_an_organiser_may_write_the_file(tmp_path: Path) -> None:
    write(tmp_path, b"correct horse battery staple\r\n")
    secret = Vault(tmp_path).keep()
    assert secret.value == "correct horse battery staple"
    assert secret.warning is None
    assert secret.guessable


@posix
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606])
def test_a_file_that_others_may_read_or_write_gives_a_warning(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path, b"correct horse battery staple", mode)
    warning = Vault(tmp_path).keep().warning
    assert warning is not None
    assert str(path) in warning
    assert "chmod 600" in warning
    assert "staple" not in warning


def test_a_short_secret_gives_a_warning(tmp_path: Path) -> None:
    write(tmp_path, b"hunter2")
    warning = Vault(tmp_path).keep().warning
    assert warning is not None
    assert "short" in warning


@pytest.mark.parametrize(
    ("content", "code"), [(b"", "secret_empty"), (b" \n", "secret_empty"), (b"\xff\xfe\x00", "secret_unreadable")]
)
def test_a_file_without_a_secret_is_an_error(tmp_path: Path, content: bytes, code: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(SecretError, match="delete") as refused:
        Vault(tmp_path).keep()
    assert refused.value.code == code
    assert str(path) in refused.value.message
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SecretError, match="data_dir") as refused:
        Vault(tmp_path / "file").keep()
    assert refused.value.code == "secret_unwritable"
    (tmp_path / "folder" / FILE_NAME).mkdir(parents=True)
    with pytest.raises(SecretError) as refused:
        Vault(tmp_path / "folder").keep()
    assert refused.value.code == "secret_unreadable"


def test_only_the_whole_secret_matches(tmp_path: Path) -> None:
    secret = Vault(tmp_path).keep()
    assert secret.matches(secret.value)
    for wrong in ("", secret.value[:-1], secret.value + "x", secret.value.swapcase(), "ü", "\ud800"):
        assert not secret.matches(wrong)


def test_the_secret_is_not_in_its_representation(tmp_path: Path) -> None:
    secret = Vault(tmp_path).keep()
    assert secret.value not in repr(secret)
    assert secret.value not in f"{secret}"


def test_a_secret_is_in_no_file_before_it_is_to_be_kept(tmp_path: Path) -> None:
    vault = Vault(tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []
    assert vault.matches(vault.secret.value)
    kept = vault.keep()
    assert kept.is_new
    assert Vault(tmp_path / "data").keep().value == kept.value


def test_of_two_that_draw_one_at_once_the_first_to_keep_it_wins_for_both(tmp_path: Path) -> None:
    first, second = Vault(tmp_path), Vault(tmp_path)
    value = first.keep().value
    assert (second.keep().value, second.secret.is_new) == (value, False)
    assert second.matches(value)
