"""Our entry in another program's JSON file: an object of servers by name, of which one is ours.

The entry says in its environment (`RAMET_INSTALLED`) what had to be created for it: the entry alone, the object around
it too, or the whole file.
"""

import json
from collections.abc import Callable
from typing import Any, Literal

from ramet.errors import ConfigError
from ramet.installer import json_text

NAME = "ramet"
MARK = "RAMET_INSTALLED"

Made = Literal["entry", "object", "file"]
Entry = Callable[[Made], dict[str, Any]]


def find(text: str, table: str) -> Any:
    """The entry with our name, regardless of its author; None if there is none."""
    entries = json_text.parse(text).get(table, {})
    if not isinstance(entries, dict):
        raise ConfigError(f"its {table} is not an object", fix="fix the file first")
    return entries.get(NAME)


def made(entry: Any) -> Made | None:
    """What was made for the entry, if it is ours."""
    if not isinstance(entry, dict):
        return None
    environment = entry.get("env", entry.get("environment"))
    mark = environment.get(MARK) if isinstance(environment, dict) else None
    return mark if mark in ("entry", "object", "file") else None


def install(text: str | None, table: str, entry: Entry) -> str:
    """The file with our entry, which must not be in it yet."""
    if text is None:
        return json.dumps({table: {NAME: entry("file")}}, indent=2) + "\n"
    if table not in json_text.parse(text):
        return json_text.put_first(text, (), [_member(table, {NAME: entry("object")})])
    return json_text.put_first(text, (table,), [_member(NAME, entry("entry"))])


def remove(text: str, table: str) -> str | None:
    """The file as it was without our entry; None if it would not exist at all."""
    document = json_text.parse(text)
    what = made(document[table][NAME])
    if len(document[table]) > 1 or what == "entry":
        return json_text.take_out(text, (table, NAME))
    if what == "file" and len(document) == 1:
        return None
    return json_text.take_out(text, (table,))


def _member(key: str, value: Any) -> str:
    return f"{json.dumps(key)}: {json.dumps(value, indent=2)}"
