"""Administrators of the Software-Challenge: they prepare, observe, pause, step and cancel as with the original."""

from __future__ import annotations

from collections.abc import AsyncIterator
from xml.etree.ElementTree import Element

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

from .conftest import SECRET, Log
from .xml_clients import JOIN, XmlClient, XmlWorld, data_of, kind, play_legally, xml_world

TYPE = "swc_2024_mississippi_queen"
PASSWORD = "examplepassword"
SLOT = '<slot displayName="{}" canTimeout="{}" reserved="{}"/>'


@pytest.fixture
async def world() -> AsyncIterator[XmlWorld]:
    async with xml_world(password=PASSWORD) as world:
        yield world


def prepare(*slots: str, pause: bool, game: str = TYPE) -> str:
    return f'<prepare gameType="{game}" pause="{str(pause).lower()}">' + "".join(slots) + "</prepare>"


async def administrator(world: XmlWorld) -> XmlClient:
    client = world.xml()
    assert await client.say(f'<protocol><authenticate password="{PASSWORD}"/>') == [], "the original answers nothing"
    return client


async def prepared(world: XmlWorld, *, pause: bool) -> tuple[XmlClient, XmlClient, XmlClient]:
    """An administrator who watches, and the two players, who have joined."""
    admin = await administrator(world)
    slots = [SLOT.format(name, "true", "true") for name in ("Anna", "Bert")]
    (answer,) = await admin.say(prepare(*slots, pause=pause))
    codes = [code.text for code in answer.findall("reservation")]
    assert len(codes) == 2
    await admin.say('<observe roomId="ROOM"/>')
    players = [world.xml(), world.xml()]
    for player, code in zip(players, codes, strict=True):
        await player.say(f'<protocol><joinPrepared reservationCode="{code}"/>')
    return admin, players[0], players[1]


def turn(message: Element) -> str:
    state = data_of(message).find("state")
    assert state is not None
    return state.attrib["turn"]


async def test_a_prepared_game_begins_when_both_players_are_there(world: XmlWorld) -> None:
    admin, one, two = await prepared(world, pause=False)
    assert admin.heard == ["prepared", "observed", "memento"]
    assert one.heard == ["joined", "welcomeMessage", "memento", "moveRequest"]
    assert two.heard == ["joined", "welcomeMessage", "memento"]


async def test_a_paused_game_is_stepped_unpaused_paused_and_cancelled(world: XmlWorld) -> None:
    admin, one, two = await prepared(world, pause=True)
    assert admin.heard == ["prepared", "observed", "memento"], "observers see the board before the first step"
    assert turn(admin.inbox.messages[-1]) == "0"
    assert one.heard == two.heard == ["joined", "welcomeMessage"]

    await admin.say('<step roomId="ROOM" forced="false"/>')
    assert one.heard[2:] == ["memento", "moveRequest"]
    assert two.heard[2:] == ["memento"]
    await play_legally(world, one)
    assert two.heard[-1] == "memento", "the game waits for the next step"

    (told,) = await admin.say('<pause roomId="ROOM" pause="false"/>')
    assert data_of(told).attrib == {"class": "paused", "paused": "false"}
    assert two.asked
    (told,) = await admin.say('<pause roomId="ROOM" pause="true"/>')
    assert data_of(told).attrib["paused"] == "true"
    assert await admin.say('<pause roomId="ROOM" pause="true"/>') == []
    await play_legally(world, two)
    assert "moveRequest" not in (one.heard[-1], two.heard[-1]), "a pause holds from the next ply on"

    told_all = await admin.say('<cancel roomId="ROOM"/>')
    assert [kind(message) for message in told_all] == ["result", "left"]
    for client in (admin, one, two):
        assert client.heard[-2:] == ["result", "left"]
        won = data_of(client.inbox.messages[-2]).find("winner")
        assert won is not None
        assert won.attrib == {
            "regular": "false",
            "reason": "Das Spiel wurde von der Spielleitung abgebrochen.",
            "code": "cancelled",
        }
        names = [player.attrib["name"] for player in data_of(client.inbox.messages[-2]).iter("player")]
        assert names == ["Anna", "Bert"]


async def test_a_step_in_a_game_that_is_not_paused_is_not_answered(world: XmlWorld) -> None:
    admin, _, _ = await prepared(world, pause=False)
    assert await admin.say('<step roomId="ROOM"/>') == []


async def test_a_game_that_waits_for_players_is_cancelled(world: XmlWorld) -> None:
    admin = await administrator(world)
    await admin.say(prepare(SLOT.format("A", "true", "true"), SLOT.format("B", "true", "true"), pause=False))
    await admin.say('<observe roomId="ROOM"/>')
    told = await admin.say('<cancel roomId="ROOM"/>')
    assert [kind(message) for message in told] == ["result", "left"]
    (told_again,) = await admin.say('<cancel roomId="ROOM"/>')
    assert told_again.attrib["message"].startswith("GameRoomException: ")


async def test_who_observes_a_paused_game_late_is_shown_the_board(world: XmlWorld) -> None:
    admin, _, _ = await prepared(world, pause=True)
    late = world.xml()
    late.room = admin.room
    told = await late.say('<protocol><observe roomId="ROOM"/>')
    assert [kind(message) for message in told] == ["observed", "memento"]


async def test_an_observer_that_is_no_administrator_is_told_of_pauses(world: XmlWorld) -> None:
    admin, _, _ = await prepared(world, pause=False)
    watcher = world.xml()
    watcher.room = admin.room
    await watcher.say('<protocol><observe roomId="ROOM"/>')
    await admin.say('<pause roomId="ROOM" pause="true"/>')
    assert watcher.heard[-1] == admin.heard[-1] == "paused"


@pytest.mark.parametrize("secret", [SECRET, PASSWORD])
async def test_either_secret_makes_an_administrator(world: XmlWorld, secret: str) -> None:
    client = world.xml()
    assert await client.say(f'<protocol><authenticate password="{secret}"/>') == []
    (told,) = await client.say(prepare(*[SLOT.format("", "false", "false")] * 2, pause=False))
    assert told.tag == "prepared"
    assert list(told) == [], "no seat is reserved"


async def test_a_wrong_password_is_told_and_slowed_down(world: XmlWorld) -> None:
    client = world.xml()
    await client.say("<protocol>")
    told = [(await client.say('<authenticate password="guess"/>'))[0] for _ in range(8)]
    assert {one.attrib["code"] for one in told} == {"wrong_secret", "throttled"}
    assert told[-1].attrib["code"] == "throttled"
    assert all("guess" not in str(one.attrib) for one in told)


@pytest.mark.parametrize(
    "words",
    [
        prepare(*[SLOT.format("", "true", "true")] * 2, pause=False),
        '<cancel roomId="ROOM"/>',
        '<pause roomId="ROOM" pause="true"/>',
        '<step roomId="ROOM"/>',
    ],
)
async def test_who_is_no_administrator_is_told_so(world: XmlWorld, words: str) -> None:
    one, _ = await world.xml_pair()
    (told,) = await one.say(words)
    assert told.attrib["code"] == "not_administrator"
    assert told.attrib["message"].startswith("UnauthenticatedException: ")
    original = told.find("originalRequest")
    assert original is not None
    assert original.attrib.get("roomId") == (one.room if "roomId" in words else None)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (prepare(*[SLOT.format("", "true", "true")] * 2, pause=False, game="swc_2023_penguins"), "unknown_game_type"),
        ("<prepare/>", "unknown_game_type"),
        (prepare(SLOT.format("", "true", "true"), pause=False), "invalid_message"),
        (prepare(*[SLOT.format("", "true", "true")] * 3, pause=False), "invalid_message"),
        (prepare(*[SLOT.format("Same", "true", "true")] * 2, pause=False), "name_taken"),
    ],
)
async def test_an_administrator_survives_a_wrong_request(world: XmlWorld, words: str, code: str) -> None:
    admin = await administrator(world)
    (told,) = await admin.say(words)
    assert told.attrib["code"] == code
    assert (await admin.say(prepare(*[SLOT.format("", "true", "true")] * 2, pause=False)))[0].tag == "prepared"


async def test_administrators_are_told_of_plain_joins(world: XmlWorld) -> None:
    admin = await administrator(world)
    await world.xml_pair()
    assert admin.heard == ["joinedGameRoom"] * 2
    assert [message.attrib["playerCount"] for message in admin.inbox.messages] == ["1", "2"]


async def test_administrators_are_told_of_no_joins_in_rooms_of_other_games(world: XmlWorld) -> None:
    admin = await administrator(world)
    ours = await world.client("ann")
    await ours.join("flowerwars")
    await trio.testing.wait_all_tasks_blocked()
    assert admin.heard == []
    await ours.join("mississippi_queen")
    await trio.testing.wait_all_tasks_blocked()
    assert admin.heard == ["joinedGameRoom"]


def aborted(client: XmlClient) -> tuple[str, str]:
    """Why there was no match: code and reason."""
    verdict = data_of(client.inbox.messages[-2]).find("winner")
    assert verdict is not None
    assert verdict.attrib["regular"] == "false"
    assert "team" not in verdict.attrib
    assert "rule" not in verdict.attrib
    return verdict.attrib["code"], verdict.attrib["reason"]


async def test_who_waits_when_the_server_stops_is_told_so_and_that_the_code_stays_good(world: XmlWorld) -> None:
    admin, one, two = await prepared(world, pause=True)
    world.lobby.drain()
    await trio.testing.wait_all_tasks_blocked()
    for client in (admin, one, two):
        code, reason = aborted(client)
        assert code == "server_stopping"
        assert reason.startswith("Der Server wird angehalten")
        assert "gilt ein Reservierungscode noch einmal" in reason


async def test_who_watches_a_room_that_is_left_empty_is_not_told_of_an_administrator(world: XmlWorld) -> None:
    player, watcher = world.xml(), world.xml()
    await player.say(JOIN)
    await watcher.say(f'<protocol><observe roomId="{player.room}"/>')
    await player.say("</protocol>")
    assert aborted(watcher) == ("empty_room", "Der Raum wurde geschlossen, da niemand mehr darin war.")


async def test_a_cancelled_room_is_an_administrators_doing(world: XmlWorld) -> None:
    admin, one, _ = await prepared(world, pause=True)
    await admin.say('<cancel roomId="ROOM"/>')
    assert aborted(one) == ("cancelled", "Das Spiel wurde von der Spielleitung abgebrochen.")


async def test_a_name_keeps_what_names_may_be_made_of(world: XmlWorld) -> None:
    admin = await administrator(world)
    slots = [SLOT.format(name, "true", "false") for name in ("Team Ü (Kiel) &amp; Söhne", "x" * 100)]
    await admin.say(prepare(*slots, pause=False))
    one, two = world.xml(), world.xml()
    for client in (one, two):
        client.room = admin.room
        await client.say('<protocol><joinRoom roomId="ROOM"/>')
    await one.say("</protocol>")
    names = [player.attrib["name"] for player in data_of(two.inbox.messages[-2]).iter("player")]
    assert names == ["Team Ü _Kiel_ _ Söhne", "x" * 40]


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("Kiel (A)", "Kiel [A]", ["Kiel _A_", "Kiel _A_-2"]),
        ("x" * 40, "x" * 41, ["x" * 40, "x" * 38 + "-2"]),
        ("x" * 38 + "-2y", "x" * 38 + "-2z", ["x" * 38 + "-2", "x" * 38 + "-3"]),
    ],
)
async def test_names_that_differ_only_in_what_no_name_may_have_are_numbered(
    world: XmlWorld, first: str, second: str, names: list[str]
) -> None:
    admin = await administrator(world)
    await admin.say(prepare(*(SLOT.format(name, "true", "false") for name in (first, second)), pause=False))
    assert [seat.fixed_name for seat in world.lobby.rooms[admin.room].seats.values()] == names


async def test_two_slots_with_the_very_same_name_are_refused(world: XmlWorld) -> None:
    admin = await administrator(world)
    (told,) = await admin.say(prepare(SLOT.format("A", "true", "true"), SLOT.format("A", "true", "true"), pause=False))
    assert told.attrib["code"] == "name_taken"


async def test_only_a_slot_that_can_time_out_has_a_clock(world: XmlWorld, autojump_clock: MockClock) -> None:
    admin = await administrator(world)
    slots = '<slot canTimeout="false"/>', '<slot canTimeout="true"/>'
    await admin.say(prepare(*slots, pause=False))
    one, two = world.xml(), world.xml()
    for client in (one, two):
        client.room = admin.room
        await client.say('<protocol><joinRoom roomId="ROOM"/>')
    await trio.sleep(3600)
    assert one.asked, "it may think for ever"
    await play_legally(world, one)
    assert two.asked
    await trio.sleep(3600)
    assert two.heard[-1] == "left"


async def test_a_room_prepared_here_is_stepped_by_our_own_administrators(world: XmlWorld) -> None:
    admin, one, _ = await prepared(world, pause=True)
    ours = await (await world.client()).administer()
    await ours.say(c.Step(room=admin.room))
    await ours.wait_for(s.Done)
    await trio.testing.wait_all_tasks_blocked()
    assert one.asked


async def test_a_plain_join_finds_no_reserved_seat(world: XmlWorld) -> None:
    admin = await administrator(world)
    await admin.say(prepare(*[SLOT.format("", "true", "true")] * 2, pause=False))
    client = world.xml()
    await client.say(JOIN)
    assert client.room != admin.room


async def test_what_administrators_do_and_what_is_refused_is_logged(
    world: XmlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, made, steps = Log(), Log(), Log()
    monkeypatch.setattr("triarena.server.guest.log", made)
    monkeypatch.setattr("triarena.server.socha.guest.log", seen)
    monkeypatch.setattr("triarena.server.administration.log", steps)
    admin, *_ = await prepared(world, pause=True)
    for _ in range(3):
        await admin.say('<step roomId="ROOM"/>')
    await admin.say('<joinPrepared reservationCode="guessed"/><joinRoom/>')
    assert seen.events == ["administrator"] + ["request_refused"] * 2
    for word in ("'authenticate'", "unknown_reservation", "invalid_message", "roomId"):
        assert word in seen.text
    assert made.events == ["administrator"]
    for word in ("'prepare'", admin.room):
        assert word in made.text
    assert PASSWORD not in seen.text
    assert "guessed" not in seen.text
    assert steps.events == ["administrator"], "one every five seconds"
    assert "'step'" in steps.text
