"""The second port: its settings, its door over TCP, and what is kept of what was said there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import trio
import trio.testing

from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.from_client import Hello
from triarena.protocol.from_server import Authenticated, Notice, Refused, YourTurn
from triarena.protocol.session import Fault, client_session
from triarena.protocol.values import PROTOCOL, Clock, PerMove
from triarena.server.admission import Bounds
from triarena.server.connection import Connection
from triarena.server.door import Door, DoorRules, Reception
from triarena.server.lag import LoopLag
from triarena.server.planning import plan
from triarena.server.secret import Vault
from triarena.server.settings import Settings, SochaSettings
from triarena.server.settings_sources import SettingsError, load_settings
from triarena.server.settings_text import describe
from triarena.server.socha.answers import Mementos
from triarena.server.socha.gateway import Gateway, GatewayRules
from triarena.server.socha.session import XmlSession
from triarena.server.socha.wrong_port import GatewaySession, usual_tongue
from triarena.server.transcript import HIDDEN, content

from .conftest import PATIENCE, Log
from .xml_clients import JOIN, XmlWorld, kind


def test_there_is_no_second_port_unless_asked_for(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    assert plan(load_settings(), vault, "test").gateway is None
    asked = plan(load_settings(flags={"socha.enabled": True}), vault, "test").gateway
    assert asked is not None
    assert (asked.port, asked.rules, asked.password) == (13050, "server-24.2.5", None)


def test_both_ports_must_differ() -> None:
    with pytest.raises(SettingsError, match=r"socha\.port and server\.port are both 13050"):
        load_settings(flags={"socha.enabled": True, "server.port": 13050})
    load_settings(flags={"server.port": 13050})
    load_settings(flags={"socha.enabled": True, "server.port": 0, "socha.port": 0})


def test_the_password_is_shown_nowhere(tmp_path: Path) -> None:
    settings = Settings(socha=SochaSettings(enabled=True, password="hush"))
    gateway = plan(settings, Vault(tmp_path), "test").gateway
    assert gateway is not None
    assert gateway.password == "hush"
    for told in (describe(settings), repr(settings), repr(gateway)):
        assert "hush" not in told


def test_a_wrong_value_is_told_without_the_password() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environment={"TRIARENA_SOCHA__PASSWORD": "hush" * 100})
    assert "socha.password" in caught.value.message
    assert "hush" not in caught.value.message


async def _talk(port: int, text: str) -> str:
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(text.encode())
        heard = b""
        async for data in stream:
            heard += data
            if b"<left" in data:
                break
    return heard.decode()


async def test_who_is_turned_away_at_the_door_is_told_so_in_xml() -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        world = XmlWorld(nursery)
        door = Door(DoorRules(Bounds(1, 1, 1), PATIENCE), world.lobby.serve, nursery, LoopLag())
        nursery.start_soon(door.keep, listener, Reception(world.gateway.tongue, world.gateway.serve))
        async with await trio.open_tcp_stream("127.0.0.1", port) as inside:
            await inside.send_all(JOIN.encode())
            assert b"joined" in bytes(await inside.receive_some())
            refused = fromstring(await _talk(port, JOIN))
        assert [one.attrib["code"] for one in refused] == ["server_full"]
        nursery.cancel_scope.cancel()
    await listener.aclose()


@pytest.mark.parametrize("words", [JOIN, '<?xml version="1.0"?>', "<", f"\n{JOIN}", f"\ufeff{JOIN}"])
@pytest.mark.parametrize(
    ("port", "advice"), [(13050, "connect to port 13050"), (None, "when the server is started with --socha")]
)
async def test_xml_at_the_usual_port_is_told_the_right_one_in_xml(
    words: str, port: int | None, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Log()
    monkeypatch.setattr("triarena.server.connection.log", seen)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        world = XmlWorld(nursery)
        rules = DoorRules(Bounds(9, 9, 9), PATIENCE)
        door = Door(rules, world.lobby.serve, nursery, LoopLag(), usual=usual_tongue(port))
        nursery.start_soon(door.keep, listener)
        (told,) = fromstring(await _talk(listener.socket.getsockname()[1], words))
        nursery.cancel_scope.cancel()
    await listener.aclose()
    assert told.tag == "errorpacket"
    assert told.attrib["code"] == "xml"
    assert told.attrib["message"].endswith(advice)
    assert advice in seen.text


@pytest.mark.parametrize("cut", [None, 1, 2, 4, 5])
@pytest.mark.parametrize(("port", "advice"), [(13055, "connect to port 13055"), (None, "the server's other port")])
async def test_a_client_of_ours_at_the_port_for_xml_is_told_the_right_one_in_its_own_words(
    cut: int | None, port: int | None, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Log()
    monkeypatch.setattr("triarena.server.connection.log", seen)
    client = client_session()
    hello = client.send(Hello(protocol=PROTOCOL, software="test 1"))
    async with trio.open_nursery() as nursery:
        world = XmlWorld(nursery)
        gateway = Gateway(GatewayRules(0, "server-24.2.5"), world.lobby, port)
        ours, theirs = trio.testing.memory_stream_pair()
        connection = Connection(theirs, "1", "192.0.2.1", PATIENCE, tongue=gateway.tongue)
        nursery.start_soon(gateway.serve, connection)
        for part in (hello,) if cut is None else (hello[:cut], hello[cut:]):
            await ours.send_all(part)
            await trio.testing.wait_all_tasks_blocked()
        heard = b"".join([bytes(data) async for data in ours])
        nursery.cancel_scope.cancel()
    (refused,) = client.receive(heard)
    assert isinstance(refused, Refused)
    assert refused.code == "wrong_port"
    assert advice in refused.message
    assert "Software-Challenge" in refused.message
    assert advice in seen.text


@pytest.mark.parametrize("words", [b"\0\0\0\x3c\0", b"\0\0\0\0\0\0\0", b"\0<\0p", b"\xff\xfe<\0", b"\x16\x03\x01\x02"])
def test_what_else_begins_like_no_document_is_answered_in_xml(words: bytes) -> None:
    session = GatewaySession("server-24.2.5", Mementos(), 13055)
    faults = [item for byte in words for item in session.receive(bytes([byte])) if isinstance(item, Fault)]
    assert all(fault.fatal for fault in faults)
    told = session.send(Refused(code="x", message="y"))
    assert told.startswith(b"<protocol>")


@pytest.mark.parametrize("cut", [0, 1, 2, 4])
@pytest.mark.parametrize(
    ("begin", "code", "name", "advice"),
    [
        (b"\x16\x03\x01\x02\x00", "wrong_port", "TLS", "connect to port 13055"),
        (b"GET / HTTP/1.1\r\n", "not_xml", "is this HTTP?", "clients of the Software-Challenge can play at this port"),
        (
            b"OPTIONS * HTTP/1.1\r\n",
            "not_xml",
            "is this HTTP?",
            "clients of the Software-Challenge can play at this port",
        ),
    ],
)
def test_tls_and_http_at_the_port_for_xml_are_called_by_their_names(
    begin: bytes, code: str, name: str, advice: str, cut: int
) -> None:
    session = GatewaySession("server-24.2.5", Mementos(), 13055)
    (fault,) = [*session.receive(begin[:cut]), *session.receive(begin[cut:])][:1]
    assert isinstance(fault, Fault)
    assert fault.fatal
    assert fault.code == code
    assert name in fault.message
    assert fault.message.endswith(advice)


def test_a_client_of_ours_at_the_usual_port_is_answered_as_ever() -> None:
    ours, theirs = client_session(), usual_tongue(None).session()
    hello = Hello(protocol=PROTOCOL, software="test 1")
    assert list(theirs.receive(ours.send(hello))) == [hello]
    refused = Refused(code="server_full", message="full")
    assert ours.receive(theirs.send(refused)) == [refused]


async def test_a_game_over_tcp_stamps_moves_as_they_come() -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        world = XmlWorld(nursery, clock=PerMove(move_ms=200, margin_ms=0))
        door = Door(DoorRules(Bounds(9, 9, 9), PATIENCE), world.lobby.serve, nursery, LoopLag())
        nursery.start_soon(door.keep, listener, Reception(world.gateway.tongue, world.gateway.serve))
        heard: list[str] = []

        async def join_and_wait() -> None:
            heard.append(await _talk(port, f"{JOIN}<room roomId='nowhere'/>"))

        async with trio.open_nursery() as players:
            players.start_soon(join_and_wait)
            players.start_soon(join_and_wait)
        for told in heard:
            kinds = [kind(message) for message in fromstring(told + "</protocol>")]
            assert kinds[0] == "joined"
            assert kinds[-2:] == ["result", "left"]
            assert "innerhalb von 0.2 Sekunden" in told
        nursery.cancel_scope.cancel()
    await listener.aclose()


def test_an_answer_to_nothing_is_a_fault_of_the_server_and_breaks_nothing_else() -> None:
    session = XmlSession("server-24.2.5", Mementos())
    for message in (Authenticated(), YourTurn(room="nowhere", ply=0, clock=Clock())):
        with pytest.raises(LocalProtocolError, match="does not fit"):
            session.send(message)
    assert session.send(Notice(code="slow_down", message="slower")) == b"", "there is no word for it"


def test_what_was_said_by_xml_is_kept_readable_and_without_secrets() -> None:
    move = b'\n  <room roomId="r"><data class="moveRequest"/></room>'
    assert content(move, cut=False) == {"message": {"type": "xml", "text": move.decode().strip()}}
    for secret in (b'<authenticate password="hush"/>', b"<reservation>hush</reservation>", b"<a Password='hush"):
        assert content(secret, cut=False) == {"message": {"type": "xml", "text": HIDDEN}}
    json.dumps(content(b"<\xff\x00", cut=True))


async def test_the_evidence_of_a_disputed_match_has_the_last_words_of_both() -> None:
    async with trio.open_nursery() as nursery:
        world = XmlWorld(nursery)
        one, _ = await world.xml_pair()
        referee = world.lobby.rooms[one.room].scribe
        assert referee is not None
        room = world.lobby.rooms[one.room]
        line = room.seats[next(iter(room.seats))].line
        assert line is not None
        transcript = line.transcribe()
        await one.say("<joinPrepared reservationCode='hush'/>")
        await one.move('<advance distance="6"/>')
        told = json.dumps(transcript.told(partial(datetime.fromtimestamp, tz=UTC)))
        assert "hush" not in told
        assert "advance distance" in told
        assert "Regelverletzung" in told
        nursery.cancel_scope.cancel()
