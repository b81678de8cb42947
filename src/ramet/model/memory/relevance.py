"""Whether a hit answers a question, or only shares words with it.

A ladder always finds something in the end. An agent pays for every word that it reads, so what is not relevant must not
be shown. A word weighs more the fewer texts have it; a word that no text has weighs most. A hit is relevant if it has
enough of the weight of the question. The limits were chosen on the corpora of `benchmarks` (docs/benchmarks.md).
"""

from collections.abc import Collection
from math import log2

from msgspec import Struct

from ramet.model.memory.hit import Rung

_CERTAIN: frozenset[Rung] = frozenset({"phrase", "error"})
"""A quoted phrase and the signature of an error are not shared by chance."""
_LEAST_SHARE = 0.5
_LEAST_HINT_SHARE = 0.6
"""If nobody asked, a wrong answer costs more than none."""
_LEAST_HINT_WORDS = 3


class WeighedWord(Struct, frozen=True):
    """A word of a question."""

    match: str
    """How the index is asked for it."""
    texts: int
    """How many texts have it."""

    @property
    def weight(self) -> float:
        """1 for a word that no text has, less for commoner ones."""
        return 1 / log2(2 + self.texts)


def share(words: Collection[WeighedWord], found: Collection[str]) -> float:
    """How much of a question's weight a text has."""
    whole = sum(word.weight for word in words)
    return sum(word.weight for word in words if word.match in found) / whole if whole else 0.0


def is_relevant(rung: Rung, words: Collection[WeighedWord], found: Collection[str], *, is_hint: bool) -> bool:
    """Whether to show a hit of this rung that has these words; `is_hint`: whether nobody asked."""
    if is_hint:
        has_enough = len(found) >= _LEAST_HINT_WORDS and share(words, found) >= _LEAST_HINT_SHARE
        return has_enough or (rung == "error" and len(found) >= _LEAST_HINT_WORDS)
    return rung in _CERTAIN or rung == "forms" or share(words, found) >= _LEAST_SHARE
