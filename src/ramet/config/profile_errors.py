"""What is wrong with a driver profile: which profile, which of its keys, and the allowed values.

The decoder knows neither the profile's name nor the key's. No value is shown, because a profile may hold secrets.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_type_hints

import msgspec

from ramet.config.settings import ProfileSettings
from ramet.errors import ConfigError, InvalidSetting, UnknownKey

PROFILES = "drivers.profiles"


def find_error(profiles: Mapping[Any, Any], source: str) -> ConfigError | None:
    """The error of the first wrong profile; None if the profiles are right."""
    for name, profile in profiles.items():
        if not isinstance(profile, Mapping):
            return _wrong(f"{PROFILES}.{name}", profile, f"a mapping of {', '.join(_KINDS)}", source)
        for field, value in profile.items():
            if error := _find_field_error(f"{PROFILES}.{name}", field, value, source):
                return error
    return None


def _find_field_error(profile: str, field: Any, value: Any, source: str) -> ConfigError | None:
    if field not in _KINDS:
        close = get_close_matches(str(field), _KINDS, n=1)
        fix = f"did you mean {profile}.{close[0]}?" if close else f"use one of: {', '.join(_KINDS)}"
        name = f"{profile}.{field}"
        return UnknownKey(f"there is no configuration key {name!r} (in {source})", field=name, fix=fix)
    try:
        msgspec.convert(value, _HINTS[field])
    except msgspec.ValidationError:
        return _wrong(f"{profile}.{field}", value, _allowed(_KINDS[field]), source)
    return None


def _wrong(name: str, value: object, allowed: str, source: str) -> InvalidSetting:
    given = _GIVEN.get(type(value), "of another kind")
    message = f"{name} is {given} (from {source}), but must be {allowed}"
    return InvalidSetting(message, field=name, value=given, fix=f"set {name} to {allowed}")


def _allowed(kind: msgspec.inspect.Type) -> str:
    """The allowed values, in words."""
    match kind:
        case msgspec.inspect.UnionType(types=(first, *_)):
            return _allowed(first)
        case msgspec.inspect.LiteralType(values=values):
            return " or ".join(map(str, values))
        case msgspec.inspect.ListType():
            return "a list of strings"
        case msgspec.inspect.DictType():
            return "a mapping of names to strings"
        case _:
            return "a string"


_HINTS = get_type_hints(ProfileSettings)
_KINDS = {field.name: field.type for field in msgspec.inspect.type_info(ProfileSettings).fields}  # type: ignore[attr-defined]
_GIVEN = {
    type(None): "empty",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a mapping",
}
