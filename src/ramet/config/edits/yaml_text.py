"""Edits of a YAML text at one key: set it, remove it, append to its list. Everything else keeps its bytes.

PyYAML says where each value starts and ends. An edit replaces only that part of the text, reads the result again, and
compares it with the document that was to be: a text that this module cannot edit is refused, never damaged.

A path is the key's names from the outside in: `("work", "retries")`. In the text, `work.retries` may also be one key.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ramet.errors import InvalidSetting

_INDENT = 2
_BY_HAND = "edit the file by hand"

Document = dict[str, Any]
Path = Sequence[str]


def set_value(text: str, path: Path, value: Any) -> str:
    """The text in which the key has this value."""

    def write(editor: "_Editor", entry: "_Entry | None") -> None:
        if entry is None:
            editor.add(path, value)
        else:
            editor.replace(entry, value)

    return _edit(text, path, write, lambda document: _put(document, path, value))


def remove_value(text: str, path: Path) -> str:
    """The text without the key, and without sections that are then empty. The same text if it does not have the key."""
    if _get(_load(text), path) is None:
        return text

    def write(editor: "_Editor", entry: "_Entry | None") -> None:
        if entry is not None:
            editor.remove(entry)

    return _edit(text, path, write, lambda document: _drop(document, path))


def append_value(text: str, path: Path, value: Any) -> str:
    """The text in which the key's list ends with this value. A list that already has the value stays as it is."""
    known = _get(_load(text), path)
    if known is not None and not isinstance(known, list):
        raise InvalidSetting(f"{'.'.join(path)} is not a list", field=".".join(path), fix=_BY_HAND)
    if known is not None and value in known:
        return text

    def write(editor: "_Editor", entry: "_Entry | None") -> None:
        if entry is None:
            editor.add(path, [value])
        elif isinstance(entry.value, SequenceNode) and entry.value.value:
            editor.append(entry.value, value)
        else:
            editor.replace(entry, [value])

    return _edit(text, path, write, lambda document: _put(document, path, [*(known or []), value]))


class _Entry(NamedTuple):
    """A key in the text, its value, and the mappings around it with their keys, outermost first."""

    key: Node
    value: Node
    around: tuple[tuple[MappingNode, int], ...]
    """Each mapping, and the number of its entry that leads to the key."""


def _edit(
    text: str,
    path: Path,
    write: Callable[["_Editor", _Entry | None], None],
    change: Callable[[Document], Document],
) -> str:
    wanted = change(_load(text))
    editor = _Editor(text)
    write(editor, editor.find(path))
    try:
        is_right = _plain(_load(editor.text)) == _plain(wanted)
    except InvalidSetting:
        is_right = False
    if not is_right:
        raise _refuse(path, "is written in a way that cannot be edited safely")
    return editor.text


class _Editor:
    """A text, and where its parts are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        tokens = list(yaml.scan(text))
        if any(isinstance(token, yaml.AliasToken) for token in tokens):
            raise InvalidSetting("the file uses YAML aliases (`*name`), which cannot be edited safely", fix=_BY_HAND)
        self._tokens = [(token.start_mark.index, token.end_mark.index) for token in tokens]
        self._root = yaml.compose(text, yaml.SafeLoader)

    def find(self, path: Path) -> _Entry | None:
        """The key's place in the text."""
        found = list(_find_entries(self._root, path, ()))
        if len(found) > 1:
            raise _refuse(path, "is set more than once")
        return found[0] if found else None

    def replace(self, entry: _Entry, value: Any) -> None:
        """Another value for a key that the text has."""
        node = entry.value
        start, end = node.start_mark.index, self._end(node)
        if start == end:  # the key has no value
            self._put(end, end, f" {_flow(value)}")
        elif _is_block(node):
            self._replace_block(entry, value)
        else:
            self._refuse_comments(entry, start, end)
            self._put(start, end, _flow(value))

    def _replace_block(self, entry: _Entry, value: Any) -> None:
        """A value on lines of its own. What follows it on the last of them stays."""
        start, end = entry.value.start_mark.index, self._end(entry.value)
        self._refuse_comments(entry, start, end)
        column = entry.value.start_mark.column
        is_deeper = isinstance(value, list) or column > entry.key.start_mark.column
        if isinstance(value, dict | list) and value and is_deeper:
            self._put(start, end, f"{self._newline}{' ' * column}".join(_block(value)))
        else:  # behind the key, because a value in a list's column would not be the key's
            self._refuse_comments(entry, start, self._line_end(end))
            self._put(self._line_start(start), self._line_end(end), "")
            place = self.text.index(":", entry.key.end_mark.index) + 1
            self._put(place, place, f" {_flow(value)}")

    def add(self, path: Path, value: Any) -> None:
        """A key that the text does not have, behind the last key of the innermost section that it has."""
        mapping, rest, key = self._innermost(path)
        name, content = rest[0], value
        for each in reversed(rest[1:]):
            content = {each: content}
        if mapping is None:
            self._add_lines({name: content}, self._after_key(key), self._column(key) if key else 0)
        elif mapping.flow_style:
            pair = _flow({name: content})[1:-1]
            place = self._end(mapping.value[-1][1]) if mapping.value else mapping.start_mark.index + 1
            self._put(place, place, f", {pair}" if mapping.value else pair)
        else:
            last = mapping.value[-1]
            end = max(self._end(last[1]), last[0].end_mark.index)
            self._add_lines({name: content}, self._line_end(end), mapping.start_mark.column)

    def append(self, sequence: SequenceNode, value: Any) -> None:
        """Another item at the end of a list that has some."""
        end = self._end(sequence.value[-1])
        if sequence.flow_style:
            self._put(end, end, f", {_flow(value)}")
        else:
            self._add_lines([value], self._line_end(end), sequence.start_mark.column)

    def remove(self, entry: _Entry) -> None:
        """Remove the key, and the mappings that have no other key. A comment behind it goes with it."""
        around = list(entry.around)
        while len(around) > 1 and len(around[-1][0].value) == 1:
            around.pop()
        mapping, number = around[-1]
        key, value = mapping.value[number]
        end = max(self._end(value), key.end_mark.index)
        if not mapping.flow_style:
            self._put(self._line_start(key.start_mark.index), self._line_end(end), "")
        elif number + 1 < len(mapping.value):
            self._put(key.start_mark.index, mapping.value[number + 1][0].start_mark.index, "")
        elif number:
            self._put(self._end(mapping.value[number - 1][1]), end, "")
        else:
            self._put(key.start_mark.index, end, "")

    def _innermost(self, path: Path) -> tuple[MappingNode | None, Path, Node | None]:
        """The innermost mapping that the text has of this path (None if it is empty), the names that it lacks, and its
        key.
        """
        node, key, rest = self._root, None, list(path)
        while isinstance(node, MappingNode):
            found = [(index, pair) for index in range(1, len(rest)) for pair in _named(node, rest[:index])]
            if not found:
                return node, rest, key
            index, (key, node) = found[0]
            rest = rest[index:]
        if node is not None and not (isinstance(node, ScalarNode) and node.value == ""):
            raise _refuse(path, "is below a key that is not a section")
        return None, rest, key

    def _after_key(self, key: Node | None) -> int:
        """Where the first line below a key without a value starts; without a key, the end of the text."""
        return len(self.text) if key is None else self._line_end(key.end_mark.index)

    def _column(self, key: Node) -> int:
        return int(key.start_mark.column) + _INDENT

    def _add_lines(self, value: Any, place: int, column: int) -> None:
        before = self._newline if place and self.text[place - 1] != "\n" else ""
        lines = "".join(f"{' ' * column}{line}{self._newline}" for line in _block(value))
        self._put(place, place, f"{before}{lines}")

    def _end(self, node: Node) -> int:
        """Where a value's last character is. A block's own end mark is behind the comments that follow it."""
        while _is_block(node) and node.value:
            last = node.value[-1]
            node = last[1] if isinstance(node, MappingNode) else last
        return int(node.end_mark.index)

    def _line_start(self, place: int) -> int:
        return self.text.rfind("\n", 0, place) + 1

    def _line_end(self, place: int) -> int:
        """Behind the end of the line that a value ends on; a value that ends with its line ends there."""
        if place and self.text[place - 1] == "\n":
            return place
        end = self.text.find("\n", place)
        return len(self.text) if end < 0 else end + 1

    def _refuse_comments(self, entry: _Entry, start: int, end: int) -> None:
        """A comment inside of a value would be lost with it."""
        inside = [each for each in self._tokens if start <= each[0] and each[1] <= end]
        gaps = pairwise([*inside, (end, end)])
        if any("#" in self.text[before[1] : after[0]] for before, after in gaps):
            raise _refuse([str(entry.key.value)], "has comments between its values, which would be lost")

    def _put(self, start: int, end: int, text: str) -> None:
        self.text = f"{self.text[:start]}{text}{self.text[end:]}"


def _find_entries(node: Node | None, path: Path, around: tuple[tuple[MappingNode, int], ...]) -> Iterator[_Entry]:
    if not isinstance(node, MappingNode):
        return
    for number, (key, value) in enumerate(node.value):
        for index in range(1, len(path) + 1):
            if key.value != ".".join(path[:index]):
                continue
            here = (*around, (node, number))
            if index == len(path):
                yield _Entry(key, value, here)
            else:
                yield from _find_entries(value, path[index:], here)


def _named(mapping: MappingNode, names: Sequence[str]) -> list[tuple[Node, Node]]:
    return [(key, value) for key, value in mapping.value if key.value == ".".join(names)]


def _is_block(node: Node) -> bool:
    return isinstance(node, MappingNode | SequenceNode) and not node.flow_style


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: _Dumper, text: str) -> ScalarNode:
    """A text of several lines on one, because a value's lines would need the indentation of its place."""
    style = '"' if text.splitlines() not in ([], [text]) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def _flow(value: Any) -> str:
    """A value on one line."""
    text = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)
    return text.removesuffix("\n").removesuffix("\n...")


def _block(value: Any) -> list[str]:
    """A mapping or a list on lines of its own."""
    text = yaml.dump(value, Dumper=_Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True, width=10**9)
    return text.removesuffix("\n").split("\n")


def _load(text: str) -> Document:
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidSetting(
            "the file is not valid YAML", fix="fix the YAML first: `ramet config` names the line"
        ) from error
    if not isinstance(document, dict | None):
        raise InvalidSetting("the file is not a mapping", fix="write sections with keys below them")
    return document or {}


def _refuse(path: Path, problem: str) -> InvalidSetting:
    name = ".".join(path)
    return InvalidSetting(f"{name} {problem}", field=name, fix=_BY_HAND)


def _steps(document: Document, path: Path) -> tuple[str, Path] | None:
    """The name in the document that leads to the path, and the rest of the path."""
    for index in range(len(path), 0, -1):
        name = ".".join(path[:index])
        if name in document:
            return name, path[index:]
    return None


def _get(document: Any, path: Path) -> Any:
    if not path:
        return document
    step = _steps(document, path) if isinstance(document, dict) else None
    return _get(document[step[0]], step[1]) if step else None


def _put(document: Document, path: Path, value: Any) -> Document:
    if not path:
        return value  # type: ignore[no-any-return]
    name, rest = _steps(document, path) or (path[0], path[1:])
    below = document.get(name)
    return {**document, name: _put(below if isinstance(below, dict) else {}, rest, value)}


def _drop(document: Document, path: Path) -> Document:
    step = _steps(document, path)
    if step is None:
        return document
    name, rest = step
    below = document[name]
    kept = _drop(below, rest) if rest and isinstance(below, dict) else below if rest else None
    return {each: value for each, value in {**document, name: kept}.items() if each != name or kept}


def _plain(document: Any) -> Any:
    """A document for comparison: a key without a value says nothing."""
    if not isinstance(document, dict):
        return document
    plain = {name: _plain(value) for name, value in document.items()}
    return {name: value for name, value in plain.items() if value is not None}
