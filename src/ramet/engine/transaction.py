"""What an operation is given: the database inside one transaction, and the instant at which it happens."""

from functools import cached_property
from typing import Any

from ramet.config.settings import LimitSettings, RunSettings, WorkSettings
from ramet.engine.contents import Contents
from ramet.model.event import EventKind, NewEvent
from ramet.model.instant import to_iso
from ramet.store import events
from ramet.store.blobs import Codec
from ramet.store.connection import Connection


class Transaction:
    """One operation's view of the world."""

    def __init__(
        self,
        db: Connection,
        now_ms: int,
        *,
        limits: LimitSettings,
        work: WorkSettings,
        runs: RunSettings,
        codec: Codec,
        contents: Contents,
    ) -> None:
        self.db = db
        self.now_ms = now_ms
        self.limits = limits
        self.work = work
        self.runs = runs
        self.codec = codec
        self.contents = contents

    @cached_property
    def now(self) -> str:
        """The instant as the rows that people read carry it."""
        return to_iso(self.now_ms)

    def record(self, kind: EventKind, **scope: Any) -> None:
        """Write the event of what this operation does."""
        events.write(self.db, NewEvent(kind=kind, **scope), self.now_ms)
