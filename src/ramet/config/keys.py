"""The table of configuration keys, read from the settings' own annotations.

A key is `section.name` in a file or a flag and `RAMET_SECTION_NAME` in the environment.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct

from ramet.config.settings import KeyClass, ProfileSettings, ProjectRules, Settings

Value = (
    str
    | int
    | bool
    | list[str]
    | dict[str, float]
    | dict[str, str]
    | dict[str, ProfileSettings]
    | dict[str, ProjectRules]
    | None
)


class Key(Struct, frozen=True, kw_only=True):
    """One configuration key."""

    name: str
    kind: Any
    """The annotated type, as msgspec converts to it."""
    allowed: str
    default: Value
    purpose: str
    key_class: KeyClass
    is_unlimited_at_zero: bool
    """Whether 0 means no limit."""

    @property
    def is_structured(self) -> bool:
        """Whether its value is a list or a mapping, which a flag or a variable gives as JSON."""
        return isinstance(self.default, list | dict)

    @property
    def section(self) -> str:
        return self.name.partition(".")[0]

    @property
    def field(self) -> str:
        return self.name.partition(".")[2]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"RAMET_{self.section}_{self.field}".upper()


def _read_keys() -> Iterator[Key]:
    for section, settings in get_type_hints(Settings).items():
        described = msgspec.inspect.type_info(settings)
        hints = get_type_hints(settings, include_extras=True)
        for field in described.fields:  # type: ignore[attr-defined]
            yield Key(
                name=f"{section}.{field.name}",
                kind=hints[field.name],
                allowed=_allowed(field.type.type),
                default=field.default if field.default_factory is NODEFAULT else field.default_factory(),
                purpose=(purpose := field.type.extra_json_schema["description"]),
                key_class=_find_class(hints[field.name], f"{section}.{field.name}"),
                is_unlimited_at_zero="(0:" in purpose,
            )


def _find_class(annotation: Any, name: str) -> KeyClass:
    found = [each for each in get_args(annotation) if isinstance(each, KeyClass)]
    if len(found) != 1:
        raise TypeError(f"{name} must declare one class: OWNER, PROJECT, NARROWS or ADDS")
    return found[0]


def _allowed(kind: msgspec.inspect.Type) -> str:
    """The allowed values, in words."""
    match kind:
        case msgspec.inspect.LiteralType(values=values):
            return " or ".join(str(value) for value in values)
        case msgspec.inspect.IntType(ge=low, le=high):
            return f"an integer from {low} to {high}"
        case msgspec.inspect.FloatType(ge=low, le=high):
            return f"a number from {low:g} to {high:g}"
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.ListType():
            return "a list of strings"
        case msgspec.inspect.DictType(value_type=values):
            return f"a mapping of {_allowed_values(values)}"
        case _:
            return "a string"


def _allowed_values(kind: msgspec.inspect.Type) -> str:
    match kind:
        case msgspec.inspect.FloatType(ge=low, le=high):
            return f"names to numbers from {low} to {high}"
        case msgspec.inspect.StructType(cls=cls) if cls is ProjectRules:
            return f"projects' paths to lists of rules: {', '.join(ProjectRules.__struct_fields__)}"
        case msgspec.inspect.StructType():
            return f"names to profiles of {', '.join(ProfileSettings.__struct_fields__)}"
        case _:
            return "names to strings"


KEYS: dict[str, Key] = {key.name: key for key in _read_keys()}
"""Every key by its dotted name, in the order of the settings."""

VARIABLES: dict[str, Key] = {key.variable: key for key in KEYS.values()}
"""Every key by its environment variable."""

SECTIONS: tuple[str, ...] = Settings.__struct_fields__


def find_defaults(agent_variables: Iterable[str]) -> dict[str, Value]:
    """The default of every key. This layer does not know the agent programs: `agent_variables` are the environment
    variables that their vendors name, which belong to the default of `work.environment`.
    """
    seen_by_agents = KEYS["work.environment"]
    assert isinstance(seen_by_agents.default, list)  # noqa: S101
    defaults: dict[str, Value] = {name: key.default for name, key in KEYS.items()}
    return defaults | {seen_by_agents.name: [*seen_by_agents.default, *agent_variables]}


def close_names(name: str) -> list[str]:
    """The keys that are similar to `name`."""
    by_field = [key.name for key in KEYS.values() if key.field == name.rpartition(".")[2]]
    return list(dict.fromkeys([*by_field, *get_close_matches(name, KEYS, n=3)]))
