"""What an agent has not ticked off: read from the calls of the tools with which it keeps its list.

Some tools give the whole list each time, others one change. Whatever cannot be read is left out.
"""

from collections.abc import Iterable, Mapping
from typing import Any

_DONE = ("completed", "deleted", "cancelled")
_WHOLE = {"TodoWrite": ("todos", "content"), "update_plan": ("plan", "step")}
"""The tools that give the whole list: the field that has it, and the field of an item that says what it is."""


def find_open(calls: Iterable[tuple[str, Any]]) -> list[str]:
    """The items that are left after these calls, in the order in which they came up; each call a tool and its input."""
    items: dict[str, str] = {}
    created = 0
    for tool, given in calls:
        if not isinstance(given, Mapping):
            continue
        if tool in _WHOLE:
            items = _whole(given, *_WHOLE[tool])
        elif tool == "TaskCreate":
            created += 1
            items[str(created)] = _text(given.get("subject"))
        elif tool == "TaskUpdate":
            _update(items, given)
    return [item for item in items.values() if item]


def _whole(given: Mapping[str, Any], field: str, text: str) -> dict[str, str]:
    listed = given.get(field)
    open_items = [
        item
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, Mapping) and item.get("status") not in _DONE
    ]
    return {f"w{number}": _text(item.get(text)) for number, item in enumerate(open_items)}


def _update(items: dict[str, str], given: Mapping[str, Any]) -> None:
    name = str(given.get("taskId"))
    if given.get("status") in _DONE:
        items.pop(name, None)
    elif name in items and given.get("subject"):
        items[name] = _text(given["subject"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
