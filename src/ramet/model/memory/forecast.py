"""What efforts will probably use, from what earlier ones used."""

from collections.abc import Sequence
from math import ceil
from statistics import median

_FEWEST = 3
"""A median of fewer efforts says little if a wider history has more."""


def find_spread(amounts: Sequence[float]) -> tuple[float, float]:
    """The median, and the least amount that nine of ten did not exceed."""
    ordered = sorted(amounts)
    return median(ordered), ordered[ceil(0.9 * len(ordered)) - 1]


def is_enough(efforts: int) -> bool:
    """Whether so many earlier efforts are a history of their own."""
    return efforts >= _FEWEST
