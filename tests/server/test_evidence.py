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
from triarena.server.evidence import STOPPED, known_evidence
from triarena.server.handler import Patience
from triarena.server.journal import MatchEnded, MatchOpened, PlyPlayed, StoredMatch
from triarena.server.recovery import resume_match
from triarena.server.transcript import HIDDEN, KEPT_BYTES, KEPT_FRAMES, Transcript, content

from .conftest import PATIENCE, Client, World, house

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


# -- the turn in which a match ends ---------------------------------------------------------------


async def test_the_turn_that_ran_out_is_kept_with_what_it_is_judged_by(world: World, autojump_clock: MockClock) -> None:
    red, _blue, _ = await playing(world)
    await red.play_on(1)
    await red.wait_for(s.MatchOver)
    turn = kept(world)["last_turn"]
    assert turn["lag_ms"] >= 0
    assert datetime.fromisoformat(turn["asked_at"]).tzinfo is not None
    del turn["lag_ms"], turn["asked_at"]
    assert turn == {
        "side": "blue",
        "ply": 1,
        "arrived_at": None,
        "answered": False,
        "used_ms": 2000.0,
        "limit_ms": 2000.0,
        "overhead_ms": 0.0,
    }


async def test_a_move_that_ends_the_match_as_illegal_is_kept_as_the_last_turn(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await red.hear(s.YourTurn)
    await trio.sleep(0.5)
    step = {"type": "step", "start": "A1", "target": "A1"}
    await red.say(c.Move.model_validate({"room": room, "ply": 0, "move": step}))
    assert (await blue.wait_for(s.MatchOver)).result.reason == "illegal_move"
    turn = kept(world)["last_turn"]
    assert (turn["side"], turn["ply"], turn["answered"], turn["used_ms"]) == ("red", 0, True, 500.0)
    assert turn["arrived_at"] is not None


async def test_the_turn_under_way_is_kept_when_either_side_ends_the_match(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await red.hear(s.YourTurn)
    await trio.sleep(1.25)
    await blue.say(c.Surrender(room=room))
    await red.wait_for(s.MatchOver)
    turn = kept(world)["last_turn"]
    assert (turn["side"], turn["answered"], turn["used_ms"]) == ("red", False, 1250.0)


async def test_a_match_that_ends_by_its_rules_or_between_turns_has_no_last_turn(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, _ = await playing(world, max_plies=2)
    await red.play_on(1)
    await blue.play_on(1)
    await red.wait_for(s.MatchOver)
    assert "last_turn" not in kept(world)


# -- over a restart -------------------------------------------------------------------------------


def stored(world: World) -> StoredMatch:
    """The one match as a server that died left it."""
    (opened,) = (record for record in world.journal.records if isinstance(record, MatchOpened))
    plies = tuple(record for record in world.journal.records if isinstance(record, PlyPlayed))
    return StoredMatch(opened, plies, None, world.journal.evidence.get(opened.match))


async def seated(world: World) -> tuple[Client, Client, str, str]:
    """Two clients in a match, and their tokens."""
    red, blue = await world.client("ann"), await world.client("bob")
    tokens = (await red.join("towerwars", size=4)).token, (await blue.join("towerwars", size=4)).token
    await red.start()
    await blue.start()
    return red, blue, *tokens


async def test_connections_before_a_restart_and_the_restart_itself_are_kept(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=30.0), PATIENCE)
        red, blue, token, blue_token = await seated(world)
        await red.stream.aclose()
        await wait_all_tasks_blocked()
        again = await world.client()
        await again.say(c.Rejoin(token=token))
        await again.hear(s.Joined)
        await again.start()
        await again.play_on(1)
        await blue.play_on(1)
        await wait_all_tasks_blocked()
        reborn = World(nursery, house(grace=30.0), PATIENCE)
        resume_match(reborn.lobby, stored(world))
        back = await reborn.client()
        await back.say(c.Rejoin(token=blue_token))
        await back.hear(s.Joined)
        await trio.sleep(70)  # red does not come back
        evidence = kept(reborn)
        assert [restart["ply"] for restart in evidence["restarts"]] == [2]
        first, second = evidence["red"]["visits"]
        assert (first["connection"], "closed" in first["why"]) == ("1", True)
        assert (second["connection"], second["until"], second["why"]) == ("3", None, STOPPED)
        assert (second["address"], second["software"]) == ("127.0.0.1", "test 1")
        assert [visit["why"] for visit in evidence["blue"]["visits"]] == [STOPPED, None]
        nursery.cancel_scope.cancel()


async def test_every_restart_is_kept_though_nobody_came_in_between(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), PATIENCE)
        await seated(world)
        await wait_all_tasks_blocked()
        opened = world.journal.records[:1]
        for _ in range(3):
            match = stored(world)
            world = World(nursery, house(), PATIENCE)
            world.journal.records = list(opened)
            resume_match(world.lobby, match)
            await wait_all_tasks_blocked()
        told = known_evidence(stored(world))
        assert len(told["restarts"]) == 3
        assert [visit["why"] for visit in told["red"]["visits"]] == [STOPPED]
        nursery.cancel_scope.cancel()


async def test_evidence_that_cannot_be_kept_now_holds_up_nothing_and_comes_with_the_next(
    autojump_clock: MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=30.0), PATIENCE)
        red, blue, token, blue_token = await seated(world)
        world.journal.broken = True
        await red.stream.aclose()
        await wait_all_tasks_blocked()
        assert world.journal.evidence == {}
        world.journal.broken = False
        await blue.stream.aclose()
        await wait_all_tasks_blocked()
        (told,) = world.journal.evidence.values()
        assert all("closed" in told[side]["visits"][0]["why"] for side in ("red", "blue"))
        assert token not in json.dumps(told)
        assert blue_token not in json.dumps(told)
        nursery.cancel_scope.cancel()


async def test_a_match_that_has_only_begun_is_known_by_its_opening(world: World, autojump_clock: MockClock) -> None:
    await playing(world)
    assert world.journal.evidence == {}, "a match that nothing happens to costs no further write"
    (visit,) = known_evidence(stored(world))["blue"]["visits"]
    assert (visit["connection"], visit["address"], visit["software"]) == ("2", "127.0.0.1", "test 1")
