"""Remarks: what Ramet says of a plan, an exploration or a review that its own text does not say.

Such an effort changes no file; if it did, people have to know. A review has a verdict; if it cannot be read, the review
counts as a request for changes, and people have to know that too. A remark is part of the effort's reason and of its
report, and leaves a notice.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ramet.model.record.skill import BUILT_IN
from ramet.model.runs.review import Review, Severity, Verdict, parse_review

_SHOWN = 5
"""How many changed files are named."""
_VERDICTS: dict[Verdict, str] = {
    "APPROVED": "approved",
    "APPROVED_WITH_FOLLOWUPS": "approved with follow-ups",
    "CHANGES_REQUESTED": "changes requested",
    "NEEDS_DISCUSSION": "needs discussion",
}
_FINDINGS: dict[Severity, tuple[str, str]] = {
    "BLOCKER": ("blocker", "blockers"),
    "FOLLOWUP": ("follow-up", "follow-ups"),
    "NIT": ("nit", "nits"),
}


class Remark(Struct, frozen=True):
    """One remark, and the kind of its notice."""

    kind: Literal["changed_files", "unreadable_verdict"]
    text: str


def find_remarks(skill: str, files: Sequence[str], output: str | None) -> list[Remark]:
    """What has to be said of an effort that ended well, from the files that it changed and the text that it left."""
    built_in = BUILT_IN.get(skill)
    if built_in is None or not built_in.reports:
        return []
    review = parse_review(output or "") if skill == "review" else None
    found = [Remark("unreadable_verdict", _say_unreadable(review))] if review and review.verdict is None else []
    return found + ([Remark("changed_files", _say_changed(skill, files))] if files else [])


def describe_review(output: str | None) -> str:
    """The verdict of a review, and how many findings it has: `changes requested: 2 blockers, 1 nit`."""
    review = parse_review(output or "")
    said = _say_unreadable(review) if review.verdict is None else _VERDICTS[review.verdict]
    return f"{said}: {count_findings(review)}" if review.findings else said


def count_findings(review: Review) -> str:
    """`2 blockers, 1 nit`, the most severe first."""
    numbers = Counter(finding.severity for finding in review.findings)
    return ", ".join(
        f"{numbers[severity]} {one if numbers[severity] == 1 else many}"
        for severity, (one, many) in _FINDINGS.items()
        if numbers[severity]
    )


def add_to_report(text: str, remarks: Sequence[Remark]) -> str:
    """The report with the remarks below it, marked as Ramet's."""
    notes = "".join(f"\n> Ramet: {remark.text}\n" for remark in remarks)
    return f"{text.rstrip()}\n{notes}" if notes else text


def _say_unreadable(review: Review) -> str:
    return f"its verdict {review.doubt}"


def _say_changed(skill: str, files: Sequence[str]) -> str:
    number = "1 file" if len(files) == 1 else f"{len(files):,} files"
    more = f" and {len(files) - _SHOWN:,} more" if len(files) > _SHOWN else ""
    return f"it changed {number}, although the skill {skill} changes none: {', '.join(files[:_SHOWN])}{more}"
