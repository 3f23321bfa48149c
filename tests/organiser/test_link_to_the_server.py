"""Desk and link: asking a server over one connection from many tasks, and coming back when it was away."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
import trio.testing
from trio.testing import MockClock as Clock

from triarena.organiser.desk import ANSWER_SECONDS, Desk, DeskLost, DeskRefused, open_desk
from triarena.organiser.link import LONGEST_PAUSE
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.frames import frame

from .scripted_lobby import ScriptedLobby, ended, open_link, open_lobby

PREPARE = c.Prepare(game="towerwars", options={}, slots=[c.Slot(name="Ann"), c.Slot(name="Bob")])


@pytest.fixture
async def lobby(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedLobby]:
    async with open_lobby(monkeypatch) as lobby:
        yield lobby


async def test_many_tasks_ask_at_once_and_each_gets_its_own_answer(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    rooms: list[str] = []

    async def prepare(desk: Desk) -> None:
        rooms.append((await desk.request(PREPARE)).room)

    async with open_desk("", 1, "the secret", lambda news: None) as desk, trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(prepare, desk)
    assert sorted(rooms) == sorted(f"r{number}" for number in range(1, 41))


async def test_a_refused_request_raises_and_the_desk_goes_on(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    lobby.refuses[c.Prepare] = "too_many_rooms"
    async with open_desk("", 1, "the secret", lambda news: None) as desk:
        with pytest.raises(DeskRefused) as refusal:
            await desk.request(PREPARE)
        assert refusal.value.code == "too_many_rooms"
        assert (await desk.request(c.ListPlayers())).players == []


async def test_whoever_waits_is_told_that_the_server_went_away(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    lobby.deaf.add(c.Prepare)
    told: list[str] = []

    async def ask(desk: Desk) -> None:
        try:
            await desk.request(PREPARE)
        except DeskLost as error:
            told.append(error.code)

    async with open_desk("", 1, "the secret", lambda news: None) as desk, trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask, desk)
        await trio.testing.wait_all_tasks_blocked()
        await lobby.lose()
    assert told == ["connection_lost"] * 3


async def test_a_server_that_never_answers_a_request_is_lost(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    lobby.deaf.add(c.Prepare)
    began = trio.current_time()
    with pytest.raises(DeskLost, match="has not answered Prepare"):
        async with open_desk("", 1, "the secret", lambda news: None) as desk:
            await desk.request(PREPARE)
    assert trio.current_time() - began == pytest.approx(ANSWER_SECONDS, abs=1)


async def test_a_server_that_answers_no_ping_is_lost(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    lobby.deaf.add(c.Ping)
    async with open_desk("", 1, "the secret", lambda news: None) as desk:
        await desk.ended.wait()
        assert desk.lost is not None
        assert desk.lost.code == "server_silent"


async def test_a_server_that_answers_pings_is_not_lost(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    async with open_desk("", 1, "the secret", lambda news: None) as desk:
        await trio.sleep(3600)
        assert desk.lost is None


async def test_a_server_that_does_not_greet_is_given_up(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    lobby.greets = False
    with pytest.raises(DeskLost) as loss:
        async with open_desk("", 1, "the secret", lambda news: None):
            pass
    assert loss.value.code == "no_greeting"


async def test_a_goodbye_is_why_the_desk_is_lost(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    async with open_desk("", 1, "the secret", lambda news: None) as desk:
        await lobby.tell(s.Goodbye(code="server_stopping", message="we close"))
        await desk.ended.wait()
        assert desk.lost is not None
        assert (desk.lost.code, desk.lost.message) == ("server_stopping", "we close")


async def test_news_of_a_newer_server_are_passed_over(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    import msgpack

    async with open_desk("", 1, "the secret", lambda news: None) as desk:
        await lobby.visits[0].stream.send_all(frame(msgpack.packb({"type": "weather", "degrees": 21})))
        assert (await desk.request(c.ListPlayers())).players == []


async def test_a_server_that_breaks_the_protocol_is_left(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    async with open_desk("", 1, "the secret", lambda news: None) as desk:
        await lobby.visits[0].stream.send_all(frame(b"\xc1"))
        await desk.ended.wait()
        assert desk.lost is not None
        assert desk.lost.code == "server_fault"


async def test_a_request_that_is_cancelled_leaves_no_half_a_frame_behind(
    lobby: ScriptedLobby, autojump_clock: Clock
) -> None:
    async with open_desk("", 1, "the secret", lambda news: None) as desk:
        with trio.CancelScope() as scope:
            scope.cancel()
            await desk.request(PREPARE)
        assert (await desk.request(c.ListPlayers())).players == []


async def test_a_wrong_secret_is_no_reason_to_try_again(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    async with open_link(lobby, secret="a guess") as link:
        with pytest.raises(DeskRefused) as refusal:
            await link.request(c.ListPlayers(), within=5)
        await trio.sleep(600)
    assert refusal.value.code == "wrong_secret"
    assert len(lobby.asked(c.Hello)) == 1


async def test_a_throttled_organiser_tries_again(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    lobby.refuses[c.Authenticate] = "throttled"
    async with open_link(lobby) as link:
        await trio.sleep(20)
        assert link.fatal is None
        del lobby.refuses[c.Authenticate]
        await link.bell.until(lambda: link.open, trio.current_time() + 2 * LONGEST_PAUSE)
        assert link.open


async def test_a_passing_refusal_while_catching_up_does_not_end_the_link(
    lobby: ScriptedLobby, autojump_clock: Clock
) -> None:
    lobby.refuses[c.Enrol] = "storage_lost"
    async with open_link(lobby, "Ann") as link:
        await trio.sleep(20)
        assert link.fatal is None
        lobby.refuses.clear()
        assert await link.bell.until(lambda: link.open, trio.current_time() + 10)


async def test_after_a_loss_players_are_enrolled_again_and_who_came_and_went_is_known(
    lobby: ScriptedLobby, autojump_clock: Clock
) -> None:
    async with open_link(lobby, "Ann", "Bob") as link:
        await link.bell.until(lambda: link.open)
        await lobby.comes("Ann")
        await link.bell.until(lambda: "Ann" in link.waiting)
        lobby.there = False
        await lobby.lose()
        await link.bell.until(lambda: not link.open)
        lobby.waiting = {"Bob": "c9"}
        lobby.there = True
        await link.bell.until(lambda: link.open)
        assert link.waiting == {"Bob": "c9"}
        assert link.awaits("Ann") == trio.current_time()
        assert link.losses == 1
    assert len(lobby.asked(c.Enrol)) == 2


async def test_time_without_a_server_does_not_count_as_a_players_absence(
    lobby: ScriptedLobby, autojump_clock: Clock
) -> None:
    async with open_link(lobby, "Ann") as link:
        await link.bell.until(lambda: link.open)
        link.awaits("Ann")
        await trio.sleep(100)
        lobby.there = False
        await lobby.lose()
        await trio.sleep(1000)
        lobby.there = True
        await link.bell.until(lambda: link.open)
        assert trio.current_time() - link.awaits("Ann") == pytest.approx(100, abs=1)


async def test_what_happened_in_a_room_meanwhile_is_learned(lobby: ScriptedLobby, autojump_clock: Clock) -> None:
    async with open_link(lobby) as link:
        watches = [link.watch((await link.request(PREPARE, within=5)).room) for _ in range(3)]
        lobby.there = False
        await lobby.lose()
        await link.bell.until(lambda: not link.open)
        await lobby.sits("r1", "red")
        await lobby.ends("r2", ended("blue"))
        await lobby.closes("r3")
        lobby.there = True
        await link.bell.until(lambda: link.open)
        assert watches[0].sits("red")
        assert watches[0].over is False
        assert watches[1].result == ended("blue")
        assert watches[2].gone


async def test_a_room_that_is_to_be_closed_is_closed_when_the_server_is_back(
    lobby: ScriptedLobby, autojump_clock: Clock
) -> None:
    async with open_link(lobby) as link:
        room = (await link.request(PREPARE, within=5)).room
        lobby.there = False
        await lobby.lose()
        await link.bell.until(lambda: not link.open)
        await link.close(room, "it is played anew")
        assert room in lobby.rooms
        lobby.there = True
        await link.bell.until(lambda: link.open)
        assert lobby.closed == [room]


async def test_a_request_waits_for_a_server_only_as_long_as_it_says(
    lobby: ScriptedLobby, autojump_clock: Clock
) -> None:
    lobby.there = False
    async with open_link(lobby) as link:
        with pytest.raises(DeskLost, match="no server for 30 s"):
            await link.request(c.ListPlayers(), within=30)
