"""The order in which sessions are read: parents before their sub-agents."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

Item = TypeVar("Item")


def parents_first(items: Mapping[str, Item], parents: Mapping[str, str | None]) -> Iterable[Item]:
    """Items by their ids, each behind its parent. Those whose parents form a circle are not lost: the circle is cut."""
    done: set[str] = set()
    for start in items:
        path: list[str] = []
        name: str | None = start
        while name is not None and name in items and name not in done:
            done.add(name)  # before its parent is looked at, so that a circle ends
            path.append(name)
            name = parents.get(name)
        for each in reversed(path):
            yield items[each]
