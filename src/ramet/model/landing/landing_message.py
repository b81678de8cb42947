"""The message of a commit that lands: the goal, what the agent reported, and trailers that name the work.

Agents wrote the report. It cannot pass for a trailer, because the trailers are the last paragraph, which is ours.
"""

import re
from collections.abc import Sequence

_SUBJECT_LENGTH = 72
_REPORT_LENGTH = 2000
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def compose(goal: str, report: str | None, efforts: Sequence[int], run_id: int | None) -> str:
    """A commit message."""
    lines = [_subject(goal, efforts), ""]
    body = _clean(report or "").strip()
    if body:
        cut = body if len(body) <= _REPORT_LENGTH else f"{body[:_REPORT_LENGTH]}…"
        lines += [*(line.rstrip() for line in cut.splitlines()), ""]
    lines += [f"Ramet-Effort: e{effort}" for effort in efforts]
    lines += [] if run_id is None else [f"Ramet-Run: r{run_id}"]
    return "\n".join(lines) + "\n"


def _subject(goal: str, efforts: Sequence[int]) -> str:
    first = next((line.strip(" #*-") for line in _clean(goal).splitlines() if line.strip(" #*-")), "")
    if not first:
        return f"Land e{efforts[-1]}" if efforts else "Land a branch"
    return first if len(first) <= _SUBJECT_LENGTH else f"{first[: _SUBJECT_LENGTH - 1]}…"


def _clean(text: str) -> str:
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n"))
