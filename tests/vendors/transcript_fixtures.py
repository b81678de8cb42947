"""The transcripts that `tests.vendors.transcript_recording` recorded."""

from pathlib import Path

from ramet.model.hooks.transcript import Entry, EntryKind

FIXTURES = Path(__file__).resolve().parent / "transcripts"
CLAUDE = FIXTURES / "claude" / "11111111-1111-4111-8111-111111111111.jsonl"
_DAY = FIXTURES / "codex" / "2026" / "01" / "01"
CODEX, CODEX_SUBAGENT = sorted(_DAY.iterdir(), key=lambda path: -path.stat().st_size)


def texts(entries: list[Entry], kind: EntryKind, role: str | None = None) -> list[str]:
    """What the entries of one kind say."""
    return [entry.text for entry in entries if entry.kind == kind and role in (None, entry.role)]


def used(entries: list[Entry], what: str) -> float:
    """How much of it, each key by its last word."""
    last = {entry.key: entry.usage or {} for entry in entries if entry.kind == "usage"}
    return sum(usage.get(what, 0) for usage in last.values())
