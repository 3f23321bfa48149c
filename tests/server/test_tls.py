"""TLS at the door, spoken with the reference client; certificates are made here."""

from __future__ import annotations

import re
import socket
import ssl
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
import trio
import trustme
from cryptography.hazmat.primitives import serialization

from triarena.clients import CannotConnect, ClientError, Connection, NoAnswer, play, tls_context
from triarena.clients.errors import Farewell
from triarena.clients.tls import secured
from triarena.games import AnyPosition
from triarena.protocol import from_server as s
from triarena.protocol.from_client import ListRooms
from triarena.server.settings_sources import SettingsError
from triarena.server.tls import server_context

from .at_the_door import open_door
from .conftest import Client

T = TypeVar("T")


@dataclass(frozen=True)
class Files:
    """What an organiser has: a certificate with its key, and the authority that clients trust."""

    certificate: Path
    key: Path
    both: Path
    authority: Path
    other_key: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    issued, other = authority.issue_cert("127.0.0.1"), authority.issue_cert("127.0.0.1")
    found = Files(*(folder / name for name in ("cert.pem", "key.pem", "both.pem", "ca.pem", "other.pem")))
    issued.cert_chain_pems[0].write_to_path(found.certificate)
    issued.private_key_pem.write_to_path(found.key)
    issued.private_key_and_cert_chain_pem.write_to_path(found.both)
    authority.cert_pem.write_to_path(found.authority)
    other.private_key_pem.write_to_path(found.other_key)
    return found


async def blocking(act: Callable[[], T]) -> T:
    """Run the blocking client beside the server."""
    with trio.fail_after(10):
        return await trio.to_thread.run_sync(act)


def first_move(position: AnyPosition) -> object:
    return next(iter(position.legal_moves()))


@pytest.mark.parametrize("parts", ["two files", "one file"])
async def test_a_match_over_tls_is_like_any_other(files: Files, parts: str) -> None:
    context = server_context(files.certificate, files.key) if parts == "two files" else server_context(files.both, None)
    trusted, ends = tls_context(files.authority), []

    async with open_door(tls=context) as door:

        async def play_one(name: str) -> None:
            match = partial(play, first_move, game="towerwars", options={"size": 4}, port=door.port, tls=trusted)
            ends.append(await blocking(partial(match, name=name)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play_one, "ann")
            nursery.start_soon(play_one, "bob")
    assert [end.result.kind for end in ends] == ["outcome", "outcome"]


async def test_waiting_with_a_timeout_loses_nothing(files: Files) -> None:
    async with open_door(tls=server_context(files.both, None)) as door:

        def talk() -> s.Rooms:
            with Connection.open(port=door.port, tls=tls_context(files.authority)) as connection:
                with pytest.raises(NoAnswer):
                    connection.receive(timeout=0.05)
                return connection.request(ListRooms())

        assert (await blocking(talk)).rooms == []


async def test_a_client_without_tls_is_told_so_in_plain_words(files: Files) -> None:
    async with open_door(tls=server_context(files.both, None)) as door:
        with pytest.raises(Farewell, match="--tls") as refused:
            await blocking(partial(Connection.open, port=door.port))
        assert refused.value.code == "tls_required"


async def test_a_client_with_tls_at_a_plain_server_is_told_to_leave_it_out(files: Files) -> None:
    async with open_door() as door:
        with pytest.raises(CannotConnect, match="leave --tls") as refused:
            await blocking(partial(Connection.open, port=door.port, tls=tls_context(files.authority)))
        assert refused.value.code == "not_tls"


async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(files: Files) -> None:
    async with open_door(tls=server_context(files.both, None)) as door:
        with pytest.raises(CannotConnect, match=r"nobody whom this machine trusts has issued .*--tls-ca") as refused:
            await blocking(partial(Connection.open, port=door.port, tls=tls_context()))
        assert refused.value.code == "bad_certificate"
        await blocking(lambda: Connection.open(port=door.port, tls=tls_context(files.authority)).close())


async def test_a_certificate_for_another_host_is_not_trusted(files: Files) -> None:
    async with open_door(tls=server_context(files.both, None)) as door:
        with pytest.raises(CannotConnect, match="that it is localhost: its certificate is for another name"):
            await blocking(partial(Connection.open, "localhost", door.port, tls=tls_context(files.authority)))


@pytest.mark.parametrize("start", [b"", b"\x16", b"\x16\x03\x01\x02\x00"])
async def test_a_handshake_that_does_not_come_about_ends_with_the_greeting_time(files: Files, start: bytes) -> None:
    async with open_door(tls=server_context(files.both, None), greeting=0.3) as door:
        began = trio.current_time()
        client = await door.knock()
        if start:
            await client.stream.send_all(start)
        with trio.fail_after(5):
            assert await client.stream.receive_some() == b""
        assert trio.current_time() - began >= 0.3


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the loopback has one address")
@pytest.mark.parametrize("start", [b"", b"\x16", b"\x16\x03\x01\x02\x00"])
async def test_half_handshakes_from_one_address_shut_the_door_for_nobody_else(files: Files, start: bytes) -> None:
    async with open_door(tls=server_context(files.both, None), newcomers=5) as door:
        strangers = [await door.knock("127.0.0.2") for _ in range(10)]
        for stranger in strangers if start else []:
            await stranger.stream.send_all(start)
        clients = []
        for _ in range(8):
            open_one = partial(Connection.open, port=door.port, tls=tls_context(files.authority))
            clients.append(await blocking(open_one))
            await door.knock("127.0.0.2")
        for client in clients:
            client.close()
        with trio.fail_after(5):  # the oldest of them went first
            assert await strangers[0].stream.receive_some() == b""


async def test_who_has_tls_but_does_not_greet_is_told_within_tls(files: Files) -> None:
    async with open_door(tls=server_context(files.both, None), greeting=0.3) as door:
        plain = (await door.knock()).stream
        inside = trio.SSLStream(plain, tls_context(files.authority), server_hostname="127.0.0.1", https_compatible=True)
        session = Client(plain).session
        with trio.fail_after(5):
            (refused,) = session.receive(bytes(await inside.receive_some(1000)))
        assert isinstance(refused, s.Refused)
        assert refused.code == "greeting_timeout"


async def test_who_is_one_too_many_is_told_within_tls(files: Files) -> None:
    trusted = tls_context(files.authority)
    async with open_door(tls=server_context(files.both, None), per_address=1) as door:
        first = await blocking(partial(Connection.open, port=door.port, tls=trusted))
        with pytest.raises(Farewell) as refused:
            await blocking(partial(Connection.open, port=door.port, tls=trusted))
        assert refused.value.code == "address_full"
        first.close()


def test_a_server_that_hangs_up_in_the_handshake_is_worth_another_try(files: Files) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        listener.listen()

        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = listener.accept()
        accepted.close()
        with pytest.raises(CannotConnect, match="hung up") as refused:
            secured(client, tls_context(files.authority), "127.0.0.1", "127.0.0.1:1")
        assert refused.value.code == "no_greeting"


@pytest.mark.parametrize(
    ("certificate", "key", "sentence"),
    [
        ("certificate", "other_key", "server.tls_key: the private key in .* is not that of the certificate"),
        (
            "certificate",
            None,
            "server.tls_certificate: .* holds no private key in PEM; name the file .* server.tls_key",
        ),
        ("certificate", "text", "server.tls_key: .*text holds no private key in PEM"),
        ("certificate", "locked", "server.tls_key: the private key in .*locked has a password"),
        ("damaged", "key", "server.tls_certificate: .*damaged with the key .* cannot be used: it is damaged"),
        ("nothing", "key", "server.tls_certificate: the file .*nothing cannot be read: No such file"),
        ("certificate", "nothing", "server.tls_key: the file .*nothing cannot be read: No such file"),
        ("text", "key", "server.tls_certificate: .*text holds no certificate in PEM"),
    ],
)
def test_certificates_that_cannot_be_used_are_errors_of_the_settings(
    files: Files, tmp_path: Path, certificate: str, key: str | None, sentence: str
) -> None:
    (tmp_path / "text").write_text("no certificate")
    (tmp_path / "damaged").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    key_with_password = serialization.load_pem_private_key(files.key.read_bytes(), None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"tuna")
    )
    (tmp_path / "locked").write_bytes(key_with_password)

    def path(name: str) -> Path:
        return tmp_path / name if not hasattr(files, name) else getattr(files, name)

    with pytest.raises(SettingsError, match=sentence) as bad:
        server_context(path(certificate), path(key) if key is not None else None)
    assert bad.value.code == "bad_settings"
    assert not re.search("[A-Z]{3,}_[A-Z]{3,}|ssl", bad.value.message), "nothing of OpenSSL's own words"


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_that_cannot_be_used_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ClientError, match=r"ca\.pem") as bad:
        tls_context(file)
    assert bad.value.code == "ca_unreadable"


def test_old_versions_of_tls_are_not_spoken(files: Files) -> None:
    assert server_context(files.both, None).minimum_version >= ssl.TLSVersion.TLSv1_2
    assert tls_context().minimum_version >= ssl.TLSVersion.TLSv1_2
