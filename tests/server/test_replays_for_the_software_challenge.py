"""Stored matches in the original's format: the same elements as the original's players were shown."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

import pytest
import trio

from triarena.protocol.replay import Replay
from triarena.server.journal import MatchEnded, MatchOpened, PlyPlayed, StoredMatch
from triarena.server.replays import replay_of
from triarena.server.socha.replays import NotTheirs, to_xml

from .xml_clients import XmlWorld, data_of, kind, play_legally, xml_world


def stored(world: XmlWorld) -> Replay:
    """The only match of a world, as the journal has it."""
    records = world.journal.records
    (opened,) = (record for record in records if isinstance(record, MatchOpened))
    plies = tuple(record for record in records if isinstance(record, PlyPlayed))
    ended = next((record for record in records if isinstance(record, MatchEnded)), None)
    return replay_of(StoredMatch(opened=opened, plies=plies, ended=ended))


def flat(element: Element) -> tuple[object, ...]:
    return element.tag, element.attrib, (element.text or "").strip(), [flat(child) for child in element]


@pytest.mark.parametrize("plies", [0, 3, 1000])
async def test_a_replay_has_every_state_that_was_shown_and_the_result(plies: int) -> None:
    async with xml_world() as world:
        one, two = await world.xml_pair()
        for _ in range(plies):
            playing = [client for client in (one, two) if client.asked]
            if not playing:
                break
            await play_legally(world, playing[0])
        if one.heard[-1] != "left":
            await two.stream.send_eof()
            await trio.testing.wait_all_tasks_blocked()
        document = fromstring(to_xml(stored(world)))
    shown = [message for message in one.inbox.messages if kind(message) in ("memento", "result")]
    assert document.tag == "protocol"
    assert [flat(message) for message in document] == [flat(message) for message in shown]
    assert len(document) >= 2


async def test_an_illegal_move_stands_before_the_result() -> None:
    async with xml_world() as world:
        one, _ = await world.xml_pair()
        await one.move('<advance distance="6"/>')
        document = fromstring(to_xml(stored(world)))
    assert [kind(message) for message in document] == ["memento", "error", "result"]
    assert data_of(document[1]).find("originalMessage/actions/advance") is not None


async def test_a_match_that_goes_on_has_no_result_yet() -> None:
    async with xml_world() as world:
        one, _ = await world.xml_pair()
        await play_legally(world, one)
        document = fromstring(to_xml(stored(world)))
    assert [kind(message) for message in document] == ["memento", "memento"]


async def test_only_matches_of_their_game_have_that_format() -> None:
    async with xml_world() as world:
        red, blue = await world.pair("towerwars")
        await red.start()
        await blue.start()
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(NotTheirs, match="towerwars"):
            to_xml(stored(world))
