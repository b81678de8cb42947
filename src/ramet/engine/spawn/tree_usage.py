"""What the sessions of a tree cost, each together with all that counts for it.

A session's total has what continues it and what it spawned, each call once: so the total of a root is what its whole
tree used.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ramet.model.spawn.child import TreeRow
from ramet.store.spawn.trees import Link, Used

Linked = TypeVar("Linked", Link, TreeRow)
"""A session of a tree, with what it follows from."""


def find_above(rows: Sequence[Linked]) -> Callable[[Linked], int | None]:
    """The session that a session's use also counts for: the one of its tree that it continues, if both have the same
    parent; else its parent.
    """
    continued = {row.prev_session_id for row in rows}
    places_of = {row.id: (row.root_session_id, row.parent_session_id) for row in rows if row.id in continued}

    def above(row: Linked) -> int | None:
        prev = row.prev_session_id
        if prev is not None and places_of.get(prev) == (row.root_session_id, row.parent_session_id):
            return prev
        return row.parent_session_id

    return above


def roll_up(rows: Sequence[Linked], used: Used) -> Used:
    """What each session of some trees cost together with all that counts for it, from what each used itself."""
    above = find_above(rows)
    tokens, costs, estimated = dict(used.tokens), dict(used.costs_usd), set(used.estimated)
    for row in reversed(rows):
        upper = above(row)
        if upper is not None and row.id in tokens:
            tokens[upper] = tokens.get(upper, 0) + tokens[row.id]
            costs[upper] = _sum(costs.get(upper), costs[row.id])
            if row.id in estimated:
                estimated.add(upper)
    return Used(tokens, costs, estimated)


def _sum(one: float | None, other: float | None) -> float | None:
    """What two cost together; None if neither cost is known."""
    return other if one is None else one if other is None else one + other
