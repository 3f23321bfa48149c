"""Messages to frames and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgpack
from pydantic import TypeAdapter, ValidationError

from .errors import RemoteProtocolError
from .frames import frame
from .from_client import FROM_CLIENT, FromClient
from .from_server import FromServer
from .values import Value

T = TypeVar("T", bound=Value)
Out = TypeVar("Out", bound=FromClient | FromServer)


@dataclass(frozen=True, slots=True)
class Encoded(Generic[T]):
    """A message together with its frame, so that a broadcast is packed once."""

    message: T
    data: bytes
    messages: int = 1
    """How many it stands for; see ``together``."""


def encode(message: T) -> Encoded[T]:
    """The message as a frame. Fields without a value are left out."""
    return Encoded(message, frame(msgpack.packb(message.model_dump(exclude_none=True))))


def together(run: Sequence[Encoded[T]]) -> Encoded[T]:
    """Messages of one kind about one room as one: what may be said of the last may be said of all."""
    return Encoded(run[-1].message, b"".join([one.data for one in run]), sum(one.messages for one in run))


def encode_plain(message: T, plain: Mapping[str, Any]) -> Encoded[T]:
    """A frame of plain values, which are known to make a valid message.

    ``message`` is one of its kind, for its room and ply, which is all that a session looks at.
    """
    return Encoded(message, frame(msgpack.packb(plain)))


def pack_map(plain: Mapping[str, Any], packed: Mapping[str, bytes]) -> bytes:
    """A msgpack map of plain values and of values that were packed before."""
    packer = msgpack.Packer(autoreset=False)
    packer.pack_map_header(len(plain) + len(packed))
    for name, value in plain.items():
        packer.pack(name)
        packer.pack(value)
    parts = [bytes(packer.bytes())]
    for name, value in packed.items():
        parts += [msgpack.packb(name), value]
    return b"".join(parts)


def pack_array(packed: Sequence[bytes]) -> bytes:
    """A msgpack array of values that were packed before."""
    packer = msgpack.Packer()
    return b"".join([packer.pack_array_header(len(packed)), *packed])


def encode_with(message: T, packed: Mapping[str, bytes]) -> Encoded[T]:
    """The message as a frame, with these fields as they were packed before, whatever the message itself has there."""
    plain = message.model_dump(exclude_none=True, exclude=set(packed), warnings=False)
    return Encoded(message, frame(pack_map(plain, packed)))


class Undecodable(RemoteProtocolError):
    """A frame that is no message, with what could be made out of it."""

    def __init__(self, code: str, message: str, *, type: str | None = None, id: int | None = None) -> None:
        super().__init__(code, message)
        self.type = type
        """The ``type`` it claims to be, if that is a text."""
        self.id = id


def decode(payload: bytes, incoming: TypeAdapter[T]) -> T:
    """The message of a frame's payload. Raises Undecodable with a sentence fit to be sent back."""
    try:
        raw: Any = msgpack.unpackb(payload)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        hint = " (it looks like JSON: encode with msgpack)" if payload[:1] in (b"{", b"[") else ""
        raise Undecodable(
            "not_msgpack", f"the frame holds no single msgpack value: {_first_line(error)}{hint}"
        ) from None
    if not isinstance(raw, dict):
        raise Undecodable("not_a_map", f"a message is a msgpack map, not {_kind(raw)}")
    if incoming is FROM_CLIENT:
        raw = _without_nil(raw)
    try:
        return incoming.validate_python(raw)
    except ValidationError as error:
        raise _undecodable(raw, error) from None
    except (ValueError, RecursionError) as error:
        raise Undecodable("invalid_message", f"the message is invalid: {_first_line(error)}") from None


def _without_nil(message: dict[Any, Any]) -> dict[Any, Any]:
    """A client's message without the fields that are nil, which means that they are absent.

    Also in the maps of a request to prepare a room; what a game may define, a move or an option, is left as it is.
    """
    if None in message.values():
        message = {name: value for name, value in message.items() if value is not None}
    if message.get("type") == "prepare":
        for name in ("slots", "time_control"):
            if name in message:
                message[name] = _maps_without_nil(message[name])
    return message


def _maps_without_nil(value: Any) -> Any:
    if isinstance(value, list):
        return [_maps_without_nil(one) for one in value]
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if one is not None}
    return value


def _undecodable(raw: dict[Any, Any], error: ValidationError) -> Undecodable:
    first = error.errors(include_url=False, include_input=False)[0]
    type_, id_ = raw.get("type"), raw.get("id")
    named = type_ if isinstance(type_, str) and len(type_) <= 40 else None
    number = id_ if type(id_) is int and 0 <= id_ <= 2**53 else None
    if first["type"] == "union_tag_not_found" and not first["loc"]:
        return Undecodable("unknown_type", "the message has no field 'type'", id=number)
    if first["type"] == "union_tag_invalid" and not first["loc"]:
        known = str(first.get("ctx", {}).get("expected_tags", ""))
        what = repr(named) if named is not None else f"of this kind ({_kind(type_)})"
        return Undecodable("unknown_type", f"there is no message type {what}; there are {known}", type=named, id=number)
    where = ".".join(str(part) for part in first["loc"][1:]) or "the map itself"
    sentence = f"the message {named!r} is invalid at {where[:200]}: {first['msg'][:300]}"
    return Undecodable("invalid_message", sentence, type=named, id=number)


def _kind(value: object) -> str:
    return {dict: "a map", list: "an array", str: "a text", bytes: "binary data", type(None): "nil"}.get(
        type(value), f"a value of type {type(value).__name__}"
    )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__
