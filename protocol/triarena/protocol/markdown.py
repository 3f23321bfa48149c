"""Pieces of Markdown: tables, JSON that fits the page, and the types of a JSON Schema in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

WIDTH: Final = 116
"""Columns that a line of JSON may take."""

Schema = dict[str, Any]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; ``|`` inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: str) -> str:
    """In the typeface of code."""
    return f"`{text}`"


def codes(texts: Iterable[str]) -> str:
    """Several words in the typeface of code, with commas between."""
    return ", ".join(map(code, texts))


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```"


def json_text(value: Any, indent: int = 0) -> str:
    """JSON on as few lines as the page allows."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list):
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {json_text(item, indent + 2)}" for key, item in value.items()]
        begin, end = "{", "}"
    else:
        parts = [json_text(item, indent + 2) for item in value]
        begin, end = "[", "]"
    return begin + "\n" + ",\n".join(inner + part for part in parts) + "\n" + " " * indent + end


def type_words(schema: Schema) -> str:
    """What a field holds, in words, with links to the values it is made of."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema or "enum" in schema:
        return " or ".join(code(json.dumps(value)) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " or ".join(type_words(part) for part in schema["anyOf"] if part != {"type": "null"})
    return _BY_TYPE[schema["type"]](schema)


def _number(schema: Schema) -> str:
    word = "whole number" if schema["type"] == "integer" else "number"
    low = _bound(schema, "minimum", "from"), _bound(schema, "exclusiveMinimum", "above")
    high = _bound(schema, "maximum", "to"), _bound(schema, "exclusiveMaximum", "below")
    return " ".join(filter(None, [word, *low, *high]))


def _bound(schema: Schema, key: str, word: str) -> str:
    if key not in schema:
        return ""
    value = schema[key]
    return f"{word} {'2^53' if value == 2**53 else f'{value:,.0f}'}"


def _text(schema: Schema) -> str:
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    pattern = f", matching {code(schema['pattern'])}" if "pattern" in schema else ""
    if high is None:
        return "text" + pattern
    return f"text of {high if low == high else f'{low} to {high}' if low else f'at most {high}'} characters{pattern}"


def _list(schema: Schema) -> str:
    low, high, of = schema.get("minItems", 0), schema.get("maxItems"), type_words(schema["items"])
    nil = " or nil" if {"type": "null"} in schema["items"].get("anyOf", []) else ""
    many = "" if high is None else f"{high} × " if low == high else f"at most {high:,} × "
    return f"list of {many}{'(' + of + ')' if ' ' in of and many else of}{nil}"


def _map(schema: Schema) -> str:
    return f"map from name to {type_words(schema['additionalProperties'])}"


_BY_TYPE: Final = {
    "integer": _number,
    "number": _number,
    "string": _text,
    "boolean": lambda _: "`true` or `false`",
    "array": _list,
    "object": _map,
}
