"""A notice: what a person has to know, once. Every bound that is reached leaves one."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

NoticeKind = Literal[
    "changed_files",
    "unreadable_verdict",
    "gave_up",
    "timeout",
    "stuck",
    "limit",
    "cut",
    "run_bound",
    "review_bound",
    "parked",
    "budget",
    "refused",
    "damaged",
    "landing",
]


class Notice(Struct, frozen=True, kw_only=True):
    """One row of `notices`."""

    id: int
    kind: NoticeKind
    text: str
    effort_id: int | None
    session_id: int | None
    created_at: datetime
    dismissed_at: datetime | None
    project_id: int | None = None
    """The project of its effort."""
