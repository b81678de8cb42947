"""Which tool calls of an agent program change files, and how: the part `edits` of a vendor.

A call is read as the history keeps it: the tool's name, what it was given, and what it returned. Whatever a model wrote
into a call may be there, so nothing in it is taken for granted.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from ramet.model.memory.edit import FileEdit


class EditCalls(NamedTuple):
    """One vendor's tools that change files."""

    read: Callable[[str, str, str], list[FileEdit]]
    """What a call that succeeded changed: from the tool's name, its input as text, and its result."""
    shells: frozenset[str]
    """The tools that may change files without saying so: those that run commands."""


def decode(given: str) -> dict[str, Any]:
    """The input of a call as an object; empty if it is none."""
    try:
        value = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return {}
    return value if isinstance(value, dict) else {}


def text(values: dict[str, Any], *names: str) -> str | None:
    """The first of these fields that is a text."""
    return next((value for name in names if isinstance(value := values.get(name), str)), None)


def replacement(
    values: dict[str, Any], path: tuple[str, ...], old: tuple[str, ...], new: tuple[str, ...]
) -> list[FileEdit]:
    """A call that replaces one text of a file by another."""
    named, before, after = text(values, *path), text(values, *old), text(values, *new)
    if not named or before is None or after is None:
        return []
    return [FileEdit(path=named, old=before, new=after)]


def whole_file(
    values: dict[str, Any], path: tuple[str, ...], content: tuple[str, ...], *, is_new: bool
) -> list[FileEdit]:
    """A call that writes a whole file. If the file was there, what of it was there is not known."""
    named, after = text(values, *path), text(values, *content)
    if not named or after is None:
        return []
    return [FileEdit(path=named, old="" if is_new else None, new=after)]
