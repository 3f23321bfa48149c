"""A client of the Software-Challenge in a prepared room comes back after a restart of the server: with its code."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from triarena.server.journal import MatchOpened, PlyPlayed, RoomKept, StoredMatch
from triarena.server.recovery import resume_match

from .conftest import SECRET
from .xml_clients import XmlClient, XmlWorld, data_of, play_legally

SLOT = '<slot displayName="{}" canTimeout="true" reserved="true"/>'
PREPARE = '<prepare gameType="swc_2024_mississippi_queen" pause="false">{}</prepare>'


def restarted(world: XmlWorld, nursery: trio.Nursery) -> XmlWorld:
    """Another server, which knows what the journal of ``world`` holds."""
    reborn = XmlWorld(nursery, grace=30.0)
    records = world.journal.records
    (opened,) = (record for record in records if isinstance(record, MatchOpened))
    plies = tuple(record for record in records if isinstance(record, PlyPlayed))
    kept = [record for record in records if isinstance(record, RoomKept)]
    resume_match(reborn.lobby, StoredMatch(opened, plies, None), kept[-1])
    return reborn


async def came(world: XmlWorld, code: str) -> XmlClient:
    client = world.xml()
    await client.say(f'<protocol><joinPrepared reservationCode="{code}"/>')
    return client


@pytest.mark.parametrize("plies", [0, 1, 4])
async def test_an_old_client_that_comes_back_with_its_code_plays_on(autojump_clock: MockClock, plies: int) -> None:
    async with trio.open_nursery() as nursery:
        world = XmlWorld(nursery)
        admin = world.xml()
        await admin.say(f'<protocol><authenticate password="{SECRET}"/>')
        (answer,) = await admin.say(PREPARE.format(SLOT.format("Anna") + SLOT.format("Bert")))
        codes = [str(code.text) for code in answer.findall("reservation")]
        players = [await came(world, code) for code in codes]
        for _ in range(plies):
            await play_legally(world, next(player for player in players if player.asked))
        asked = [player.asked for player in players]
        (state,) = (
            data_of(m).find("state") for m in players[0].inbox.messages[-2:] if m.find("data/state") is not None
        )

        reborn = restarted(world, nursery)
        again = [await came(reborn, code) for code in codes]
        for player in again:
            assert player.heard[:3] == ["joined", "welcomeMessage", "memento"]
            shown = data_of(player.inbox.messages[2]).find("state")
            assert shown is not None
            assert state is not None
            assert shown.attrib["turn"] == state.attrib["turn"]
            assert player.room == players[0].room
        assert [player.asked for player in again] == asked
        await play_legally(reborn, next(player for player in again if player.asked))
        assert all("memento" in player.heard[3:] for player in again)

        last = await came(reborn, codes[0])
        assert last.heard[:3] == ["joined", "welcomeMessage", "memento"]
        assert again[0].inbox.messages[-1].attrib["code"] == "displaced"
        nursery.cancel_scope.cancel()
