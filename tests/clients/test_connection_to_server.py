"""A blocking connection: the greeting, requests, pings, and every way in which it can end."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.clients.scripted_server import Peer, Script, joined, over, serving, welcome

from triarena.clients.connection import Connection
from triarena.clients.errors import CannotConnect, ConnectionLost, NoAnswer, ServerError
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.frames import frame


def open_to(script: Script) -> Connection:
    """Connect to a server that plays the script."""
    with serving(script) as server:
        return Connection.open(server.host, server.port, name="Ann")


@contextmanager
def talking(script: Script) -> Iterator[Connection]:
    """A greeted connection to a server that plays the script."""
    with serving(script) as server, Connection.open(server.host, server.port) as connection:
        yield connection


def greet(peer: Peer) -> None:
    """A script: greet, then hang up."""
    peer.greet()


def test_the_greeting_names_the_player_and_brings_the_welcome() -> None:
    heard: list[c.Hello] = []
    with serving(lambda peer: heard.append(peer.greet())) as server:
        connection = Connection.open(server.host, server.port, name="Ann", software="mine 1")
        connection.close()
    assert connection.welcome == welcome()
    assert heard == [c.Hello(protocol=1, software="mine 1", name="Ann")]


def test_a_server_on_an_ipv6_address_is_reached() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with serving(greet, "::1") as server, Connection.open(server.host, server.port) as connection:
        assert connection.address == f"[::1]:{server.port}"


def test_small_messages_are_not_delayed() -> None:
    with talking(greet) as connection:
        assert connection._stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_where_nobody_listens_the_sentence_says_how_to_start_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(CannotConnect, match=r"nobody listens .* 'triarena serve'") as caught:
        Connection.open("127.0.0.1", port)
    assert caught.value.code == "connection_refused"


def test_a_host_that_cannot_be_named_is_told_from_one_that_is_silent() -> None:
    with pytest.raises(CannotConnect, match=r"no host called 'not\.\.a\.host'") as caught:
        Connection.open("not..a.host", 1)
    assert caught.value.code == "unknown_host"


def test_a_listener_that_never_greets_is_given_up() -> None:
    mute = socket.create_server(("127.0.0.1", 0))
    with mute, pytest.raises(CannotConnect, match="does not greet") as caught:
        Connection.open("127.0.0.1", mute.getsockname()[1], timeout=0.05)
    assert caught.value.code == "no_greeting"


def test_a_web_server_is_recognised_as_none_of_ours() -> None:
    with pytest.raises(CannotConnect, match=r"is no TriArena server: .*HTTP") as caught:
        open_to(lambda peer: peer.stream.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    assert caught.value.code == "not_triarena"


def test_the_port_for_xml_is_recognised_as_the_wrong_one() -> None:
    with pytest.raises(CannotConnect, match=r"speaks XML.*Software-Challenge.*usually 13055") as caught:
        open_to(lambda peer: peer.stream.sendall(b"<protocol>\n  <errorpacket/>\n</protocol>"))
    assert caught.value.code == "not_triarena"


def test_a_refusal_carries_the_servers_code_and_sentence() -> None:
    def script(peer: Peer) -> None:
        peer.expect(c.Hello)
        peer.send(s.Refused(code="name_taken", message="another player is called Ann"))

    with pytest.raises(ServerError, match="another player is called Ann") as caught:
        open_to(script)
    assert caught.value.code == "name_taken"


def test_a_request_finds_its_answer_and_keeps_what_came_before_in_order() -> None:
    notices = [s.Notice(code=code, message="") for code in ("a", "b", "c")]

    def script(peer: Peer) -> None:
        peer.greet()
        request = peer.expect(c.ListRooms)
        peer.send(notices[0], notices[1], s.Rooms(id=request.id, rooms=[]), notices[2])

    with talking(script) as connection:
        assert connection.request(c.ListRooms()).rooms == []
        assert [connection.receive() for _ in notices] == notices


def test_an_answer_with_another_number_is_not_taken_for_ours() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        first, second = peer.expect(c.ListRooms), peer.expect(c.ListRooms)
        assert (first.id, second.id) == (99, 1)
        peer.send(s.Rooms(id=first.id, rooms=[]), s.Rooms(id=second.id, rooms=[]))

    with talking(script) as connection:
        connection.send(c.ListRooms(id=99))
        assert connection.request(c.ListRooms()).id == 1
        assert connection.receive() == s.Rooms(id=99, rooms=[])


def test_a_refused_request_raises_the_servers_error_and_the_connection_goes_on() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.JoinRoom, s.Error(code="room_full", message="both seats are taken", request="join_room"))
        peer.answer(c.ListRooms, s.Rooms(rooms=[]))

    with talking(script) as connection:
        with pytest.raises(ServerError, match="both seats are taken"):
            connection.request(c.JoinRoom(room="r1"))
        assert connection.request(c.ListRooms()).rooms == []


def test_a_ping_is_answered_while_waiting_for_something_else() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        request = peer.expect(c.ListRooms)
        peer.send(c.Ping(number=7))
        assert peer.expect(c.Pong).number == 7
        peer.send(s.Rooms(id=request.id, rooms=[]))

    with talking(script) as connection:
        assert connection.request(c.ListRooms()).rooms == []


def test_goodbye_is_raised_after_the_messages_before_it() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.send(s.Notice(code="draining", message=""), s.Goodbye(code="server_stopping", message="the server stops"))

    with talking(script) as connection:
        assert connection.receive() == s.Notice(code="draining", message="")
        with pytest.raises(ServerError, match="the server stops"):
            connection.receive()


def test_what_the_server_said_before_hanging_up_is_not_lost_by_writing_too_late() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.send(s.Goodbye(code="kicked", message="an administrator closed this connection"))

    with serving(script) as server:
        connection = Connection.open(server.host, server.port)
    with connection:  # the script has ended, and the server's end of the connection is closed
        connection.send(c.Ping())
        connection.send(c.Ping())
        with pytest.raises(ServerError, match="an administrator closed"):
            connection.receive()


def test_the_end_of_the_stream_is_no_message() -> None:
    with talking(greet) as connection, pytest.raises(ConnectionLost, match="closed the connection") as caught:
        connection.receive()
    assert caught.value.code == "connection_lost"


def test_waiting_has_an_end_if_one_is_asked_for() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        assert peer.receive() is None

    with talking(script) as connection, pytest.raises(NoAnswer):
        connection.receive(timeout=0.01)


def test_a_silent_server_is_pinged_and_then_given_up() -> None:
    heard: list[object] = []

    def script(peer: Peer) -> None:
        peer.greet(heartbeat_seconds=0.02)
        heard.extend([peer.receive(), peer.receive()])

    with talking(script) as connection, pytest.raises(ConnectionLost, match="answers no ping") as caught:
        connection.receive()
    assert caught.value.code == "server_silent"
    assert heard == [c.Ping(), None]


def test_a_server_that_answers_pings_is_waited_for() -> None:
    def script(peer: Peer) -> None:
        peer.greet(heartbeat_seconds=0.25)
        peer.send(c.Pong(number=peer.expect(c.Ping).number))
        peer.send(s.Notice(code="awake", message=""))

    with talking(script) as connection:
        assert connection.receive() == s.Notice(code="awake", message="")


def test_message_types_of_newer_servers_are_passed_over() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.stream.sendall(frame(b"\x81\xa4type\xa5novel"))
        peer.send(s.Notice(code="known", message=""))

    with talking(script) as connection:
        assert connection.receive() == s.Notice(code="known", message="")


def test_a_server_that_breaks_the_protocol_is_named_as_the_one_to_blame() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.stream.sendall(frame(b"\xc1"))

    with talking(script) as connection, pytest.raises(ServerError, match="broke the protocol") as caught:
        connection.receive()
    assert caught.value.code == "server_fault"


def test_a_word_overtaken_by_the_end_of_its_match_is_dropped() -> None:
    heard: list[object] = []

    def script(peer: Peer) -> None:
        peer.greet()
        peer.answer(c.Join, joined())
        peer.send(over(kind="aborted", reason="cancelled", winner=None))
        heard.append(peer.receive())

    with talking(script) as connection:
        connection.request(c.Join(game="towerwars"))
        assert isinstance(connection.receive(), s.MatchOver)
        connection.send(c.Leave(room="r1"))
        connection.send(c.Ping(number=1))
    assert heard == [c.Ping(number=1)]
