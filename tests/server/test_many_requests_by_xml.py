"""Requests by XML that are not waited for: each is answered, in order, however many come at once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol.session import PIPELINE
from triarena.server.connection import CHUNK

from .conftest import SECRET
from .xml_clients import JOIN, XmlClient, XmlWorld, xml_world

PREPARE = '<prepare gameType="swc_2024_mississippi_queen"><slot reserved="true"/><slot reserved="true"/></prepare>'
MOVE = "<data class='move'><actions><advance distance='1'/></actions></data>"
STEP = '<step roomId="none"/>'


@pytest.fixture
async def world() -> AsyncIterator[XmlWorld]:
    async with xml_world(prepared_rooms=200, rooms=200) as world:
        yield world


async def administrator(world: XmlWorld) -> XmlClient:
    admin = world.xml()
    await admin.say(f'<protocol><authenticate password="{SECRET}"/>')
    return admin


@pytest.mark.parametrize("many", [PIPELINE, PIPELINE + 1, 4 * PIPELINE])
async def test_all_of_many_requests_are_answered_in_order(
    world: XmlWorld, autojump_clock: MockClock, many: int
) -> None:
    admin = await administrator(world)
    words = [PREPARE if n % 8 == 0 else f'<observe roomId="none{n}"/>' for n in range(many)]
    told = await admin.say("".join(words))
    await trio.sleep(5)
    told = admin.inbox.messages
    assert [message.tag for message in told] == ["prepared" if n % 8 == 0 else "errorpacket" for n in range(many)]
    asked = [message.find("originalRequest") for message in told]
    rooms = [None if one is None else one.attrib["roomId"] for one in asked]
    assert rooms == [None if n % 8 == 0 else f"none{n}" for n in range(many)]
    assert not admin.closed


async def test_requests_whose_answers_have_no_words_hold_nobody_up(world: XmlWorld, autojump_clock: MockClock) -> None:
    admin = await administrator(world)
    await admin.say(PREPARE)
    pause = '<pause roomId="ROOM" pause="true"/><pause roomId="ROOM" pause="false"/>'.replace("ROOM", admin.room)
    await admin.say(pause * PIPELINE)
    await trio.sleep(5)
    await admin.say(PREPARE)
    assert admin.heard == ["prepared", "prepared"]


async def test_no_more_is_read_than_one_piece_while_answers_wait(world: XmlWorld, autojump_clock: MockClock) -> None:
    admin = await administrator(world)
    guest = next(iter(world.lobby.guests.values()))
    world.journal.silence = silence = trio.Event()
    many = 3 * CHUNK // len(STEP)
    await admin.say(PREPARE + STEP * many)
    assert PIPELINE < len(guest._unanswered) <= CHUNK // len(STEP) + 1
    assert admin.inbox.messages == []
    silence.set()
    await trio.sleep(5)
    assert [message.tag for message in admin.inbox.messages] == ["prepared"] + ["errorpacket"] * many


async def test_a_move_is_taken_with_the_requests_before_it(world: XmlWorld) -> None:
    one, two = await world.xml_pair()
    await one.say('<observe roomId="none"/>' * (2 * PIPELINE) + "<room roomId='ROOM'>" + MOVE + "</room>")
    assert one.heard.count("errorpacket") == 2 * PIPELINE
    assert two.heard[-1] == "moveRequest"


@pytest.mark.parametrize("kind", ["xml", "ours"])
async def test_a_room_whose_maker_went_before_it_was_told_of_it_is_closed(
    world: XmlWorld, autojump_clock: MockClock, kind: str
) -> None:
    world.journal.silence = silence = trio.Event()
    if kind == "xml":
        admin = await administrator(world)
        await admin.say(PREPARE * 3)
        await admin.stream.aclose()
    else:
        ours = await world.client()
        await ours.say(c.Authenticate(secret=SECRET))
        await ours.say(c.Prepare(game="flowerwars", slots=[c.Slot(), c.Slot()]))
        await trio.testing.wait_all_tasks_blocked()
        await ours.stream.aclose()
    await trio.testing.wait_all_tasks_blocked()
    silence.set()
    await trio.testing.wait_all_tasks_blocked()
    assert world.lobby.rooms == {}
    assert world.journal.kinds() == ["RoomKept", "RoomForgotten"]


async def test_a_client_that_says_goodbye_behind_many_requests_leaves(world: XmlWorld) -> None:
    client = world.xml()
    await client.say(JOIN + '<joinRoom roomId="none"/>' * PIPELINE + "</protocol>")
    assert client.closed
    assert world.lobby.rooms == {}
