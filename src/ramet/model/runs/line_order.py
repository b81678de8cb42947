"""What comes before what: the order of numbered lines that depend on each other, and which may run side by side.

A line waits for the lines that it names, and for everything below those. It also waits for its parents, unless they
name it: `1.2` comes after `1`, as one reads them, but a `1` that depends on `1.2` comes after it. Whether one waits for
another follows from these two alone, so that a part of what can be ordered can be ordered too.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from ramet.errors import TaskCycle, TaskFileInvalid

_MOST_WAITS = 1_000_000
"""So many pairs of lines, one of which waits for the other, are followed; more are nobody's intention."""
_SHOWN = 12


class Numbered(Protocol):
    """A line with a key like `1.2`, and the keys that it depends on."""

    @property
    def key(self) -> str: ...
    @property
    def depends_on(self) -> tuple[str, ...]: ...


N = TypeVar("N", bound=Numbered)


def needs(lines: Sequence[Numbered]) -> dict[str, list[str]]:
    """For each line, the keys of those that it waits for, in their order. A line that is not given has been done."""
    by_key = {line.key: line for line in lines}
    at_or_below: dict[str, list[str]] = defaultdict(list)
    for key in by_key:
        for place in (key, *parents(key)):
            at_or_below[place].append(key)
    waits, total = {}, 0
    for line in lines:
        wanted = {key for key in parents(line.key) if key in by_key and not _names(by_key[key], line.key)}
        for key in line.depends_on:
            wanted.update([key] if _is_at_or_below(line.key, key) else at_or_below.get(key, ()))
        waits[line.key] = wanted & by_key.keys()
        total += len(wanted)
        if total > _MOST_WAITS:
            raise TaskFileInvalid(
                f"the tasks have more than {_MOST_WAITS:,} dependencies",
                fix="depend on the last task of a group instead of the whole group",
            )
    position = {key: place for place, key in enumerate(by_key)}
    return {key: sorted(wanted, key=position.__getitem__) for key, wanted in waits.items()}


def order(lines: Sequence[N]) -> list[N]:
    """One after the other: as they are given, but each after all that it waits for."""
    by_key = {line.key: line for line in lines}
    return [by_key[key] for key in _all_ready(lines, needs(lines))]


def waves(lines: Sequence[N]) -> list[list[N]]:
    """Side by side: each wave holds the lines that wait for nothing but the waves before it."""
    waits = needs(lines)
    level: dict[str, int] = {}
    for key in _all_ready(lines, waits):
        level[key] = 1 + max((level[wanted] for wanted in waits[key]), default=-1)
    found: list[list[N]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for line in lines:
        found[level[line.key]].append(line)
    return found


def find_cycle(lines: Sequence[Numbered]) -> list[str]:
    """Keys each of which waits for the next, the last for the first; empty where there is no such circle."""
    waits = needs(lines)
    stuck = waits.keys() - set(_ready(waits))
    if not stuck:
        return []
    path = [next(line.key for line in lines if line.key in stuck)]
    seen = {path[0]: 0}
    while True:
        following = next(key for key in waits[path[-1]] if key in stuck)
        if following in seen:
            return path[seen[following] :]
        seen[following] = len(path)
        path.append(following)


def show_cycle(cycle: Sequence[str]) -> str:
    """The circle as people read it, closed; a long one is shortened."""
    shown = [*cycle[:_SHOWN], "…"] if len(cycle) > _SHOWN else list(cycle)
    return " → ".join([*shown, cycle[0]])


def parents(key: str) -> Iterator[str]:
    """The keys above, the nearest first: `1.2` and `1` for `1.2.3`."""
    while "." in key:
        key = key.rpartition(".")[0]
        yield key


def _is_at_or_below(key: str, place: str) -> bool:
    return key == place or key.startswith(f"{place}.")


def _names(line: Numbered, key: str) -> bool:
    """Whether a line depends on another one, or on what stands above that one."""
    return any(_is_at_or_below(key, named) for named in line.depends_on)


def _all_ready(lines: Sequence[Numbered], waits: dict[str, list[str]]) -> list[str]:
    keys = list(_ready(waits))
    if len(keys) < len(waits):
        raise TaskCycle(f"tasks wait for each other: {show_cycle(find_cycle(lines))}")
    return keys


def _ready(waits: dict[str, list[str]]) -> Iterator[str]:
    """The keys in an order in which each comes after what it waits for, else as given; those in a circle never come."""
    keys = list(waits)
    position = {key: place for place, key in enumerate(keys)}
    left = {key: len(wanted) for key, wanted in waits.items()}
    waiting: dict[str, list[str]] = defaultdict(list)
    for key, wanted in waits.items():
        for other in wanted:
            waiting[other].append(key)
    ready = [position[key] for key, count in left.items() if not count]
    while ready:
        key = keys[heapq.heappop(ready)]
        yield key
        for follower in waiting[key]:
            left[follower] -= 1
            if not left[follower]:
                heapq.heappush(ready, position[follower])
