r"""JSON as text: items are put into another program's file and taken out of it, and the rest keeps every byte.

Comments and trailing commas are understood, because some programs allow them. A path names a place: keys of
objects and positions in arrays, from the outermost object on.

A file has an empty list at the hook `Stop`, and none at `Start`. We put a 7 into both, with a list of our own around it
if there was none:

>>> theirs = '{"Stop": []}'
>>> both = put_first(put_first(theirs, ("Stop",), ["7"]), (), ['"Start": [\n  7\n]'])
>>> print(both)
{"Start": [
    7
  ],"Stop": [7]}

Later the file itself says what to remove: of `Stop` only the 7, of `Start` all, because there the 7 does not come
directly behind the bracket.

>>> was_empty(both, ("Stop",)), was_empty(both, ("Start",))
(True, False)
>>> take_out(take_out(both, ("Start",)), ("Stop", 0)) == theirs
True
"""

import json
import re
from typing import Any, NamedTuple

from ramet.errors import ConfigError

Path = tuple[str | int, ...]

_MEND = "fix the file first"
_DEEPEST = 100
"""Settings of agent programs are nested some five deep; the parser would need a stack for more."""
_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\n]|\\.)*"?)|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<mark>[{}\[\],:])|(?P<word>[^\s{}\[\],:"/\ufeff]+)',
    re.DOTALL,
)


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Item(NamedTuple):
    """A member of an object or an element of an array: the starts of it and of its value, and its end."""

    key: str | int
    start: int
    value: int
    end: int


def parse(text: str) -> dict[str, Any]:
    """What the file says."""
    _refuse_depth(text)
    try:
        value = json.loads(_plain(text))
    except ValueError as error:
        raise ConfigError(f"it is not JSON: {error}", fix=_MEND) from error
    if not isinstance(value, dict):
        raise ConfigError("it is not a JSON object", fix=_MEND)
    return value


def put_first(text: str, path: Path, items: list[str]) -> str:
    """The file with items at the front of the object or array at a path; what was there follows them unchanged.

    If it was empty, they come directly behind its bracket, and so does what is put before them later: this shows that
    the object or array was there before, when they are taken out.
    """
    start = _locate(text, path)
    found = _items(text, start)
    before = text[start + 1 : found[0].start if found else start + 1]
    indent = before.rpartition("\n")[2] if "\n" in before and not before.strip() else "  " * (len(path) + 1)
    lines = f",\n{indent}".join(item.replace("\n", f"\n{indent}") for item in items)
    added = (f"\n{indent}" if before else "") + lines + ("," if found else "")
    if "\r\n" in text:
        added = added.replace("\n", "\r\n")
    return text[: start + 1] + added + text[start + 1 :]


def put_last(text: str, path: Path, items: list[str]) -> str:
    """The file with items at the end of the array at a path, which has others: each of those keeps its position."""
    start = _locate(text, path)
    found = _items(text, start)
    before, end = text[start + 1 : found[0].start], found[-1].end
    lead = before if "\n" in before and not before.strip() else " "
    lines = f",{lead}".join(items)
    behind = _tokens(text, end)[0]
    if behind.text == ",":  # there was one at the end, so ours has one, too
        return f"{text[: behind.end]}{lead}{lines},{text[behind.end :]}"
    return f"{text[:end]},{lead}{lines}{text[end:]}"


def take_out(text: str, path: Path) -> str:
    """The file without the item at a path: with the space before it and the comma behind it; of the last one, with the
    comma before it.
    """
    start = _locate(text, path[:-1])
    item = _pick(_items(text, start), path[-1])
    before = [token for token in _tokens(text, start) if token.end <= item.start][-1]
    behind = next(token for token in _tokens(text, item.end))
    if behind.text == ",":
        return text[: before.end] + text[behind.end :]
    return text[: before.start if before.text == "," else before.end] + text[item.end :]


def was_empty(text: str, path: Path) -> bool:
    """Whether what `put_first` put at a path was put into something that was there and empty."""
    start = _locate(text, path)
    return text[start + 1 : _items(text, start)[0].start] == ""


def _refuse_depth(text: str) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token["mark"] in ("{", "[")) - (token["mark"] in ("}", "]"))
        if depth > _DEEPEST:
            raise ConfigError(f"it is nested more than {_DEEPEST} deep", fix=_MEND)


def _plain(text: str) -> str:
    """The same without comments and trailing commas; what is no token stays, and is complained about."""
    without = _TOKEN.sub(lambda token: " " if _is_comment(token) else token[0], text.removeprefix("\ufeff"))
    return re.sub(
        r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])', lambda found: found[1] if found[1] is not None else "", without
    )


def _is_comment(token: re.Match[str]) -> bool:
    """Whether it is a whole one: the pattern takes what has no end up to the text's, because to try again behind each
    beginning would take the square of the time.
    """
    comment: str | None = token["comment"]
    return comment is not None and (comment.startswith("//") or (comment.endswith("*/") and len(comment) > 3))


def _tokens(text: str, start: int) -> list[_Token]:
    return [_Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text, start) if not m["comment"]]


def _locate(text: str, path: Path) -> int:
    """The start of the value at a path. The file is known to be valid, and to have it."""
    start = _tokens(text, 0)[0].start
    for key in path:
        start = _pick(_items(text, start), key).value
    return start


def _pick(items: list[_Item], key: str | int) -> _Item:
    found = [item for item in items if item.key == key]
    if len(found) > 1:
        raise ConfigError(f"it has {key} twice", fix=_MEND)
    return found[0]


def _items(text: str, start: int) -> list[_Item]:
    """The items of the object or array that starts there. The file is known to be valid."""
    found: list[_Item] = []
    is_object = text[start] == "{"
    depth, key, value = 0, None, None
    previous = start
    for token in _tokens(text, start):
        depth -= token.text in "}]"
        if depth == 1 and is_object and key is None and token.text.startswith('"'):
            key = token
        elif depth == 1 and value is None and token.text not in ":," and (key is not None or not is_object):
            value = token
        if value is not None and ((depth == 1 and token.text == ",") or depth == 0):
            name = len(found) if key is None else json.loads(key.text)
            found.append(_Item(name, (key or value).start, value.start, previous))
            key = value = None
        if depth == 0 and token.start > start:
            break
        depth += token.text in "{["
        previous = token.end
    return found
