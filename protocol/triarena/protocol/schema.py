"""The JSON Schema of the protocol, made from the message models: for code generators and validators elsewhere."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, TypeAlias, get_args

from pydantic import TypeAdapter

from . import docstrings, from_client, from_server, game_values, room_views, values
from .from_client import FROM_CLIENT, FromClient
from .from_client import Step as StepRequest
from .from_server import FROM_SERVER, FromServer
from .game_values import Action, Step, WireMove, WirePosition
from .values import PROTOCOL, TimeControl, Value

Schema: TypeAlias = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
UNIONS: Final[dict[str, tuple[TypeAdapter[Any], str]]] = {
    "from_client": (FROM_CLIENT, "Any message that a client may send."),
    "from_server": (FROM_SERVER, "Any message that a server may send."),
    "WireMove": (TypeAdapter(WireMove), "A move of any game."),
    "WirePosition": (TypeAdapter(WirePosition), "A position of any game, as far as a player may see it."),
    "Action": (TypeAdapter(Action), "An action of Mississippi Queen."),
    "TimeControl": (TypeAdapter(TimeControl), "How a seat's time is limited."),
}
"""The unions that get a name of their own, outermost first."""

NAMES: Final[dict[type[Value], str]] = {StepRequest: "Step", Step: "TowerWarsStep"}
"""Two models are called Step; in a schema, names are unique."""

TRAVELLING: Final = (values, game_values, room_views, from_client, from_server)
"""The modules whose models travel."""

CLIENT_MESSAGES: Final[tuple[type[Value], ...]] = get_args(FromClient)
SERVER_MESSAGES: Final[tuple[type[Value], ...]] = get_args(FromServer)


def name_of(model: type[Value]) -> str:
    """Under which a model stands in ``$defs``."""
    return NAMES.get(model, model.__name__)


def models() -> dict[str, type[Value]]:
    """Every model that travels, by its name in ``$defs``, in order of definition; no abstract bases."""
    found = [kind for module in TRAVELLING for kind in vars(module).values() if _is_model(kind, module)]
    bases = {base for model in found for base in model.__bases__}
    return {name_of(model): model for model in found if model not in bases}


def _is_model(kind: object, module: ModuleType) -> bool:
    return isinstance(kind, type) and issubclass(kind, Value) and kind.__module__ == module.__name__


def schema() -> Schema:
    """The whole document: ``$defs`` holds every message and value, and the unions of ``UNIONS``."""
    inputs: list[Any] = [(name, "validation", adapter) for name, (adapter, _) in UNIONS.items()]
    made, whole = TypeAdapter.json_schemas(inputs, ref_template="#/$defs/{model}")
    unions = {name: made[name, "validation"] for name in UNIONS}
    raw: Schema = whole["$defs"]
    renamed = {_raw_name(model, raw): name for name, model in models().items()}
    defs = {renamed[key]: _described(models()[renamed[key]], raw[key]) for key in raw}
    named = {_key(union): name for name, union in unions.items()}
    for name, (_, meaning) in UNIONS.items():
        defs[name] = {"description": meaning, **unions[name]}
    return {
        "$schema": DIALECT,
        "title": f"TriArena protocol {PROTOCOL}",
        "description": "The msgpack maps that travel in frames, as JSON values.",
        "anyOf": [{"$ref": "#/$defs/from_client"}, {"$ref": "#/$defs/from_server"}],
        "$defs": {key: _linked(value, named, renamed, at_top=True) for key, value in sorted(defs.items())},
    }


def _raw_name(model: type[Value], raw: Schema) -> str:
    """What pydantic calls a model: its name, or with the module in front where two share it."""
    return model.__name__ if model.__name__ in raw else f"{model.__module__}.{model.__name__}".replace(".", "__")


def _described(model: type[Value], raw: Schema) -> Schema:
    """A model's schema with descriptions, and with its tag required, as it is on the wire."""
    fields = {name: _field(model, name, field) for name, field in raw["properties"].items()}
    tags = [name for name, field in fields.items() if "const" in field]
    required = [name for name in fields if name in tags or name in raw.get("required", [])]
    rest = {key: value for key, value in raw.items() if key not in ("title", "properties", "required", "description")}
    return {"description": docstrings.of_class(model), **rest, "properties": fields, "required": required}


def _field(model: type[Value], name: str, raw: Schema) -> Schema:
    # A default of None only says that the field may be absent; that of a tag, nothing.
    idle = {"title"} | ({"default"} if "const" in raw or raw.get("default", 0) is None else set())
    said = docstrings.of_field(model, name)
    return {**({"description": said} if said else {}), **{k: v for k, v in raw.items() if k not in idle}}


def _linked(value: Any, named: dict[str, str], renamed: dict[str, str], *, at_top: bool = False) -> Any:
    """``value`` with references by our names, and with references in place of the named unions."""
    if isinstance(value, list):
        return [_linked(item, named, renamed) for item in value]
    if isinstance(value, str) and value.startswith("#/$defs/"):
        key = value.removeprefix("#/$defs/")
        return f"#/$defs/{renamed[key]}"
    if not isinstance(value, dict):
        return value
    union = None if at_top else named.get(_key(value))
    if union is not None:
        kept = {key: value[key] for key in ("description", "default") if key in value}
        return {**kept, "$ref": f"#/$defs/{union}"}
    return {key: _linked(item, named, renamed) for key, item in value.items()}


def _key(value: Schema) -> str:
    """By which a union is recognised: its members, or nothing."""
    return repr(value.get("oneOf", id(value)))
