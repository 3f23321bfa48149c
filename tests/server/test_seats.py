"""Getting a seat: by game, by room, by reservation; and what is refused, with which code."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

from .conftest import Client, World


async def refused(client: Client, message: c.FromClient) -> s.Error:
    await client.say(message)
    error = await client.hear(s.Error)
    assert error.request == message.type
    return error


async def test_the_first_two_meet_and_the_third_opens_a_room(world: World, autojump_clock: MockClock) -> None:
    a, b, d = [await world.client(name) for name in ("a", "b", "d")]
    first, second, third = await a.join(size=4), await b.join(size=4), await d.join(size=4)
    assert first.room == second.room != third.room
    assert [first.side, second.side, third.side] == ["red", "blue", "red"]
    assert first.options == {"size": 4, "max_plies": 1000}, "all options, with their effective values"


async def test_other_options_mean_another_room(world: World, autojump_clock: MockClock) -> None:
    a, b = await world.client("a"), await world.client("b")
    assert (await a.join(size=4)).room != (await b.join(size=5)).room
    assert (await (await world.client("x")).join(size=8)).room == (await (await world.client("y")).join()).room


@pytest.mark.parametrize(
    ("game", "options", "code", "word"),
    [
        ("chess", {}, "unknown_game", "towerwars"),
        ("towerwars", {"size": 3}, "bad_option", "from 4 to 26"),
        ("towerwars", {"colour": 1}, "bad_option", "colour"),
        ("towerwars", {"size": "big"}, "bad_option", "whole number"),
    ],
)
async def test_bad_wishes_are_refused_with_the_choices(
    world: World, game: str, options: dict[str, int | str], code: str, word: str, autojump_clock: MockClock
) -> None:
    client = await world.client("a")
    error = await refused(client, c.Join(game=game, options=options, id=7))
    assert (error.code, error.id) == (code, 7)
    assert word in error.message
    assert (await client.join()).side == "red", "the connection goes on"


async def test_a_room_can_be_joined_by_name_until_it_is_full(world: World, autojump_clock: MockClock) -> None:
    a, b, d = [await world.client(name) for name in ("a", "b", "d")]
    room = (await a.join()).room
    assert (await refused(a, c.JoinRoom(room=room))).code == "already_in_room"
    assert (await refused(b, c.JoinRoom(room="nowhere"))).code == "unknown_room"
    await b.say(c.JoinRoom(room=room))
    assert (await b.hear(s.Joined)).side == "blue"
    assert (await refused(d, c.JoinRoom(room=room))).code == "match_running"


async def test_same_names_are_told_apart(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.client("bot"), await world.client("bot")
    assert (await red.join()).name == "bot"
    assert (await blue.join()).name == "bot-2"
    assert (await red.wait_for(s.MatchStarted)).players.blue == "bot-2"


async def test_a_seat_given_back_is_open_again(world: World, autojump_clock: MockClock) -> None:
    a, b = await world.client("a"), await world.client("b")
    room = (await a.join()).room
    await a.say(c.Leave(room=room, id=3))
    left = await a.hear(s.Left)
    assert (left.room, left.id) == (room, 3)
    assert world.lobby.rooms == {}, "an empty room that nobody prepared is closed"
    assert (await b.join()).room != room
    assert (await a.join()).side == "blue"


async def test_a_client_that_vanishes_before_the_match_gives_its_seat_back(
    world: World, autojump_clock: MockClock
) -> None:
    a = await world.client("a")
    await a.join()
    await a.stream.aclose()
    await wait_all_tasks_blocked()
    assert world.lobby.rooms == {}


async def test_leaving_a_running_match_is_a_forfeit(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    room = (await red.start()).room
    await blue.start()
    await blue.say(c.Leave(room=room))
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.kind, result.reason, result.winner) == ("forfeit", "left", "red")
    assert (await blue.wait_for(s.MatchOver)).result == result


async def test_a_connection_holds_a_bounded_number_of_seats(world: World, autojump_clock: MockClock) -> None:
    a = await world.client("a")
    await a.join(size=4)
    await a.join(size=5)
    assert (await refused(a, c.Join(game="towerwars", options={"size": 6}))).code == "too_many_rooms"


async def prepare(world: World, **fields: object) -> tuple[Client, s.Prepared]:
    admin = await (await world.client()).administer()
    slots = [{"name": "Ann", "reserved": True}, {"name": "Bob", "reserved": True}]
    message = {"game": "towerwars", "options": {"size": 4}, "slots": slots, **fields}
    await admin.say(c.Prepare.model_validate(message))
    return admin, await admin.wait_for(s.Prepared)


async def test_reservations_open_their_own_seat_once(world: World, autojump_clock: MockClock) -> None:
    _, prepared = await prepare(world)
    red_code, blue_code = prepared.reservations
    assert red_code
    assert blue_code
    a, b, d = [await world.client(name) for name in ("x", "y", "z")]
    assert (await refused(d, c.JoinRoom(room=prepared.room))).code == "seat_reserved"
    await b.say(c.JoinReserved(reservation=blue_code))
    joined = await b.hear(s.Joined)
    assert (joined.side, joined.name) == ("blue", "Bob"), "the organiser's name, not the client's"
    assert (await refused(d, c.JoinReserved(reservation=blue_code))).code == "reservation_used"
    assert (await refused(d, c.JoinReserved(reservation="guess"))).code == "unknown_reservation"
    await a.say(c.JoinReserved(reservation=red_code))
    assert (await a.hear(s.Joined)).side == "red"
    assert (await b.wait_for(s.MatchStarted)).players.red == "Ann"


async def test_a_used_code_is_told_whether_its_player_plays_has_left_or_is_at_the_end(
    world: World, autojump_clock: MockClock
) -> None:
    _, prepared = await prepare(world)
    codes = [str(code) for code in prepared.reservations]
    players = [await world.client(name) for name in ("x", "y")]
    for player, code in zip(players, codes, strict=True):
        await player.say(c.JoinReserved(reservation=code))
        await player.wait_for(s.Joined)
    for player in players:
        await player.start()
    red, blue = players
    stranger = await world.client("z")

    async def told(code: str) -> str:
        error = await refused(stranger, c.JoinReserved(reservation=code))
        assert error.code == "reservation_used"
        return error.message

    assert "its player is still connected" in await told(codes[0])
    world.journal.silence = trio.Event()
    await red.say(c.Leave(room=prepared.room))
    await wait_all_tasks_blocked()
    assert "its player has left the match; there is no way back" in await told(codes[0]), "its end is being stored"
    assert "its player is still connected" in await told(codes[1])
    world.journal.silence.set()
    await blue.wait_for(s.MatchOver)
    over = "the match of this reservation is over, and was"
    assert await told(codes[0]) == f"{over} lost: red left the match [left]"
    assert await told(codes[1]) == f"{over} won: red left the match [left]"
    await red.stream.aclose()
    await wait_all_tasks_blocked()
    assert await told(codes[0]) == f"{over} lost: red left the match [left]"


async def test_a_join_by_game_never_takes_a_reserved_seat(world: World, autojump_clock: MockClock) -> None:
    _, prepared = await prepare(world)
    assert (await (await world.client("a")).join(size=4)).room != prepared.room


async def test_who_drops_out_before_the_match_may_use_the_code_again(world: World, autojump_clock: MockClock) -> None:
    _, prepared = await prepare(world)
    code = prepared.reservations[0]
    assert code
    a, again = await world.client(), await world.client()
    await a.say(c.JoinReserved(reservation=code))
    await a.hear(s.Joined)
    await a.stream.aclose()
    await wait_all_tasks_blocked()
    await again.say(c.JoinReserved(reservation=code))
    assert (await again.hear(s.Joined)).room == prepared.room


async def test_a_reservation_expires(world: World, autojump_clock: MockClock) -> None:
    _, prepared = await prepare(world)
    code = prepared.reservations[0]
    assert code
    autojump_clock.jump(121)
    late = await world.client()
    assert (await refused(late, c.JoinReserved(reservation=code))).code == "reservation_expired"


async def test_the_seed_decides_the_board_and_is_not_told(world: World, autojump_clock: MockClock) -> None:
    boards = []
    for _ in range(2):
        _, prepared = await prepare(world, game="mississippi_queen", options={}, seed=42)
        clients = []
        for code in prepared.reservations:
            client = await world.client()
            await client.say(c.JoinReserved(reservation=str(code)))
            clients.append(client)
        started = await clients[0].wait_for(s.MatchStarted)
        boards.append(started.position)
        assert "42" not in started.model_dump_json().replace("-42", "")
    assert boards[0] == boards[1]
