"""An entry in somebody else's JSON file, put in and taken out as text: what is around it keeps every byte.

Comments and trailing commas are understood, because some programs allow them. The entry is put first in its object, so
that what was there follows it unchanged, and says in its environment (`RAMET_INSTALLED`) what had to be made for it:
the entry alone, the object around it too, or the whole file.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from ramet.errors import ConfigError

NAME = "ramet"
MARK = "RAMET_INSTALLED"

Made = Literal["entry", "object", "file"]
Entry = Callable[[Made], dict[str, Any]]

_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<mark>[{}\[\],:])|(?P<word>[^\s{}\[\],:"/\ufeff]+)',
    re.DOTALL,
)


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Member(NamedTuple):
    """A key and its value: where it begins, where its value does, and where it ends."""

    key: str
    start: int
    value: int
    end: int


def find(text: str, table: str) -> Any:
    """The entry of our name, whoever wrote it; None where there is none."""
    entries = _parse(text).get(table, {})
    if not isinstance(entries, dict):
        raise ConfigError(f"its {table} is not an object", fix="mend the file first")
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
    top = _first(text)
    outer = next((member for member in _members(text, top) if member.key == table), None)
    if outer is None:
        return _put_first(text, top, table, {NAME: entry("object")}, depth=1)
    installed = _put_first(text, outer.value, NAME, entry("entry"), depth=2)
    if find(installed, table) is None:
        raise ConfigError(f"it has {table} twice", fix="mend the file first")
    return installed


def remove(text: str, table: str) -> str | None:
    """The file as it was without our entry; None where it would not be there at all."""
    top = _first(text)
    outer = next(member for member in _members(text, top) if member.key == table)
    inner = _members(text, outer.value)
    ours = next(member for member in inner if member.key == NAME)
    what = made(json.loads(_plain(text[ours.value : ours.end])))
    if len(inner) > 1 or what == "entry":
        return _take_out(text, outer.value, ours)
    if what == "file" and len(_members(text, top)) == 1:
        return None
    return _take_out(text, top, outer)


def _parse(text: str) -> dict[str, Any]:
    try:
        value = json.loads(_plain(text))
    except ValueError as error:
        raise ConfigError(f"it is not JSON: {error}", fix="mend the file first") from error
    if not isinstance(value, dict):
        raise ConfigError("it is not a JSON object", fix="mend the file first")
    return value


def _plain(text: str) -> str:
    """The same without comments and trailing commas; what is no token stays, and is complained about."""
    without = _TOKEN.sub(lambda token: " " if token["comment"] else token[0], text.removeprefix("\ufeff"))
    return re.sub(
        r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])', lambda found: found[1] if found[1] is not None else "", without
    )


def _tokens(text: str, start: int) -> list[_Token]:
    return [_Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text, start) if not m["comment"]]


def _first(text: str) -> int:
    """Where the outermost object begins."""
    return _tokens(text, 0)[0].start


def _members(text: str, start: int) -> list[_Member]:
    """The members of the object that begins there. The file is known to be valid."""
    found: list[_Member] = []
    depth, key, value = 0, None, None
    previous = start
    for token in _tokens(text, start):
        depth -= token.text in "}]"
        if depth == 1 and key is None and token.text.startswith('"'):
            key = token
        elif depth == 1 and key is not None and value is None and token.text != ":":
            value = token.start
        if key is not None and value is not None and ((depth == 1 and token.text == ",") or depth == 0):
            found.append(_Member(json.loads(key.text), key.start, value, previous))
            key = value = None
        if depth == 0 and token.start > start:
            break
        depth += token.text in "{["
        previous = token.end
    return found


def _put_first(text: str, start: int, key: str, value: dict[str, Any], *, depth: int) -> str:
    found = _members(text, start)
    before = text[start + 1 : found[0].start] if found else ""
    indent = before.rpartition("\n")[2] if "\n" in before and not before.strip() else "  " * depth
    lines = f"{json.dumps(key)}: {json.dumps(value, indent=2)}".replace("\n", f"\n{indent}")
    return f"{text[: start + 1]}\n{indent}{lines}{',' if found else ''}{text[start + 1 :]}"


def _take_out(text: str, start: int, member: _Member) -> str:
    """With the space before it and the comma behind it; of the last one, with the comma before it."""
    before = [token for token in _tokens(text, start) if token.end <= member.start][-1]
    behind = next(token for token in _tokens(text, member.end))
    if behind.text == ",":
        return text[: before.end] + text[behind.end :]
    return text[: before.start if before.text == "," else before.end] + text[member.end :]
