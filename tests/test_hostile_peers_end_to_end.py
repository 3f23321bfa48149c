"""Hostile and clumsy peers against a real server: whatever they do, two bots beside them play on undisturbed.

The figure is the server's own: what it took from the opponent's move to ``your_turn``, as it tells the bot.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import msgpack
import pytest
import trio
from tests.server.conftest import Client

from triarena.cli.children import Children
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.frames import TO_SERVER, frame
from triarena.protocol.values import Result

pytestmark = pytest.mark.soak

SECONDS = 1.5
"""How long each attack lasts at least."""
LOST = (trio.BrokenResourceError, trio.ClosedResourceError, EOFError, OSError)
PING = frame(msgpack.packb({"type": "ping", "number": 1}))
LIST = frame(msgpack.packb({"type": "list_rooms"}))
SETTINGS = {
    "CONNECTIONS": "3000",
    "CONNECTIONS_PER_ADDRESS": "2500",
    "NEWCOMERS": "200",
    "GREETING_SECONDS": "2",
    "WRITE_SECONDS": "1",
    "FLOOD_SECONDS": "1",
}


@dataclass
class Target:
    """The server under attack."""

    port: int
    process: int
    ordinary: float = 0.0
    """The 99th percentile of the overhead when nobody attacks, in milliseconds."""

    async def connect(self) -> trio.SocketStream:
        """A connection that has said nothing."""
        return await trio.open_tcp_stream("127.0.0.1", self.port)

    @asynccontextmanager
    async def guest(self) -> AsyncIterator[Client]:
        """A client that has been welcomed, for as long as the block lasts."""
        async with await self.connect() as stream:
            yield await Client(stream).greet()

    def resident(self) -> int:
        """The server's memory in kB."""
        with open(f"/proc/{self.process}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("attacked")
    with Children(folder) as children:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in SETTINGS.items():
                patch.setenv(f"TRIARENA_LIMITS__{name}", value)
            port = children.serve(folder)
        found = Target(port, children._running[0][1].pid)
        calm = trio.run(disturbed, found, idle_hands)
        found.ordinary = calm.percentile(99)
        yield found
        children.check()
        assert "Traceback" not in children.log("server").read_text("utf-8")


@dataclass
class Figures:
    """What two bots noticed."""

    overheads: list[float] = field(default_factory=list)
    ends: list[Result] = field(default_factory=list)

    def percentile(self, share: int) -> float:
        """In milliseconds."""
        return sorted(self.overheads)[len(self.overheads) * share // 100]


Attack = Callable[[Target], Awaitable[object]]


async def idle_hands(target: Target) -> None:
    """Attacks nobody."""
    await trio.lowlevel.checkpoint()


async def disturbed(target: Target, attack: Attack) -> Figures:
    """Two bots play match after match while an attack goes on, again and again for some seconds."""
    figures = Figures()
    done = trio.Event()

    async def repeat() -> None:
        deadline = trio.current_time() + SECONDS
        while trio.current_time() < deadline:
            with trio.move_on_after(30):
                await attack(target)
        done.set()

    async with trio.open_nursery() as nursery:
        red, blue = Client(await target.connect()), Client(await target.connect())
        await red.greet("ann")
        await blue.greet("bob")
        nursery.start_soon(repeat)
        while not done.is_set() or len(figures.overheads) < 100:
            await play(red, blue, figures)
        await red.stream.aclose()
        await blue.stream.aclose()
    return figures


async def play(red: Client, blue: Client, figures: Figures) -> None:
    """One match; whatever is noticed is added to the figures."""

    async def side(player: Client) -> None:
        await player.say(c.Join(game="towerwars", options={"size": 5, "max_plies": 60}))
        await player.start()
        while not isinstance(message := await player._next(), s.MatchOver):
            if isinstance(message, s.YourTurn):
                if message.clock.server_overhead_ms is not None:
                    figures.overheads.append(message.clock.server_overhead_ms)
                await player.move(message, index=message.ply)
        figures.ends.append(message.result)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(side, red)
            nursery.start_soon(side, blue)


# -- the attacks ---------------------------------------------------------------------------------


async def together(count: int, one: Callable[[], Awaitable[object]]) -> None:
    """So many of them at once."""

    async def guarded() -> None:
        with suppress(*LOST):
            await one()

    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(guarded)


async def idle_connections(target: Target) -> None:
    """A thousand clients that say hello and nothing more."""
    arrivals = trio.CapacityLimiter(100)  # more at once would be turned away as newcomers

    async def wait() -> None:
        async with AsyncExitStack() as stack:
            async with arrivals:
                guest = await stack.enter_async_context(target.guest())
            with trio.move_on_after(SECONDS):
                await guest.stream.receive_some()

    await together(1000, wait)


async def silent_connections(target: Target) -> None:
    """More than may be there without a hello."""

    async def wait() -> None:
        async with await target.connect() as stream:
            while await stream.receive_some():
                pass

    await together(400, wait)


async def connecting_and_leaving(target: Target) -> None:
    """Connections that go as soon as they stand, in four ways."""

    async def storm() -> None:
        for n in range(40):
            async with await target.connect() as stream:
                if n % 4 == 1:
                    await stream.send_all(PING)
                elif n % 4 == 2:
                    await Client(stream).greet()
                elif n % 4 == 3:
                    stream.socket.setsockopt(
                        trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, bytes([1, 0, 0, 0] + [0] * 4)
                    )

    await together(8, storm)


async def half_frames(target: Target) -> None:
    """Frames that announce more than comes."""

    async def half() -> None:
        async with target.guest() as guest:
            await guest.stream.send_all(TO_SERVER.to_bytes(4, "big") + bytes(TO_SERVER // 2))
            with trio.move_on_after(SECONDS):
                await guest.stream.receive_some()

    await together(100, half)


async def slow_writers(target: Target) -> None:
    """A byte now, a byte then."""

    async def dribble() -> None:
        async with target.guest() as guest:
            for byte in LIST * 5:
                await guest.stream.send_all(bytes([byte]))
                await trio.sleep(0.01)

    await together(50, dribble)


async def slow_readers(target: Target) -> None:
    """Much is asked for, nothing is read."""

    async def ask() -> None:
        async with await target.connect() as stream:
            stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
            await Client(stream).greet()
            with trio.move_on_after(3):
                while True:
                    await stream.send_all(LIST * 30)

    await together(20, ask)


async def floods(target: Target) -> None:
    """As many messages as the wire takes, answers read, until the server has enough of it."""
    ends: list[str] = []

    async def flood() -> None:
        async with target.guest() as guest, trio.open_nursery() as nursery:

            async def listen() -> None:
                with suppress(*LOST):
                    ends.append((await guest.wait_for(s.Goodbye)).code)
                nursery.cancel_scope.cancel()

            nursery.start_soon(listen)
            while True:
                await guest.stream.send_all(PING * 200)

    await together(4, flood)
    assert ends == ["too_fast"] * 4


async def requests_in_heaps(target: Target) -> None:
    """As many questions at once as may be, again and again."""

    async def ask() -> None:
        async with target.guest() as guest:
            with trio.move_on_after(SECONDS):
                while True:
                    for _ in range(30):
                        await guest.say(c.ListRooms())
                    for _ in range(30):
                        await guest.wait_for(s.Rooms)

    await together(4, ask)


async def bombs(target: Target) -> None:
    """Frames as deep and as broad as they can be, until the connection is closed for them."""
    deep = [frame(b"\x81\xa1x" * 5000 + b"\x00"), frame(b"\x91" * TO_SERVER), frame(b"\xdd\xff\xff\xff\xff")]
    broad = [
        frame(b"\xde\x0c\x00" + b"".join(b"\xcd" + n.to_bytes(2, "big") + b"\x00" for n in range(0x0C00))),
        frame(msgpack.packb({"type": "join", "game": "towerwars", "options": {f"o{n}": n for n in range(1500)}})),
        frame(
            msgpack.packb({"type": "move", "room": "x", "ply": 0, "move": {"type": "actions", "actions": [[]] * 9000}})
        ),
    ]

    async def throw() -> None:
        async with target.guest() as guest:
            for bomb in deep + broad:
                await guest.stream.send_all(bomb)
            assert (await guest.wait_for(s.Goodbye)).code == "too_many_bad_frames"

    await together(10, throw)


async def other_protocols(target: Target) -> None:
    """Browsers and scanners."""
    words = [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"SSH-2.0-x\r\n", b"\0" * 64]

    async def knock() -> None:
        for word in words:
            async with await target.connect() as stream:
                await stream.send_all(word)
                while await stream.receive_some():
                    pass

    await together(20, knock)


async def guesses(target: Target) -> None:
    """Wrong secrets and tokens."""
    codes: set[str] = set()

    async def guess() -> None:
        async with target.guest() as guest:
            for n in range(20):
                await guest.say(c.Authenticate(secret=f"guess{n}"))
                codes.add((await guest.wait_for(s.Error)).code)
                await guest.say(c.Rejoin(token=f"guess{n}"))
                codes.add((await guest.wait_for(s.Error)).code)

    await together(10, guess)
    assert "throttled" in codes


@pytest.mark.skipif(sys.platform == "win32", reason="the server's processes are not measured there")
@pytest.mark.parametrize(
    "attack",
    [
        idle_connections, silent_connections, connecting_and_leaving, half_frames, slow_writers, slow_readers, floods,
        requests_in_heaps, bombs, other_protocols, guesses,
    ],
)  # fmt: skip
def test_whatever_peers_do_other_matches_go_on_as_before(
    target: Target, attack: Attack, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = trio.run(disturbed, target, attack)
    worst, p99, usual = max(figures.overheads), figures.percentile(99), figures.percentile(50)
    with capsys.disabled():  # the times are for people to read: a machine that does other things tells of those, too
        name, moves = getattr(attack, "__name__", ""), len(figures.overheads)
        print(f"\n  {name:24} {moves:5} moves, median {usual:.2f}, 99 % {p99:.2f}, worst {worst:.2f} ms ", end="")
        print(f"(in peace 99 %: {target.ordinary:.2f} ms)", end="")
    assert figures.ends
    assert {end.reason for end in figures.ends if end.kind != "outcome"} <= {"ply_limit"}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from Linux")
def test_storms_leave_the_memory_as_it_was(target: Target) -> None:
    trio.run(connecting_and_leaving, target)
    before = target.resident()
    for _ in range(5):
        trio.run(connecting_and_leaving, target)
    assert target.resident() - before < 4000
