"""The reader of a stream of XML: every message as soon as it is complete, and nothing that a message never needs."""

from __future__ import annotations

import pytest

from triarena.server.socha.markup import attributes, element, written
from triarena.server.socha.reading import DEPTH, ELEMENTS, MESSAGE_BYTES, NAMES, Element, XmlReader

MOVE = (
    '<room roomId="r&amp;1"><data class="move"><actions><advance distance="2"/><turn direction="LEFT"/>'
    "</actions></data></room>"
)


MESSAGES = frozenset({"room", "join", "left", "and", "a"})


def read(*chunks: str | bytes) -> tuple[list[Element], XmlReader]:
    reader = XmlReader(MESSAGES)
    found = [one for chunk in chunks for one in reader.feed(chunk.encode() if isinstance(chunk, str) else chunk)]
    return found, reader


def test_a_message_is_read_as_soon_as_its_last_byte_has_come() -> None:
    reader = XmlReader(MESSAGES)
    stream = f"<protocol>{MOVE}".encode()
    assert [reader.feed(stream[at : at + 1]) for at in range(len(stream) - 1)] == [[]] * (len(stream) - 1)
    (move,) = reader.feed(stream[-1:])
    assert move.attributes == {"roomId": "r&1"}
    assert written(move).replace("\n", "").replace("  ", "") == MOVE
    assert reader.failure is None
    assert reader.opened
    assert not reader.closed


@pytest.mark.parametrize("cut", range(1, 60))
def test_it_does_not_matter_where_a_packet_ends(cut: int) -> None:
    stream = f"<protocol>  {MOVE}\n<join/>"
    found, _ = read(stream[:cut], stream[cut:])
    assert [one.name for one in found] == ["room", "join"]


def test_what_stands_between_messages_is_skipped() -> None:
    found, reader = read('<?xml version="1.0"?><foo> a<!-- b --><?c d?><join/>text<![CDATA[<x>]]>&lt;<left/>')
    assert [one.name for one in found] == ["join", "left"]
    assert reader.failure is None


def test_the_end_of_the_root_is_the_end_whatever_follows() -> None:
    found, reader = read("<protocol><join/></protocol><protocol><join/></protocol>", "<join/>")
    assert [one.name for one in found] == ["join"]
    assert reader.closed
    assert reader.failure is None


def test_good_messages_before_a_fault_are_kept() -> None:
    found, reader = read("<protocol><join/><join></protocol>")
    assert [one.name for one in found] == ["join"]
    assert reader.failure is not None
    assert reader.failure.code == "not_xml"
    assert reader.feed(b"<join/>") == []


BOMB = '<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><p><join gameType="&b;"/>'


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (BOMB, "document_type"),
        ('<!DOCTYPE p SYSTEM "file:///etc/passwd"><p><join/>', "document_type"),
        ("<p><!DOCTYPE p><join/>", "not_xml"),
        ("<p><join type='&unknown;'/>", "not_xml"),
        ("<p>" + "<a>" * DEPTH, "too_deep"),
        ("<p><a>" + "<b/>" * (ELEMENTS + 1), "too_large"),
        (f"<p><a b='{'x' * MESSAGE_BYTES}'/>", "too_large"),
        (f"<p><a b='{'x' * 2 * MESSAGE_BYTES}", "too_large"),
        ("<p><!--" + "x" * 2 * MESSAGE_BYTES, "too_large"),
        ("<p><a></b>", "not_xml"),
        ("<p><a b=c/>", "not_xml"),
        ("<p><a b='1' b='2'/>", "not_xml"),
        ("<p><a\x00/>", "not_xml"),
        ("hello <p>", "not_xml"),
        ("<p><p><join/>", "unknown_element"),
        ("<p><actions>", "unknown_element"),
        ("", None),
    ],
)
def test_what_no_message_needs_ends_the_reading(stream: str, code: str | None) -> None:
    _, reader = read(stream)
    assert (None if reader.failure is None else reader.failure.code) == code


def test_bytes_that_are_no_utf_8_end_the_reading() -> None:
    _, reader = read(b"<p><a b='\xff\xfe'/>")
    assert reader.failure is not None
    assert reader.failure.code == "not_xml"


def test_a_long_stream_of_short_messages_is_no_large_message() -> None:
    _, reader = read("<p>", *["<join/>  <!-- and on -->" * 100] * 100)
    assert reader.failure is None


@pytest.mark.parametrize("message", ["<join a{}='' b{}=''/>", "<join><a{} b{}=''/></join>"])
def test_a_client_that_makes_up_names_for_ever_is_not_remembered_for_ever(message: str) -> None:
    used = [message.format(number, number) for number in range(NAMES // 2 - 2)]
    _, reader = read("<p>", *used, *used)
    assert reader.failure is None, "names that were used before are no new ones"
    assert len(reader.feed(message.format("x", "x").encode())) == 1
    reader.feed(b"<and m='' o='' r='' e=''/>")
    assert reader.failure is not None
    assert reader.failure.code == "too_large"


def test_what_is_written_can_be_read_whatever_is_in_it() -> None:
    nasty = "<&>\"'\x00\x1f\n\ud800\ufffe ü"
    (one,), reader = read("<p>" + element("a", attributes(b=nasty, c=None, d=True), [element("e"), element("f")]))
    assert reader.failure is None
    assert one.attributes == {"b": "<&>\"'????? ü", "d": "true"}
    assert [child.name for child in one.children] == ["e", "f"]
