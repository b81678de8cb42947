"""The status line: what an agent is at, in a few characters that its program shows below the prompt: `[2:impl:P3]`."""

import re

from ramet.model.record.skill import BUILT_IN

_NUMBER = re.compile(r"\s*(\d{1,6}(?:\.(?:\d{1,6}|[A-Za-z]))?)\s*(?::|$)")
_UNSHOWN = re.compile(r"[^A-Za-z0-9._+-]+")
"""A terminal obeys some characters, and names are written by agents."""


def status_line(ordinal: int, skill: str, phase: str | None) -> str:
    """The skill and the phase of an effort; its ordinal only where the task had others before it."""
    parts = [str(ordinal)] if ordinal > 1 else []
    known = BUILT_IN.get(skill)
    parts.append((known and known.short_name) or _UNSHOWN.sub("-", skill))
    if phase:
        number = _NUMBER.match(phase)
        parts.append(f"P{number[1]}" if number else _UNSHOWN.sub("-", phase))
    return f"[{':'.join(parts)}]"
