"""The lobby of a tournament: enrolled players enlist, wait, are invited to match after match, and are dismissed."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.codec import encode
from triarena.protocol.frames import HEADER, TO_SERVER
from triarena.protocol.identity import canonical, token_digest
from triarena.protocol.values import PROTOCOL
from triarena.server.bots import BotTokens
from triarena.server.handler import Patience

from .conftest import PATIENCE, Client, World, house

ANN, BOB = "the-token-of-ann", "the-token-of-bob"


async def answer(client: Client, message: c.FromClient) -> Any:
    """What answers a request; what else comes before it is skipped."""
    await client.say(message)
    while True:
        heard = await client._next()
        if isinstance(heard, s.Done | s.Error | s.PlayerList | s.Enlisted | s.Goodbye):
            return heard


async def code_of(client: Client, message: c.FromClient) -> str:
    heard = await answer(client, message)
    assert isinstance(heard, s.Error), heard
    assert heard.request == message.type
    return heard.code


async def organiser(world: World) -> Client:
    return await (await world.client()).administer()


def enrolment(name: str, token: str) -> c.Enrolment:
    return c.Enrolment(name=name, digest=token_digest(token))


async def enrol(admin: Client, **tokens: str) -> None:
    heard = await answer(admin, c.Enrol(players=[enrolment(name, token) for name, token in tokens.items()]))
    assert isinstance(heard, s.Done), heard


async def hello(world: World, name: str | None, token: str | None) -> Client:
    client = Client(world.raw())
    await client.say(c.Hello(protocol=PROTOCOL, software="bot 1", name=name, token=token))
    await client.hear(s.Welcome)
    return client


async def enlisted(world: World, name: str, token: str) -> Client:
    client = await hello(world, name, token)
    await client.say(c.Enlist())
    assert (await client.hear(s.Enlisted)).name == name
    return client


async def prepared(admin: Client, **options: int | str) -> tuple[str, str, str]:
    """A room for Ann and Bob: its name, and the codes of red and blue."""
    await admin.say(c.Prepare(game="towerwars", options=options, slots=[c.Slot(name="Ann"), c.Slot(name="Bob")]))
    answer = await admin.wait_for(s.Prepared)
    red, blue = map(str, answer.reservations)
    return answer.room, red, blue


async def players(admin: Client) -> list[tuple[str, str, bool]]:
    listed = await answer(admin, c.ListPlayers())
    assert isinstance(listed, s.PlayerList)
    return [(player.name, player.connection, player.playing) for player in listed.players]


async def test_an_enrolled_player_is_invited_to_match_after_match(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN, Bob=BOB)
    ann, bob = await enlisted(world, "Ann", ANN), await enlisted(world, "Bob", BOB)
    for seed in range(3):
        room, red, blue = await prepared(admin, size=4, max_plies=2)
        for client, player, code in ((ann, "Ann", red), (bob, "Bob", blue)):
            assert isinstance(await answer(admin, c.Invite(player=player, reservation=code, seed=seed)), s.Done)
            invitation = await client.wait_for(s.Invitation)
            assert (invitation.room, invitation.game, invitation.seed) == (room, "towerwars", seed)
            assert invitation.options == {"size": 4, "max_plies": 2}
            await client.say(c.JoinReserved(reservation=invitation.reservation))
            assert (await client.hear(s.Joined)).name == player
        await ann.start()
        await bob.start()
        assert await players(admin) == [("Ann", "2", True), ("Bob", "3", True)]
        await ann.play_on(1)
        await bob.play_on(1)
        await ann.wait_for(s.MatchOver)
        await bob.wait_for(s.MatchOver)
        assert await players(admin) == [("Ann", "2", False), ("Bob", "3", False)]
    assert isinstance(await answer(admin, c.Dismiss(name="Ann", message="you came first")), s.Done)
    farewell = await ann.wait_for(s.Goodbye)
    assert (farewell.code, farewell.message) == ("dismissed", "you came first")
    assert await players(admin) == [("Bob", "3", False)]


# -- who may enlist ------------------------------------------------------------------------------


async def test_who_comes_before_it_is_enrolled_may_try_again_over_the_same_connection(
    world: World, autojump_clock: MockClock
) -> None:
    ann = await hello(world, "Ann", ANN)
    for _ in range(20):
        assert await code_of(ann, c.Enlist()) == "not_enrolled"
    await enrol(await organiser(world), Ann=ANN)
    assert isinstance(await answer(ann, c.Enlist()), s.Enlisted)


async def test_who_is_not_enrolled_is_told_so_without_words_of_the_protocol(
    world: World, autojump_clock: MockClock
) -> None:
    heard = await answer(await hello(world, "Ann", ANN), c.Enlist())
    assert isinstance(heard, s.Error)
    assert heard.message == "the organiser has not enrolled 'Ann', or not yet"


async def test_who_comes_before_it_is_enrolled_is_not_made_to_wait_at_the_door(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        listed = BotTokens({canonical("Zoe"): token_digest("z")})
        world = World(nursery, house(bots=listed), PATIENCE)  # a server with tokens of its own
        for _ in range(20):
            assert await code_of(await hello(world, "Ann", ANN), c.Enlist()) == "not_enrolled"
        await enrol(await organiser(world), Ann=ANN)
        await enlisted(world, "Ann", ANN)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("name", "token"), [(None, ANN), ("Ann", None), (None, None)])
async def test_enlisting_takes_a_name_and_a_token(
    world: World, name: str | None, token: str | None, autojump_clock: MockClock
) -> None:
    assert await code_of(await hello(world, name, token), c.Enlist()) == "token_required"


async def test_the_token_of_another_player_is_refused_and_tries_of_it_are_throttled(
    world: World, autojump_clock: MockClock
) -> None:
    impostor = await hello(world, "Ann", BOB)
    await enrol(await organiser(world), Ann=ANN, Bob=BOB)
    codes = [await code_of(impostor, c.Enlist()) for _ in range(7)]
    assert codes == ["wrong_token"] * 5 + ["throttled"] * 2
    await enlisted(world, "Bob", BOB)
    await enlisted(world, "Ann", ANN)


@pytest.mark.parametrize("token", [None, BOB])
async def test_an_enrolled_name_is_not_free(world: World, token: str | None, autojump_clock: MockClock) -> None:
    await enrol(await organiser(world), Ann=ANN)
    client = Client(world.raw())
    await client.say(c.Hello(protocol=PROTOCOL, software="", name="ANN", token=token))
    assert (await client.hear(s.Refused)).code == "wrong_token"


async def test_who_has_not_enlisted_hears_of_no_invitation(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    ann = await hello(world, "Ann", ANN)
    _, code, _ = await prepared(admin)
    assert await code_of(admin, c.Invite(player="Ann", reservation=code)) == "not_waiting"
    assert not ann.inbox


async def test_a_bot_of_the_servers_own_file_may_enlist_by_its_token(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(bots=BotTokens({canonical("Ann"): token_digest(ANN)})), PATIENCE)
        await enlisted(world, "Ann", ANN)
        nursery.cancel_scope.cancel()


# -- coming and going ------------------------------------------------------------------------------


async def test_administrators_are_told_who_comes_and_goes(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    ann = await enlisted(world, "Ann", ANN)
    assert await admin.hear(s.PlayerEvent) == s.PlayerEvent(event="came", name="Ann", connection="2")
    assert isinstance(await answer(ann, c.Enlist()), s.Enlisted), "saying it again changes nothing"
    await ann.stream.aclose()
    assert await admin.hear(s.PlayerEvent) == s.PlayerEvent(event="went", name="Ann", connection="2")
    assert await players(admin) == []


async def test_a_newer_connection_displaces_the_older(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    old = await enlisted(world, "Ann", ANN)
    new = await enlisted(world, "Ann", ANN)
    assert (await old.wait_for(s.Goodbye)).code == "displaced"
    events = [await admin.hear(s.PlayerEvent) for _ in range(3)]
    assert [(event.event, event.connection) for event in events] == [("came", "2"), ("went", "2"), ("came", "3")]
    await trio.sleep(1)
    assert await players(admin) == [("Ann", "3", False)], "the end of the older one takes nobody's place"
    _, code, _ = await prepared(admin)
    await answer(admin, c.Invite(player="Ann", reservation=code))
    await new.hear(s.Invitation)


async def test_who_waits_answers_pings_and_stays_for_hours(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        patience = Patience(greeting=5.0, write=5.0, heartbeat=10.0, bad_frames=3, queue_bytes=1 << 20)
        world = World(nursery, house(), patience)
        admin = await organiser(world)
        await enrol(admin, Ann=ANN)
        ann = await enlisted(world, "Ann", ANN)
        with trio.move_on_after(4 * 3600):
            await ann.hear(s.Invitation)  # pings are answered meanwhile
        assert world.lobby.guests["2"].connection.greeted
        assert [key for key, guest in world.lobby.guests.items() if guest.name == "Ann"] == ["2"]
        nursery.cancel_scope.cancel()


async def test_a_match_goes_on_when_its_player_has_lost_its_place(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=30.0), PATIENCE)
        admin = await organiser(world)
        await enrol(admin, Ann=ANN, Bob=BOB)
        ann, bob = await enlisted(world, "Ann", ANN), await enlisted(world, "Bob", BOB)
        _, red, blue = await prepared(admin, size=4)
        for client, player, code in ((ann, "Ann", red), (bob, "Bob", blue)):
            await answer(admin, c.Invite(player=player, reservation=code))
            await client.say(c.JoinReserved(reservation=code))
        await ann.start()
        await bob.start()
        await ann.stream.aclose()
        again = await hello(world, "Ann", ANN)
        await again.say(c.Rejoin(token=red))
        await again.hear(s.Joined)
        await again.start()
        await again.say(c.Enlist())
        await again.wait_for(s.Enlisted)
        assert sorted(await players(admin)) == [("Ann", "4", True), ("Bob", "3", True)]
        nursery.cancel_scope.cancel()


# -- what administrators may do --------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        c.Enrol(players=[enrolment("Ann", ANN)]),
        c.Invite(player="Ann", reservation="code"),
        c.ListPlayers(),
        c.Dismiss(name="Ann"),
    ],
    ids=lambda message: message.type,
)
async def test_nobody_else_may(world: World, message: c.FromClient, autojump_clock: MockClock) -> None:
    assert await code_of(await world.client(), message) == "not_administrator"


async def test_a_tournament_that_is_resumed_enrols_again(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN, Bob=BOB)
    ann, bob = await enlisted(world, "Ann", ANN), await enlisted(world, "Bob", BOB)
    await enrol(admin, Ann=ANN, Bob="a-new-token")
    assert await players(admin) == [("Ann", "2", False)]
    assert (await bob.wait_for(s.Goodbye)).code == "wrong_token"
    assert not ann.inbox
    await enlisted(world, "Bob", "a-new-token")


async def test_a_name_of_the_servers_own_file_stays_its_owners(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(bots=BotTokens({canonical("Ann"): token_digest(ANN)})), PATIENCE)
        admin = await organiser(world)
        both = c.Enrol(players=[enrolment("Bob", BOB), enrolment("ann", "another-token")])
        assert await code_of(admin, both) == "name_taken"
        assert await code_of(await hello(world, "Bob", BOB), c.Enlist()) == "not_enrolled", "all of them, or none"
        await enrol(admin, Ann=ANN, Bob=BOB)
        nursery.cancel_scope.cancel()


async def test_a_name_stays_its_organisers_as_long_as_that_one_is_connected(
    world: World, autojump_clock: MockClock
) -> None:
    first, second = await organiser(world), await organiser(world)
    await enrol(first, Ann=ANN)
    ann = await enlisted(world, "Ann", ANN)
    both = c.Enrol(players=[enrolment("Bob", BOB), enrolment("ANN", "another-token")])
    assert await code_of(second, both) == "name_taken"
    assert await code_of(await hello(world, "Bob", BOB), c.Enlist()) == "not_enrolled", "all of them, or none"
    assert not ann.inbox, "nobody has thrown it out"
    await enrol(first, Ann=ANN)
    assert [name for name, _, _ in await players(first)] == ["Ann"]


@pytest.mark.parametrize("token", [ANN, "another-token"])
async def test_when_an_organiser_has_gone_another_may_take_its_names_over(
    world: World, token: str, autojump_clock: MockClock
) -> None:
    first, second = await organiser(world), await organiser(world)
    await enrol(first, Ann=ANN)
    await first.stream.aclose()
    await trio.sleep(1)
    await enrol(second, Ann=token)
    await enlisted(world, "Ann", token)
    assert await code_of(await organiser(world), c.Enrol(players=[enrolment("Ann", "a-third")])) == "name_taken"


async def test_the_program_that_comes_back_takes_its_names_over_before_its_old_connection_is_found_lost(
    world: World, autojump_clock: MockClock
) -> None:
    first, second = await organiser(world), await organiser(world)
    await enrol(first, Ann=ANN)
    await enrol(second, Ann=ANN)
    await first.stream.aclose()
    await trio.sleep(1)
    assert await code_of(await organiser(world), c.Enrol(players=[enrolment("Ann", "a-third")])) == "name_taken"


async def test_a_dismissed_name_may_be_enrolled_by_anybody(world: World, autojump_clock: MockClock) -> None:
    first, second = await organiser(world), await organiser(world)
    await enrol(first, Ann=ANN)
    await answer(first, c.Dismiss(name="Ann"))
    await enrol(second, Ann="another-token")


async def test_names_that_people_would_take_for_the_same_are_not_enrolled_together(
    world: World, autojump_clock: MockClock
) -> None:
    message = c.Enrol(players=[enrolment("Ann", ANN), enrolment("ANN", BOB)])
    assert await code_of(await organiser(world), message) == "name_taken"


async def test_there_are_no_more_players_than_the_settings_allow(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(enrolled_players=2), PATIENCE)
        admin = await organiser(world)
        await enrol(admin, Ann=ANN, Bob=BOB)
        await enrol(admin, Ann=ANN, Bob=BOB)
        assert await code_of(admin, c.Enrol(players=[enrolment("Cid", "c")])) == "too_many_players"
        await answer(admin, c.Dismiss(name="Ann"))
        await enrol(admin, Cid="c")
        nursery.cancel_scope.cancel()


def test_as_many_players_as_a_request_may_name_fit_into_its_frame() -> None:
    longest = [enrolment(chr(0x20000 + n) * 40, ANN) for n in range(c.ENROLMENTS)]
    assert len(encode(c.Enrol(id=2**53, players=longest)).data) - HEADER <= TO_SERVER


async def test_an_invitation_takes_a_reservation_that_is_good(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    ann = await enlisted(world, "Ann", ANN)
    assert await code_of(admin, c.Invite(player="Ann", reservation="made-up")) == "unknown_reservation"
    room, code, _ = await prepared(admin)
    await ann.say(c.JoinReserved(reservation=code))
    await ann.wait_for(s.Joined)
    assert await code_of(admin, c.Invite(player="Ann", reservation=code)) == "reservation_used"
    await answer(admin, c.Cancel(room=room))
    assert await code_of(admin, c.Invite(player="Ann", reservation=code)) == "unknown_reservation"


async def test_nobody_is_invited_twice_at_once(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    ann = await enlisted(world, "Ann", ANN)
    room, first, _ = await prepared(admin)
    _, second, _ = await prepared(admin)
    await answer(admin, c.Invite(player="Ann", reservation=first))
    assert await players(admin) == [("Ann", "2", True)]
    assert await code_of(admin, c.Invite(player="Ann", reservation=second)) == "not_waiting"
    assert isinstance(await answer(admin, c.Invite(player="Ann", reservation=first)), s.Done), (
        "the same may be repeated"
    )
    await ann.say(c.JoinReserved(reservation=first))
    await ann.wait_for(s.Joined)
    assert await code_of(admin, c.Invite(player="Ann", reservation=second)) == "not_waiting"
    await answer(admin, c.Cancel(room=room))
    assert isinstance(await answer(admin, c.Invite(player="Ann", reservation=second)), s.Done), "free again"


async def test_an_invitation_that_was_not_answered_lapses_with_its_room_or_code(
    world: World, autojump_clock: MockClock
) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    await enlisted(world, "Ann", ANN)
    room, code, _ = await prepared(admin)
    await answer(admin, c.Invite(player="Ann", reservation=code))
    await answer(admin, c.Cancel(room=room))
    assert await players(admin) == [("Ann", "2", False)]
    _, code, _ = await prepared(admin)
    await answer(admin, c.Invite(player="Ann", reservation=code))
    assert await players(admin) == [("Ann", "2", True)]
    await trio.sleep(world.lobby.house.reservation)
    assert await players(admin) == [("Ann", "2", False)]


# -- dismissal -------------------------------------------------------------------------------------


async def test_a_dismissed_name_is_free_again(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    await answer(admin, c.Dismiss(name="Ann"))
    await hello(world, "Ann", None)
    assert await code_of(admin, c.Dismiss(name="Ann")) == "not_enrolled"


async def test_who_was_away_when_dismissed_is_told_when_it_comes_back_and_nobody_else(
    world: World, autojump_clock: MockClock
) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    await answer(admin, c.Dismiss(name="Ann", message="it is over"))
    assert await code_of(await hello(world, "Ann", BOB), c.Enlist()) == "not_enrolled"
    farewell = await answer(await hello(world, "Ann", ANN), c.Enlist())
    assert isinstance(farewell, s.Goodbye)
    assert (farewell.code, farewell.message) == ("dismissed", "it is over")
    await enrol(admin, Ann=ANN)
    await enlisted(world, "Ann", ANN)


async def test_nobody_is_dismissed_out_of_a_match(world: World, autojump_clock: MockClock) -> None:
    admin = await organiser(world)
    await enrol(admin, Ann=ANN)
    ann = await enlisted(world, "Ann", ANN)
    room, code, _ = await prepared(admin)
    await ann.say(c.JoinReserved(reservation=code))
    await ann.wait_for(s.Joined)
    assert await code_of(admin, c.Dismiss(name="Ann")) == "match_running"
    await answer(admin, c.Cancel(room=room))
    assert isinstance(await answer(admin, c.Dismiss(name="Ann")), s.Done)


async def test_a_server_that_stops_takes_nobody_in(world: World, autojump_clock: MockClock) -> None:
    await enrol(await organiser(world), Ann=ANN)
    world.lobby.drain()
    assert await code_of(await hello(world, "Ann", ANN), c.Enlist()) == "server_stopping"
