"""Players of the Software-Challenge in our rooms: what they are told, and what becomes of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from xml.etree.ElementTree import Element

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.journal import MatchOpened
from triarena.server.socha.gateway import Gateway, GatewayRules

from .conftest import PATIENCE, Client
from .xml_clients import JOIN, XmlClient, XmlWorld, data_of, in_room, kind, play_legally, xml_world

AHEAD = '<advance distance="1"/>'


@pytest.fixture
async def world() -> AsyncIterator[XmlWorld]:
    async with xml_world(grace=30.0) as world:
        yield world


def winner(message: Element) -> dict[str, str]:
    found = data_of(message).find("winner")
    assert found is not None
    return found.attrib


def parts(message: Element) -> list[list[str]]:
    return [[part.text or "" for part in score] for score in data_of(message).iter("score")]


async def play_to_the_end(world: XmlWorld, *clients: XmlClient) -> None:
    while playing := [client for client in clients if client.asked]:
        await play_legally(world, playing[0])


# -- a game ----------------------------------------------------------------------------------------


async def test_a_game_by_plain_joins_goes_from_welcome_to_left(world: XmlWorld) -> None:
    one, two = await world.xml_pair()
    assert one.heard == ["joined", "welcomeMessage", "memento", "moveRequest"]
    assert two.heard == ["joined", "welcomeMessage", "memento"]
    assert [data_of(client.inbox.messages[1]).attrib["color"] for client in (one, two)] == ["ONE", "TWO"]
    await play_to_the_end(world, one, two)
    assert one.heard[-3:] == two.heard[-3:] == ["memento", "result", "left"]
    assert one.inbox.messages[-2].find("data/scores/entry/player") is not None
    assert winner(one.inbox.messages[-2]) == winner(two.inbox.messages[-2])
    opened = next(record for record in world.journal.records if isinstance(record, MatchOpened))
    assert opened.options["rules"] == "server-24.2.5"
    assert (opened.red, opened.blue) == ("ONE", "TWO")


async def test_several_games_are_played_on_one_connection(world: XmlWorld) -> None:
    one, two = await world.xml_pair()
    first = one.room
    await play_to_the_end(world, one, two)
    await two.say("<join/>")
    await one.say("<join/>")
    assert one.room == two.room != first
    assert two.asked, "who came first is team ONE now"
    await play_to_the_end(world, one, two)
    assert one.heard[-1] == two.heard[-1] == "left"


async def test_a_player_without_opponent_may_leave_and_the_next_one_waits_for_another(world: XmlWorld) -> None:
    alone = world.xml()
    await alone.say(JOIN)
    await alone.stream.send_eof()
    await trio.testing.wait_all_tasks_blocked()
    one, two = await world.xml_pair()
    assert one.asked
    assert two.heard[-1] == "memento"


async def test_nothing_is_said_before_the_client_asks(world: XmlWorld) -> None:
    client = world.xml()
    await client.say("<protocol>")
    assert client.heard == []
    assert [message.tag for message in await client.say("<join/>")] == ["joined"]


# -- moves that end a game -------------------------------------------------------------------------


async def test_an_illegal_move_is_told_to_the_offender_and_loses(world: XmlWorld) -> None:
    one, two = await world.xml_pair()
    told = await one.move('<advance distance="6"/>')
    assert [kind(message) for message in told] == ["error", "result", "left"]
    assert data_of(told[0]).attrib["message"] == "Nicht genug Bewegungspunkte."
    assert data_of(told[0]).find("originalMessage/actions/advance") is not None
    assert two.heard[-2:] == ["result", "left"]
    assert "error" not in two.heard
    assert winner(told[1]) == {
        "team": "TWO",
        "regular": "false",
        "reason": "Regelverletzung von ONE: Nicht genug Bewegungspunkte.",
        "code": "illegal_move",
        "rule": "advance_movement_points_missing",
    }
    assert parts(told[1]) == [["0", "0", "0"], ["2", "0", "0"]]


@pytest.mark.parametrize(
    ("actions", "rule"),
    [
        ("", "no_actions"),
        ("<advance/>", "invalid_distance"),
        ("<acceleration/>" + AHEAD, "zero_acc"),
        ('<acceleration acc="2000000000"/>' + AHEAD, "above_max_speed"),
        (AHEAD * 65, "malformed_move"),
    ],
)
async def test_what_the_original_reads_as_a_move_is_judged_as_one(world: XmlWorld, actions: str, rule: str) -> None:
    one, _ = await world.xml_pair()
    told = await one.move(actions)
    assert winner(told[1])["rule"] == rule


@pytest.mark.parametrize("number", [2**31 - 1, -(2**31), 100, -100])
async def test_a_number_that_is_far_too_great_is_shown_to_its_player_as_it_was_said(
    world: XmlWorld, number: int
) -> None:
    one, two = await world.xml_pair()
    told = await one.move(f'<advance distance="{number}"/>')
    original = data_of(told[0]).find("originalMessage/actions/advance")
    assert original is not None
    assert original.attrib["distance"] == str(number)
    assert winner(two.inbox.messages[-2])["rule"] == "invalid_distance"


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 10**30, 10**40, 10**4000, f"+{'9' * 9000}"])
async def test_a_number_of_more_than_32_bits_is_none_as_with_the_original(world: XmlWorld, number: int | str) -> None:
    one, two = await world.xml_pair()
    await one.move(f'<acceleration acc="{number}"/>')
    assert one.closed
    assert one.inbox.messages[-1].attrib["code"] == "bad_value"
    assert "must be a number of 32 bits" in one.inbox.messages[-1].attrib["message"]
    assert winner(two.inbox.messages[-2])["reason"] == "ONE hat das Spiel verlassen: PROTOCOL_ERROR"


@pytest.mark.parametrize("who", [0, 1])
async def test_a_move_that_nobody_asked_for_loses(world: XmlWorld, who: int) -> None:
    pair = await world.xml_pair()
    if who == 0:
        told = await pair[0].say(in_room(f"<data class='move'><actions>{AHEAD}</actions></data>") * 2)
        assert [kind(message) for message in told] == ["memento", "error", "result", "left"]
    else:
        told = await pair[1].move(AHEAD)
        assert [kind(message) for message in told] == ["error", "result", "left"]
    offender, other = ("ONE", "TWO") if who == 0 else ("TWO", "ONE")
    told_winner = winner(told[-2])
    assert told_winner["team"] == other
    german = "Es kam ein Zug, obwohl keiner angefordert war."
    assert told_winner["reason"] == f"Missachtung des Spielablaufs von {offender}: {german}"
    assert data_of(told[-3]).attrib["message"] == german
    assert told_winner["code"] == "protocol_violation"
    assert "error" not in pair[1 - who].heard


async def test_an_action_without_its_direction_loses(world: XmlWorld) -> None:
    one, two = await world.xml_pair()
    told = await one.move("<turn/>" + AHEAD)
    verdict = winner(two.inbox.messages[-2])
    assert verdict["team"] == "TWO"
    assert verdict["reason"] == "Missachtung des Spielablaufs von ONE: In einer Aktion fehlt die Richtung."
    (original,) = data_of(told[0]).findall("originalMessage")
    assert len(original) == 0


async def test_after_an_action_without_its_direction_no_earlier_move_is_shown_as_the_wrong_one(
    world: XmlWorld,
) -> None:
    one, two = await world.xml_pair()
    await play_legally(world, one)
    await play_legally(world, two)
    while not one.asked:
        await play_legally(world, two)
    told = await one.move("<push/>")
    assert kind(told[0]) == "error"
    assert list(data_of(told[0]).iterfind("originalMessage/*")) == []


async def test_a_player_that_does_not_move_loses_also_after_a_plain_join(
    world: XmlWorld, autojump_clock: MockClock
) -> None:
    one, two = await world.xml_pair()
    await trio.sleep(2.1)
    assert winner(two.inbox.messages[-2]) == {
        "team": "TWO",
        "regular": "false",
        "reason": "ONE hat innerhalb von 2 Sekunden nach Aufforderung keinen Zug gesendet.",
        "code": "timeout",
    }
    assert one.heard[-1] == "left"
    assert await one.move(AHEAD) == [], "it comes too late, and is no harm"
    assert [message.tag for message in await one.move(AHEAD)] == ["errorpacket"], "nothing was asked for any more"
    assert not one.closed


@pytest.mark.parametrize("late", [AHEAD, "", "<jump/>"])
async def test_the_move_that_was_asked_for_is_taken_silently_after_any_end_of_its_match(
    world: XmlWorld, late: str
) -> None:
    one, two = await world.xml_pair()
    assert one.asked
    await two.say("<close/>")
    assert one.heard[-2:] == ["result", "left"]
    assert await one.move(late) == []
    (told,) = await one.move(AHEAD)
    assert told.attrib["code"] == "unknown_room"


async def test_who_was_not_asked_when_its_match_ended_is_told_that_the_room_is_gone(world: XmlWorld) -> None:
    one, two = await world.xml_pair()
    await one.move('<advance distance="6"/>')
    for client in (one, two):
        (told,) = await client.move(AHEAD)
        assert told.attrib["code"] == "unknown_room"


async def test_moves_out_of_turn_cost_their_matches_and_not_the_connection(world: XmlWorld) -> None:
    one = world.xml()
    await one.say("<protocol>")
    others = []
    for _ in range(3 * PATIENCE.bad_frames):
        await one.say("<join/>")
        others.append(world.xml())
        await others[-1].say(JOIN)
    first, *_ = others
    for other in others[1:]:
        for actions in (AHEAD, "<turn/>"):
            one.room = other.room
            await one.move(actions)
        assert winner(other.inbox.messages[-2])["team"] == "TWO"
    assert not one.closed
    one.room = first.room
    await play_legally(world, one)
    assert first.asked


@pytest.mark.parametrize("early", [AHEAD, "<turn/>", ""])
async def test_moves_before_a_match_begins_cost_nothing_neither_it_nor_another_of_the_connection(
    world: XmlWorld, early: str
) -> None:
    one, two = await world.xml_pair()
    running = one.room
    assert one.asked
    await one.say("<join/>")
    one.room = one.inbox.messages[-1].attrib["roomId"]
    told = [message for _ in range(3 * PATIENCE.bad_frames) for message in await one.move(early)]
    assert [kind(message) for message in told] == ["error"] * 3 * PATIENCE.bad_frames
    assert not one.closed
    other = world.xml()
    await other.say(JOIN)
    assert other.room == one.room
    await play_legally(world, one)
    one.room = running
    await play_legally(world, one)
    assert two.asked
    assert other.asked


# -- going away ------------------------------------------------------------------------------------


@pytest.mark.parametrize("last_words", ["<sc.protocol.CloseConnection/>", "</protocol>", "<close/>", ""])
@pytest.mark.parametrize("who", [0, 1])
async def test_whoever_goes_has_lost_however_it_goes(world: XmlWorld, last_words: str, who: int) -> None:
    async with xml_world(grace=30.0) as world:
        pair = await world.xml_pair()
        if last_words:
            await pair[who].say(last_words)
            assert pair[who].inbox.ended, "our document ends, too"
        else:
            await pair[who].stream.aclose()
            await trio.testing.wait_all_tasks_blocked()
        offender, other = ("ONE", "TWO") if who == 0 else ("TWO", "ONE")
        told = winner(pair[1 - who].inbox.messages[-2])
        assert told == {
            "team": other,
            "regular": "false",
            "reason": f"{offender} hat das Spiel verlassen: LOST_CONNECTION",
            "code": "disconnected",
        }


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("<room><data", None),
        ("<nonsense/>", "unknown_element"),
        ("</room>", "not_xml"),
        ("<!DOCTYPE p>", "not_xml"),
        ("<protocol>", "unknown_element"),
        ("<room>" * 20, "too_deep"),
        ("<join a='" + "x" * 40_000, "too_large"),
        (in_room("<data class='move'><actions><jump/></actions></data>"), "unknown_element"),
        (in_room("<data class='move'><leap/></data>"), "unknown_element"),
        (in_room("<data class='move'><actions><advance distance='one'/></actions></data>"), "bad_value"),
        (in_room("<data class='move'><actions><turn direction='NORTH'/></actions></data>"), "bad_value"),
    ],
)
async def test_what_is_no_message_closes_the_connection(world: XmlWorld, bad: str, code: str | None) -> None:
    pairs = [await world.xml_pair(), await world.xml_pair()]
    (one, two), others = pairs
    before = [client.heard for client in others]
    await one.say(bad)
    if code is None:
        assert not one.closed, "the rest may come yet"
        return
    assert one.closed
    assert one.inbox.ended
    last = one.inbox.messages[-1]
    assert last.tag == "errorpacket"
    assert last.attrib["code"] == code
    assert winner(two.inbox.messages[-2])["reason"] == "ONE hat das Spiel verlassen: PROTOCOL_ERROR"
    assert [client.heard for client in others] == before
    await play_to_the_end(world, *others)
    assert others[0].heard[-1] == "left"


@pytest.mark.parametrize(
    "words",
    [
        '<room roomId="nowhere"><data class="move"><actions/></data></room>',
        in_room("<data class='sc.Other'/>"),
        in_room("<data/>"),
        in_room(""),
        '<join gameType="swc_2023_penguins"/>',
        '<joinRoom roomId="nowhere"/>',
        "<joinRoom/>",
        "<joinPrepared reservationCode='guessed'/>",
        "<joinPrepared/>",
        "<observe roomId='nowhere'/>",
        "<prepare gameType='swc_2024_mississippi_queen'/>",
        "<cancel roomId='ROOM'/>",
        "<pause roomId='ROOM' pause='true'/>",
    ],
)
async def test_a_wrong_request_is_answered_and_the_game_goes_on(world: XmlWorld, words: str) -> None:
    one, two = await world.xml_pair()
    told = await one.say(words)
    assert [message.tag for message in told] == ["errorpacket"]
    assert told[0].attrib["message"]
    original = told[0].find("originalRequest")
    assert original is not None
    assert original.attrib["class"] == words[1:].split(" ")[0].strip("/>")
    one.inbox.messages.pop()
    await play_to_the_end(world, one, two)
    assert two.heard[-2:] == ["result", "left"]


# -- rooms of all kinds ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [in_room("<data class='move'><actions/></data>"), in_room("<data/>"), "<joinRoom/>", '<join gameType="swc_2023"/>'],
)
async def test_wrong_requests_may_be_many(world: XmlWorld, words: str) -> None:
    one, two = await world.xml_pair()
    over = one.room
    await two.say("<close/>")
    assert one.heard[-1] == "left"
    await one.say(in_room("<data class='move'><actions/></data>").replace("ROOM", over))  # what was asked for
    told = await one.say(words.replace("ROOM", over) * (3 * PATIENCE.bad_frames))
    assert [kind(message) for message in told] == ["errorpacket"] * 3 * PATIENCE.bad_frames
    assert not one.closed
    await one.say("<join/>")
    assert one.heard[-1] == "joined"


async def test_a_certain_room_is_joined_until_it_is_full(world: XmlWorld) -> None:
    one, two, three = world.xml(), world.xml(), world.xml()
    await one.say(JOIN)
    for client in (two, three):
        client.room = one.room
        await client.say('<protocol><joinRoom roomId="ROOM"/>')
    assert two.heard == ["joined", "welcomeMessage", "memento"]
    assert three.heard == ["errorpacket"]


async def test_rooms_of_other_games_are_not_theirs(world: XmlWorld) -> None:
    joined = await (await world.client("ann")).join("towerwars")
    for words in ("joinRoom", "observe"):
        client = world.xml()
        (told,) = await client.say(f'<protocol><{words} roomId="{joined.room}"/>')
        assert told.attrib["code"] == "wrong_game"


@pytest.mark.parametrize("first", ["xml", "msgpack"])
async def test_a_player_of_each_protocol_meet_in_one_room(world: XmlWorld, first: str) -> None:
    ann, client = await world.client("ann"), world.xml()

    async def join_by_xml() -> None:
        await client.say(JOIN)

    async def join_by_msgpack() -> None:
        await ann.join("mississippi_queen", rules="server-24.2.5")

    both = [join_by_xml, join_by_msgpack]
    for join in both if first == "xml" else reversed(both):
        await join()
    await ann.start()
    async with trio.open_nursery() as nursery:
        over: list[Any] = []

        async def play() -> None:
            over.append(await ann.play_on())

        nursery.start_soon(play)
        while not over:
            await trio.testing.wait_all_tasks_blocked()
            if client.asked:
                await play_legally(world, client)
    assert client.heard[-2:] == ["result", "left"]
    players = [player.attrib for player in data_of(client.inbox.messages[-2]).iter("player")]
    side = "ONE" if first == "msgpack" else "TWO"
    assert {"name": "ann", "team": side} in players
    assert all("name" not in player for player in players if player["team"] != side)
    told = over[0].result
    assert told.kind == "outcome"
    assert winner(client.inbox.messages[-2]).get("team") == {"red": "ONE", "blue": "TWO", None: None}[told.winner]


async def test_observers_of_either_kind_watch_a_game(world: XmlWorld) -> None:
    one, two = await world.xml_pair()
    await play_legally(world, one)
    late, ann = world.xml(), await world.client()
    assert [kind(message) for message in await late.say(f'<protocol><observe roomId="{one.room}"/>')] == [
        "observed",
        "memento",
    ]
    assert data_of(late.inbox.messages[-1]).find("state/lastMove/actions") is not None, "the present state"
    await ann.say(c.Observe(room=one.room))
    await ann.hear(s.Observing)
    await play_legally(world, two)
    assert late.heard[-1] == "memento"
    assert (await ann.hear(s.Moved)).ply == 1
    mover = one if one.asked else two
    await mover.move('<advance distance="6"/>')
    assert late.heard[-3:] == ["error", "result", "left"]
    error = data_of(late.inbox.messages[-3])
    assert error.find("originalMessage/actions/advance") is not None
    assert (await ann.hear(s.MatchOver)).result.reason == "illegal_move"


async def test_a_room_of_ours_is_watched_by_xml(world: XmlWorld) -> None:
    red, blue = await world.pair("mississippi_queen")
    started = await red.start()
    await blue.start()
    watcher = world.xml()
    await watcher.say(f'<protocol><observe roomId="{started.room}"/>')
    await red.play_on(1)
    await trio.testing.wait_all_tasks_blocked()
    assert watcher.heard == ["observed", "memento", "memento"]


async def test_who_comes_when_all_is_over_is_shown_the_end(world: XmlWorld) -> None:
    one, _ = await world.xml_pair()
    await one.move('<advance distance="6"/>')
    late = world.xml()
    told = await late.say(f'<protocol><observe roomId="{one.room}"/>')
    assert [kind(message) for message in told] == ["observed", "memento", "result", "left"]


async def test_a_side_that_never_greets_is_sent_away_with_a_sentence(
    world: XmlWorld, autojump_clock: MockClock
) -> None:
    silent = world.xml()
    await trio.sleep(6)
    assert silent.closed
    assert silent.inbox.messages[-1].attrib["code"] == "greeting_timeout"


async def test_a_silent_player_is_not_pinged_and_stays(world: XmlWorld, autojump_clock: MockClock) -> None:
    waiting = world.xml()
    await waiting.say(JOIN)
    await trio.sleep(3 * 3600)
    assert not waiting.closed
    assert waiting.heard == ["joined"]


async def test_a_client_of_ours_and_one_of_theirs_are_told_the_same_moves(world: XmlWorld) -> None:
    ann: Client = await world.client("ann")
    client = world.xml()
    await client.say(JOIN)
    await ann.join("mississippi_queen", rules="server-24.2.5")
    await ann.start()
    await play_legally(world, client)
    turn = await ann.wait_for(s.YourTurn)
    assert turn.ply == 1
    assert turn.position is not None


@pytest.mark.parametrize("words", ["<join/>", '<?xml version="1.0"?><joinPrepared reservationCode="x"/>', "<room>"])
async def test_a_message_without_a_document_around_it_is_told_what_is_missing(world: XmlWorld, words: str) -> None:
    client = world.xml()
    (told,) = await client.say(words)
    assert (told.tag, told.attrib["code"]) == ("errorpacket", "no_root")
    assert "open your document first: <protocol>" in told.attrib["message"]
    assert client.closed
    assert client.inbox.ended


@pytest.mark.parametrize(
    ("words", "attribute"),
    [("<joinPrepared/>", "reservationCode"), ("<joinRoom/>", "roomId"), ("<authenticate/>", "password")],
)
async def test_a_missing_attribute_is_called_by_its_name_here(world: XmlWorld, words: str, attribute: str) -> None:
    (told,) = await world.xml().say("<protocol>" + words)
    assert told.attrib["message"].endswith(f"needs its attribute {attribute}")


async def test_who_never_opens_its_document_is_told_that_one_was_waited_for(
    world: XmlWorld, autojump_clock: MockClock
) -> None:
    client = world.xml()
    await trio.sleep(PATIENCE.greeting + 1)
    assert client.inbox.messages[0].attrib["message"].endswith("no opened document (<protocol>) came within 5 s")


async def test_a_room_with_other_rules_is_refused_to_players_and_may_be_watched(world: XmlWorld) -> None:
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game="mississippi_queen", slots=[c.Slot(reserved=True), c.Slot(reserved=False)]))
    made = await admin.wait_for(s.Prepared)
    client = world.xml()
    for way in (f'<joinPrepared reservationCode="{made.reservations[0]}"/>', f'<joinRoom roomId="{made.room}"/>'):
        (told,) = await client.say(way if client.inbox.messages else "<protocol>" + way)
        assert told.attrib["code"] == "wrong_rules"
        assert "'seed'" in told.attrib["message"]
        assert "--option rules=server-24.2.5" in told.attrib["message"]
    assert world.lobby.rooms[made.room].empty
    assert (await client.say(f'<observe roomId="{made.room}"/>'))[0].tag == "observed"


async def test_rules_that_the_settings_want_for_old_clients_are_not_refused_to_them() -> None:
    async with trio.open_nursery() as nursery:
        world = XmlWorld(nursery)
        world.gateway = Gateway(GatewayRules(0, "seed"), world.lobby)
        one, two = await world.xml_pair()
        assert one.asked
        assert two.heard == ["joined", "welcomeMessage", "memento"]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("first", ["old", "ours"])
async def test_who_waits_beside_an_old_client_is_told_how_to_meet_it(world: XmlWorld, first: str) -> None:
    old, ours = world.xml(), await world.client("ann")
    if first == "old":
        await old.say(JOIN)
    joined = await ours.join("mississippi_queen")
    if first == "ours":
        await old.say(JOIN)
    notice = await ours.hear(s.Notice)
    assert (notice.code, notice.room) == ("other_options", joined.room)
    assert f"in room {old.room}" in notice.message
    assert "--option rules=server-24.2.5" in notice.message
    assert old.heard == ["joined"]


async def test_who_waits_beside_one_of_ours_or_is_reserved_a_seat_is_told_nothing(world: XmlWorld) -> None:
    await world.xml_pair()
    ann, bob = await world.client("ann"), await world.client("bob")
    await ann.join("mississippi_queen")
    await bob.join("mississippi_queen", rules="server-24.2.5")
    await trio.testing.wait_all_tasks_blocked()
    assert list(ann.inbox) == list(bob.inbox) == []
