"""A note: what an agent or a person writes into an effort's log, under a heading that says when."""

import re
from datetime import UTC, datetime

from ramet.model.record.skill import artifact_prefix

_HEADING = re.compile(r"^## ", re.MULTILINE)
_NEXT = b"\n## ["
"""What stands behind an entry, unless it is the last."""


def log_file_of(ordinal: int, skill: str) -> str:
    """What the log of an effort is called, in its task's folder."""
    return log_file_named(artifact_prefix(ordinal, skill))


def log_file_named(prefix: str) -> str:
    """The same, by the prefix of the effort's files."""
    return f"{prefix}_LOG.md"


def entry(text: str, at: datetime) -> str:
    """The note as the log has it: the time is in its first heading, or in one that it gets."""
    stamp = f"## [{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}]"
    body = text.strip("\n")
    marked, count = _HEADING.subn(f"{stamp} ", body, count=1)
    return f"\n{marked}\n" if count else f"\n{stamp}\n\n{body}\n"


def has_entry(log: bytes, written: str) -> bool:
    """Whether a log has an entry, whole: one that another begins with is not there by that."""
    return written.encode(errors="replace") + _NEXT in log + _NEXT
