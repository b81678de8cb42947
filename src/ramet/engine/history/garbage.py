"""Garbage: what nothing reaches any more."""

from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.protocol.history.branches import Collected, CollectGarbage
from ramet.store.history import garbage

_DAY_MS = 86_400_000


@answers(CollectGarbage)
def collect(tx: Transaction, request: CollectGarbage) -> Collected:
    """Delete what no branch, recent move, spawn, collapse or transcript reaches."""
    deleted = garbage.collect(tx.db, tx.now_ms - request.retention_days * _DAY_MS)
    tx.record("history.collected", data={"commits": deleted.commits, "blobs": deleted.blobs})
    return Collected(commits=deleted.commits, blobs=deleted.blobs, segments=deleted.segments)
