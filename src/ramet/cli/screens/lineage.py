"""The parents of commits, and the orders in which commits can be shown, children first."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ramet.cli.screens.commit_lines import Told
from ramet.protocol.history.commits import CommitRow

Heads = Mapping[str, Sequence[str]]
"""The branches whose head is a commit, by its hash."""
Parents = Mapping[str, Sequence[str]]
"""The parents of each commit, by its hash; only those that are shown themselves."""


def find_parents(rows: Iterable[CommitRow]) -> dict[str, list[str]]:
    """The parents of each commit that are among the rows."""
    found = {row.hash: [row.parent, row.second_parent] for row in rows}
    return {
        name: [parent for parent in parents if parent is not None and parent in found]
        for name, parents in found.items()
    }


def link(told: Sequence[Told], heads: Heads) -> dict[str, list[str]]:
    """The parents of each commit, and the links by which one history spawned another or collapsed it.

    A child's first commit is linked to its spawn, a collapse to the child's head at that time.
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
    """Link a commit to another, unless that one descends from it: equal contents can be one commit of both."""
    ahead, seen = [parent], {parent}
    while ahead:
        for each in parents[ahead.pop()]:
            if each not in seen:
                seen.add(each)
                ahead.append(each)
    if child not in seen:
        parents[child].append(parent)


def by_time(rows: Mapping[str, CommitRow], parents: Parents) -> Iterator[str]:
    """Newest first, and no commit before its children."""
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
    """No commit before its children, and each line as far together as that allows."""
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
