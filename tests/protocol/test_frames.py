"""Frames: however the bytes come, whole payloads come out, and nothing is waited for that is too large."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triarena.protocol.errors import RemoteProtocolError
from triarena.protocol.frames import HEADER, TO_CLIENT, TO_SERVER, XML, FrameReader, frame


def read(reader: FrameReader, data: bytes) -> list[bytes]:
    reader.feed(data)
    return list(iter(reader.next_payload, None))


def test_a_frame_is_a_big_endian_length_and_the_payload() -> None:
    assert frame(b"abc") == b"\x00\x00\x00\x03abc"
    assert frame(b"") == b"\x00\x00\x00\x00"


def test_a_frame_may_be_cut_at_every_byte() -> None:
    payloads = [b"first", b"", b"third" * 50]
    stream = b"".join(map(frame, payloads))
    for cut in range(len(stream) + 1):
        reader = FrameReader(TO_SERVER)
        assert read(reader, stream[:cut]) + read(reader, stream[cut:]) == payloads


def test_frames_may_come_byte_by_byte() -> None:
    reader = FrameReader(TO_SERVER)
    stream = frame(b"one") + frame(b"two")
    assert [p for i in range(len(stream)) for p in read(reader, stream[i : i + 1])] == [b"one", b"two"]


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(0, 400), max_size=8))
def test_frames_may_be_cut_and_joined_in_any_way(payloads: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(frame, payloads))
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    reader = FrameReader(TO_SERVER)
    chunks = [stream[start:end] for start, end in pairwise(edges)]
    assert [payload for chunk in chunks for payload in read(reader, chunk)] == payloads
    assert not reader.mid_frame


def test_a_begun_frame_is_known_to_be_begun() -> None:
    reader = FrameReader(TO_SERVER)
    assert not reader.mid_frame
    assert read(reader, frame(b"abc")[:-1]) == []
    assert reader.mid_frame
    assert read(reader, b"c") == [b"abc"]
    assert not reader.mid_frame


@pytest.mark.parametrize("limit", [TO_SERVER, TO_CLIENT])
def test_a_frame_of_the_limit_is_taken(limit: int) -> None:
    payload = bytes(limit)
    assert read(FrameReader(limit), frame(payload)) == [payload]


@pytest.mark.parametrize("limit", [TO_SERVER, TO_CLIENT])
def test_a_longer_frame_is_refused_before_anything_of_it_has_come(limit: int) -> None:
    reader = FrameReader(limit)
    reader.feed((limit + 1).to_bytes(HEADER, "big"))
    with pytest.raises(RemoteProtocolError, match=f"{limit + 1} bytes was announced; the limit is {limit}") as caught:
        reader.next_payload()
    assert caught.value.code == "frame_too_large"


def test_frames_before_one_that_is_too_large_are_handed_out() -> None:
    reader = FrameReader(TO_SERVER)
    reader.feed(frame(b"good") + b"\xff\xff\xff\xff")
    assert reader.next_payload() == b"good"
    for _ in range(2):  # and it stays refused
        with pytest.raises(RemoteProtocolError):
            reader.next_payload()


@pytest.mark.parametrize(
    "begin",
    [
        b"<",
        b"\n<protocol>",
        b"\r\n    \t<protocol>",
        b"\xef\xbb\xbf<protocol>",
        b"\xef\xbb\xbf\n<protocol>",
        "\ufeff<protocol>".encode("utf-16-le"),
        "\ufeff \n<protocol>".encode("utf-16-be"),
    ],
)
@pytest.mark.parametrize("limit", [TO_SERVER, TO_CLIENT])
def test_xml_is_known_with_blanks_and_a_byte_order_mark_before_it(begin: bytes, limit: int) -> None:
    reader = FrameReader(limit)
    reader.feed(begin)
    with pytest.raises(RemoteProtocolError) as caught:
        reader.next_payload()
    assert caught.value.code == XML


@pytest.mark.parametrize("begin", [b"\xef\xbb\xbf\xbf", b"\xff\xfe\xff\xfe", b"    ", b"\xef<\0\0"])
def test_what_only_begins_like_that_is_a_frame_that_is_too_large(begin: bytes) -> None:
    reader = FrameReader(TO_SERVER)
    reader.feed(begin)
    with pytest.raises(RemoteProtocolError) as caught:
        reader.next_payload()
    assert caught.value.code == "frame_too_large"


@pytest.mark.parametrize(
    ("begin", "hint"),
    [
        (b"GET / HTTP/1.1\r\n", "'GET ': is this HTTP?"),
        (b"POST / HTTP/1.1\r\n", "'POST': is this HTTP?"),
        (b"\x16\x03\x01\x02\x00\x01", "TLS handshake"),
        ((5).to_bytes(4, "little"), "4 bytes, big-endian"),
    ],
)
def test_a_sentence_says_what_a_strange_length_may_be(begin: bytes, hint: str) -> None:
    reader = FrameReader(TO_SERVER)
    reader.feed(begin)
    with pytest.raises(RemoteProtocolError) as caught:
        reader.next_payload()
    assert hint in caught.value.message
