"""The settings explained: as a commented TOML file, and what a single one allows, for error sentences."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic.fields import FieldInfo

from triarena.server.settings import SECTIONS, Section, Settings

_WIDTH = 100
_PASSWORD = re.compile(r"(?<=://)([^:@/]*):.*@|(?<=password)=[^&]*")


def describe(settings: Settings | None = None) -> str:
    """A TOML file with every setting, its explanation and its value (the default, if no settings are given).

    The text can be used as a settings file; a password in the database's URL is replaced by ``***``.
    """
    settings = settings or Settings()
    lines = [
        "# The settings of a TriArena server. What is left out has its default.",
        "# A variable of the environment goes before this file: TRIARENA_CLOCK__MOVE_SECONDS=5;",
        "# an option of the command line goes before both. Relative paths here start from the folder of this file.",
    ]
    for name, section in SECTIONS.items():
        lines += ["", f"# {section.__doc__}", f"[{name}]"]
        values: Section = getattr(settings, name)
        for key, field in section.model_fields.items():
            lines += _explained(key, field, getattr(values, key))
    return "\n".join(lines) + "\n"


def allowed(field: FieldInfo) -> str:
    """What a setting may be, e.g. ``a whole number from 0 to 65535``."""
    if get_origin(field.annotation) is Literal:
        return "one of " + ", ".join(get_args(field.annotation))
    if field.annotation is bool:
        return "true or false"
    if field.annotation is int:
        return "a whole number " + _range(field)
    if field.annotation is float:
        return "a number " + _range(field)
    return "a text that is not empty"


def _range(field: FieldInfo) -> str:
    """The bounds of a number, e.g. ``from 0 to 65535``; every number has a lower and an upper one."""
    lower = upper = ""
    for bound in field.metadata:
        if isinstance(bound, annotated_types.Ge):
            lower = f"from {bound.ge}"
        elif isinstance(bound, annotated_types.Gt):
            lower = f"above {bound.gt} and up"
        elif isinstance(bound, annotated_types.Le):
            upper = f"to {bound.le}"
    return f"{lower} {upper}"


def _explained(key: str, field: FieldInfo, value: Any) -> list[str]:
    lines = [f"# {line}" for line in textwrap.wrap(str(field.description), _WIDTH)]
    if value is None:
        # TOML has no way to say "none": the key is left out, here by a comment sign.
        examples = field.examples or [""]
        return [*lines, f"# {key} = {_toml(examples[0])}"]
    if key == "password":
        value = "***"
    elif not field.repr:
        value = _PASSWORD.sub(lambda found: f"{found[1]}:***@" if found[1] is not None else "=***", value)
    choices = f"  # {_range(field)}" if field.annotation in {int, float} else ""
    if field.annotation is bool:
        choices = "  # true or false"
    if get_origin(field.annotation) is Literal:
        choices = "  # " + ", ".join(get_args(field.annotation))
    return [*lines, f"{key} = {_toml(value)}{choices}"]


def _toml(value: Any) -> str:
    if isinstance(value, str | Path):
        # A TOML basic string is written like a JSON string, but for DEL.
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
