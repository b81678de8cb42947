"""How many examples Hypothesis tries, and whether they are the same each time."""

import os

from hypothesis import settings


def bounded(examples: int = 100) -> settings:
    """The same examples every time; RAMET_DEEP asks for that many times as many, new ones each time."""
    deep = int(os.environ.get("RAMET_DEEP", "0"))
    return settings(max_examples=examples * max(deep, 1), derandomize=not deep, database=None)
