"""Messages to frames and back; what is no message is refused in one clear sentence that repeats little of it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import ValidationError

from triarena.protocol import from_client as c
from triarena.protocol.codec import Undecodable, decode, encode
from triarena.protocol.examples import examples
from triarena.protocol.frames import HEADER, TO_SERVER
from triarena.protocol.from_client import FROM_CLIENT
from triarena.protocol.from_server import FROM_SERVER
from triarena.protocol.game_values import NESTING
from triarena.protocol.schema import CLIENT_MESSAGES, SERVER_MESSAGES, name_of, schema
from triarena.protocol.table import Role
from triarena.protocol.values import Budget, PerMove, Unlimited, Value

ADAPTERS: dict[Role, Any] = {Role.CLIENT: FROM_CLIENT, Role.SERVER: FROM_SERVER}
DEFINITIONS = schema()["$defs"]
TEXT = st.characters(exclude_categories=["Cs"])
MOVE = {"type": "move", "room": "r", "ply": 0}


def packed(value: object) -> bytes:
    return bytes(msgpack.packb(value))


def sentence(value: object, adapter: Any = FROM_CLIENT) -> Undecodable:
    with pytest.raises(Undecodable) as caught:
        decode(value if isinstance(value, bytes) else packed(value), adapter)
    assert len(caught.value.message) < 700
    assert "\n" not in caught.value.message
    assert "http" not in caught.value.message
    return caught.value


# -- whatever the schema allows --------------------------------------------------------------------


def allowed(part: dict[str, Any]) -> SearchStrategy[Any]:
    """Everything that a piece of the JSON Schema allows, within reason."""
    if "$ref" in part:
        return st.deferred(lambda: allowed(DEFINITIONS[part["$ref"].rpartition("/")[2]]))
    if "const" in part or "enum" in part:
        return st.sampled_from(part.get("enum", [part.get("const")]))
    if "anyOf" in part or "oneOf" in part:
        return st.one_of([allowed(option) for option in part.get("anyOf", part.get("oneOf", []))])
    found: SearchStrategy[Any] = BY_TYPE[part["type"]](part)
    return found


def integers(part: dict[str, Any]) -> SearchStrategy[int]:
    highest = part.get("maximum", part.get("exclusiveMaximum", 2**63) - 1)
    return st.integers(part.get("minimum", -(2**63)), highest)


def numbers(part: dict[str, Any]) -> SearchStrategy[float]:
    low, high = part.get("exclusiveMinimum", part.get("minimum")), part.get("maximum")
    found = st.floats(low, high, exclude_min="exclusiveMinimum" in part, allow_nan=False, allow_infinity=False)
    whole = st.integers(1, 1000) if high is None or high >= 1000 else st.nothing()
    return found | whole


def texts(part: dict[str, Any]) -> SearchStrategy[str]:
    low, high = part.get("minLength", 0), part.get("maxLength", 30)
    taken = part.get("not", {}).get("enum", [])
    if "pattern" in part:
        found = st.from_regex(re.compile(part["pattern"], re.ASCII), fullmatch=True)
        return found.filter(lambda text: len(text) <= high and text not in taken)
    return st.text(TEXT, min_size=low, max_size=min(high, 30)).filter(lambda text: text not in taken)


def arrays(part: dict[str, Any]) -> SearchStrategy[list[Any]]:
    low = part.get("minItems", 0)
    return st.lists(allowed(part["items"]), min_size=low, max_size=min(part.get("maxItems", 3), max(low, 3)))


def maps(part: dict[str, Any]) -> SearchStrategy[dict[str, Any]]:
    if "properties" not in part:
        names = texts(part.get("propertyNames", {}))
        return st.dictionaries(names, allowed(part["additionalProperties"]), max_size=3)
    fields = {name: allowed(field) for name, field in part["properties"].items()}
    required = {name: field for name, field in fields.items() if name in part["required"]}
    optional = {name: field for name, field in fields.items() if name not in required}
    known = st.fixed_dictionaries(required, optional=optional)
    if not part.get("additionalProperties"):
        return known
    more = st.dictionaries(st.text(TEXT, max_size=5).map("x_".__add__), PLAIN, max_size=3)
    return st.builds(lambda whole, extra: {**extra, **whole}, known, more)


PLAIN = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63) | st.text(TEXT, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(TEXT, max_size=3), inner, max_size=3),
    max_leaves=6,
)
BY_TYPE: dict[str, Any] = {
    "integer": integers,
    "number": numbers,
    "string": texts,
    "null": lambda _: st.none(),
    "boolean": lambda _: st.booleans(),
    "array": arrays,
    "object": maps,
}


@pytest.mark.parametrize(
    ("sender", "kind"),
    [(Role.CLIENT, kind) for kind in CLIENT_MESSAGES] + [(Role.SERVER, kind) for kind in SERVER_MESSAGES],
    ids=lambda value: getattr(value, "value", None) or value.__name__,
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(data=st.data())
def test_whatever_the_schema_allows_is_a_message_and_survives(sender: Role, kind: Any, data: st.DataObject) -> None:
    value = data.draw(allowed(DEFINITIONS[name_of(kind)]))
    message = decode(packed(value), ADAPTERS[sender])
    assert type(message) is kind
    again = decode(encode(message).data[HEADER:], ADAPTERS[sender])
    assert again == message


# -- what is left out, and what is too much ----------------------------------------------------------


@pytest.mark.parametrize("example", list(examples()), ids=lambda e: f"{e.sender.value}-{e.message.type}")
def test_unknown_fields_are_ignored(example: Any) -> None:
    value = example.message.model_dump(exclude_none=True)
    assert decode(packed({**value, "weather": "fair"}), ADAPTERS[example.sender]) == example.message


def test_a_field_without_a_value_is_left_out() -> None:
    assert msgpack.unpackb(encode(c.Hello(protocol=1, software="x")).data[HEADER:]) == {
        "type": "hello",
        "protocol": 1,
        "software": "x",
    }


@pytest.mark.parametrize("kind", CLIENT_MESSAGES, ids=lambda kind: kind.__name__)
def test_every_field_that_a_client_may_leave_out_may_be_nil(kind: Any) -> None:
    value = next(e.message for e in examples() if type(e.message) is kind).model_dump(exclude_none=True)
    for name, field in kind.model_fields.items():
        if not field.is_required() and name != "type":
            without = {key: one for key, one in value.items() if key != name}
            assert decode(packed({**value, name: None}), FROM_CLIENT) == decode(packed(without), FROM_CLIENT), name


@pytest.mark.parametrize("control", [PerMove(move_ms=5), Budget(budget_ms=5), Unlimited()], ids=lambda one: one.type)
def test_so_may_be_what_the_maps_in_a_request_leave_out(control: Any) -> None:
    prepare = c.Prepare(game="towerwars", slots=[c.Slot(), c.Slot()], time_control=control)
    given = control.model_dump(exclude_unset=True) | {"type": control.type}
    clock = {**dict.fromkeys(type(control).model_fields), **given}
    slot = dict.fromkeys(c.Slot.model_fields)
    value = {"type": "prepare", "game": "towerwars", "slots": [slot, slot], "time_control": clock}
    assert decode(packed(value), FROM_CLIENT) == prepare


@pytest.mark.parametrize("value", [{"type": "join", "game": None}, {"type": None}, {"type": "ready", "room": None}])
def test_a_field_that_must_be_there_must_not_be_nil(value: object) -> None:
    assert sentence(value).code in ("invalid_message", "unknown_type")


def test_nil_in_what_a_game_defines_is_the_games_affair() -> None:
    message = decode(packed({**MOVE, "move": {"type": "promote", "to": None}}), FROM_CLIENT)
    assert isinstance(message, c.Move)
    assert message.move.model_dump() == {"type": "promote", "to": None}


def test_a_whole_number_will_do_for_a_time() -> None:
    control = {"type": "per_move", "move_ms": 2000}
    value = {"type": "prepare", "game": "towerwars", "slots": [{}, {}], "time_control": control}
    message = decode(packed(value), FROM_CLIENT)
    assert isinstance(message, c.Prepare)
    assert message.time_control is not None


# -- what is no message ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [b"", b"\xc1", packed({"type": "pong"})[:-1], packed({"type": "pong"}) * 2, b"\xa2\xff\xfe", b"\x81\x01\x02"],
    ids=["empty", "reserved", "cut short", "two values", "not UTF-8", "a number as a key"],
)
def test_what_is_not_one_msgpack_value_is_refused(payload: bytes) -> None:
    assert sentence(payload).code == "not_msgpack"


def test_json_is_recognised() -> None:
    assert "looks like JSON" in sentence(b'{"type": "pong"}').message


@pytest.mark.parametrize("value", [[], 1, "pong", b"pong", None, True, 1.5], ids=repr)
def test_what_is_no_map_is_refused(value: object) -> None:
    assert sentence(packed(value)).code == "not_a_map"


@pytest.mark.parametrize(
    "value",
    [{}, {"type": None}, {"type": "joln"}, {"type": b"ping"}, {"type": ["ping"]}, {"type": {}}, {b"type": "ping"}],
    ids=repr,
)
def test_an_unknown_type_is_refused(value: object) -> None:
    assert sentence(value).code == "unknown_type"


def test_the_sentence_about_an_unknown_type_names_those_there_are() -> None:
    assert "'join_room'" in sentence({"type": "joln"}).message


JOIN = {"type": "join", "game": "towerwars", "id": 7}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"type": "pong", "number": True}, "number"),
        ({"type": "pong", "number": 1.0}, "number"),
        ({"type": "pong", "number": "1"}, "number"),
        ({"type": "pong", "number": -1}, "number"),
        ({"type": "pong", "number": 2**60}, "number"),
        ({"type": "observe"}, "room"),
        ({"type": "observe", "room": b"r"}, "room"),
        ({"type": "observe", "room": ""}, "room"),
        ({"type": "observe", "room": "r" * 41}, "room"),
        ({"type": "hello", "protocol": 1, "software": "x", "name": " blank"}, "name"),
        ({"type": "hello", "protocol": 1, "software": "x", "name": "line\nbreak"}, "name"),
        ({"type": "hello", "protocol": 1, "software": "x", "name": "end\n"}, "name"),
        ({**JOIN, "options": []}, "options"),
        ({**JOIN, "options": {"size": 1.5}}, "options.size"),
        ({**JOIN, "options": {"size": True}}, "options.size"),
        ({**JOIN, "options": {"size": [[[]]]}}, "options.size"),
        ({**JOIN, "options": {str(i): i for i in range(17)}}, "options"),
        ({**JOIN, "updates": "all"}, "updates"),
        ({"type": "prepare", "game": "g", "slots": [{}]}, "slots"),
        ({"type": "prepare", "game": "g", "slots": [{}, {}], "seed": 2**53}, "seed"),
        ({"type": "prepare", "game": "g", "slots": [{}, {}], "time_control": {"type": "chess"}}, "time_control"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_field_is_named(value: object, where: str) -> None:
    error = sentence(value)
    assert error.code == "invalid_message"
    assert f" at {where}" in error.message


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 0.0, -1.0, "2000", True], ids=repr)
def test_a_time_is_a_finite_number(number: object) -> None:
    control = {"type": "per_move", "move_ms": number}
    value = {"type": "prepare", "game": "g", "slots": [{}, {}], "time_control": control}
    assert "time_control.per_move.move_ms" in sentence(value).message


@pytest.mark.parametrize(
    "move",
    [
        None,
        "A1->B2",
        [],
        {},
        {"type": 5},
        {"type": ""},
        {"type": "step"},
        {"type": "step", "start": "A1", "target": ["B", 2]},
        {"type": "plant", "flowers": [[[1, 1], [2, 1], [1, 2]]]},
        {"type": "plant", "flowers": [[[1, 1], [2, 1], [1, True]]] * 2},
        {"type": "dig", "ditch": [[1, 1], [1, 1, 1]]},
        {"type": "actions", "actions": [{"type": "advance", "distance": 1}] * 65},
        {"type": "actions", "actions": [{"type": "teleport"}]},
        {"type": "actions", "actions": [{"type": "turn", "to": "RIGHT"}]},
    ],
    ids=lambda move: str(move)[:60],
)
def test_a_move_of_a_wrong_shape_is_refused(move: object) -> None:
    error = sentence({**MOVE, "move": move})
    assert error.code == "invalid_message"
    assert " at move" in error.message


def test_the_request_and_its_number_are_known_even_if_it_is_not_understood() -> None:
    error = sentence({**JOIN, "options": 5})
    assert (error.type, error.id) == ("join", 7)
    wrong_number = sentence({**JOIN, "id": "7"})
    assert (wrong_number.type, wrong_number.id) == ("join", None)


# -- hostile ones ------------------------------------------------------------------------------------


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_another_games_move_may_be_nested_within_bounds() -> None:
    deepest = {**MOVE, "move": {"type": "drop", "x": nested(NESTING)}}
    assert decode(packed(deepest), FROM_CLIENT).model_dump() == deepest
    error = sentence({**MOVE, "move": {"type": "drop", "x": nested(NESTING + 1)}})
    assert f"nested {NESTING} deep" in error.message


@pytest.mark.parametrize("where", ["whole", "field", "move"])
@pytest.mark.parametrize("depth", [100, 500, 1000, 16_000])
def test_deep_nesting_is_refused(where: str, depth: int) -> None:
    # Written by hand, since our own packer refuses it: arrays of one element around a zero.
    deep = b"\x91" * depth + b"\x00"
    whole = {
        "whole": deep,
        "field": b"\x82\xa4type\xa7observe\xa4room" + deep,
        "move": packed({**MOVE, "move": 0})[:-1] + b"\x82\xa4type\xa4drop\xa1x" + deep,
    }[where]
    assert sentence(whole).code in ("not_msgpack", "not_a_map", "invalid_message")


def test_a_list_that_claims_to_be_huge_is_refused_without_room_being_made_for_it() -> None:
    assert sentence(b"\xdd\xff\xff\xff\xff").code == "not_msgpack"


def test_a_huge_list_is_refused() -> None:
    assert " at move" in sentence({**MOVE, "move": {"type": "dig", "ditch": [0] * 16_000}}).message


def test_little_of_the_input_is_repeated() -> None:
    secret = "s3cret" * 2000
    for value in (
        {"type": secret},
        {"type": "observe", "room": secret},
        {**JOIN, "updates": secret},
        {**JOIN, "options": {secret: 1}},
        {**MOVE, "move": {"type": "actions", "actions": [{"type": secret}]}},
        {**MOVE, "move": {"type": secret}},
    ):
        assert secret[:400] not in sentence(value).message


@pytest.mark.parametrize(
    ("adapter", "value"),
    [
        (FROM_CLIENT, {**JOIN, "options": {f"{i:x}": [] for i in range(3000)}}),
        (FROM_CLIENT, {"type": "prepare", "game": "g", "slots": [0] * 16_000}),
        (FROM_CLIENT, {**MOVE, "move": {"type": "actions", "actions": [0] * 16_000}}),
        (FROM_SERVER, {"type": "rooms", "rooms": [0] * 100_000}),
        (FROM_SERVER, {"type": "welcome", "games": [0] * 100_000}),
        (FROM_SERVER, {"type": "prepared", "room": "r", "reservations": [0] * 100_000}),
        (FROM_SERVER, {"type": "snapshot", "room": "r", "view": {"plies": [0] * 100_000}}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_frame_full_of_faults_costs_no_more_than_one_with_a_few(adapter: Any, value: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        adapter.validate_python(value)
    assert caught.value.error_count() <= 100


def test_duplicate_keys_and_extension_types_do_no_harm() -> None:
    twice = b"\x82\xa6number\x01\xa6number\x02"
    assert sentence(twice).code == "unknown_type"
    assert sentence({"type": "pong", "number": msgpack.ExtType(5, b"x")}).code == "invalid_message"
    assert sentence({"type": "observe", "room": msgpack.Timestamp(1)}).code == "invalid_message"


@given(st.binary(max_size=200))
@settings(max_examples=500)
def test_any_bytes_are_a_message_or_a_fault(payload: bytes) -> None:
    for adapter in ADAPTERS.values():
        with suppress(Undecodable):  # and nothing else
            assert isinstance(decode(payload, adapter), Value)


def test_the_largest_honest_move_fits_the_limit() -> None:
    action = {"type": "advance", "distance": -1000}
    value = {**MOVE, "room": "r" * 40, "move": {"type": "actions", "actions": [action] * 64}}
    assert len(encode(decode(packed(value), FROM_CLIENT)).data) < TO_SERVER
