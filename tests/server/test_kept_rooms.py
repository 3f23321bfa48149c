"""What an administrator or a reservation was told outlives the server: told only once it is stored, there again after
a restart, and where it can't be stored nothing has happened.
"""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

import msgpack
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.frames import frame
from triarena.server.journal import MatchEnded, MatchOpened, PlyPlayed, RoomForgotten, RoomKept, StoredMatch
from triarena.server.recovery import reopen_room, resume_match

from .conftest import PATIENCE, Client, World, house

PREPARE = c.Prepare(game="towerwars", options={"size": 4}, slots=[c.Slot(name="Ann"), c.Slot(name="Bob")], seed=7)


async def prepared(world: World, **changes: Any) -> tuple[Client, s.Prepared]:
    admin = await (await world.client()).administer()
    await admin.say(PREPARE.model_copy(update=changes))
    return admin, await admin.wait_for(s.Prepared)


async def ask(client: Client, message: c.FromClient) -> s.Done | s.Error:
    await client.say(message)
    while not isinstance(heard := await client._next(), s.Done | s.Error):
        pass
    return heard


async def use(world: World, code: str | None) -> s.Joined | s.Error:
    client = await world.client()
    await client.say(c.JoinReserved(reservation=str(code)))
    heard = await client._next()
    assert isinstance(heard, s.Joined | s.Error)
    return heard


def speak(world: World) -> None:
    """End the silence of the database."""
    assert world.journal.silence is not None
    world.journal.silence.set()
    world.journal.silence = None


def kept(world: World) -> dict[str, RoomKept]:
    """What the journal holds of rooms, as ``kept_rooms`` tells it."""
    rooms: dict[str, RoomKept] = {}
    over = {record.match for record in world.journal.records if isinstance(record, MatchEnded)}
    for record in world.journal.records:
        if isinstance(record, RoomKept):
            rooms[record.room] = record
        elif isinstance(record, RoomForgotten):
            rooms.pop(record.room, None)
    return {name: room for name, room in rooms.items() if room.match not in over}


def stored_matches(world: World) -> list[StoredMatch]:
    records = world.journal.records
    plies = [record for record in records if isinstance(record, PlyPlayed)]
    over = {record.match for record in records if isinstance(record, MatchEnded)}
    return [
        StoredMatch(opened, tuple(ply for ply in plies if ply.match == opened.match), None)
        for opened in records
        if isinstance(opened, MatchOpened) and opened.match not in over
    ]


def restarted(world: World, nursery: trio.Nursery, draws_from: int = 5000) -> World:
    """Another server, which knows what the journal of ``world`` holds."""
    reborn = World(nursery, house(grace=30.0), PATIENCE)
    for _ in range(draws_from):
        reborn.lobby.names.seed()  # else it would draw the very same names and codes
    rooms = {room.match: room for room in kept(world).values()}
    for stored in stored_matches(world):
        resume_match(reborn.lobby, stored, rooms.pop(stored.match, None))
    for room in rooms.values():
        reopen_room(reborn.lobby, room)
    return reborn


# -- told when it is stored ---------------------------------------------------------------------


async def test_prepared_is_told_and_the_room_seen_only_when_it_is_stored(
    world: World, autojump_clock: MockClock
) -> None:
    admin = await (await world.client()).administer()
    world.journal.silence = trio.Event()
    await admin.say(PREPARE)
    await trio.sleep(3)
    assert not world.lobby.rooms
    speak(world)
    room = (await admin.wait_for(s.Prepared)).room
    assert list(kept(world)) == [room] == list(world.lobby.rooms)


async def test_a_room_that_cannot_be_stored_is_not_made(world: World, autojump_clock: MockClock) -> None:
    admin = await (await world.client()).administer()
    world.journal.broken = True
    refused = await ask(admin, PREPARE.model_copy(update={"id": 3}))
    assert isinstance(refused, s.Error)
    assert (refused.code, refused.request, refused.id) == ("storage_lost", "prepare", 3)
    assert "disk is full" in refused.message
    assert not world.lobby.rooms


async def test_what_was_stored_though_the_answer_was_lost_is_taken_back_later(
    world: World, autojump_clock: MockClock
) -> None:
    admin = await (await world.client()).administer()
    world.journal.broken = world.journal.forgetful = True
    assert isinstance(await ask(admin, PREPARE), s.Error)
    assert len(kept(world)) == 1, "the database has it, only nobody knows"
    await trio.sleep(60)
    world.journal.broken = world.journal.forgetful = False
    await trio.sleep(20)
    assert kept(world) == {}


async def test_a_database_that_does_not_answer_is_waited_for_only_so_long(
    world: World, autojump_clock: MockClock
) -> None:
    admin, room = await prepared(world)
    world.journal.silence = trio.Event()
    refused = await ask(admin, c.Pause(room=room.room))
    assert isinstance(refused, s.Error)
    assert refused.code == "storage_lost"
    assert not world.lobby.rooms[room.room].gate.paused
    speak(world)
    assert isinstance(await ask(admin, c.Pause(room=room.room)), s.Done)
    await trio.sleep(60)
    assert kept(world)[room.room].state["paused"] is True


async def test_pause_resume_and_cancel_that_cannot_be_stored_change_nothing(
    world: World, autojump_clock: MockClock
) -> None:
    admin, room = await prepared(world)
    _, other = await prepared(world, paused=True)
    world.journal.broken = True
    for message in (c.Pause(room=room.room), c.Resume(room=other.room), c.Cancel(room=room.room)):
        refused = await ask(admin, message)
        assert isinstance(refused, s.Error)
        assert refused.code == "storage_lost"
    rooms = world.lobby.rooms
    assert (rooms[room.room].gate.paused, rooms[other.room].gate.paused) == (False, True)


async def test_a_seat_is_taken_only_when_that_is_stored_and_else_the_code_stays_good(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    world.journal.broken = True
    refused = await use(world, room.reservations[0])
    assert isinstance(refused, s.Error)
    assert refused.code == "storage_lost"
    world.journal.broken = False
    assert isinstance(await use(world, room.reservations[0]), s.Joined)
    assert kept(world)[room.room].state["seats"]["red"]["reservation"]["used"] is True


async def test_while_a_seat_is_being_stored_nobody_else_can_use_its_code(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    world.journal.silence = trio.Event()
    first = await world.client()
    await first.say(c.JoinReserved(reservation=str(room.reservations[0])))
    await wait_all_tasks_blocked()
    second = await world.client()
    await second.say(c.JoinReserved(reservation=str(room.reservations[0])))
    await wait_all_tasks_blocked()
    assert list(second.inbox) == [], "nobody knows yet"
    speak(world)
    assert (await first.hear(s.Joined)).side == "red"
    assert (await second.hear(s.Error)).code == "reservation_used"


async def test_who_comes_while_a_code_is_being_stored_has_its_seat_if_the_first_one_gets_none(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    world.journal.silence = trio.Event()
    clients = [await world.client() for _ in range(3)]
    for client in clients:
        await client.say(c.JoinReserved(reservation=str(room.reservations[0])))
        await wait_all_tasks_blocked()
    await clients[0].stream.aclose()
    await wait_all_tasks_blocked()
    speak(world)
    assert (await clients[1].hear(s.Joined)).side == "red"
    assert (await clients[2].hear(s.Error)).code == "reservation_used"


async def test_who_vanishes_while_its_seat_is_being_stored_leaves_it_free(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    world.journal.silence = trio.Event()
    first = await world.client()
    await first.say(c.JoinReserved(reservation=str(room.reservations[0])))
    await wait_all_tasks_blocked()
    await first.stream.aclose()
    await trio.sleep(1)
    speak(world)
    await trio.sleep(1)
    assert world.lobby.rooms[room.room].empty
    assert isinstance(await use(world, room.reservations[0]), s.Joined)


async def test_a_room_closed_while_a_seat_of_it_is_being_stored_is_told(
    world: World, autojump_clock: MockClock
) -> None:
    admin, room = await prepared(world)
    world.journal.silence = trio.Event()
    await admin.say(c.Cancel(room=room.room))
    await wait_all_tasks_blocked()
    late = await world.client()
    await late.say(c.JoinReserved(reservation=str(room.reservations[0])))
    await wait_all_tasks_blocked()
    speak(world)
    await admin.wait_for(s.Done)
    assert (await late.hear(s.Error)).code == "unknown_room"
    assert kept(world) == {}


# -- the order of answers ------------------------------------------------------------------------


async def test_requests_are_answered_in_their_order_though_the_first_waits_for_the_database(
    world: World, autojump_clock: MockClock
) -> None:
    admin = await (await world.client()).administer()
    world.journal.silence = trio.Event()
    await admin.say(PREPARE.model_copy(update={"id": 1}))
    await admin.say(c.ListRooms(id=2))
    await admin.say(c.Join(game="chess", id=3))
    await admin.stream.send_all(frame(msgpack.packb({"type": "pause", "id": 4})))  # without a room
    admin.session._requests.append(c.Pause)  # the test's own session did not see it
    await admin.say(c.ListRooms(id=5))
    await trio.sleep(1)
    assert not admin.inbox
    speak(world)
    answers: list[tuple[str, int | None]] = []
    while len(answers) < 5:
        heard = await admin._next()
        if not isinstance(heard, s.RoomEvent):
            answers.append((heard.type, heard.id))
    assert answers == [("prepared", 1), ("rooms", 2), ("error", 3), ("error", 4), ("rooms", 5)]


async def test_a_move_does_not_wait_for_a_request_of_the_same_connection(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue = await world.pair(size=4)
    _, room = await prepared(world)
    await red.start()
    await blue.start()
    turn = await red.hear(s.YourTurn)
    world.journal.silence = trio.Event()
    await red.say(c.JoinReserved(reservation=str(room.reservations[0])))
    await trio.sleep(1.5)
    await red.move(turn)
    await trio.sleep(3)
    speak(world)
    assert (await blue.wait_for(s.Moved)).used_ms == 1500.0
    await red.wait_for(s.Joined)


# -- after a restart -----------------------------------------------------------------------------


async def test_a_prepared_room_is_there_again_with_both_codes_and_plays_the_same_match(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world, paused=True)
    promised = kept(world)[room.room].match
    async with trio.open_nursery() as nursery:
        reborn = restarted(world, nursery)
        again = reborn.lobby.rooms[room.room]
        assert (again.gate.paused, again.prepared, again.terms.seed) == (True, True, 7)
        assert again.terms.options == {"size": 4, "max_plies": 1000}
        red, blue = [await use(reborn, code) for code in room.reservations]
        assert isinstance(red, s.Joined)
        assert isinstance(blue, s.Joined)
        assert (red.side, red.name, blue.side, blue.name) == ("red", "Ann", "blue", "Bob")
        admin = await (await reborn.client()).administer()
        await ask(admin, c.Resume(room=room.room))
        await wait_all_tasks_blocked()
        assert again.match == promised
        nursery.cancel_scope.cancel()


async def test_the_journal_never_sees_a_code(world: World, autojump_clock: MockClock) -> None:
    _, room = await prepared(world)
    await use(world, room.reservations[0])
    written = repr(world.journal.records)
    assert not any(str(code) in written for code in room.reservations)


async def test_a_code_used_for_a_match_that_had_not_begun_is_good_again_even_if_it_expired_meanwhile(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    assert isinstance(await use(world, room.reservations[0]), s.Joined)
    async with trio.open_nursery() as nursery:
        reborn = restarted_after(world, nursery, timedelta(hours=1))
        await trio.sleep(59)
        used, unused = [await use(reborn, code) for code in room.reservations]
        assert isinstance(used, s.Joined)
        assert isinstance(unused, s.Error)
        assert unused.code == "reservation_expired"
        nursery.cancel_scope.cancel()


async def test_a_code_is_good_for_the_rest_of_its_time(world: World, autojump_clock: MockClock) -> None:
    _, room = await prepared(world)
    async with trio.open_nursery() as nursery:
        reborn = restarted_after(world, nursery, timedelta(seconds=100))
        await trio.sleep(19)
        assert isinstance(await use(reborn, room.reservations[0]), s.Joined)
        await trio.sleep(2)
        late = await use(reborn, room.reservations[1])
        assert isinstance(late, s.Error)
        assert late.code == "reservation_expired"
        nursery.cancel_scope.cancel()


def restarted_after(world: World, nursery: trio.Nursery, outage: timedelta) -> World:
    """As if the whole life of ``world`` had been so much earlier."""
    for index, record in enumerate(world.journal.records):
        if isinstance(record, RoomKept):
            state = deepcopy(record.state)
            for seat in state["seats"].values():
                expires = datetime.fromisoformat(seat["reservation"]["expires"])
                seat["reservation"]["expires"] = (expires - outage).isoformat()
            world.journal.records[index] = RoomKept(record.room, record.match, state)
    return restarted(world, nursery)


async def test_a_seat_whose_code_expired_long_ago_is_not_opened_to_everybody(
    world: World, autojump_clock: MockClock
) -> None:
    admin, room = await prepared(world)
    await trio.sleep(2000)
    world.lobby.seating.reservations.sweep(trio.current_time())
    await ask(admin, c.Pause(room=room.room))
    async with trio.open_nursery() as nursery:
        reborn = restarted(world, nursery)
        assert reborn.lobby.rooms[room.room].open_seat() is None
        nursery.cancel_scope.cancel()


async def test_a_paused_match_stays_paused(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    for client in (red, blue):
        await client.start()
    admin = await (await world.client()).administer()
    (room,) = world.lobby.rooms
    assert isinstance(await ask(admin, c.Pause(room=room)), s.Done)
    await red.play_on(1)
    await wait_all_tasks_blocked()
    async with trio.open_nursery() as nursery:
        reborn = restarted(world, nursery)
        assert reborn.lobby.rooms[room].state == "paused"
        assert reborn.lobby.rooms[room].referee is not None
        admin = await (await reborn.client()).administer()
        assert isinstance(await ask(admin, c.Resume(room=room)), s.Done)
        assert not reborn.lobby.rooms[room].gate.paused
        assert reborn.journal.kinds() == ["RoomForgotten"]
        nursery.cancel_scope.cancel()


async def test_a_room_that_was_only_paused_before_its_match_is_not_opened_again(
    world: World, autojump_clock: MockClock
) -> None:
    player = await world.client()
    room = (await player.join(size=4)).room
    admin = await (await world.client()).administer()
    assert isinstance(await ask(admin, c.Pause(room=room)), s.Done)
    assert list(kept(world)) == [room]
    async with trio.open_nursery() as nursery:
        assert restarted(world, nursery).lobby.rooms == {}
        nursery.cancel_scope.cancel()


async def test_in_a_match_that_goes_on_a_code_brings_its_own_seat_back_and_opens_no_other(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    for code in room.reservations:
        assert isinstance(await use(world, code), s.Joined)
    await wait_all_tasks_blocked()
    async with trio.open_nursery() as nursery:
        reborn = restarted(world, nursery)
        again = await use(reborn, room.reservations[0])
        assert isinstance(again, s.Joined)
        assert (again.room, again.side) == (room.room, "red")
        refused = await use(reborn, room.reservations[0])
        assert isinstance(refused, s.Error), "somebody sits there now"
        assert refused.code == "reservation_used"
        assert reborn.lobby.rooms[room.room].info().red.reserved
        nursery.cancel_scope.cancel()


# -- forgotten -----------------------------------------------------------------------------------


async def test_a_room_is_forgotten_when_its_match_has_ended(world: World, autojump_clock: MockClock) -> None:
    _, room = await prepared(world)
    players = [await world.client(), await world.client()]
    for player, code in zip(players, room.reservations, strict=True):
        await player.say(c.JoinReserved(reservation=str(code)))
    for player in players:
        await player.start()
    await wait_all_tasks_blocked()
    assert list(kept(world)) == [room.room]
    await players[0].say(c.Surrender(room=room.room))
    await players[1].wait_for(s.MatchOver)
    await wait_all_tasks_blocked()
    assert world.journal.kinds()[-2:] == ["MatchEnded", "RoomForgotten"]
    assert world.lobby.keeping.names == set()


async def test_a_cancelled_and_an_abandoned_room_are_forgotten(world: World, autojump_clock: MockClock) -> None:
    admin, first = await prepared(world)
    _, second = await prepared(world)
    assert isinstance(await ask(admin, c.Cancel(room=first.room)), s.Done)
    assert list(kept(world)) == [second.room], "told only when it is forgotten"
    await trio.sleep(200)
    world.lobby.sweep()
    await wait_all_tasks_blocked()
    assert kept(world) == {}


async def test_a_room_that_could_not_be_forgotten_is_forgotten_later_and_its_name_not_used_again(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    await trio.sleep(200)
    world.journal.broken = True
    world.lobby.sweep()
    await trio.sleep(60)
    assert not world.lobby.rooms
    assert world.lobby.keeping.names == {room.room}
    world.journal.broken = False
    await trio.sleep(20)
    assert world.lobby.keeping.names == set()
    assert kept(world) == {}


async def test_a_server_that_stops_keeps_its_prepared_rooms_for_the_next_start(
    world: World, autojump_clock: MockClock
) -> None:
    _, room = await prepared(world)
    player = await world.client()
    await player.say(c.JoinReserved(reservation=str(room.reservations[0])))
    await player.hear(s.Joined)
    world.lobby.drain()
    over = await player.wait_for(s.MatchOver)
    assert "has this room and its reservations again" in over.result.detail.message
    world.lobby.suspend_matches()
    async with trio.open_nursery() as nursery:
        reborn = restarted(world, nursery)
        assert isinstance(await use(reborn, room.reservations[0]), s.Joined)
        nursery.cancel_scope.cancel()
