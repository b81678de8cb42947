"""Requests and replies of hooks: what an agent program says, and what it is answered."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.errors import Forbidden, InvalidParams, SessionNotFound
from ramet.model.hooks.directive import Directive
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.protocol.fields import Name, SessionId
from ramet.protocol.operation import Change, Operation, Request

Pid = Annotated[int, Meta(ge=0, le=2**31 - 1)]

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class HookProcess(Struct, frozen=True, kw_only=True):
    """The process of the program that called a hook."""

    pid: Pid
    started: float
    """In seconds since 1970; 0 where it was gone already when it was looked for."""
    host: Name | None = None
    """The machine, where several share the database."""


class HookFacts(Struct, frozen=True, kw_only=True):
    """What the machine says about where a hook was called. Gathered only for those that use it: the start of a session,
    a compaction, a tool that reads or changes a file, and before a change where `hooks.directive_gate` blocks.
    """

    uncommitted: list[str] = []
    """What git has not got yet, relative to the project."""
    directives: list[Directive] = []
    """Those that hold where the event's file is, the outermost first."""
    project: str | None = None
    """The directory that would be a project, where none is registered above the session's: git's top, or the directory
    itself.
    """
    is_repository: bool = False
    """Whether that is git's top; then it is a project also inside one that is registered."""
    process: HookProcess | None = None


class HookOutput(Struct, frozen=True, kw_only=True):
    """What the shim prints, exactly, and the status with which it exits. Nothing at all: the program goes on."""

    output: Any = None
    status: int = 0


class HookCall(Request[HookOutput], frozen=True, kw_only=True):
    """A hook as a vendor's program calls it; answered in that vendor's words, and never with an error.

    A hook as the vendor's program calls it. Answered by a daemon, whatever the payload is.
    """

    op = Operation("hooks.event", host="daemon", audience="internal")

    vendor: Name
    payload: Any
    agent: Name | None = None
    """`$RAMET_AGENT` of the program."""
    session: SessionId | None = None
    """`$RAMET_SESSION` of the program."""
    pid: Pid | None = None
    """The program's own."""


class HookTiming(Struct, frozen=True, kw_only=True):
    """How long one kind of hook takes in the daemon, from when it is read to its answer; of the latest ones."""

    vendor: str
    event: str
    """As the vendor calls it."""
    count: int
    failed: int
    """How many of them were let through because something went wrong here."""
    p50_ms: float
    p95_ms: float


class HookTimings(Struct, frozen=True, kw_only=True):
    """The kinds of hooks that there were, the most frequent first."""

    items: list[HookTiming]


class ListTimings(Request[HookTimings], frozen=True, kw_only=True):
    """How long each kind of hook takes: median and 95th percentile of the latest ones.

    How long hooks have taken since the daemon started.
    """

    op = Operation("hooks.timings", host="daemon")


class HookReply(Struct, frozen=True, kw_only=True):
    """What a hook is answered, and what else there is to do."""

    answer: HookAnswer
    session_id: int | None
    """None for an event that belongs to no session."""
    wants_ingest: bool = False
    """Whether the transcript may say more than we know."""
    wants_facts: bool = False
    """Nothing was written: the session is new, or open again. Ask again with `facts.project`, and `facts.process` where
    that can be known.
    """


class RecordHook(Change[HookReply], frozen=True, kw_only=True):
    """A hook in our own words: note what it says, and answer what the agent may do and is told.

    One event of a vendor's program, in our words.
    """

    op = Operation("hooks.record", errors=(SessionNotFound, Forbidden, InvalidParams), audience="internal")

    event: HookEvent
    facts: HookFacts = HookFacts()
    session: SessionId | None = None
    """The session that the program was started for; what has another native id was started by its agent."""
    agent: Name | None = None
    pid: Pid | None = None
