"""What is kept of a match for whoever has to judge it: times, addresses, and the last frames without secrets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgpack
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.frames import HEADER, frame
from triarena.server.handler import Patience
from triarena.server.journal import MatchEnded, PlyPlayed
from triarena.server.transcript import HIDDEN, KEPT_BYTES, KEPT_FRAMES, Transcript, content

from .conftest import Client, World, house

DAY = datetime(2031, 5, 4, tzinfo=UTC)


def kept(world: World) -> dict[str, Any]:
    """The evidence of the one match that has ended; it must be JSON."""
    (ended,) = (record for record in world.journal.records if isinstance(record, MatchEnded))
    assert ended.evidence is not None
    json.dumps(ended.evidence, allow_nan=False)
    return ended.evidence


def messages(side: dict[str, Any], direction: str) -> list[dict[str, Any]]:
    return [told["message"] for told in side["frames"][direction]]


async def playing(world: World, **options: int) -> tuple[Client, Client, str]:
    red, blue = await world.pair("towerwars", size=4, **options)
    room = (await red.start()).room
    await blue.start()
    return red, blue, room


async def test_an_irregular_end_keeps_the_last_words_of_both_sides(world: World, autojump_clock: MockClock) -> None:
    red, blue, room = await playing(world)
    await red.play_on(1)
    await blue.wait_for(s.YourTurn)
    await blue.say(c.Surrender(room=room))
    await red.wait_for(s.MatchOver)
    evidence = kept(world)
    assert [message["type"] for message in messages(evidence["red"], "from_client")] == ["ready", "move"]
    assert [message["type"] for message in messages(evidence["blue"], "from_client")] == ["ready", "surrender"]
    told = [message["type"] for message in messages(evidence["blue"], "to_client")]
    assert told == ["match_started", "moved", "your_turn"]
    assert all(told["taken"] for told in evidence["blue"]["frames"]["to_client"])


async def test_why_a_side_left_is_the_organisers_to_know_and_not_the_opponents(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await red.say(c.Leave(room=room, reason="bot_failed: ZeroDivisionError: division by zero"))
    over = await blue.wait_for(s.MatchOver)
    assert (over.result.reason, over.result.detail.message) == ("left", "red left the match")
    assert "ZeroDivisionError" not in over.model_dump_json()
    (left,) = (said for said in messages(kept(world)["red"], "from_client") if said["type"] == "leave")
    assert left["reason"] == "bot_failed: ZeroDivisionError: division by zero"


async def test_an_end_by_the_rules_keeps_who_played_and_no_frames(world: World, autojump_clock: MockClock) -> None:
    red, blue, _ = await playing(world, max_plies=2)
    await red.play_on(1)
    await blue.play_on(1)
    await red.wait_for(s.MatchOver)
    for side in kept(world).values():
        assert "frames" not in side
        (visit,) = side["visits"]
        assert (visit["address"], visit["software"], visit["until"]) == ("127.0.0.1", "test 1", None)


async def test_every_ply_keeps_its_limit_arrival_overhead_and_lag(world: World, autojump_clock: MockClock) -> None:
    red, blue, _ = await playing(world)
    turn = await red.hear(s.YourTurn)
    await trio.sleep(1.5)
    await red.move(turn)
    await blue.play_on(1)
    await red.wait_for(s.YourTurn)
    first, second = (record for record in world.journal.records if isinstance(record, PlyPlayed))
    assert (first.limit_ms, first.used_ms, first.overhead_ms) == (2000.0, 1500.0, None)
    assert (second.limit_ms, second.overhead_ms) == (2000.0, 0.0)
    assert first.lag_ms is not None
    assert first.lag_ms >= 0


async def test_who_was_cut_off_and_came_back_is_seen_twice(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        patience = Patience(greeting=5.0, write=5.0, heartbeat=3600.0, bad_frames=3, queue_bytes=1 << 20)
        world = World(nursery, house(grace=30.0), patience)
        red, blue = await world.client("ann"), await world.client("bob")
        token = (await red.join("towerwars", size=4)).token
        await blue.join("towerwars", size=4)
        await red.start()
        await blue.start()
        await red.stream.aclose()
        await wait_all_tasks_blocked()
        again = await world.client()
        await again.say(c.Rejoin(token=token))
        room = (await again.hear(s.Joined)).room
        await again.start()
        await again.say(c.Surrender(room=room))
        await blue.wait_for(s.MatchOver)
        visits = kept(world)["red"]["visits"]
        assert [visit["connection"] for visit in visits] == ["1", "3"]
        assert "closed" in visits[0]["why"]
        assert token not in json.dumps(kept(world))
        nursery.cancel_scope.cancel()


async def test_a_connection_that_was_displaced_did_not_last_to_the_end(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.client("ann"), await world.client("bob")
    token = (await red.join("towerwars", size=4)).token
    await blue.join("towerwars", size=4)
    await red.start()
    await blue.start()
    for _ in range(2):
        again = await world.client()
        await again.say(c.Rejoin(token=token))
        room = (await again.hear(s.Joined)).room
        await again.start()
    await again.say(c.Surrender(room=room))
    await blue.wait_for(s.MatchOver)
    visits = kept(world)["red"]["visits"]
    assert [visit["connection"] for visit in visits] == ["1", "3", "4"]
    assert [visit["until"] is None for visit in visits] == [False, False, True]
    assert ["another connection" in (visit["why"] or "") for visit in visits] == [True, True, False]


def test_what_a_client_did_not_take_is_told_apart() -> None:
    transcript = Transcript()
    transcript.say(frame(msgpack.packb({"type": "moved"})), 1.0).taken = 1.5
    transcript.say(frame(msgpack.packb({"type": "your_turn"})), 2.0)
    told = transcript.told(lambda at: DAY.replace(second=int(at)))["to_client"]
    assert [entry["taken"] is None for entry in told] == [False, True]
    assert told[0]["bytes"] == len(msgpack.packb({"type": "moved"}))


def test_a_transcript_is_bounded() -> None:
    transcript = Transcript()
    for number in range(1000):
        transcript.hear(bytes(16_384), float(number))
        transcript.say(bytes(HEADER + 1_000_000), float(number))
    for ring in (transcript.received, transcript.sent):
        assert len(ring) == KEPT_FRAMES
        assert {len(entry.payload) for entry in ring} == {KEPT_BYTES}
    assert transcript.sent[-1].size == 1_000_000


@pytest.mark.parametrize(
    "message",
    [
        {"type": "authenticate", "secret": "hush"},
        {"type": "rejoin", "token": "hush"},
        {"type": "join_reserved", "reservation": "hush"},
        {"type": "prepared", "reservations": ["hush", None]},
        {"type": "hello", "bot_token": "hush"},
        {"type": "x", "deep": [{"SECRET": {"in": "hush"}}]},
    ],
)
def test_secrets_are_not_kept(message: dict[str, Any]) -> None:
    told = content(msgpack.packb(message), cut=False)
    assert told["message"]["type"] == message["type"]
    assert "hush" not in json.dumps(told)
    assert HIDDEN in json.dumps(told)


def test_an_unreadable_frame_is_kept_as_it_came_unless_it_may_hold_a_secret() -> None:
    assert content(b"GET / HTTP/1.1", cut=False) == {"hex": b"GET / HTTP/1.1".hex()}
    whole = msgpack.packb({"type": "rejoin", "token": "hush"})
    for spoilt in (whole[:-1], whole + b"x", b"\xc1" + whole, b'{"token": "hush"}'):
        told = content(spoilt, cut=False)
        assert b"hush".hex() not in json.dumps(told)
        assert "hush" not in json.dumps(told)


def test_of_a_frame_that_was_cut_the_whole_fields_are_told() -> None:
    whole = msgpack.packb({"type": "your_turn", "ply": 3, "position": {"board": "x" * 5000}})
    assert content(whole[:KEPT_BYTES], cut=True) == {"message": {"type": "your_turn", "ply": 3}, "cut": True}
    secret = msgpack.packb({"type": "rejoin", "token": "h" * 5000})
    assert content(secret[:KEPT_BYTES], cut=True) == {"message": {"type": "rejoin"}, "cut": True}


def test_whatever_msgpack_can_hold_becomes_json() -> None:
    nested: Any = 1
    for _ in range(500):
        nested = [nested]
    odd = {
        "type": "x",
        "nan": float("nan"),
        "bytes": b"\x00\xff",
        "when": msgpack.Timestamp(1, 2),
        "ext": msgpack.ExtType(5, b"x"),
        "big": 2**64 - 1,
        "nested": nested,
        "map": {1: {None: [True, 0.5]}},
    }
    json.dumps(content(msgpack.packb(odd), cut=False), allow_nan=False)
    json.dumps(content(b"\x81" * 10_000, cut=True), allow_nan=False)
    json.dumps(content(b"\x91" * 10_000, cut=True), allow_nan=False)
    json.dumps(content(b"\x81\xa1a\x81\x91\x01\x02", cut=False))  # a list as a key
    for huge in (b"\xdf\xff\xff\xff\xff", b"\x81\xa1a\xdd\x7f\xff\xff\xff", b"\x81\xdd\x7f\xff\xff\xff"):
        json.dumps(content(huge, cut=False), allow_nan=False)
