"""A key and a value as a person types them: `work.retries 5`, `drivers.profiles.careful.model opus`.

A key whose value is a mapping can be followed by a name in it, and a profile's name by one of its settings.
"""

from typing import Any, get_args, get_type_hints

import msgspec

from ramet.config.keys import KEYS, Key, close_names
from ramet.config.layers import convert_text
from ramet.config.profile_errors import PROFILES, find_error
from ramet.config.settings import ProfileSettings
from ramet.errors import InvalidSetting, UnknownKey

_SOURCE = "this command"


def read_path(name: str) -> list[str]:
    """The names that lead to a key, from the outside in. Raises if there is no such key."""
    key, below = _split(name)
    return [key.section, key.field, *below]


def read_value(name: str, text: str) -> Any:
    """The value for a file, checked as the key's own."""
    key, below = _split(name)
    if not below:
        converted = convert_text(key, text, _SOURCE)
        return msgspec.json.decode(text) if key.is_structured else msgspec.to_builtins(converted)
    if key.name != PROFILES:
        given = _read_text(text)
        convert_text(key, msgspec.json.encode({below[0]: given}).decode(), _SOURCE)
        return given
    value = _read_profile_value(below, text)
    profile = value if len(below) == 1 else {below[1]: value}
    if error := find_error({below[0]: profile}, _SOURCE):
        raise error
    return value


def _split(name: str) -> tuple[Key, list[str]]:
    """The key, and the names below it."""
    if name in KEYS:
        return KEYS[name], []
    words = name.split(".")
    key = KEYS.get(".".join(words[:2]))
    if key is not None and isinstance(key.default, dict) and all(words):
        below = words[2:] if key.name == PROFILES else [".".join(words[2:])]
        if len(below) <= 2:
            return key, below
    close = close_names(name)
    fix = f"did you mean {' or '.join(close)}?" if close else "`ramet config` lists every key"
    raise UnknownKey(f"there is no configuration key {name!r}", field="key", value=name, fix=fix)


def _read_profile_value(below: list[str], text: str) -> Any:
    """A profile as JSON; of its settings, lists and mappings are JSON, and the others are texts."""
    hint = get_type_hints(ProfileSettings).get(below[1]) if len(below) == 2 else dict
    kinds = {getattr(each, "__origin__", each) for each in (get_args(hint) or (hint,))} | {
        getattr(hint, "__origin__", hint)
    }
    return _read_json(".".join([PROFILES, *below]), text) if kinds & {dict, list} else text


def _read_text(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _read_json(name: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise InvalidSetting(
            f"the value of {name} is not JSON",
            field=name,
            fix='write a list as \'["a", "b"]\' and a mapping as \'{"a": "b"}\'',
        ) from error
