"""Who reads transcripts, with a stand-in for the engine."""

from collections.abc import Callable
from pathlib import Path

from ramet.config.settings import HookSettings
from ramet.daemon.hooks.disk_lookups import DiskLookups, Patience
from ramet.daemon.hooks.transcript_feed import TranscriptFeed
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts
from ramet.protocol.operation import AsyncAsk


def ingesting_in(
    folder: Path,
    ask: AsyncAsk,
    gather: Callable[[HookEvent], HookFacts] = lambda _: HookFacts(),
    deadline_ms: int = 1000,
) -> TranscriptFeed:
    patience = Patience.of(HookSettings(deadline_ms=deadline_ms, start_deadline_ms=deadline_ms))
    return TranscriptFeed(ask, gather, DiskLookups(patience), folder / "gaps.jsonl", patience.read)
