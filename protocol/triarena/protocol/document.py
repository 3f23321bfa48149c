"""The protocol document: prose from a template, everything else from the models and the tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from importlib import resources
from typing import Any, Final

from . import codes, docstrings
from .codec import encode
from .example_match import Example, conversation
from .examples import examples
from .frames import TO_CLIENT, TO_SERVER
from .from_client import Pong
from .markdown import code, fenced, json_text, table, type_words
from .markdown import codes as many
from .schema import CLIENT_MESSAGES, SERVER_MESSAGES, Schema, models, name_of, schema
from .session import PIPELINE
from .table import ANSWERS, CONNECTION, ROOM, MessageType, Phase, Place, Role
from .values import PROTOCOL, Value

TEMPLATE: Final = "document.template.md"
ORDER: Final = [str(kind.model_fields["type"].default) for kind in (*CLIENT_MESSAGES, *SERVER_MESSAGES)]
"""All types of messages, in the order of their sections."""
ARROWS: Final = {Role.CLIENT: ">>", Role.SERVER: "<<"}


def document() -> str:
    """The whole document, in Markdown."""
    template = resources.files(__package__).joinpath(TEMPLATE).read_text("utf-8")
    parts = _parts(schema()["$defs"])
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: parts[hole[1]](), template)


def _parts(defs: Mapping[str, Schema]) -> dict[str, Callable[[], str]]:
    """What fills the holes of the template."""
    by_module = {name: model.__module__.rpartition(".")[2] for name, model in models().items()}
    messages = {name_of(kind) for kind in (*CLIENT_MESSAGES, *SERVER_MESSAGES)}
    games = [name for name, module in by_module.items() if module == "game_values"]
    moves = [name for name in games if "type" in defs[name]["properties"]]
    positions = [name for name in games if name not in moves]
    values = [name for name, module in by_module.items() if name not in messages and module != "game_values"]
    return {
        "protocol": lambda: str(PROTOCOL),
        "pong_frame": lambda: encode(Pong(number=17)).data.hex(" "),
        "to_server": lambda: f"{TO_SERVER:,}",
        "to_client": lambda: f"{TO_CLIENT:,}",
        "pipeline": lambda: str(PIPELINE),
        "conversation": lambda: fenced("text", "\n".join(map(_line, conversation()))),
        "phases": lambda: _members(Phase, "the connection"),
        "connection_table": lambda: _transitions(CONNECTION, "the connection"),
        "answers": lambda: table(["request", "answer"], _answers()),
        "places": lambda: _members(Place, "its place"),
        "room_diagram": lambda: fenced("mermaid", _diagram()),
        "room_table": lambda: _transitions(ROOM, "its place"),
        "fatal_faults": lambda: _meanings(codes.FATAL_FAULTS),
        "faults": lambda: _meanings(codes.FAULTS),
        "late": lambda: _meanings(codes.LATE),
        "warnings": lambda: _meanings(codes.WARNINGS),
        "refusals": lambda: _meanings(codes.REFUSALS),
        "farewells": lambda: _meanings(codes.FAREWELLS),
        "forfeits": lambda: _meanings(codes.FORFEITS),
        "aborts": lambda: _meanings(codes.ABORTS),
        "from_client": lambda: _messages(CLIENT_MESSAGES, defs, Role.CLIENT),
        "from_server": lambda: _messages(SERVER_MESSAGES, defs, Role.SERVER),
        "moves": lambda: _values(["WireMove", *moves, "Action"], defs),
        "positions": lambda: _values(["WirePosition", *positions], defs),
        "values": lambda: _values(["TimeControl", *values], defs),
    }


def _line(example: Example) -> str:
    return f"{ARROWS[example.sender]} {json_text(example.message.model_dump(exclude_none=True), 3)}"


def _meanings(meanings: Mapping[Any, str]) -> str:
    return table(["code", "meaning"], [(code(word), said) for word, said in meanings.items()])


# -- who may speak when ----------------------------------------------------------------------------


def _members(kind: type[Enum], what: str) -> str:
    return table([what, "meaning"], [(code(value), said) for value, said in docstrings.of_members(kind).items()])


def _answers() -> Iterator[tuple[str, str]]:
    for answer in dict.fromkeys(ANSWERS.values()):
        yield many(_type(request) for request, its in ANSWERS.items() if its is answer), code(_type(answer))


def _transitions(rows: Mapping[Any, Mapping[tuple[Role, MessageType], Any]], what: str) -> str:
    """One line for all messages of one end that lead from one state to the same other one."""
    lines = [(code(a.value), who.value, many(words), code(b.value)) for a, who, b, words in _grouped(rows)]
    return table([f"{what} is", "who", "may send", "then it is"], lines)


def _grouped(rows: Mapping[Any, Mapping[tuple[Role, MessageType], Any]]) -> Iterator[tuple[Any, Role, Any, list[str]]]:
    for before, row in rows.items():
        groups: dict[tuple[Role, Any], set[str]] = {}
        for (sender, kind), after in row.items():
            groups.setdefault((sender, after), set()).add(_type(kind))
        for (sender, after), words in groups.items():
            yield before, sender, after, sorted(words, key=ORDER.index)


def _diagram() -> str:
    lines = ["stateDiagram-v2", "    [*] --> outside"]
    for before, sender, after, words in _grouped(ROOM):
        if before is not after:
            lines.append(f"    {before.value} --> {after.value}: {', '.join(words)} ({sender.value})")
    return "\n".join(lines)


def _type(kind: MessageType) -> str:
    return str(kind.model_fields["type"].default)


# -- messages and values ---------------------------------------------------------------------------


def _messages(kinds: Iterable[type[Value]], defs: Mapping[str, Schema], sender: Role) -> str:
    """A section for each message, with an example; what both ends say is described with the client's."""
    shown = [kind for kind in kinds if sender is Role.CLIENT or kind not in CLIENT_MESSAGES]
    both = [_type(kind) for kind in kinds if kind not in shown]
    also = [f"Also {' and '.join(f'[`{word}`](#{word})' for word in both)}, as above."] if both else []
    return "\n\n".join([*(_message(kind, defs[name_of(kind)]) for kind in shown), *also])


def _message(kind: type[Value], described: Schema) -> str:
    answer = f" Answered by [`{_type(ANSWERS[kind])}`](#{_type(ANSWERS[kind])})." if kind in ANSWERS else ""
    shown = [example for example in examples() if type(example.message) is kind]
    blocks = [f"{e.meaning}\n\n{fenced('json', json_text(e.message.model_dump(exclude_none=True)))}" for e in shown]
    return "\n\n".join([f"### {_type(kind)}", described["description"] + answer, _fields(described), *blocks])


def _values(names: Iterable[str], defs: Mapping[str, Schema]) -> str:
    return "\n\n".join(f"### {name}\n\n{_value(defs[name])}" for name in names)


def _value(described: Schema) -> str:
    if "oneOf" in described:
        return f"{described['description']} One of {', '.join(map(type_words, described['oneOf']))}."
    more = "\n\nOther fields: whatever the game defines." if described.get("additionalProperties") else ""
    return f"{described['description']}\n\n{_fields(described)}{more}"


def _fields(described: Schema) -> str:
    rows = [
        (code(name), type_words(field), _presence(name, field, described), field.get("description", ""))
        for name, field in described["properties"].items()
    ]
    return table(["field", "holds", "required", "meaning"], rows)


def _presence(name: str, field: Schema, described: Schema) -> str:
    if name in described["required"]:
        return "yes"
    return f"no, else {code(json_text(field['default']))}" if "default" in field else "no"
