"""A crowd of observers is told together, at its own pace, and everything in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from triarena.protocol.codec import Encoded, encode
from triarena.protocol.from_server import FromServer, MatchOver, Moved, Notice, Snapshot
from triarena.protocol.game_values import Step
from triarena.server.gallery import AT_ONCE, PAUSE, WRITE, Gallery
from triarena.server.transcript import Transcript


@dataclass(eq=False)
class Listener:
    """An observer's line, which notes what is posted to it."""

    terse: bool = False
    singly: bool = False
    backlog: int = 0
    number: str = "c1"
    address: str = "127.0.0.1"
    posts: list[Encoded[Any]] = field(default_factory=list)

    def transcribe(self) -> Transcript:
        return Transcript()

    async def heard_out(self) -> None:
        """All that it said has been heard: it says nothing."""

    def post(self, message: FromServer, sent: Callable[[float], None] | None = None) -> None:
        self.posts.append(encode(message))

    def post_encoded(self, encoded: Encoded[Any], sent: Callable[[float], None] | None = None) -> None:
        self.posts.append(encoded)

    @property
    def heard(self) -> bytes:
        return b"".join(post.data for post in self.posts)


def moved(ply: int, text: str = "A1->A2") -> Encoded[Moved]:
    move = Step(start="A1", target="A2")
    return encode(Moved(room="r", ply=ply, side="red", move=move, text=text, used_ms=1.0))


def joined(plies: list[Encoded[Moved]]) -> bytes:
    return b"".join(one.data for one in plies)


SNAPSHOT: Encoded[Snapshot] = Encoded(cast(Snapshot, None), b"the present state")
THE_END: Encoded[MatchOver] = Encoded(cast(MatchOver, None), b"the end")


@pytest.fixture
def gallery(nursery: trio.Nursery, autojump_clock: MockClock) -> Gallery:
    return Gallery(nursery.start_soon)


async def test_plies_that_come_fast_are_told_with_one_write_and_in_order(gallery: Gallery) -> None:
    listener = Listener()
    gallery.add(listener, bound=64)
    plies = [moved(ply) for ply in range(10)]
    for ply in plies:
        gallery.show(ply)
    assert not listener.posts, "not while the match goes on"
    await trio.sleep(PAUSE / 2)
    assert listener.heard == joined(plies)
    assert [post.messages for post in listener.posts] == [10]


async def test_after_a_telling_what_comes_is_collected_for_a_moment(gallery: Gallery) -> None:
    listener = Listener()
    gallery.add(listener, bound=64)
    gallery.show(moved(0))
    await trio.sleep(PAUSE / 4)
    gallery.show(moved(1))
    gallery.show(moved(2))
    await trio.sleep(PAUSE / 4)
    assert [post.messages for post in listener.posts] == [1]
    await trio.sleep(PAUSE)
    assert [post.messages for post in listener.posts] == [1, 2]


async def test_a_crowd_is_told_a_few_at_a_time(gallery: Gallery) -> None:
    crowd = [Listener() for _ in range(5 * AT_ONCE)]
    for listener in crowd:
        gallery.add(listener, bound=64)
    gallery.show(moved(0))
    told = []
    for _ in range(20):
        await trio.lowlevel.checkpoint()
        told.append(sum(len(listener.posts) for listener in crowd))
    steps = [later - before for before, later in zip([0, *told], told, strict=False)]
    assert max(steps) <= 2 * AT_ONCE, "two, since tasks take their turns in any order"
    assert told[-1] == len(crowd)


async def test_very_long_plies_are_not_written_together(gallery: Gallery) -> None:
    listener = Listener()
    gallery.add(listener, bound=64)
    plies = [moved(ply, "x" * (WRITE // 2)) for ply in range(3)]
    for ply in plies:
        gallery.show(ply)
    await trio.sleep(PAUSE)
    assert listener.heard == joined(plies)
    assert [post.messages for post in listener.posts] == [1, 1, 1]


async def test_who_comes_later_is_not_told_what_it_has_seen_already(gallery: Gallery) -> None:
    early, late = Listener(), Listener()
    gallery.add(early, bound=64)
    gallery.show(moved(0))
    gallery.add(late, bound=64)  # its view has ply 0
    gallery.show(moved(1))
    await trio.sleep(3 * PAUSE)
    assert early.heard == joined([moved(0), moved(1)])
    assert late.heard == joined([moved(1)])


async def test_who_has_gone_is_told_nothing_more(gallery: Gallery) -> None:
    staying, gone = Listener(), Listener()
    for listener in (gone, staying):
        gallery.add(listener, bound=64)
    gallery.show(moved(0))
    gallery.remove(gone)
    await trio.sleep(PAUSE)
    assert not gone.posts
    assert staying.heard == joined([moved(0)])


async def test_who_lags_gets_the_present_state_and_then_goes_on(gallery: Gallery) -> None:
    listener = Listener(backlog=64)
    gallery.add(listener, bound=64)
    gallery.show(moved(0))
    await trio.sleep(2 * PAUSE)
    assert not listener.posts
    gallery.show(moved(1))  # is in the present state
    listener.backlog = 0
    gallery.drained(listener, lambda: SNAPSHOT)
    await trio.sleep(2 * PAUSE)
    assert listener.heard == SNAPSHOT.data
    gallery.show(moved(2))
    await trio.sleep(2 * PAUSE)
    assert listener.heard == SNAPSHOT.data + moved(2).data


async def test_the_present_state_comes_behind_what_is_left_to_tell_and_later_for_who_lags(gallery: Gallery) -> None:
    in_time, lagging, terse = Listener(), Listener(), Listener(terse=True)
    for listener in (in_time, lagging, terse):
        gallery.add(listener, bound=64)
    gallery.show(moved(0))
    gallery.announce(lambda: SNAPSHOT)
    assert in_time.heard == moved(0).data + SNAPSHOT.data
    lagging.backlog = 64
    gallery.announce(lambda: SNAPSHOT)
    assert in_time.heard == moved(0).data + 2 * SNAPSHOT.data
    assert lagging.heard == moved(0).data + SNAPSHOT.data
    gallery.drained(lagging, lambda: SNAPSHOT)
    assert lagging.heard == moved(0).data + 2 * SNAPSHOT.data
    await trio.sleep(2 * PAUSE)
    assert terse.heard == moved(0).data


async def test_the_end_comes_after_everything_else(gallery: Gallery) -> None:
    in_time, lagging = Listener(), Listener(backlog=64)
    for listener in (in_time, lagging):
        gallery.add(listener, bound=64)
    gallery.show(moved(0))
    gallery.close(THE_END, lambda: SNAPSHOT)
    await trio.sleep(2 * PAUSE)
    assert in_time.heard == moved(0).data + THE_END.data
    assert lagging.heard == SNAPSHOT.data + THE_END.data
    assert not gallery.watches


async def test_a_line_that_is_recorded_gets_every_message_by_itself(gallery: Gallery) -> None:
    listener = Listener(singly=True)
    gallery.add(listener, bound=64)
    for ply in range(3):
        gallery.show(moved(ply))
    await trio.sleep(PAUSE)
    assert [post.messages for post in listener.posts] == [1, 1, 1]


async def test_clients_of_the_software_challenge_are_told_at_once_and_in_order_with_all_else(gallery: Gallery) -> None:
    listener = Listener(terse=True, singly=True)
    gallery.add(listener, bound=64)
    gallery.show(moved(0))
    listener.post(Notice(code="x", message="y"))
    await trio.sleep(2 * PAUSE)
    assert [type(post.message) for post in listener.posts] == [Moved, Notice]


async def test_without_observers_nothing_is_kept(gallery: Gallery) -> None:
    gallery.show(moved(0))
    late = Listener()
    gallery.add(late, bound=64)
    await trio.sleep(2 * PAUSE)
    assert not late.posts
