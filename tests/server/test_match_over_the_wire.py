"""Whole matches between scripted clients: what each of them is told, in which order."""

from __future__ import annotations

from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

from .conftest import World


async def test_two_clients_play_to_the_end_and_both_are_told(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4, max_plies=6)
    started = await red.start()
    assert (started.side, started.to_move, started.game) == ("red", "red", "towerwars")
    assert (await blue.start()).side == "blue"
    results = []
    for _ in range(3):
        await red.play_on(1)
        await blue.play_on(1)
    for client in (red, blue):
        results.append((await client.wait_for(s.MatchOver)).result)
    assert results[0] == results[1]
    assert (results[0].kind, results[0].reason) == ("aborted", "ply_limit")
    assert world.journal.kinds() == ["MatchOpened", *["PlyPlayed"] * 6, "MatchEnded"]


async def test_silence_is_a_timeout_with_its_figures(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    await red.start()
    await blue.start()
    await red.hear(s.YourTurn)
    over = await blue.hear(s.MatchOver)
    assert (over.result.kind, over.result.reason, over.result.winner) == ("forfeit", "timeout", "blue")
    detail = over.result.detail
    assert (detail.limit_ms, detail.used_ms, detail.offenders, detail.ply) == (2000, 2000, ["red"], 0)


async def test_the_time_used_includes_the_turn_that_ran_out_of_it(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    await red.start()
    await blue.start()
    turn = await red.hear(s.YourTurn)
    autojump_clock.jump(1.5)
    await red.move(turn)
    await blue.wait_for(s.MatchOver)
    other = await world.client()
    await other.say(c.ListRooms(id=1))
    (info,) = (await other.hear(s.Rooms)).rooms
    assert (info.state, info.red.used_ms, info.blue.used_ms) == ("over", 1500, 2000)


async def test_an_illegal_move_names_rule_and_move(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    await red.start()
    await blue.start()
    turn = await red.hear(s.YourTurn)
    move = {"type": "step", "start": "A1", "target": "B1"}
    await red.say(c.Move.model_validate({"room": turn.room, "ply": turn.ply, "move": move}))
    result = (await blue.hear(s.MatchOver)).result
    assert (result.reason, result.winner, result.detail.move, result.detail.ply) == (
        "illegal_move",
        "blue",
        "A1->B1",
        0,
    )
    assert result.detail.code
    assert "A1" in result.detail.message
