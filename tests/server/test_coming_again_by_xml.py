"""Clients of the Software-Challenge that come again with their reservation codes, and whom results name."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
import trio.testing

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

from .conftest import SECRET
from .xml_clients import XmlClient, XmlWorld, data_of, kind, play_legally, xml_world

SLOT = '<slot displayName="{}" canTimeout="true" reserved="{}"/>'


@pytest.fixture
async def world() -> AsyncIterator[XmlWorld]:
    async with xml_world() as world:
        yield world


async def prepared(world: XmlWorld, *slots: str, pause: bool) -> tuple[XmlClient, list[str]]:
    """An administrator, and the codes of a room that it has prepared."""
    admin = world.xml()
    await admin.say(f'<protocol><authenticate password="{SECRET}"/>')
    (answer,) = await admin.say(
        f'<prepare gameType="swc_2024_mississippi_queen" pause="{str(pause).lower()}">{"".join(slots)}</prepare>'
    )
    return admin, [str(code.text) for code in answer.findall("reservation")]


async def reserved(world: XmlWorld, *, pause: bool = False) -> list[str]:
    """The codes of a room that was prepared for Anna and Bert."""
    _, codes = await prepared(world, *[SLOT.format(name, "true") for name in ("Anna", "Bert")], pause=pause)
    return codes


async def came(world: XmlWorld, code: str) -> XmlClient:
    client = world.xml()
    await client.say(f'<protocol><joinPrepared reservationCode="{code}"/>')
    return client


async def test_a_reservation_is_one_players_seat_whose_older_connection_goes(world: XmlWorld) -> None:
    code = (await reserved(world))[1]
    first, second = await came(world, code), await came(world, code)
    assert first.heard == ["joined", "errorpacket"]
    assert first.closed
    told = first.inbox.messages[1].attrib
    assert told["code"] == "displaced"
    assert told["message"].endswith("your seat was taken over another connection with its reservation code")
    assert code not in str(told)
    assert second.heard == ["joined"]
    assert second.room == first.room


async def test_of_those_who_come_while_a_code_is_being_stored_the_newest_has_the_seat(world: XmlWorld) -> None:
    code = (await reserved(world))[1]
    silence = world.journal.silence = trio.Event()
    clients = [await came(world, code) for _ in range(3)]
    assert [client.heard for client in clients] == [[], [], []]
    world.journal.silence = None
    silence.set()
    await trio.testing.wait_all_tasks_blocked()
    assert [client.heard for client in clients] == [["joined", "errorpacket"]] * 2 + [["joined"]]
    assert [client.closed for client in clients] == [True, True, False]
    assert clients[0].inbox.messages[1].attrib["code"] == "displaced"


async def test_a_code_over_the_connection_that_has_its_seat_is_refused_and_opens_nothing(world: XmlWorld) -> None:
    code = (await reserved(world))[1]
    client = await came(world, code)
    (told,) = await client.say(f'<joinPrepared reservationCode="{code}"/>')
    assert told.attrib["code"] == "already_in_room"
    assert not client.closed


@pytest.mark.parametrize("pause", [False, True])
async def test_who_comes_again_before_the_match_plays_it_when_the_other_comes(world: XmlWorld, pause: bool) -> None:
    red, blue = await reserved(world, pause=pause)
    hangs = await came(world, red)
    again, other = await came(world, red), await came(world, blue)
    if pause:
        assert again.heard == other.heard == ["joined", "welcomeMessage"]
        again = await came(world, red)
        assert again.heard == ["joined", "welcomeMessage"]
    else:
        assert again.heard == ["joined", "welcomeMessage", "memento", "moveRequest"]
        await play_legally(world, again)
        assert other.heard[:4] == ["joined", "welcomeMessage", "memento", "memento"]
    assert hangs.heard == ["joined", "errorpacket"]


@pytest.mark.parametrize("plies", [0, 1, 2])
async def test_who_comes_again_in_the_match_has_its_seat_and_loses_nothing(world: XmlWorld, plies: int) -> None:
    codes = await reserved(world)
    players = [await came(world, code) for code in codes]
    for _ in range(plies):
        await play_legally(world, next(player for player in players if player.asked))
    asked = players[0].asked
    again = await came(world, codes[0])
    assert players[0].heard[-1] == "errorpacket"
    assert players[0].closed
    assert again.heard[:3] == ["joined", "welcomeMessage", "memento"]
    assert again.asked == asked
    await play_legally(world, again if again.asked else players[1])
    assert "result" not in players[1].heard
    assert again.heard[3:].count("memento") == 1


async def test_a_code_of_a_match_that_is_over_displaces_nobody(world: XmlWorld) -> None:
    codes = await reserved(world)
    players = [await came(world, code) for code in codes]
    await players[0].move('<advance distance="6"/>')
    for player, code in zip(players, codes, strict=True):
        (told,) = (await came(world, code)).inbox.messages
        assert told.attrib["code"] == "reservation_used"
        assert told.attrib["message"].startswith("UnknownReservationException: ")
        assert "the match is over" in told.attrib["message"]
        assert code not in str(told.attrib)
        assert not player.closed


async def test_a_loss_is_final_and_the_code_shows_the_end_with_the_names_of_both(world: XmlWorld) -> None:
    codes = await reserved(world)
    players = [await came(world, code) for code in codes]
    await players[0].stream.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert players[1].heard[-2:] == ["result", "left"]
    again = await came(world, codes[0])
    assert again.heard == ["joined", "result", "left"]
    assert named(again) == named(players[1]) == ["Anna", "Bert"]


def named(client: XmlClient) -> list[str | None]:
    """Whom the result names."""
    (told,) = (message for message in client.inbox.messages if kind(message) == "result")
    return [player.get("name") for player in data_of(told).iter("player")]


@pytest.mark.parametrize(("pause", "come"), [(False, 1), (True, 1), (True, 2)])
async def test_players_are_named_also_when_no_match_began(world: XmlWorld, pause: bool, come: int) -> None:
    admin, codes = await prepared(world, *[SLOT.format(name, "true") for name in ("Anna", "Bert")], pause=pause)
    players = [await came(world, code) for code in codes[:come]]
    await admin.say('<observe roomId="ROOM"/>')
    await admin.say('<cancel roomId="ROOM"/>')
    for client in (*players, admin):
        assert named(client) == ["Anna", "Bert"]


async def test_a_player_of_ours_that_left_before_the_match_is_named_no_more(world: XmlWorld) -> None:
    old, ann = world.xml(), await world.client("ann")
    admin, _ = await prepared(world, *[SLOT.format("", "false")] * 2, pause=True)
    old.room = admin.room
    await old.say('<protocol><joinRoom roomId="ROOM"/>')
    await ann.say(c.JoinRoom(room=old.room))
    await ann.wait_for(s.Joined)
    await ann.say(c.Leave(room=old.room))
    await ann.wait_for(s.Left)
    await admin.say('<cancel roomId="ROOM"/>')
    assert named(old) == [None, None]


@pytest.mark.parametrize(("game", "told"), [("mississippi_queen", 13051), ("towerwars", None)])
async def test_an_administrator_is_told_the_port_of_old_bots_for_the_game_that_they_know(
    world: XmlWorld, game: str, told: int | None
) -> None:
    world.lobby.socha_ports = {"mississippi_queen": 13051}
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game=game, slots=[c.Slot(), c.Slot()]))
    assert (await admin.wait_for(s.Prepared)).socha_port == told
