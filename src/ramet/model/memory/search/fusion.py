"""Fusing rankings: reciprocal ranks, with signals that are too small to turn a clear order round.

A text, the unit around it and the session around both are three opinions about the same place. Their ranks are added as
1 / (60 + rank), which needs no common scale.
"""

from collections.abc import Mapping, Sequence
from math import log
from typing import Protocol

from msgspec import Struct

K = 60
UNIT_WEIGHT = 0.25
"""Measured (docs/benchmarks.md): at equal weight, units turn first hits of texts round; the sessions' ranks do not."""
_SATURATION = 0.6
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
    def session_id(self) -> int | None: ...
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


def fuse(
    texts: Sequence[Candidate], units: Sequence[Candidate], sessions: Mapping[int, int], signals: Signals
) -> dict[tuple[str, int], float]:
    """The score of each place, from three opinions: the texts, the units, and the sessions by how many of the words
    they have anywhere. A place without a session is ranked among the sessions as among the texts.
    """
    scores: dict[tuple[str, int], float] = {}
    for weight, ranking in ((1.0, texts), (UNIT_WEIGHT, units)):
        for rank, (key, candidate) in enumerate(_places(ranking, signals).items()):
            lower = BELOW_RANKS if candidate.is_below else 0
            gained = weight / (K + 1 + rank + lower)
            if key not in scores:
                among = rank if candidate.session_id is None else sessions.get(candidate.session_id, len(sessions))
                gained += 1 / (K + 1 + among + lower)
            scores[key] = scores.get(key, 0.0) + gained
    return scores


def _places(ranking: Sequence[Candidate], signals: Signals) -> dict[tuple[str, int], Candidate]:
    """The places of a ranking, best first, each once."""
    places: dict[tuple[str, int], Candidate] = {}
    for candidate in sorted(ranking, key=lambda each: (each.rank * (1 + boost(each, signals)), each.id)):
        places.setdefault(place_key(candidate), candidate)
    return places


def rank_sessions(having: Sequence[Mapping[int, int]], total: int) -> dict[int, int]:
    """The sessions by the words that they have, the rarer the better. `having` has for each word the sessions that have
    it, and in how many units. A second unit with the same word counts less than the first.
    """
    scores: dict[int, float] = {}
    for sessions in having:
        rarity = log(1 + (max(total, len(sessions)) - len(sessions) + 0.5) / (len(sessions) + 0.5))
        for session_id, units in sessions.items():
            scores[session_id] = scores.get(session_id, 0.0) + rarity * units / (units + _SATURATION)
    ordered = sorted(scores, key=lambda session_id: (-scores[session_id], session_id))
    return {session_id: rank for rank, session_id in enumerate(ordered)}
