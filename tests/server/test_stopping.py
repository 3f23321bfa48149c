"""A server that was asked to stop lets matches finish: who plays, watches or administers may still come in, nobody
begins anything, and nobody is judged for a connection that is lost meanwhile.
"""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.values import PerMove
from triarena.server.admission import Bounds
from triarena.server.app import Plan, serve
from triarena.server.door import DoorRules
from triarena.server.journal import JournalError, RoomKept, list_matches
from triarena.server.lobby import Lobby
from triarena.server.recovery import Remains, read_remains

from .conftest import PATIENCE, SECRET, Client, Log, World, house

LONG = PerMove(move_ms=600_000, margin_ms=0)


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(grace=30.0, clock=LONG), PATIENCE)
        nursery.cancel_scope.cancel()


async def seated(world: World) -> tuple[Client, Client, str, str, str]:
    """Two clients in a match, their tokens, and the room."""
    red, blue = await world.client("ann"), await world.client("bob")
    joined = await red.join(size=4)
    tokens = joined.token, (await blue.join(size=4)).token
    await red.start()
    await blue.start()
    await red.hear(s.YourTurn)
    return red, blue, *tokens, joined.room


async def code_of(client: Client, message: c.FromClient) -> str:
    await client.say(message)
    return (await client.hear(s.Error)).code


async def test_a_player_that_is_cut_off_while_the_server_stops_comes_back_and_plays_on(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, token, _, _ = await seated(world)
    world.lobby.drain()
    await red.stream.aclose()
    await trio.sleep(5)
    again = await world.client()
    await again.say(c.Rejoin(token=token))
    await again.hear(s.Joined)
    await again.start()
    await again.play_on(1)
    assert (await blue.wait_for(s.Moved)).ply == 0


async def test_a_used_code_brings_its_seat_back_while_the_server_stops_and_an_unused_one_opens_none(
    world: World, autojump_clock: MockClock
) -> None:
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game="towerwars", options={"size": 4}, slots=[c.Slot(), c.Slot()]))
    codes = [str(code) for code in (await admin.wait_for(s.Prepared)).reservations]
    players = [await world.client(), await world.client()]
    for player, code in zip(players, codes, strict=True):
        await player.say(c.JoinReserved(reservation=code))
    for player in players:
        await player.start()
    world.lobby.drain()
    await players[0].stream.aclose()
    await wait_all_tasks_blocked()
    again = await world.client()
    await again.say(c.JoinReserved(reservation=codes[0]))
    assert (await again.hear(s.Joined)).side == "red"
    assert await code_of(await world.client(), c.JoinReserved(reservation="another")) == "server_stopping"


@pytest.mark.parametrize(
    "request_", [c.Join(game="towerwars"), c.JoinRoom(room="nowhere"), c.JoinReserved(reservation="none")]
)
async def test_nobody_takes_a_new_seat_while_the_server_stops(
    world: World, request_: c.FromClient, autojump_clock: MockClock
) -> None:
    world.lobby.drain()
    assert await code_of(await world.client(), request_) == "server_stopping"


async def test_administrators_see_pause_step_and_cancel_what_still_runs(
    world: World, autojump_clock: MockClock
) -> None:
    red, _, _, _, room = await seated(world)
    world.lobby.drain()
    admin = await (await world.client()).administer()
    await admin.say(c.ListRooms())
    assert [info.room for info in (await admin.wait_for(s.Rooms)).rooms] == [room]
    for message in (c.Pause(room=room), c.Step(room=room), c.Resume(room=room), c.Cancel(room=room)):
        await admin.say(message)
        await admin.wait_for(s.Done)
    assert (await red.wait_for(s.MatchOver)).result.reason == "cancelled"
    prepare = c.Prepare(game="towerwars", slots=[c.Slot(), c.Slot()])
    await admin.say(prepare)
    assert (await admin.wait_for(s.Error)).code == "server_stopping"


async def test_an_observer_may_still_come(world: World, autojump_clock: MockClock) -> None:
    *_, room = await seated(world)
    world.lobby.drain()
    watcher = await world.client()
    await watcher.say(c.Observe(room=room))
    assert (await watcher.hear(s.Observing)).view.info.state == "running"


@pytest.mark.parametrize("grace", [0.0, 3.0])
@pytest.mark.parametrize("in_its_turn", [True, False])
async def test_who_is_lost_while_the_server_stops_does_not_lose_but_plays_on_after_the_next_start(
    grace: float, in_its_turn: bool, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        clock = PerMove(move_ms=2000, margin_ms=0) if in_its_turn else LONG  # the loser's runs out, or the grace
        world = World(nursery, house(grace=grace, clock=clock), PATIENCE)
        red, blue, *_ = await seated(world)
        world.lobby.drain()
        await (red if in_its_turn else blue).stream.aclose()
        with trio.fail_after(4):
            await world.lobby.matches_ended()
        assert world.lobby.rooms == {}, "it is opened again at the next start"
        assert world.journal.kinds() == ["MatchOpened"]
        nursery.cancel_scope.cancel()


async def test_who_was_lost_before_has_its_grace_period_and_no_more(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=3.0, clock=LONG), PATIENCE)
        red, blue, *_ = await seated(world)
        await red.stream.aclose()
        await trio.sleep(1)
        world.lobby.drain()
        result = (await blue.wait_for(s.MatchOver)).result
        assert (result.reason, result.winner) == ("disconnected", "blue")
        nursery.cancel_scope.cancel()


async def test_who_is_away_when_the_stop_has_lasted_too_long_does_not_lose(
    world: World, autojump_clock: MockClock
) -> None:
    red, *_ = await seated(world)
    await red.stream.aclose()
    await trio.sleep(1)
    world.lobby.drain()
    world.lobby.suspend_matches()
    await wait_all_tasks_blocked()
    assert world.journal.kinds() == ["MatchOpened"]


async def test_who_leaves_or_surrenders_while_the_server_stops_loses_as_ever(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, _, _, room = await seated(world)
    world.lobby.drain()
    await red.say(c.Leave(room=room))
    assert (await blue.wait_for(s.MatchOver)).result.reason == "left"


async def test_nobody_is_taken_in_before_the_database_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    door, refused = DoorRules(Bounds(50, 50, 50), PATIENCE), []
    plan = Plan(
        "127.0.0.1", port, f"sqlite:///{tmp_path}/j.sqlite3", SECRET.__eq__, house(clock=LONG), door, grace=30.0
    )
    stop = trio.Event()

    def reading(*arguments: Any) -> Remains:
        """In the middle of what may take long at a start."""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)
        refused.append(port)
        return read_remains(*arguments)

    monkeypatch.setattr("triarena.server.app.read_remains", reading)
    with trio.fail_after(20):
        await serve(plan, stop, lambda addresses: stop.set())
    assert refused == [port]


async def test_the_door_stays_open_until_the_matches_have_ended(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/journal.sqlite3"
    door = DoorRules(Bounds(50, 50, 50), PATIENCE)
    plan = Plan("127.0.0.1", 0, database, SECRET.__eq__, house(grace=30.0, clock=LONG), door, grace=30.0)
    stop = trio.Event()
    listening: list[int] = []
    is_open = trio.Event()

    def ready(addresses: object) -> None:
        assert isinstance(addresses, list)
        listening.append(addresses[0][1])
        is_open.set()

    async def enter() -> Client:
        return Client(await trio.open_tcp_stream("127.0.0.1", listening[0]))

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, plan, stop, ready)
            await is_open.wait()
            red, blue = await (await enter()).greet("ann"), await (await enter()).greet("bob")
            token = (await red.join(size=4)).token
            await blue.join(size=4)
            room = (await red.start()).room
            await blue.start()
            await red.hear(s.YourTurn)
            watcher = await (await enter()).greet()
            await watcher.join("flowerwars")
            stop.set()
            await watcher.hear(s.MatchOver)  # its room, in which no match had begun, is closed
            await red.stream.aclose()
            again = await (await enter()).greet()
            await again.say(c.Rejoin(token=token))
            await again.hear(s.Joined)
            await again.start()
            await again.hear(s.YourTurn)
            late = await (await enter()).greet()
            assert await code_of(late, c.Join(game="towerwars")) == "server_stopping"
            await again.say(c.Surrender(room=room))
            assert (await blue.wait_for(s.MatchOver)).result.winner == "blue"
            assert (await blue.wait_for(s.Goodbye)).code == "server_stopping"
            for client in (blue, again, watcher, late):
                await client.stream.aclose()
    (summary,) = list_matches(database)
    assert (summary.winner, summary.reason) == ("blue", "surrender")


@pytest.mark.parametrize(("locked", "at_once"), [(True, False), (True, True), (False, False)])
async def test_that_the_journal_could_not_be_flushed_is_an_error_of_the_server(
    locked: bool, at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: Log
) -> None:
    """Whether the wait for it is over, or a second signal has ended it."""
    monkeypatch.setattr("triarena.server.journal.writer.CLOSE_SECONDS", 600.0 if at_once else 0.2)
    monkeypatch.setattr("triarena.server.journal.writer.MOMENT", 0.2)
    path = tmp_path / "journal.sqlite3"
    door = DoorRules(Bounds(50, 50, 50), PATIENCE)
    plan = Plan("127.0.0.1", 0, f"sqlite:///{path}", SECRET.__eq__, house(clock=LONG), door, grace=0.0)
    stop, is_open = trio.Event(), trio.Event()
    errors: list[str] = []

    async def run() -> None:
        try:
            await serve(plan, stop, lambda addresses: is_open.set())
        except JournalError as error:
            errors.append(error.code)

    init = Lobby.__init__

    def with_something_to_store(lobby: Lobby, *arguments: Any) -> None:
        init(lobby, *arguments)
        lobbies.append(lobby)

    lobbies: list[Lobby] = []
    monkeypatch.setattr(Lobby, "__init__", with_something_to_store)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await is_open.wait()
            lock = sqlite3.connect(path, isolation_level=None)
            if locked:
                lock.execute("BEGIN EXCLUSIVE")
            with trio.move_on_after(0.1):
                await lobbies[0].journal.write(RoomKept("room", "match", {}))
            stop.set()
            if at_once:
                await wait_all_tasks_blocked(0.01)
                nursery.cancel_scope.cancel()
    lock.close()
    assert errors == (["journal_not_flushed"] if locked else [])
    if not at_once:
        lines = logged.text.splitlines()
        assert [line for line in lines if line.startswith("stopped ")] == ["stopped {'matches_kept': 0}"]
        assert lines[-1].startswith("stopped ")


@pytest.mark.parametrize("how", ["by a signal", "from outside"])
async def test_a_server_that_is_stopped_at_once_blames_nobody_and_says_at_the_end_what_is_kept(
    how: str, tmp_path: Path, logged: Log
) -> None:
    """Several times, since in which order all the tasks end is anybody's guess."""
    matches, door = 4, DoorRules(Bounds(50, 50, 50), PATIENCE)
    for attempt in range(6):
        database = f"sqlite:///{tmp_path}/{attempt}.sqlite3"
        plan = Plan("127.0.0.1", 0, database, SECRET.__eq__, house(grace=30.0, clock=LONG), door, grace=600.0)
        stop, is_open, everything = trio.Event(), trio.Event(), trio.CancelScope()
        listening: list[int] = []

        def ready(addresses: Any, listening: list[int] = listening, is_open: trio.Event = is_open) -> None:
            listening.append(addresses[0][1])
            is_open.set()

        logged.text, logged.events = "", []
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(serve, plan, stop, ready, lambda addresses: None, everything)
                await is_open.wait()
                clients = [Client(await trio.open_tcp_stream("127.0.0.1", listening[0])) for _ in range(2 * matches)]
                for client in clients:
                    await (await client.greet()).join(size=4)
                for client in clients:
                    await client.start()
                for red in clients[::2]:
                    await red.wait_for(s.YourTurn)
                stop.set()
                await wait_all_tasks_blocked()
                (everything if how == "by a signal" else nursery.cancel_scope).cancel()
            for client in clients:
                await trio.aclose_forcefully(client.stream)
        assert "connection_failed" not in logged.events
        if how == "by a signal":
            assert "player_lost" not in logged.events
        kept = {"matches_kept": matches, "hint": "they go on at the next start"}
        assert logged.text.splitlines()[-1] == f"stopped {kept}"
        assert len(list_matches(database, finished=False)) == matches


async def test_a_server_that_is_stopped_at_once_while_it_opens_its_database_says_that_it_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: Log
) -> None:
    door, stop, everything = DoorRules(Bounds(50, 50, 50), PATIENCE), trio.Event(), trio.CancelScope()
    database = f"sqlite:///{tmp_path}/j.sqlite3"
    plan = Plan("127.0.0.1", 0, database, SECRET.__eq__, house(clock=LONG), door, grace=600.0)

    def reading(*arguments: Any) -> Remains:
        trio.from_thread.run_sync(stop.set)
        trio.from_thread.run_sync(everything.cancel)
        return read_remains(*arguments)

    monkeypatch.setattr("triarena.server.app.read_remains", reading)
    with trio.fail_after(20):
        await serve(plan, stop, lambda addresses: None, lambda addresses: None, everything)
    assert logged.text.splitlines()[-1].startswith("stopped ")
    assert "matches_kept" not in logged.text, "it has not looked"
