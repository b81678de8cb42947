"""A task: a persistent container of work, known by its directory. It never finishes."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct


class Task(Struct, frozen=True, kw_only=True):
    """One row of `task_summary`: the task and what its efforts say about it."""

    dir_path: str
    project_id: int
    workspace: str | None
    title: str | None
    description: str | None
    keywords: str | None
    created_at: datetime
    effort_count: int
    active_count: int
    latest_skill: str | None
    last_activity: datetime | None


def merge_keywords(known: str | None, added: Iterable[str]) -> str | None:
    """Comma-separated keywords with the new ones behind the old, each once, whatever its case."""
    merged: dict[str, str] = {}
    for word in [*(known or "").split(","), *added]:
        if stripped := word.strip().replace(",", " "):
            merged.setdefault(stripped.casefold(), stripped)
    return ", ".join(merged.values()) or None
