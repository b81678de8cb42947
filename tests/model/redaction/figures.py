"""What the redactor finds in the planted corpora and in the innocent one, as the rows that docs/redaction.md shows.

`python -m tests.model.redaction.figures` prints them.
"""

from collections.abc import Iterable
from typing import NamedTuple

from tests.model.redaction.assigned import plant_assigned, plant_random
from tests.model.redaction.innocent import innocent_lines
from tests.model.redaction.planted import Planted, is_left, plant_keys, plant_tokens

from ramet.model.redaction import Redactor

SEED = 20260


class Recall(NamedTuple):
    """How many of the planted secrets are gone."""

    corpus: str
    planted: int
    missed: list[str]

    @property
    def percent(self) -> float:
        return 100 * (1 - len(self.missed) / self.planted)

    def row(self) -> str:
        return f"| {self.corpus} | {self.planted:,} | {len(self.missed)} | {self.percent:.2f} % |"


class FalsePositives(NamedTuple):
    """How many lines changed that have no secret."""

    lines: int
    changed: list[str]

    def row(self) -> str:
        return f"| innocent lines | {self.lines:,} | {len(self.changed)} changed | |"


def _recall(corpus: str, planted: Iterable[Planted]) -> Recall:
    redactor, count, missed = Redactor(), 0, []
    for each in planted:
        count += 1
        if is_left(each, redactor.redact(each.text).text):
            missed.append(each.source)
    return Recall(corpus, count, missed)


def tokens() -> Recall:
    return _recall("vendor tokens", plant_tokens(SEED, 1))


def keys() -> Recall:
    return _recall("private keys", plant_keys(SEED, 2))


def assigned() -> Recall:
    return _recall("passwords and unknown tokens behind their names", plant_assigned(SEED, 2))


def entropy() -> Recall:
    return _recall("random values behind other names", plant_random(SEED, 10))


def false_positives() -> FalsePositives:
    redactor, lines, changed = Redactor(), 0, []
    for kind, text in innocent_lines(SEED, 40_000):
        lines += text.count("\n") + 1
        if redactor.redact(text).secrets:
            changed.append(f"{kind}: {text}")
    return FalsePositives(lines, changed)


if __name__ == "__main__":
    for made in (tokens(), keys(), assigned(), entropy(), false_positives()):
        print(made.row())
