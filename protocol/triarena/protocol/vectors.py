"""Test vectors for implementations in other languages: messages with their frames, a whole match, and faulty frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgpack

from .codec import encode
from .example_match import ROOM, Example, conversation, welcome
from .examples import examples
from .frames import TO_CLIENT, TO_SERVER, frame
from .table import Role
from .values import PROTOCOL

ABOUT: Final = (
    "Every frame is given in hexadecimal: 4 bytes of length, then msgpack. Decode it and compare with the message. "
    "Frames that you write may differ from these in the order of keys and in how wide a number is packed. "
    "'messages' stand alone; 'conversation' is a whole match in order; of each of 'faults' the receiver must say the "
    "code, after the messages of 'after' (as in the conversation) have been exchanged."
)


@dataclass(frozen=True, slots=True)
class FaultyFrame:
    """Bytes that the receiver must object to, and how."""

    name: str
    receiver: Role
    after: int
    """How many messages of the conversation have been exchanged before."""
    data: bytes
    code: str
    meaning: str


GREETED: Final = 2
"""After so many messages of the conversation anything may be said."""
SEATED: Final = 4


def faulty_frames() -> tuple[FaultyFrame, ...]:
    """One example of everything that can be wrong with a frame."""
    to_server, to_client = Role.SERVER, Role.CLIENT
    move = {"type": "move", "room": ROOM, "ply": 0, "move": {"type": "step", "start": "A2", "target": "B1"}}
    join = {"type": "join", "id": 1, "game": "towerwars", "options": {"size": True}}
    return (
        FaultyFrame(
            "too_large_for_the_server",
            to_server,
            GREETED,
            (TO_SERVER + 1).to_bytes(4, "big"),
            "frame_too_large",
            "the length alone is enough to refuse it: nothing more is waited for",
        ),
        FaultyFrame(
            "too_large_for_the_client",
            to_client,
            GREETED,
            (TO_CLIENT + 1).to_bytes(4, "big"),
            "frame_too_large",
            "the length alone is enough to refuse it: nothing more is waited for",
        ),
        FaultyFrame("http", to_server, 0, b"GET / HTTP/1.1\r\n", "frame_too_large", "a browser at the wrong port"),
        FaultyFrame("empty", to_server, GREETED, frame(b""), "not_msgpack", "no byte is no value"),
        FaultyFrame("json", to_server, GREETED, frame(b'{"type": "pong"}'), "not_msgpack", "JSON is not msgpack"),
        FaultyFrame(
            "cut_short", to_server, GREETED, frame(_packed(move)[:-3]), "not_msgpack", "the value is cut short"
        ),
        FaultyFrame("two_values", to_server, GREETED, frame(_packed(move) * 2), "not_msgpack", "two values in a frame"),
        FaultyFrame("array", to_server, GREETED, _framed(["pong", 1]), "not_a_map", "an array instead of a map"),
        FaultyFrame("no_type", to_server, GREETED, _framed({"number": 1}), "unknown_type", "the type is missing"),
        FaultyFrame("unknown_type", to_server, GREETED, _framed({"type": "joln"}), "unknown_type", "a slip of the pen"),
        FaultyFrame("boolean", to_server, GREETED, _framed(join), "invalid_message", "true is no whole number"),
        FaultyFrame(
            "float",
            to_server,
            GREETED,
            _framed({"type": "pong", "number": 1.0}),
            "invalid_message",
            "a floating-point number is no whole number, even if it has no fraction",
        ),
        FaultyFrame(
            "missing_field", to_server, GREETED, _framed({"type": "observe"}), "invalid_message", "the room is missing"
        ),
        FaultyFrame(
            "wrong_field",
            to_client,
            SEATED,
            _framed({"type": "your_turn", "room": ROOM, "ply": "0", "clock": {}}),
            "invalid_message",
            "a text is no whole number",
        ),
        FaultyFrame("no_greeting", to_server, 0, _framed(move), "greeting_first", "the first message must be hello"),
        FaultyFrame("no_turn", to_server, SEATED, _framed(move), "not_now", "nobody has asked for a move"),
        FaultyFrame(
            "second_welcome", to_client, GREETED, encode(welcome()).data, "not_now", "the greeting is over already"
        ),
    )


def vectors() -> dict[str, Any]:
    """All of it as a JSON value."""
    return {
        "protocol": PROTOCOL,
        "about": ABOUT,
        "messages": [_message(example) for example in examples()],
        "conversation": [_message(example) for example in conversation()],
        "faults": [
            {
                "name": fault.name,
                "receiver": fault.receiver.value,
                "after": fault.after,
                "meaning": fault.meaning,
                "code": fault.code,
                "frame": fault.data.hex(),
            }
            for fault in faulty_frames()
        ],
    }


def _message(example: Example) -> dict[str, Any]:
    return {
        "type": example.message.type,
        "sender": example.sender.value,
        "meaning": example.meaning,
        "message": example.message.model_dump(exclude_none=True),
        "frame": encode(example.message).data.hex(),
    }


def _packed(value: Any) -> bytes:
    return bytes(msgpack.packb(value))


def _framed(value: Any) -> bytes:
    return frame(_packed(value))
