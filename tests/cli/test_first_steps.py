"""The command that ``triarena serve`` prints for a bot: with TLS, with tokens, and wherever the server listens."""

from __future__ import annotations

import datetime
import ssl
from ipaddress import ip_address
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from triarena.cli.first_steps import Shown, _handshake, certificate, first_steps
from triarena.clients import tls_context
from triarena.server.settings import BotSettings, ServerSettings, Settings
from triarena.server.tls import server_context

BEGIN, END = datetime.datetime(2020, 1, 1), datetime.datetime(2100, 1, 1)


def self_signed(folder: Path, *names: str) -> Path:
    """A file with a key and the certificate that it has signed for itself, as ``openssl req -x509`` makes one."""
    key, subject = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "it")])
    kinds = [x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name) for name in names]
    builder = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number(), BEGIN, END)
        .add_extension(x509.SubjectAlternativeName(kinds), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "self.pem"
    signed = builder.sign(key, hashes.SHA256())
    file.write_bytes(key.private_bytes(*form) + signed.public_bytes(serialization.Encoding.PEM))
    return file


def issued(folder: Path, *names: str) -> Path:
    """Likewise, but signed by an authority of somebody's own."""
    file = folder / "issued.pem"
    trustme.CA().issue_cert(*names).private_key_and_cert_chain_pem.write_to_path(file)
    return file


def steps(host: str, file: Path | None = None, *, required: bool = False) -> list[str]:
    settings = Settings(server=ServerSettings(tls_certificate=file), bots=BotSettings(required=required))
    return first_steps(settings, [(host, 13055)], server_context(file, None) if file is not None else None)


@pytest.mark.parametrize("make", [self_signed, issued])
def test_a_certificate_that_the_system_does_not_trust_is_named_and_then_trusted(make: object, tmp_path: Path) -> None:
    assert callable(make)
    file = make(tmp_path, "localhost", "127.0.0.1")
    first, advice = steps("127.0.0.1", file)
    assert first == f"a bot joins with:  triarena join --game towerwars random --tls-ca {file}"
    assert "but not of the private key in the same file" in advice
    assert _handshake(server_context(file, None), tls_context(file)), "a client trusts it, as the command says"


def test_a_certificate_that_the_system_trusts_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = issued(tmp_path, "play.example.org")
    known = Shown(trusted=True, names=("play.example.org",))
    monkeypatch.setattr("triarena.cli.first_steps.certificate", lambda server, file: known)
    assert steps("0.0.0.0", file) == [
        "a bot joins with:  triarena join --game towerwars random --host play.example.org --tls"
    ]


@pytest.mark.parametrize(
    ("names", "host"),
    [
        (["127.0.0.1"], ""),
        (["play.example.org", "localhost"], " --host localhost"),
        (["*.example.org", "play.example.org"], " --host play.example.org"),
    ],
)
def test_the_host_is_one_for_which_the_certificate_is_good(names: list[str], host: str, tmp_path: Path) -> None:
    file = self_signed(tmp_path, *names)
    assert certificate(server_context(file, None), file) == Shown(trusted=False, names=tuple(names))
    assert steps("0.0.0.0", file)[0].endswith(f"triarena join --game towerwars random{host} --tls-ca {file}")


@pytest.mark.parametrize(
    ("listening", "host"), [("0.0.0.0", ""), ("127.0.0.1", ""), ("192.0.2.7", " --host 192.0.2.7")]
)
def test_the_host_is_one_on_which_the_server_listens(listening: str, host: str) -> None:
    assert steps(listening) == [f"a bot joins with:  triarena join --game towerwars random{host}"]


def test_where_tokens_are_required_the_command_has_a_place_for_name_and_token() -> None:
    first, how = steps("127.0.0.1", required=True)
    assert first == "a bot joins with:  TRIARENA_TOKEN=TOKEN triarena join --game towerwars random --name NAME"
    assert "triarena token NAME" in how


def test_a_client_that_trusts_another_certificate_does_not_trust_this_one(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(ssl.SSLCertVerificationError):
        _handshake(
            server_context(self_signed(tmp_path, "localhost"), None), tls_context(self_signed(other, "localhost"))
        )
