"""Misbehaving clients against a real server: each gets its reason, its opponent the win, and nobody else notices.

``uv run pytest -m soak tests/zoo -s`` prints what the matches beside waited for their moves, without and with each.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import trio
from fleet.crew import after, play_script
from fleet.host import Host
from fleet.line import Line, Message
from fleet.scripts import script
from fleet.server import ServerProcess

from . import animals
from .animals import Animal, Cage
from .conftest import Neighbours

pytestmark = pytest.mark.soak

SCRIPT = script("flowerwars", {"size": 4}, 2)
LIMIT = 0.4
"""Seconds for a move of an animal; its keeper, in the other seat, has no clock."""
RED, BLUE = 0, 1
BY_THE_RULES = SCRIPT.reason


@dataclass(frozen=True)
class Expected:
    """What becomes of an animal."""

    animal: Animal
    reason: str
    """Of the end of its match; both sides see it."""
    hears: tuple[str, str] = ("match_over", "")
    """What it is told itself: a message's type and, of all but ``match_over``, its code. "" if it can't hear."""
    seat: int = RED
    keeper_thinks: float | None = 0.02
    """Seconds; None: it has all the time of the world."""


EXPECTED = [
    Expected(animals.silent, "timeout"),
    Expected(animals.too_late, "timeout"),
    Expected(animals.just_in_time, BY_THE_RULES),
    Expected(animals.crashes, "disconnected", ("", "")),
    Expected(animals.half_closed, "disconnected", ("", "")),
    Expected(animals.reconnect_storm, BY_THE_RULES),
    Expected(animals.wrong_ply, "protocol_violation"),
    Expected(animals.two_at_once, BY_THE_RULES),
    Expected(animals.out_of_turn, "protocol_violation", seat=BLUE, keeper_thinks=0.5),
    Expected(animals.cheat, "illegal_move"),
    Expected(animals.babbler, "protocol_violation", ("goodbye", "too_many_bad_frames")),
    Expected(animals.giant, "protocol_violation", ("goodbye", "frame_too_large")),
    Expected(animals.deaf, "stalled", ("", ""), seat=BLUE, keeper_thinks=None),
    Expected(animals.deaf_shouter, "protocol_violation", ("", ""), seat=BLUE, keeper_thinks=None),
    Expected(animals.bytewise, BY_THE_RULES),
    Expected(animals.never_ready, "no_show"),
]
AT_THE_DOOR = {
    "other_protocol": (animals.other_protocol, "protocol_version", "update the server"),
    "browser": (animals.browser, "frame_too_large", "HTTP"),
    "tls_client": (animals.tls_client, "frame_too_large", "TLS"),
    "mute": (animals.mute, "greeting_timeout", "hello"),
}


def name(value: object) -> str:
    return getattr(getattr(value, "animal", value), "__name__", "")


async def keep(server: ServerProcess, code: str, thinks: float | None) -> Message:
    """The animal's opponent: the end of the match as it saw it."""
    line = await Line.open(server.port)
    try:
        if thinks is not None:
            played = await play_script(line, code, SCRIPT, after(thinks))
            assert played.over is not None
            return played.over
        await line.request("joined", type="join_reserved", reservation=code)
        await line.say(type="ready", room=(await line.hear("match_started"))["room"])
        return await line.hear("match_over")
    finally:
        await line.aclose()


async def meet(server: ServerProcess, expected: Expected) -> tuple[Cage, Message]:
    """Let the animal into a match: what it was told, and what its keeper saw."""
    control = {"type": "per_move", "move_ms": LIMIT * 1000, "margin_ms": 0}
    timed = (expected.seat == RED, expected.seat == BLUE)
    host = await Host.of(server)
    codes = await host.prepare(SCRIPT, control, timed)
    await host.line.aclose()
    cage = Cage(server.port, codes[expected.seat], SCRIPT, LIMIT)
    try:
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(expected.animal, cage)
                kept = await keep(server, codes[1 - expected.seat], expected.keeper_thinks)
                if not expected.hears[0]:
                    nursery.cancel_scope.cancel()
    finally:
        with trio.move_on_after(5, shield=True):
            await cage.clean()
    return cage, kept


def compare(neighbours: Neighbours, who: str) -> None:
    """The matches beside, which were asked before, went on; how fast is printed beside the figure of quiet times."""
    quiet, beside = neighbours.quiet, neighbours.told()
    print(f"\n{who:16} p99 beside {beside.p99:6.1f} ms, alone {quiet.p99:6.1f} ms ({beside.moves} moves)")
    assert beside.moves


@pytest.mark.parametrize("expected", EXPECTED, ids=name)
async def test_a_misbehaving_player_gets_its_reason_and_nobody_else_notices(
    zoo_server: ServerProcess, neighbours: Neighbours, expected: Expected
) -> None:
    neighbours.ask()
    cage, kept = await meet(zoo_server, expected)
    while expected.animal is animals.just_in_time and max(cage.took) > LIMIT:  # it overslept: that is not the case
        cage, kept = await meet(zoo_server, expected)
    result = kept["result"]
    assert result["reason"] == expected.reason, result
    if expected.reason != BY_THE_RULES:
        animal, keeper = ("red", "blue") if expected.seat == RED else ("blue", "red")
        assert (result["winner"], result["detail"]["offenders"]) == (keeper, [animal])
    kind, code = expected.hears
    told = [message for message in cage.heard if message["type"] == kind]
    if kind == "match_over":
        assert [message["result"] for message in told] == [result]
    elif kind:
        assert [message["code"] for message in told] == [code]
    compare(neighbours, name(expected))


@pytest.mark.parametrize("who", AT_THE_DOOR)
async def test_who_speaks_something_else_is_told_so_at_the_door(
    zoo_server: ServerProcess, neighbours: Neighbours, who: str
) -> None:
    animal, code, word = AT_THE_DOOR[who]
    neighbours.ask()
    cage = Cage(zoo_server.port, "", SCRIPT, LIMIT)
    try:
        with trio.fail_after(30):
            await animal(cage)
    finally:
        with trio.move_on_after(5, shield=True):
            await cage.clean()
    (refused,) = cage.heard
    assert (refused["type"], refused["code"]) == ("refused", code)
    assert word in refused["message"]
    compare(neighbours, who)


async def test_a_move_in_time_is_charged_what_its_bot_took(zoo_server: ServerProcess) -> None:
    cage, _ = await meet(zoo_server, Expected(animals.just_in_time, BY_THE_RULES))
    charged = [m["used_ms"] / 1000 for m in cage.heard if m["type"] == "moved" and m["side"] == "red"]
    assert len(charged) == len(cage.took) == (len(SCRIPT.moves) + 1) // 2
    for ours, theirs in zip(cage.took, charged, strict=True):
        assert theirs <= ours + 0.01


async def test_of_two_moves_at_once_the_second_is_dropped_with_a_notice(zoo_server: ServerProcess) -> None:
    cage, _ = await meet(zoo_server, Expected(animals.two_at_once, BY_THE_RULES))
    assert [message["code"] for message in cage.heard if message["type"] == "notice"] == ["late_move"]


async def test_each_displaced_connection_of_a_storm_is_told_so(zoo_server: ServerProcess) -> None:
    cage, _ = await meet(zoo_server, Expected(animals.reconnect_storm, BY_THE_RULES))
    assert sum(message["type"] == "joined" for message in cage.heard) == 21
