"""What is published about the protocol is what the code does: document, JSON Schema, test vectors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from triarena.cli.schema import schema as schema_command
from triarena.games import find_game
from triarena.protocol import codes, example_match
from triarena.protocol.codec import decode
from triarena.protocol.document import document
from triarena.protocol.example_match import Example, conversation, positions
from triarena.protocol.examples import examples
from triarena.protocol.frames import HEADER
from triarena.protocol.from_client import FROM_CLIENT, FromClient
from triarena.protocol.from_server import FROM_SERVER, FromServer
from triarena.protocol.publication import files
from triarena.protocol.schema import schema
from triarena.protocol.session import Fault, client_session, server_session
from triarena.protocol.table import Phase, Place, Role
from triarena.protocol.values import AbortReason, ForfeitReason
from triarena.protocol.vectors import FaultyFrame, faulty_frames, vectors

ROOT = Path(__file__).parents[2]
ADAPTERS: dict[str, Any] = {"client": FROM_CLIENT, "server": FROM_SERVER}


@pytest.mark.parametrize("name", ["protocol.md", "protocol.schema.json", "test-vectors.json"])
def test_the_published_files_are_up_to_date(name: str) -> None:
    published = (ROOT / "docs" / name).read_text("utf-8")
    assert published == files()[name], "write them anew with: triarena schema --write docs"


# -- examples --------------------------------------------------------------------------------------


def test_every_message_has_an_example() -> None:
    shown = {(example.sender, type(example.message)) for example in examples()}
    assert {kind for sender, kind in shown if sender is Role.CLIENT} == set(get_args(FromClient))
    missing = set(get_args(FromServer)) - {kind for sender, kind in shown if sender is Role.SERVER}
    assert {kind.__name__ for kind in missing} == {"Pong"}, "which the client's example shows"


def test_the_example_match_is_a_legal_conversation() -> None:
    ends: dict[Role, Any] = {Role.CLIENT: client_session(), Role.SERVER: server_session()}
    for example in conversation():
        data = ends[example.sender].send(example.message)
        assert ends[example.sender.peer].receive(data) == [example.message]
    assert {end.phase for end in ends.values()} == {Phase.OPEN}
    assert {end.place("k3f9q2") for end in ends.values()} == {Place.OVER}


def test_the_example_match_ends_as_the_rules_say() -> None:
    outcome = positions()[-1].outcome
    *_, last = conversation()
    result = last.message.result
    assert outcome is not None
    assert (result.winner, result.reason) == (outcome.winner, outcome.reason)
    assert (result.sides.red.score, result.sides.blue.score) == (outcome.red.points, outcome.blue.points)


@pytest.mark.parametrize("example", [e for e in examples() if getattr(e.message, "position", None)], ids=repr)
def test_positions_in_examples_can_be_played_on(example: Example) -> None:
    wire = example.message.position.model_dump(exclude_none=True)
    game = find_game(wire["game"])
    assert game.write_position(game.read_position(wire)) == {"outcome": None, **wire}


@pytest.mark.parametrize("example", [e for e in examples() if e.message.type == "move"], ids=lambda e: e.meaning)
def test_moves_in_examples_are_moves_of_their_game(example: Example) -> None:
    kind = example.message.move.type
    games = {"step": "towerwars", "plant": "flowerwars", "dig": "flowerwars", "end": "flowerwars"}
    if kind == "drop":
        return  # of a game that does not exist
    game = find_game(games.get(kind, "mississippi_queen"))
    wire = example.message.move.model_dump()
    assert game.write_move(game.read_move(wire)) == wire


def test_every_code_in_an_example_is_one_that_the_server_says() -> None:
    by_type: dict[str, set[str]] = {
        "refused": {*codes.FAREWELLS, *codes.FAULTS, *codes.FATAL_FAULTS},
        "goodbye": {*codes.FAREWELLS, *codes.FAULTS, *codes.FATAL_FAULTS},
        "error": {*codes.REFUSALS, *codes.FAULTS},
        "notice": {*codes.LATE, *codes.WARNINGS},
    }
    shown = [e.message for e in [*examples(), *conversation()] if e.message.type in by_type]
    assert {message.type for message in shown} == set(by_type)
    assert [message for message in shown if message.code not in by_type[message.type]] == []


def test_the_examples_show_the_limits_and_times_of_a_server_with_its_defaults() -> None:
    settings = pytest.importorskip("triarena.server.settings").Settings()
    welcome, control = example_match.welcome(), example_match.CLOCK
    for name in ("bad_frames", "rooms_per_connection", "observed_rooms_per_connection", "greeting_seconds"):
        assert getattr(welcome.limits, name) == getattr(settings.limits, name), name
    assert welcome.heartbeat_seconds == settings.limits.heartbeat_seconds
    assert (control.move_ms, control.margin_ms) == (1000 * settings.clock.move_seconds, settings.clock.margin_ms)
    assert example_match.match_started().startup_ms == 1000 * settings.clock.startup_seconds


# -- test vectors ----------------------------------------------------------------------------------


def test_every_frame_of_the_vectors_is_its_message() -> None:
    published = vectors()
    for vector in [*published["messages"], *published["conversation"]]:
        data = bytes.fromhex(vector["frame"])
        assert int.from_bytes(data[:HEADER], "big") == len(data) - HEADER
        message = decode(data[HEADER:], ADAPTERS[vector["sender"]])
        assert message.model_dump(exclude_none=True) == vector["message"]


@pytest.mark.parametrize("faulty", faulty_frames(), ids=lambda faulty: faulty.name)
def test_every_faulty_frame_is_the_fault_that_it_shows(faulty: FaultyFrame) -> None:
    ends: dict[Role, Any] = {Role.CLIENT: client_session(), Role.SERVER: server_session()}
    for example in list(conversation())[: faulty.after]:
        ends[example.sender.peer].receive(ends[example.sender].send(example.message))
    (fault,) = ends[faulty.receiver].receive(faulty.data)
    assert isinstance(fault, Fault)
    assert fault.code == faulty.code
    fatal = faulty.code in codes.FATAL_FAULTS or faulty.after == 0
    assert fault.fatal is fatal


def test_the_vectors_show_every_fault_that_can_be_told_to_the_peer() -> None:
    shown = {faulty.code for faulty in faulty_frames()}
    assert shown == {*codes.FAULTS, *codes.FATAL_FAULTS} - {"truncated"}


# -- JSON Schema -----------------------------------------------------------------------------------


def validator(definition: str) -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    whole = schema()
    jsonschema.Draft202012Validator.check_schema(whole)
    return jsonschema.Draft202012Validator({**whole, "anyOf": [{"$ref": f"#/$defs/{definition}"}]})


@pytest.mark.parametrize("sender", ["client", "server"])
def test_the_schema_accepts_every_example(sender: str) -> None:
    accepts = validator(f"from_{sender}")
    shown = [vector["message"] for vector in vectors()["messages"] if vector["sender"] == sender]
    assert len(shown) > 20
    assert [message for message in shown if not accepts.is_valid(message)] == []


def test_the_schema_accepts_an_example_without_what_may_be_absent() -> None:
    accepts = validator("from_client")
    assert accepts.is_valid({"type": "join", "game": "towerwars"})
    assert not accepts.is_valid({"game": "towerwars"}), "the type is never absent"


def test_the_schema_refuses_what_the_code_refuses() -> None:
    accepts = validator("from_client")
    assert not accepts.is_valid({"type": "joln"})
    assert not accepts.is_valid({"type": "join", "game": "towerwars", "options": {"size": True}})
    assert not accepts.is_valid({"type": "observe"})
    flat = {"type": "plant", "flowers": [[1, 1], [2, 1]]}
    assert not accepts.is_valid({"type": "move", "room": "r", "ply": 0, "move": flat}), "no move of another game either"


def test_the_schema_explains_every_message_and_uses_plain_names() -> None:
    definitions = schema()["$defs"]
    assert [name for name, definition in definitions.items() if not definition.get("description")] == []
    assert [name for name in definitions if "__" in name] == []


# -- the document ----------------------------------------------------------------------------------


def test_the_document_explains_every_reason_and_code() -> None:
    assert set(codes.FORFEITS) == set(get_args(ForfeitReason))
    assert set(codes.ABORTS) == set(get_args(AbortReason))


def test_the_document_explains_every_code_that_the_server_gives() -> None:
    known = {*codes.REFUSALS, *codes.FAREWELLS, *codes.FAULTS, *codes.FATAL_FAULTS, *codes.LATE, *codes.WARNINGS}
    given = {
        code
        for path in (ROOT / "server" / "triarena" / "server").glob("*.py")
        for code in re.findall(r'(?:Refusal\(|\.close\(|code=)\s*"(\w+)"', path.read_text("utf-8"))
    }
    assert given, "the server's sources were found"
    assert given - known == set(), "explain them in triarena.protocol.codes"


def test_every_link_of_the_document_leads_somewhere() -> None:
    text = re.sub(r"`[^`\n]+`", "code", document())
    anchors = [re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.M)]
    assert len(anchors) == len(set(anchors)), "no two sections have the same anchor"
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) - set(anchors) == set()
    beside = re.findall(r"\]\(([^#)][^)]*)\)", text)
    assert set(files()) - {"protocol.md"} <= set(beside)
    assert [name for name in beside if not (ROOT / "docs" / name).is_file()] == []


def test_every_line_of_json_in_the_document_is_json() -> None:
    blocks = re.findall(r"^```json\n(.*?)^```", document(), re.M | re.S)
    assert len(blocks) > 40
    assert all(isinstance(json.loads(block), dict) for block in blocks)


# -- the command -----------------------------------------------------------------------------------


def test_the_schema_command_prints_writes_and_checks(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert json.loads(run(schema_command).stdout) == schema()
    assert run(schema_command, ["--write", str(tmp_path / "docs")]).exit_code == 0
    assert run(schema_command, ["--check", str(tmp_path / "docs")]).exit_code == 0


def test_the_schema_command_names_what_drifted(tmp_path: Path) -> None:
    run = CliRunner().invoke
    run(schema_command, ["--write", str(tmp_path)])
    (tmp_path / "test-vectors.json").write_text("{}")
    checked = run(schema_command, ["--check", str(tmp_path)])
    assert checked.exit_code == 1
    assert "test-vectors.json" in checked.output
    assert "protocol.md" not in checked.output


def test_the_schema_command_does_not_write_and_check_at_once(tmp_path: Path) -> None:
    both = CliRunner().invoke(schema_command, ["--write", str(tmp_path), "--check", str(tmp_path)])
    assert both.exit_code == 2
