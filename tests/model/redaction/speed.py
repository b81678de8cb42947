"""How long the redactor takes for 2 KB: `python -m tests.model.redaction.speed` prints what docs/redaction.md shows.

Ordinary texts are this repository's code and documentation as far as the prefilter passes them over. Texts that need
the canonical view are the same as agents print them: with colours and line numbers, and in JSON in JSON. In the
densest texts, each line is about a password, a token or a key.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median

from tests.model.redaction.innocent import innocent_lines

from ramet.model.redaction import Redactor

_SIZE = 2048
_ROOT = Path(__file__).parents[3]


def pieces() -> Iterator[str]:
    """This repository, in pieces of 2 KB."""
    for path in sorted([*(_ROOT / "src").rglob("*.py"), *(_ROOT / "docs").rglob("*.md")]):
        text = path.read_text()
        yield from (text[at : at + _SIZE] for at in range(0, len(text) - _SIZE, _SIZE))


def viewed(code: list[str]) -> Iterator[str]:
    """The same as programs print it."""
    for piece in code[:200]:
        lines = piece.splitlines()
        yield "\n".join(f"{n:6}→{line}" if n % 9 else f"\x1b[32m{line}\x1b[0m" for n, line in enumerate(lines, 1))[
            :_SIZE
        ]
        yield json.dumps({"content": json.dumps({"text": piece})})[:_SIZE]


def dense() -> Iterator[str]:
    """Innocent lines of every kind."""
    page = "\n".join(text for _, text in innocent_lines(1, 4000))
    yield from (page[at : at + _SIZE] for at in range(0, len(page) - _SIZE, _SIZE))


def microseconds(redactor: Redactor, text: str) -> float:
    """The best of five, because other programs run beside it."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        redactor.redact(text)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def main() -> None:
    redactor = Redactor()
    code = list(pieces())
    ordinary = [microseconds(redactor, text) for text in code if not redactor.may_hold_secrets(text)]
    needing = [microseconds(redactor, text) for text in viewed(code) if redactor.may_hold_secrets(text)]
    worst = [microseconds(redactor, text) for text in dense()]
    for name, took in (("ordinary", ordinary), ("needs the view", needing), ("dense", worst)):
        print(f"{name}: {len(took)} texts, median {median(took):.1f} µs, mean {mean(took):.1f} µs for 2 KB")


if __name__ == "__main__":
    main()
