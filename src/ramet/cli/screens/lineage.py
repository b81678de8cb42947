"""What came out of what: the parents of commits, and the orders in which they can be shown, children first."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ramet.cli.screens.commit_lines import Told
from ramet.protocol.history.commits import CommitRow

Heads = Mapping[str, Sequence[str]]
"""The branches that stand at a commit, by its hash."""
Parents = Mapping[str, Sequence[str]]
"""The parents of each commit, by its hash; only those that are in it themselves."""


def find_parents(rows: Iterable[CommitRow]) -> dict[str, list[str]]:
    """The parents of each commit that are there themselves."""
    found = {row.hash: [row.parent, row.second_parent] for row in rows}
    return {
        name: [parent for parent in parents if parent is not None and parent in found]
        for name, parents in found.items()
    }


def link(told: Sequence[Told], heads: Heads) -> dict[str, list[str]]:
    """The parents of each commit, and where one history came out of another or was folded into it.

    A child's first commit hangs on its spawn, a collapse on where the child then stood.
    """
    parents = find_parents(each.row for each in told)
    roots = {name: _root(head, parents) for head, names in heads.items() if head in parents for name in names}
    first = {each.row.hash for each in told if each.row.parent is None}
    for each in reversed(told):
        child, name = each.note.get("child"), each.row.hash
        if each.kind == "spawn" and roots.get(child or "") in first:
            _hang(parents, roots[str(child)], name)
            first.discard(roots[str(child)])
        elif each.kind == "collapse" and each.note.get("head") in parents:
            _hang(parents, name, str(each.note["head"]))
    return parents


def _root(name: str, parents: Parents) -> str:
    while parents[name]:
        name = parents[name][0]
    return name


def _hang(parents: dict[str, list[str]], child: str, parent: str) -> None:
    """Let a commit hang on another, unless that one comes out of it: equal contents may be one commit of both."""
    ahead, seen = [parent], {parent}
    while ahead:
        for each in parents[ahead.pop()]:
            if each not in seen:
                seen.add(each)
                ahead.append(each)
    if child not in seen:
        parents[child].append(parent)


def by_time(rows: Mapping[str, CommitRow], parents: Parents) -> Iterator[str]:
    """The newest first, and none before what came out of it."""
    children = _count_children(parents)
    ready = [(_age(rows[name]), name) for name in parents if not children[name]]
    heapq.heapify(ready)
    while ready:
        _, name = heapq.heappop(ready)
        yield name
        for parent in parents[name]:
            children[parent] -= 1
            if not children[parent]:
                heapq.heappush(ready, (_age(rows[parent]), parent))


def _age(row: CommitRow) -> tuple[float, int]:
    return -row.at.timestamp(), -row.depth


def by_line(names: Sequence[str], parents: Parents) -> Iterator[str]:
    """None before what came out of it, and each line as far together as that allows."""
    children = _count_children(parents)
    ready = [name for name in reversed(names) if not children[name]]
    while ready:
        name = ready.pop()
        yield name
        for parent in parents[name]:
            children[parent] -= 1
            if not children[parent]:
                ready.append(parent)


def _count_children(parents: Parents) -> dict[str, int]:
    counts = dict.fromkeys(parents, 0)
    for each in parents.values():
        for parent in each:
            counts[parent] += 1
    return counts
