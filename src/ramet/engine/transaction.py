"""What an operation is given: the database inside one transaction, and the instant at which it happens."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from ramet.config.settings import HookSettings, LimitSettings, RunSettings, SpawnSettings, WorkSettings
from ramet.engine.contents import Contents
from ramet.engine.context_cache import ContextCache
from ramet.model.event import EventKind, NewEvent
from ramet.model.instant import to_iso
from ramet.model.spawn.confinement import Confinement
from ramet.model.work.price import Prices
from ramet.protocol.operation import Ring
from ramet.protocol.record.starting_points import StartingPoint
from ramet.store import events
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.memory.index.search_index import SearchIndex


class Rules(Struct, frozen=True, kw_only=True):
    """What the configuration says about what may be done."""

    limits: LimitSettings = LimitSettings()
    work: WorkSettings = WorkSettings()
    runs: RunSettings = RunSettings()
    spawn: SpawnSettings = SpawnSettings()
    hooks: HookSettings = HookSettings()
    prices: Prices = Prices()
    profiles: Mapping[str, Confinement] = {}
    """How much the profile of each driver lets its agents do."""
    resume_commands: Mapping[str, tuple[str, ...]] = {}
    """How each agent program is called to resume a session by its own name of it."""


_NO_INDEX = SearchIndex()


class Transaction:
    """One operation's view of the world."""

    def __init__(
        self,
        db: Connection,
        now_ms: int,
        *,
        rules: Rules,
        codec: Codec,
        contents: Contents,
        contexts: ContextCache,
        asker: int | None = None,
        ring: Ring = "user",
    ) -> None:
        self.db = db
        self.now_ms = now_ms
        self.limits = rules.limits
        self.work = rules.work
        self.runs = rules.runs
        self.spawn = rules.spawn
        self.hooks = rules.hooks
        self.prices = rules.prices
        self.profiles = rules.profiles
        self.resume_commands = rules.resume_commands
        self.codec = codec
        self.contents = contents
        self.contexts = contexts
        self.index = _NO_INDEX
        """The search index, which the engine's owner feeds."""
        self.asker = asker
        """The session of the agent that asks; None where it is the user, who may ask for everything."""
        self.ring = ring
        """What an agent can reach by the operation that it asks for."""
        self.chain: set[int] | None = None
        """The efforts that the asker's own is based on, once somebody has asked for them."""
        self.found_skills: Mapping[str, Any] = {}
        """The files of the skills that the request names (`engine.record.skills`)."""
        self.semantic: Any = None
        self.max_reply_bytes: int | None = None
        """Finds texts by their meaning (`engine.memory.ladder.Semantic`), if that is configured."""
        self.draft: Any = None
        """What was read of the history before this change (`engine.history.drafts.ReadyDraft`)."""
        self.start = StartingPoint()
        """Where the work starts that the request adds."""

    @cached_property
    def now(self) -> str:
        """The instant as the rows that people read carry it."""
        return to_iso(self.now_ms)

    def record(self, kind: EventKind, **scope: Any) -> None:
        """Write the event of what this operation does."""
        events.write(self.db, NewEvent(kind=kind, **scope), self.now_ms)
