"""Where settings come from: defaults, then a TOML file, the environment, and the command line; the later one wins.

Every source is checked by itself, so that an error names the one that is wrong. Nothing unknown is ignored; of a
variable that may be somebody else's ``unknown_variables`` tells what may be meant.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from triarena.games.core import shown
from triarena.server.settings import SECTIONS, Settings, contradictions
from triarena.server.settings_paths import anchored, in_full
from triarena.server.settings_text import allowed

PREFIX = "TRIARENA_"
KNOWN = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "CONFIG", "DEBUG", "HOST", "PORT", "POSTGRES_PASSWORD", "PUBLISH", "RESERVATION", "SECRET", "SEED", "TOKEN",
    )
)  # fmt: skip
"""Variables that are no settings, but the business of clients and tools; and whatever begins with TRIARENA_TEST_."""
Tree: TypeAlias = dict[str, Any]
"""Values by section and key."""


class SettingsError(Exception):
    """Settings that cannot be used. ``code`` is ``bad_settings``, ``problems`` holds one sentence for each fault."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.code = "bad_settings"
        self.message = "\n".join(problems)
        self.problems = tuple(problems)


def load_settings(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """The settings from all sources. Relative paths in the file start from its folder, others from the current one.

    ``environment`` holds variables such as ``TRIARENA_CLOCK__MOVE_SECONDS``; others are left alone. ``flags`` holds
    the command line's options by dotted key, e.g. ``{"server.port": 0}``; None stands for an option not given.
    Raises SettingsError with everything that is wrong in any of them.
    """
    problems: list[str] = []
    merged: Tree = {}
    for part in (
        _from_file(file, problems) if file is not None else {},
        _from_environment(environment or {}, problems),
        _from_flags(flags or {}, problems),
    ):
        for section, values in part.items():
            merged.setdefault(section, {}).update(values)
    if problems:
        raise SettingsError(problems)
    settings = Settings.model_validate(merged)
    if problems := contradictions(settings):
        raise SettingsError(problems)
    return settings


def _from_file(file: Path, problems: list[str]) -> Tree:
    file = in_full(file)
    try:
        with file.open("rb") as stream:
            tree = tomllib.load(stream)
    except OSError as error:
        problems.append(f"The settings file {file} cannot be read: {error.strerror or error}.")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"The settings file {file} is not TOML: {error}.")
    else:
        try:
            return anchored(_given(Settings.model_validate(tree)), file.parent)
        except ValidationError as error:
            problems.extend(f"{file}: {sentence}" for _, sentence in _sentences(error))
    return {}


def _from_environment(environment: Mapping[str, str], problems: list[str]) -> Tree:
    tree: Tree = {}
    for name, value in sorted(environment.items()):
        section, separator, key = name.removeprefix(PREFIX).lower().partition("__")
        if not name.startswith(PREFIX):
            continue
        if separator:
            tree.setdefault(section, {})[key] = value
        elif (meant := _with_double_underscore(section)) is not None:
            problems.append(f"The environment: {name} is no setting; did you mean {meant}?")
    try:
        return anchored(_given(Settings.model_validate_strings(tree)), Path.cwd())
    except ValidationError as error:
        for path, sentence in _sentences(error):
            problems.append(f"The environment's {PREFIX}{'__'.join(path).upper()}: {sentence}")
    return {}


def unknown_variables(environment: Mapping[str, str], options: Mapping[str, str]) -> list[str]:
    """A sentence about each variable that begins like ours and is unknown, as it would have no effect. ``options``
    are the names that settings have elsewhere, e.g. ``{"move_time": "clock.move_seconds"}``.
    """
    settings = {f"{PREFIX}{name}__{key}".upper() for name, section in SECTIONS.items() for key in section.model_fields}
    meant = {name.removeprefix(PREFIX): name for name in (*settings, *KNOWN)}
    meant |= {name.partition("__")[2]: name for name in sorted(settings)}
    meant |= {name.upper(): f"{PREFIX}{setting.replace('.', '__')}".upper() for name, setting in options.items()}
    found = []
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name.startswith(f"{PREFIX}TEST_") or name in KNOWN or name in settings:
            continue
        close = difflib.get_close_matches(name.removeprefix(PREFIX), meant, n=1, cutoff=0.7)
        hint = f"did you mean {meant[close[0]]}?" if close else "triarena serve --print-config tells all settings."
        found.append(f"The environment variable {name} has no effect: {hint}")
    return found


def client_variables(environment: Mapping[str, str], settings: Settings) -> list[str]:
    """A sentence about each variable of the clients that somebody may have meant for the server: what it would set
    stands as it is by default.
    """
    defaults = Settings().server
    found = []
    for key in ("host", "port"):
        given, now = environment.get(f"{PREFIX}{key.upper()}"), getattr(settings.server, key)
        if given and given != str(now) and now == getattr(defaults, key):
            name = f"{PREFIX}{key.upper()}"
            found.append(
                f"The environment variable {name} does not set the server's {key}, which is {now}: it is for the "
                f"commands that talk to a server; write {PREFIX}SERVER__{key.upper()}={given} or --{key} {given}."
            )
    return found


def _with_double_underscore(name: str) -> str | None:
    """``server_port`` was meant as ``TRIARENA_SERVER__PORT``. Other variables of that prefix are somebody else's."""
    section, _, key = name.partition("_")
    if section in SECTIONS and key in SECTIONS[section].model_fields:
        return f"{PREFIX}{section}__{key}".upper()
    return None


def _from_flags(flags: Mapping[str, object], problems: list[str]) -> Tree:
    tree: Tree = {}
    for name, value in flags.items():
        if value is not None:
            section, _, key = name.partition(".")
            tree.setdefault(section, {})[key] = value
    try:
        return anchored(_given(Settings.model_validate(tree)), Path.cwd())
    except ValidationError as error:
        problems.extend(f"The command line: {sentence}" for _, sentence in _sentences(error))
    return {}


def _given(settings: Settings) -> Tree:
    """Only what a source said itself, without the defaults."""
    return settings.model_dump(exclude_unset=True)


def _sentences(error: ValidationError) -> list[tuple[tuple[str, ...], str]]:
    """The path and a sentence for every fault."""
    found = []
    for fault in error.errors(include_url=False):
        path = tuple(str(part) for part in fault["loc"])[:2]
        found.append((path, _sentence(path, fault["type"], fault["input"])))
    return found


def _sentence(path: tuple[str, ...], kind: str, value: object) -> str:
    section, key = path[0], path[1] if len(path) > 1 else None
    if section not in SECTIONS:
        return f"there is no section [{section}]{_similar(section, SECTIONS)}; there are {', '.join(SECTIONS)}."
    fields = SECTIONS[section].model_fields
    if key is None:
        return f"{section} must be a section with keys, not {shown(value)}."
    if kind == "extra_forbidden" or key not in fields:
        return f"there is no setting {section}.{key}{_similar(key, fields)}; [{section}] has {', '.join(fields)}."
    # A field that is kept out of repr() may hold a password.
    given = f"{value:.15g}" if isinstance(value, float) else shown(value)  # -1 is told as it was typed, not as -1.0
    instead = f", not {given}" if fields[key].repr else ""
    return f"{section}.{key} must be {allowed(fields[key])}{instead}."


def _similar(name: str, names: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    return f", did you mean {close[0]}" if close else ""
