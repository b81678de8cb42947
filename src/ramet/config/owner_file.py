"""The user's own file, changed by a command: a rule is added where people would write it, and all else stays.

Comments, order and style are kept, because only the new lines are inserted. The changed text is read again
before it replaces the file: if it does not say exactly what it should, the file stays as it is.
"""

import json
import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from ramet.config.files import MAX_BYTES, user_file
from ramet.config.places import make_private
from ramet.errors import ConfigError

_INDENT = 2


def add_to_list(environ: Mapping[str, str], keys: Sequence[str], item: str) -> tuple[Path, bool]:
    """Add an item to a list in the user's file, which is made if it does not exist; whether it was not there yet."""
    path = user_file(environ)
    text = _read(path)
    document = _load(text, path)
    wanted = deepcopy(document) or {}
    if not _put(wanted, keys, item):
        return path, False
    changed = text + _lines(keys, item, 0) if document is None else _insert(text, keys, item)
    try:
        is_right = _load(changed, path) == wanted
    except ConfigError:
        is_right = False
    if not is_right:
        raise ConfigError(
            f"{path} is written in a way that Ramet cannot change",
            value=str(path),
            fix=f"add {item!r} yourself, below {' > '.join(keys)}",
        )
    _write(path, changed)
    return path, True


def _put(document: Any, keys: Sequence[str], item: str) -> bool:
    """Add the item to what the file says; whether it was missing."""
    inner = document
    for key in keys[:-1]:
        if not isinstance(inner, dict):
            return True
        if inner.get(key) is None:
            inner[key] = {}
        inner = inner[key]
    if not isinstance(inner, dict):
        return True
    items = inner.get(keys[-1]) or []
    if not isinstance(items, list):
        return True
    kind, _, pattern = item.partition(": ")
    if item in items or {kind: pattern} in items:
        return False
    inner[keys[-1]] = [*items, item]
    return True


def _insert(text: str, keys: Sequence[str], item: str) -> str:
    """The text with the item in its place: as deep as the file goes already, and new lines for the rest."""
    import yaml  # noqa: PLC0415

    node, left, indent, last = yaml.compose(text, Loader=yaml.SafeLoader), list(keys), 0, None
    while left and isinstance(node, yaml.MappingNode):
        found = next((pair for pair in node.value if pair[0].value == left[0]), None)
        if found is None:
            break
        last, indent = found[0], found[0].start_mark.column + _INDENT
        node = found[1]
        left.pop(0)
    if isinstance(node, yaml.ScalarNode) and not node.value and last is not None:
        return _after(text, last.end_mark.line, _lines(left, item, indent))
    if getattr(node, "flow_style", False) or not node.value:
        return _into_flow(text, node, left, item)
    column = node.start_mark.column
    return _after(text, _last_line(node), _lines(left, item, column))


def _into_flow(text: str, node: Any, left: Sequence[str], item: str) -> str:
    """Inside `[…]` or `{…}`, as JSON, which is YAML too."""
    value: Any = item if not left else [item]
    for key in reversed(left[1:]):
        value = {key: value}
    new = json.dumps(value, ensure_ascii=False)
    if left:
        new = f"{json.dumps(left[0], ensure_ascii=False)}: {new}"
    end = node.end_mark.index - 1
    before = text[:end].rstrip()
    comma = ", " if node.value and not before.endswith(",") else ""
    return f"{before}{comma}{new}{text[end:]}"


def _lines(keys: Sequence[str], item: str, indent: int) -> str:
    """New lines: the keys that are missing, each deeper than the one before, then the item."""
    lines = [f"{' ' * (indent + _INDENT * depth)}{_key(key)}:" for depth, key in enumerate(keys)]
    depth = indent + _INDENT * len(keys)
    return "".join(f"{line}\n" for line in [*lines, f"{' ' * depth}- {json.dumps(item, ensure_ascii=False)}"])


def _key(key: str) -> str:
    return key if key.isidentifier() else json.dumps(key, ensure_ascii=False)


def _after(text: str, line: int, new: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join([*lines[: line + 1], new, *lines[line + 1 :]])


def _last_line(node: Any) -> int:
    """The line on which the last value of a node ends. Its own mark may be behind comments that follow it."""
    import yaml  # noqa: PLC0415

    while node.value and not isinstance(node, yaml.ScalarNode) and not node.flow_style:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    mark = node.end_mark
    return int(mark.line) - (1 if mark.column == 0 and mark.line > node.start_mark.line else 0)


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_BYTES} bytes", value=str(path))
        text = content.decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", value=str(path), fix="make it readable") from error
    return text if not text or text.endswith("\n") else f"{text}\n"


def _load(text: str, path: Path) -> Any:
    import yaml  # noqa: PLC0415

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not YAML: {error}", value=str(path), fix="correct it first") from error


def _write(path: Path, text: str) -> None:
    """Replace the file at once; a link stays a link."""
    target = Path(os.path.realpath(path))
    make_private(target.parent)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)
    temporary.replace(target)
