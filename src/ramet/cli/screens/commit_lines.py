"""A commit on a line or two: its name, its place, its author, and the start of its text."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ramet.cli.exchanges import ask_many
from ramet.cli.invocation import Invocation
from ramet.cli.screens.effort_lines import short_agent
from ramet.cli.screens.styled_lines import Line, spaced
from ramet.cli.times import ago
from ramet.protocol.history.commits import CommitDetail, CommitRow, Show

SHORT = 8
"""How much of a hash is shown; any unique start of four digits or more names the commit."""

_PRIORITY_STYLES = {"pinned": "bold magenta", "important": "magenta", "skip": "dim"}


class Told(NamedTuple):
    """A commit's row, and the note that a program wrote into the commit."""

    row: CommitRow
    note: Mapping[str, Any]
    """The parts of a merge, a spawn or a collapse."""

    @property
    def kind(self) -> str:
        """`merge`, `spawn`, `collapse`, `compression`, `edit`, or nothing special."""
        if self.row.second_parent:
            return "merge"
        if self.row.collapses:
            return "collapse"
        if self.row.compresses:
            return "compression"
        return str(self.note.get("kind", "")) if not self.row.target else "edit"


def short(commit_hash: str) -> str:
    """A hash as people see it."""
    return commit_hash[:SHORT]


def tell(invocation: Invocation, rows: Sequence[CommitRow]) -> list[Told]:
    """The rows, each with its note; all notes are read together."""
    linked = [row.hash for row in rows if row.content_type == "metadata" or row.collapses]
    details = ask_many(invocation, [Show(hash=each) for each in linked])
    notes = {detail.hash: note(detail) for detail in details}
    return [Told(row, notes.get(row.hash, {})) for row in rows]


def note(detail: CommitDetail) -> Mapping[str, Any]:
    """What a program wrote into a commit: its kind, and its parts."""
    collapse = (detail.metadata or {}).get("collapse")
    if collapse:
        return {"kind": "collapse", **collapse}
    content = detail.content or {}
    data = content.get("data")
    return {**(data if isinstance(data, dict) else {}), "kind": content.get("kind")}


def title(told: Told, branches: Iterable[str]) -> Line:
    """A commit's hash, branches, place, kind and author."""
    row = told.row
    names = ", ".join(branches)
    return spaced(
        [
            (short(row.hash), "yellow"),
            (f"({names})" if names else "", "bold green"),
            (f"#{row.depth}", "dim"),
            (_what(told), "cyan"),
            (_priority(row), _PRIORITY_STYLES.get(row.priority, "")),
            (_tags(row), "blue"),
            (f"by {short_agent(row.author)}, {since(row.at)}", "dim"),
        ]
    )


def one_line(told: Told, branches: Iterable[str]) -> Line:
    """The same in a few words, and the start of its text."""
    row = told.row
    names = ", ".join(branches)
    return spaced(
        [
            (short(row.hash), "yellow"),
            (f"({names})" if names else "", "bold green"),
            (_priority(row), _PRIORITY_STYLES.get(row.priority, "")),
            (_tags(row), "blue"),
            ("" if told.kind in ("merge", "spawn") else f"{row.role}:", "cyan"),
            (summary(told), ""),
        ]
    )


def summary(told: Told) -> str:
    """Its text, or what it did, in one line."""
    row, note = told.row, told.note
    match told.kind:
        case "merge":
            # Of an imported merge only the commit is known.
            return f"merges {note.get('from') or short(row.second_parent or '')}"
        case "spawn":
            return f"spawns {note.get('child')} ({note.get('inherit')}): {note.get('purpose')}"
        case "collapse":
            return f"collapses {row.collapses}: {row.preview}"
        case "compression" if row.compresses:
            first, last = row.compresses
            return f"replaces #{first} to #{last}: {row.preview}"
        case "edit" if row.target:
            return f"edits {short(row.target)}: {row.preview}"
        case _:
            return row.preview


def since(moment: datetime) -> str:
    """`3m ago`; `now` if it is less than a second."""
    elapsed = (ago(moment) or "0s").split()[0]
    return "now" if elapsed == "0s" else f"{elapsed} ago"


def _what(told: Told) -> str:
    """The role and the type; only the role for dialogue, the tool for a tool call, the kind for a program's note."""
    row = told.row
    if row.content_type == "metadata":
        return told.kind or "metadata"
    if row.content_type == "dialogue":
        return row.role
    if row.content_type == "tool_io" and row.tool:
        return f"{row.role} {'calls ' if row.role == 'assistant' else ''}{row.tool}"
    return f"{row.role} {row.content_type}"


def _priority(row: CommitRow) -> str:
    return "" if row.priority == "normal" else row.priority


def _tags(row: CommitRow) -> str:
    return f"[{', '.join(row.tags)}]" if row.tags else ""
