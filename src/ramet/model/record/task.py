"""A task: a persistent container of work, known by its directory. It never finishes."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

_NAME_CHARACTERS = 40
_TITLE_CHARACTERS = 200


class Task(Struct, frozen=True, kw_only=True):
    """One row of `task_summary`: a task and a summary of its efforts."""

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


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def title_of(prompt: str) -> str:
    """The title of a task that is made for a prompt."""
    return first_line(prompt)[:_TITLE_CHARACTERS]


def directory_name(text: str) -> str:
    """A directory's name made from the first line, of `a-z`, `0-9` and `-` alone; a hash if none of it is left."""
    plain = unicodedata.normalize("NFKD", first_line(text)).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_NAME_CHARACTERS].rstrip("-")
    return words or f"task-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def task_path(project: str, text: str) -> str:
    """Where the task of its own is that a text gets in a project."""
    return f"{project.rstrip('/')}/.ramet/tasks/{directory_name(text)}"
