"""How many may be connected, from where; and who is turned away."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from triarena.server.admission import Admission, Bounds
from triarena.server.refusal import Refusal


@dataclass
class Line:
    """A connection at the door."""

    greeted: bool = False
    closed: list[str] = field(default_factory=list)

    def close(self, code: str, message: str) -> None:
        assert message
        self.closed.append(code)


def admission(connections: int = 100, per_address: int = 100, newcomers: int = 100) -> Admission:
    return Admission(Bounds(connections, per_address, newcomers))


def refused(door: Admission, address: str) -> str:
    with pytest.raises(Refusal) as refusal:
        door.enter(address, Line())
    return refusal.value.code


def test_no_more_connections_than_the_server_may_have() -> None:
    door = admission(connections=2)
    first = door.enter("10.0.0.1", Line())
    door.enter("10.0.0.2", Line())
    assert refused(door, "10.0.0.3") == "server_full"
    door.leave(first)
    door.enter("10.0.0.3", Line())
    assert door.count == 2


def test_no_more_connections_than_one_address_may_have() -> None:
    door = admission(per_address=2)
    door.enter("10.0.0.1", Line())
    door.enter("::ffff:10.0.0.1", Line())
    assert refused(door, "10.0.0.1") == "address_full"
    door.enter("10.0.0.2", Line())


def test_an_ipv6_network_counts_as_one_address() -> None:
    door = admission(per_address=1)
    door.enter("2001:db8::1", Line())
    assert refused(door, "2001:db8::2") == "address_full"
    door.enter("2001:db8:0:1::2", Line())


def test_a_newcomer_takes_the_place_of_the_oldest_from_where_most_come() -> None:
    door, lines = admission(newcomers=3), [Line(), Line(), Line()]
    for address, line in zip(["10.0.0.1", "10.0.0.2", "10.0.0.1"], lines, strict=True):
        door.enter(address, line)
    door.enter("10.0.0.3", Line())
    assert [line.closed for line in lines] == [["server_busy"], [], []]


def test_whoever_has_most_newcomers_can_displace_nobody() -> None:
    door, lines = admission(newcomers=2), [Line(), Line()]
    for line in lines:
        door.enter("10.0.0.1", line)
    assert refused(door, "10.0.0.1") == "server_busy"
    assert [line.closed for line in lines] == [[], []]


def test_who_has_greeted_is_no_newcomer() -> None:
    door = admission(newcomers=2)
    for _ in range(5):
        door.enter("10.0.0.1", Line(greeted=True))
    assert door.count == 5


def test_a_visitor_is_closed_by_whatever_there_is_at_the_moment() -> None:
    door, handshake, connection = admission(newcomers=1), Line(), Line()
    visitor = door.enter("10.0.0.1", handshake)
    visitor.connection = connection
    assert refused(door, "10.0.0.1") == "server_busy"
    door.enter("10.0.0.2", Line())
    assert (handshake.closed, connection.closed) == ([], ["server_busy"])


def test_nothing_is_left_of_those_who_left() -> None:
    door = admission(newcomers=2)
    for _ in range(3):
        for visitor in [door.enter("10.0.0.1", Line()), door.enter("10.0.0.2", Line())]:
            door.leave(visitor)
    assert door.count == 0
    assert not door._inside
    assert not door._newcomers
