"""Lines of JSON as programs print them: nothing in them is taken for granted, and nothing is raised about them."""

import json
import math
from typing import Any

DEEPEST = 64
"""How many levels of objects and lists a line may have."""
_LARGEST = 2**53


def parse(line: str) -> dict[str, Any] | None:
    """The object on a line; None where there is none, or one that is nested beyond reason."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and is_shallow(value) else None


def is_shallow(value: Any, deepest: int = DEEPEST) -> bool:
    """Whether a value is nested within reason: whoever walks through it needs a stack."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return deepest > 0 and all(is_shallow(item, deepest - 1) for item in inner)


def text(holder: dict[str, Any], name: str) -> str:
    """A text, or the empty one."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def entry(holder: dict[str, Any], name: str) -> dict[str, Any]:
    """An object, or an empty one."""
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def entries(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list."""
    value = holder.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(holder: dict[str, Any], name: str) -> int:
    """A number of tokens, or zero."""
    value = holder.get(name)
    return min(value, _LARGEST) if isinstance(value, int) and value > 0 else 0


def amount(holder: dict[str, Any], name: str) -> float | None:
    """An amount of money, or None."""
    value = holder.get(name)
    is_amount = isinstance(value, int | float) and math.isfinite(value) and 0 <= value < _LARGEST
    return float(value) if is_amount and value is not None else None
