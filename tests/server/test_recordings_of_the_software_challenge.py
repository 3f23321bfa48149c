"""What the original server said to its clients, ours says too, message for message.

The clients' bytes of each recording go to our server, on the recorded boards; the answers are compared as XML trees.
What may differ: the names of rooms, reservation codes, and the codes that we add to results.
"""

from __future__ import annotations

from collections import Counter
from xml.etree.ElementTree import Element

import pytest
import trio.testing

from .xml_clients import Chunk, Inbox, XmlClient, XmlWorld, kind, recorded_boards, recording, xml_world

OURS_ALONE = {"winner": {"code", "rule"}}
"""Attributes that we add, by element."""
MESSAGES = {"plain-join": 103, "testclient": 166, "socha": 31}
"""How many the recorded server said."""


class Rehearsal:
    """A recording, played to our server."""

    def __init__(self, chunks: list[Chunk], world: XmlWorld) -> None:
        self.chunks = chunks
        self.world = world
        self.recorded: dict[int, Inbox] = {}
        self.clients: dict[int, XmlClient] = {}
        self.ours: dict[str, str] = {}
        """What our server calls what the recorded one called otherwise: rooms and reservations."""
        everything = self._everything()
        mementos = [m for inbox in everything.values() for m in inbox.messages if kind(m) == "memento"]
        games = recorded_boards(mementos)
        world.lobby.find_game = lambda name: games[min(len(world.lobby.rooms), len(games) - 1)]

    def _everything(self) -> dict[int, Inbox]:
        inboxes: dict[int, Inbox] = {}
        for chunk in self.chunks:
            if chunk.dir == "server":
                inboxes.setdefault(chunk.conn, Inbox()).feed(chunk.text)
        return inboxes

    async def play(self) -> None:
        for chunk in self.chunks:
            if chunk.dir == "server":
                self.recorded.setdefault(chunk.conn, Inbox()).feed(chunk.text)
                continue
            self.compare()
            if chunk.conn not in self.clients:
                self.clients[chunk.conn] = self.world.xml()
            client = self.clients[chunk.conn]
            if chunk.text:
                await client.say(self._in_our_words(chunk.text))
            else:
                await client.stream.send_eof()
                await trio.testing.wait_all_tasks_blocked()
        self.compare()

    def compare(self) -> None:
        """Everything that the recorded server had said by now, ours has said, too."""
        for conn, inbox in self.recorded.items():
            said = self.clients[conn].inbox.messages
            assert len(said) >= len(inbox.messages), f"{conn} lacks {kind(inbox.messages[len(said)])}"
            for recorded, ours in zip(inbox.messages, said, strict=False):
                self._learn(recorded, ours)
                assert self._tree(recorded) == tree(ours)

    def _learn(self, recorded: Element, ours: Element) -> None:
        if recorded.tag in ("joined", "prepared"):
            self.ours[recorded.attrib["roomId"]] = ours.attrib["roomId"]
            for theirs, code in zip(recorded, ours, strict=True):
                self.ours[str(theirs.text)] = str(code.text)

    def _in_our_words(self, text: str) -> str:
        for theirs, ours in self.ours.items():
            text = text.replace(theirs, ours)
        return text

    def _tree(self, recorded: Element) -> object:
        return tree(recorded, self.ours)


def tree(element: Element, words: dict[str, str] | None = None) -> object:
    """An element as a value that says where two differ: order of attributes and of children counts."""
    words = words or {}
    skipped = OURS_ALONE.get(element.tag, set())
    attributes = [(name, words.get(value, value)) for name, value in element.attrib.items() if name not in skipped]
    text = (element.text or "").strip()
    return element.tag, attributes, words.get(text, text), [tree(child, words) for child in element]


@pytest.mark.parametrize("name", MESSAGES)
async def test_a_recording_gets_the_same_messages_in_the_same_order(
    name: str, autojump_clock: trio.testing.MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    async with xml_world(password="examplepassword") as world:
        rehearsal = Rehearsal(recording(name), world)
        await rehearsal.play()
        said = {conn: client.inbox.messages for conn, client in rehearsal.clients.items()}
        counts = Counter(kind(message) for messages in said.values() for message in messages)
        assert {conn: len(inbox.messages) for conn, inbox in rehearsal.recorded.items()} == {
            conn: len(messages) for conn, messages in said.items()
        }
        for conn, inbox in rehearsal.recorded.items():
            assert inbox.ended is rehearsal.clients[conn].inbox.ended
    with capsys.disabled():
        print(f"\n{name}: {sum(counts.values())} messages compared: {dict(counts)}")
    assert sum(counts.values()) == MESSAGES[name]
