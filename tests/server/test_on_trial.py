"""A full server has a few places more, for who proves to be an administrator, and for nobody else."""

from __future__ import annotations

import pytest
import trio

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.admission import TRIALS_PER_ADDRESS, Admission, Bounds
from triarena.server.refusal import Refusal

from .at_the_door import open_door


class Somebody:
    greeted = False

    def close(self, code: str, message: str) -> None:
        raise AssertionError("nobody is hung up on")


def test_trials_are_few_in_all_and_from_one_address() -> None:
    door = Admission(Bounds(connections=1, per_address=1, newcomers=9, trials=3))
    assert door.enter("10.0.0.1", Somebody()).doubt is None
    doubts = [door.enter(address, Somebody(), on_trial=True).doubt for address in ["10.0.0.1", "10.0.0.1", "10.0.0.2"]]
    assert [doubt and doubt.code for doubt in doubts] == ["server_full"] * 3
    for address in ("10.0.0.1", "10.0.0.3"):
        with pytest.raises(Refusal):
            door.enter(address, Somebody(), on_trial=True)
    assert door.count == 4


def test_one_address_cannot_take_all_the_trials() -> None:
    door = Admission(Bounds(connections=1, per_address=1, newcomers=9, trials=8))
    door.enter("10.0.0.1", Somebody())
    for _ in range(TRIALS_PER_ADDRESS):
        door.enter("10.0.0.1", Somebody(), on_trial=True)
    with pytest.raises(Refusal):
        door.enter("10.0.0.1", Somebody(), on_trial=True)
    assert door.enter("10.0.0.2", Somebody(), on_trial=True).doubt


def test_who_has_proven_itself_frees_its_trial_and_counts_as_a_connection() -> None:
    door = Admission(Bounds(connections=1, per_address=1, newcomers=9, trials=1))
    first = door.enter("10.0.0.1", Somebody())
    organiser = door.enter("10.0.0.1", Somebody(), on_trial=True)
    door.proven(organiser)
    door.enter("10.0.0.1", Somebody(), on_trial=True)
    door.leave(first)
    with pytest.raises(Refusal):
        door.enter("10.0.0.1", Somebody())
    door.leave(organiser)
    assert door.enter("10.0.0.1", Somebody()).doubt is None


def test_nobody_is_let_in_on_trial_where_that_is_not_asked_for() -> None:
    door = Admission(Bounds(connections=1, per_address=1, newcomers=9, trials=1))
    door.enter("10.0.0.1", Somebody())
    with pytest.raises(Refusal):
        door.enter("10.0.0.1", Somebody())


async def test_the_organiser_can_administer_a_full_server_from_the_address_that_fills_it() -> None:
    async with open_door(per_address=2, trials=2) as door:
        red, blue = await door.greet("ann"), await door.greet("bob")
        room = (await red.join(size=4)).room
        await blue.join(size=4)
        await red.start()
        await blue.start()
        organiser = await (await door.greet()).administer()
        await organiser.say(c.ListRooms())
        assert [info.room for info in (await organiser.wait_for(s.Rooms)).rooms] == [room]
        for message in (c.Pause(room=room), c.Cancel(room=room)):
            await organiser.say(message)
            await organiser.wait_for(s.Done)
        assert (await red.wait_for(s.MatchOver)).result.reason == "cancelled"
        another = await (await door.greet()).administer()
        third = await (await door.greet()).administer()
        for client in (another, third):
            await client.say(c.ListRooms())
            await client.wait_for(s.Rooms)


@pytest.mark.parametrize(
    "message",
    [
        c.Join(game="towerwars"),
        c.ListRooms(),
        c.Observe(room="x"),
        c.Rejoin(token="x"),
        c.JoinReserved(reservation="x"),
    ],
)
async def test_whoever_asks_for_anything_else_is_told_that_there_is_no_room(message: c.FromClient) -> None:
    async with open_door(per_address=1, trials=1) as door:
        await door.greet()
        client = await door.greet()
        await client.say(message)
        assert (await client.hear(s.Goodbye)).code == "address_full"
        assert len(door.world.lobby.rooms) == 0


async def test_so_is_who_guesses_a_secret_or_says_nothing_in_time() -> None:
    async with open_door(per_address=1, trials=2, greeting=0.2) as door:
        await door.greet()
        silent, guessing = await door.greet(), await door.greet()
        await guessing.say(c.Authenticate(secret="a guess"))
        assert (await guessing.hear(s.Error)).code == "wrong_secret"
        with trio.fail_after(5):
            for client in (silent, guessing):
                assert (await client.hear(s.Goodbye)).code == "address_full"
                await client.stream.aclose()
            while door.door._admission.count > 1:  # noqa: ASYNC110 - a real server sets no event
                await trio.sleep(0.005)
        await (await (await door.knock()).greet()).administer()
