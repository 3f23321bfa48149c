"""A zoo of clumsy and hostile clients: each gets a sentence, and none costs anybody else anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgpack
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.games import Side
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.frames import frame
from triarena.protocol.values import PROTOCOL
from triarena.server.connection import Connection

from .conftest import PATIENCE, Client, World, house


def raw(value: Any) -> bytes:
    return frame(msgpack.packb(value))


async def last_words(client: Client) -> s.Refused | s.Goodbye:
    """What the server says before it hangs up, and that it does."""
    while True:
        message = await client._next()
        if isinstance(message, s.Refused | s.Goodbye):
            assert await client.stream.receive_some() == b""
            return message


async def others_play(world: World) -> None:
    red, blue = await world.pair(size=4, max_plies=2)
    await red.start()
    await blue.start()
    await red.play_on(1)
    await blue.play_on(1)
    assert (await red.wait_for(s.MatchOver)).result.reason == "ply_limit"


@pytest.mark.parametrize(
    ("data", "code", "word"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "frame_too_large", "HTTP"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "frame_too_large", "TLS"),
        (b"\xff\xff\xff\xff", "frame_too_large", "16384"),
        (frame(b"\xc1"), "not_msgpack", "msgpack"),
        (frame(b""), "not_msgpack", "msgpack"),
        (frame(b"\x91" * 5000), "not_msgpack", ""),
        (raw([1, 2]), "not_a_map", "map"),
        (raw({"type": "ready", "room": "x"}), "greeting_first", "hello"),
        (raw({"type": "dance"}), "unknown_type", "dance"),
        (raw({"type": "hello", "protocol": "1", "software": ""}), "invalid_message", "protocol"),
        (raw({"type": "hello", "protocol": PROTOCOL + 1, "software": ""}), "protocol_version", "update the server"),
        (raw({"type": "hello", "protocol": 0, "software": ""}), "protocol_version", "update your client"),
        (raw({"type": "hello", "protocol": 1, "software": "", "name": "a\nb"}), "invalid_message", "name"),
    ],
)
async def test_a_bad_greeting_is_answered_with_a_sentence(
    world: World, data: bytes, code: str, word: str, autojump_clock: MockClock
) -> None:
    client = Client(world.raw())
    await client.stream.send_all(data)
    words = await last_words(client)
    assert words.code == code
    assert word in words.message
    await others_play(world)


async def test_silence_ends_with_the_greeting_deadline(world: World, autojump_clock: MockClock) -> None:
    client = Client(world.raw())
    assert (await last_words(client)).code == "greeting_timeout"
    assert 5 <= trio.current_time() < 10


async def test_one_byte_a_second_is_too_slow_a_greeting(world: World, autojump_clock: MockClock) -> None:
    client = Client(world.raw())

    async def dribble() -> None:
        for byte in client.session.send(c.Hello(protocol=PROTOCOL, software="")):
            await client.stream.send_all(bytes([byte]))
            await trio.sleep(1)

    with pytest.raises(trio.BrokenResourceError):
        await dribble()
    assert trio.current_time() < 10


async def test_bad_frames_are_answered_until_there_are_too_many(world: World, autojump_clock: MockClock) -> None:
    client = await world.client()
    await client.stream.send_all(raw({"type": "join", "game": 5, "id": 3}))
    client.session._requests.append(c.Join)
    error = await client.hear(s.Error)
    assert (error.code, error.request, error.id) == ("invalid_message", "join", 3)
    assert "game" in error.message
    await client.stream.send_all(raw({"type": "dance"}))
    assert (await client.hear(s.Error)).code == "unknown_type"
    await client.stream.send_all(frame(b"\xc1"))
    assert (await client.hear(s.Error)).code == "not_msgpack"
    assert (await last_words(client)).code == "too_many_bad_frames"


async def test_an_unreadable_frame_in_a_match_costs_no_match(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4, max_plies=2)
    await red.start()
    await blue.start()
    await red.stream.send_all(raw({"type": "move", "room": 5}))
    assert (await red.wait_for(s.Error)).code == "invalid_message"
    red.inbox.appendleft(_turn_again(red, world))
    await red.play_on(1)
    await blue.play_on(1)
    assert (await red.wait_for(s.MatchOver)).result.reason == "ply_limit"


def _turn_again(client: Client, world: World) -> s.YourTurn:
    """The turn that was skipped while waiting for an error."""
    (room,) = world.lobby.rooms.values()
    assert room.referee is not None
    position = room.terms.game.write_position(room.referee.position)
    return s.YourTurn.model_validate({"room": room.id, "ply": 0, "clock": {}, "position": position})


async def test_a_move_in_the_others_turn_is_a_violation(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    await red.hear(s.YourTurn)
    move = {"type": "step", "start": "A1", "target": "B1"}
    await blue.stream.send_all(raw({"type": "move", "room": room, "ply": 0, "move": move}))
    assert "place there is waiting" in (await blue.wait_for(s.Error)).message
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("protocol_violation", "red")


async def test_a_move_for_a_future_ply_is_a_violation(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    await red.hear(s.YourTurn)
    move = {"type": "step", "start": "A2", "target": "B2"}
    await red.stream.send_all(raw({"type": "move", "room": room, "ply": 9, "move": move}))
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("protocol_violation", "blue")
    assert "ply 9" in result.detail.message


async def test_two_moves_at_once_the_second_is_dropped_with_a_notice(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    turn = await red.hear(s.YourTurn)
    await red.move(turn)
    move = {"type": "step", "start": "A1", "target": "A1"}
    await red.stream.send_all(raw({"type": "move", "room": room, "ply": 0, "move": move}))
    notice = await red.wait_for(s.Notice)
    assert (notice.code, notice.room) == ("late_move", room)
    await blue.play_on(1)
    await red.play_on(1)


async def test_who_does_not_read_is_cut_off_and_the_other_wins(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), PATIENCE)
        blue = await world.client("bob")
        ours, theirs = trio.testing.lockstep_stream_pair()  # a write waits until the other end reads
        nursery.start_soon(world.lobby.serve, Connection(theirs, "9", "127.0.0.1", PATIENCE))
        red = await Client(ours).greet("ann")
        await red.join(size=4)
        await blue.join(size=4)
        await blue.start()
        result = (await blue.wait_for(s.MatchOver)).result
        assert (result.reason, result.winner) == ("stalled", "blue")
        assert trio.current_time() <= 6
        nursery.cancel_scope.cancel()


async def untimed(world: World) -> list[Client]:
    """Two seated clients without clocks, ready."""
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game="towerwars", slots=[c.Slot(timed=False), c.Slot(timed=False)]))
    prepared = await admin.wait_for(s.Prepared)
    await admin.stream.aclose()
    players = []
    for code in prepared.reservations:
        player = await world.client()
        await player.say(c.JoinReserved(reservation=str(code)))
        players.append(player)
    for player in players:
        await player.start()
    return players


async def test_who_thinks_without_a_clock_may_be_silent_but_who_waits_may_not(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), replace(PATIENCE, heartbeat=10.0))
        red, blue = await untimed(world)
        await red.hear(s.YourTurn)
        with trio.move_on_after(300) as thinking:
            await blue.wait_for(s.MatchOver)  # and answers pings meanwhile
        assert thinking.cancelled_caught, "red sits on a breakpoint; that is what no clock is for"
        begin = trio.current_time()
        result = (await red.wait_for(s.MatchOver)).result  # blue answers no ping any more
        assert (result.reason, result.winner) == ("stalled", "red")
        assert 10 <= trio.current_time() - begin <= 21
        nursery.cancel_scope.cancel()


async def test_a_silent_client_gives_its_seat_back(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), replace(PATIENCE, heartbeat=10.0))
        room = (await (await world.client("dead")).join(size=4)).room
        await trio.sleep(25)
        assert room not in world.lobby.rooms
        nursery.cancel_scope.cancel()


async def test_who_is_never_ready_loses_and_both_lose_together(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    await red.start()
    await blue.wait_for(s.MatchStarted)
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner, result.detail.offenders) == ("no_show", "red", ["blue"])
    for client in await world.pair():
        started = await client.wait_for(s.MatchStarted)
        assert started.startup_ms == 30_000
        result = (await client.wait_for(s.MatchOver)).result
        assert (result.reason, result.winner, result.detail.offenders) == ("no_show", None, ["red", "blue"])


async def test_both_gone_at_once_is_nobodys_win(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    room = (await red.start()).room
    await blue.start()
    await red.hear(s.YourTurn)
    await wait_all_tasks_blocked()  # else the referee may be under way, and look between the two
    for side in Side:
        guest = next(g for g in world.lobby.guests.values() if g.name == {"red": "ann", "blue": "bob"}[side.value])
        guest.connection.abort("disconnected", "the network broke")
    await wait_all_tasks_blocked()
    result = world.lobby.rooms[room].result
    assert result is not None
    assert (result.reason, result.winner, result.detail.offenders) == ("disconnected", None, ["red", "blue"])


async def test_a_disconnect_is_told_to_the_other_side(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    await red.start()
    await blue.start()
    await red.stream.aclose()
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "blue")
    assert result.detail.message


async def test_a_flood_of_requests_is_stopped_and_others_play_on(world: World, autojump_clock: MockClock) -> None:
    client = await world.client()

    async def flood() -> None:
        for _ in range(1000):
            await client.stream.send_all(raw({"type": "list_rooms"}) * 500)
            await trio.sleep(0.01)

    with pytest.raises(trio.BrokenResourceError):
        await flood()
    await others_play(world)


async def test_an_error_of_ours_ends_one_match_and_no_other(
    world: World, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    turn = await red.hear(s.YourTurn)

    def broken(_: object) -> None:
        raise ZeroDivisionError

    referee = world.lobby.rooms[room].referee
    assert referee is not None
    with monkeypatch.context() as patch:
        patch.setattr(type(referee.terms.game), "read_move", lambda *_: broken(None))
        await red.move(turn)
        result = (await blue.wait_for(s.MatchOver)).result
    assert (result.kind, result.reason) == ("aborted", "internal_error")
    await others_play(world)
