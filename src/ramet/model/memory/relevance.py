"""Whether a hit answers a question, or only shares words with it.

A ladder always finds something in the end. An agent pays for every word that it reads, so what is not relevant must not
be shown. Two measures decide, both from how many texts have each word of the question:

- the share of the question: a word weighs more the fewer texts have it. A word that no text has weighs as much as one
  that a few have: it may name what is missing, but also be a mere turn of phrase;
- the surprise: how unlikely it is, in bits, that any text has all the words that this one has, if words were spread by
  chance. A long prompt has many words that no answer has, so the share says little about it; the surprise does.

The limits were chosen on the corpora of `benchmarks` (docs/benchmarks.md).
"""

from collections.abc import Collection
from math import log2

from msgspec import Struct

from ramet.model.memory.search.hit import Rung

_CERTAIN: frozenset[Rung] = frozenset({"phrase", "error", "forms"})
"""A quoted phrase and the signature of an error are not shared by chance; a corrected word has been chosen."""
_LEAST_SHARE = 0.6
_LEAST_BITS = 6.0
_LEAST_WORDS = 2
_UNKNOWN_WEIGHT = 0.3
_LEAST_HINT_BITS = 10.0
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
        """Less for commoner words."""
        return 1 / log2(2 + self.texts) if self.texts else _UNKNOWN_WEIGHT


class Weighing(Struct, frozen=True):
    """The words of a question, among so many texts."""

    words: list[WeighedWord]
    total: int

    def share(self, found: Collection[str]) -> float:
        """How much of the question's weight a text has that has these words."""
        whole = sum(word.weight for word in self.words)
        return sum(word.weight for word in self.words if word.match in found) / whole if whole else 0.0

    def surprise(self, found: Collection[str]) -> float:
        """How unlikely it is that a text has these words by chance, in bits."""
        among = max(self.total, 2)
        counts = [max(word.texts, 1) for word in self.words if word.match in found]
        bits = sum(log2(among / min(count, among)) for count in counts)
        return bits - log2(among) if counts else 0.0

    def is_relevant(self, rung: Rung, found: Collection[str], *, is_hint: bool) -> bool:
        """Whether to show a hit of this rung that has these words; `is_hint`: whether nobody asked."""
        if is_hint:
            return len(found) >= _LEAST_HINT_WORDS and self.surprise(found) >= _LEAST_HINT_BITS
        has_enough = self.surprise(found) >= _LEAST_BITS or self.share(found) >= _LEAST_SHARE
        return rung in _CERTAIN or (has_enough and len(found) >= min(_LEAST_WORDS, len(self.words)))
