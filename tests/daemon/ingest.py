"""Who reads transcripts, with a stand-in for the engine."""

from collections.abc import Callable
from pathlib import Path

from ramet.config.settings import HookSettings
from ramet.daemon.hooks.disk_lookups import Lookers, Patience
from ramet.daemon.hooks.transcript import Ask
from ramet.daemon.hooks.transcript_feed import Ingesting
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks import HookFacts


def ingesting_in(
    folder: Path, ask: Ask, gather: Callable[[HookEvent], HookFacts] = lambda _: HookFacts(), deadline_ms: int = 1000
) -> Ingesting:
    patience = Patience.of(HookSettings(deadline_ms=deadline_ms, start_deadline_ms=deadline_ms))
    return Ingesting(ask, gather, Lookers(patience), folder / "gaps.jsonl", patience.read)
