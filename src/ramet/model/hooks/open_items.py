"""What an agent has not ticked off: read from the calls of the tools with which it keeps its list.

Some tools give the whole list each time, others one change. Whatever cannot be read is left out.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

_DONE = ("completed", "deleted", "cancelled")
_WHOLE = {"TodoWrite": ("todos", "content"), "update_plan": ("plan", "step")}
"""The tools that give the whole list: the field that has it, and the field of an item that says what it is."""
_CREATED = re.compile(r"Task #(\S+) created")


class ListCall(Struct, frozen=True):
    """A call of such a tool, what it was given, and what it answered, where that matters and is known."""

    tool: str
    given: Any
    answer: str | None = None


def find_open(calls: Iterable[ListCall]) -> list[str]:
    """The items that are left after these calls, in the order in which they came up."""
    items: dict[str, str] = {}
    for call in calls:
        if not isinstance(call.given, Mapping):
            continue
        if call.tool in _WHOLE:
            items = _whole(call.given, *_WHOLE[call.tool])
        elif call.tool == "TaskCreate":
            _create(items, call.given, call.answer)
        elif call.tool == "TaskUpdate":
            _update(items, call.given)
    return [item for item in items.values() if item]


def _whole(given: Mapping[str, Any], field: str, text: str) -> dict[str, str]:
    listed = given.get(field)
    open_items = [
        item
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, Mapping) and item.get("status") not in _DONE
    ]
    return {f"w{number}": _text(item.get(text)) for number, item in enumerate(open_items)}


def _create(items: dict[str, str], given: Mapping[str, Any], answer: str | None) -> None:
    """The answer says by which number the item goes from now on. To count the calls would not do: some fail, and the
    first of a long list may not be among those that are looked at.
    """
    created = _CREATED.search(answer or "")
    if created is not None:
        items[created[1]] = _text(given.get("subject"))


def _update(items: dict[str, str], given: Mapping[str, Any]) -> None:
    name = str(given.get("taskId"))
    if given.get("status") in _DONE:
        items.pop(name, None)
    elif name in items and given.get("subject"):
        items[name] = _text(given["subject"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
