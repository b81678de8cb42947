"""Fusing rankings: reciprocal ranks, with signals that are too small to turn a clear order round.

A text and the unit around it are two opinions about the same place. Their ranks are added as 1 / (60 + rank), which
needs no common scale.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

K = 60
BELOW_RANKS = 5
"""By how many ranks a hit of a sub-agent or of a fork stands lower: what its parent said comes first."""
LARGEST_BOOST = 0.15
"""Two scores that differ by more than this are in a clear order, whatever else speaks for the lower one."""
_KIND_BOOST = 0.07
_PROJECT_BOOST = 0.05
_RECENT_BOOST = 0.03
_HALF_LIFE_MS = 30 * 86_400_000
_BOOSTED = frozenset({"decision", "note", "handoff"})


class Candidate(Protocol):
    """What a ranking knows of a place."""

    @property
    def id(self) -> int: ...
    @property
    def unit_id(self) -> int | None: ...
    @property
    def project_id(self) -> int | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def time_ms(self) -> int: ...
    @property
    def is_below(self) -> bool: ...
    @property
    def rank(self) -> float: ...


class Signals(Struct, frozen=True):
    """What speaks for a hit apart from its words."""

    now_ms: int
    own_project: int | None = None


def boost(candidate: Candidate, signals: Signals) -> float:
    """How much a score grows, at most `LARGEST_BOOST`: for decisions and notes, the own project, and a young age."""
    age = max(signals.now_ms - candidate.time_ms, 0) / _HALF_LIFE_MS
    grown: float = _RECENT_BOOST * 0.5**age
    grown += _KIND_BOOST if candidate.kind in _BOOSTED else 0
    grown += _PROJECT_BOOST if signals.own_project is not None and candidate.project_id == signals.own_project else 0
    return min(grown, LARGEST_BOOST)


def place_key(candidate: Candidate) -> tuple[str, int]:
    """What two rankings have in common: the unit, or a text that belongs to none."""
    return ("text", candidate.id) if candidate.unit_id is None else ("unit", candidate.unit_id)


def fuse(rankings: Sequence[Sequence[Candidate]], signals: Signals) -> dict[tuple[str, int], float]:
    """The score of each place, from every ranking that has it. A place counts once in each."""
    scores: dict[tuple[str, int], float] = {}
    for ranking in rankings:
        ordered = sorted(ranking, key=lambda each: (each.rank * (1 + boost(each, signals)), each.id))
        places: dict[tuple[str, int], Candidate] = {}
        for candidate in ordered:
            places.setdefault(place_key(candidate), candidate)
        for rank, (key, candidate) in enumerate(places.items()):
            lower = BELOW_RANKS if candidate.is_below else 0
            scores[key] = scores.get(key, 0.0) + 1 / (K + 1 + rank + lower)
    return scores
