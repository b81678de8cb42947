"""Requests and replies of hooks: the events of an agent program, and the answers to it."""

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
    """In seconds since 1970; 0 if the process had already ended when it was looked up."""
    host: Name | None = None
    """The machine, if several machines share the database."""


class HookFacts(Struct, frozen=True, kw_only=True):
    """Facts about the machine on which a hook was called. They are gathered only for hooks that use them: the start of
    a session, a compaction, a tool that reads or changes a file or invokes a skill, and before a change if
    `hooks.directive_gate` is `block`.
    """

    uncommitted: list[str] = []
    """Files with uncommitted changes, relative to the project."""
    directives: list[Directive] = []
    """The directives that apply to the event's file, outermost first."""
    standards: list[Directive] = []
    """The project's standards, at the start of a session."""
    skill_files: list[Directive] = []
    """The templates and first command files of the skill that a tool call invokes."""
    project: str | None = None
    """The directory that would be a project if none is registered above the session's directory: the root of the git
    repository, or the directory itself.
    """
    is_repository: bool = False
    """Whether that is the root of a git repository, which is a project even inside a registered one."""
    process: HookProcess | None = None


class HookOutput(Struct, frozen=True, kw_only=True):
    """The exact output of the hook program and its exit status. Without output the agent program continues."""

    output: Any = None
    status: int = 0


class HookCall(Request[HookOutput], frozen=True, kw_only=True):
    """Answer a hook of a vendor's program in that vendor's format, and never with an error."""

    op = Operation("hooks.event", host="daemon", ring="own", audience="internal")

    vendor: Name
    payload: Any
    agent: Name | None = None
    """`$RAMET_AGENT` of the program."""
    session: SessionId | None = None
    """`$RAMET_SESSION` of the program."""
    pid: Pid | None = None
    """The pid of the program."""


class HookTiming(Struct, frozen=True, kw_only=True):
    """How long the latest hooks of one kind took in the daemon, from reading the request to the reply."""

    vendor: str
    event: str
    """The vendor's name of the event."""
    count: int
    failed: int
    """How many of them were allowed because of an error in Ramet."""
    p50_ms: float
    p95_ms: float
    p99_ms: float


class HookTimings(Struct, frozen=True, kw_only=True):
    """The kinds of hooks since the daemon started, most frequent first."""

    items: list[HookTiming]


class ListTimings(Request[HookTimings], frozen=True, kw_only=True):
    """Show how long each kind of hook takes: median and 95th percentile of the latest calls, in milliseconds."""

    op = Operation("hooks.timings", host="daemon")


class HookReply(Struct, frozen=True, kw_only=True):
    """The answer to a hook, and what else the daemon has to do."""

    answer: HookAnswer
    session_id: int | None
    """None if the event belongs to no session."""
    wants_ingest: bool = False
    """Whether the transcript may have new entries."""
    wants_facts: bool = False
    """Whether nothing was recorded because the session is new or was reopened. Send the request again with
    `facts.project`, and with `facts.process` if it is known.
    """
    is_ignored: bool = False
    """Whether nothing was recorded because the session is outside every registered project."""


class Injected(Struct, frozen=True, kw_only=True):
    """The text that a hook gave to a session."""

    session_id: int
    tokens: Count
    """Estimated."""


class NoteInjected(Change[Injected], frozen=True, kw_only=True):
    """Record that a hook gave a session text of earlier sessions to read, and what it costs."""

    op = Operation("hooks.injected", errors=(SessionNotFound,), audience="internal")

    session_id: SessionId
    moment: Name
    size: Count
    """In bytes."""
    tokens: Count
    places: Annotated[list[Name], Meta(max_length=100)] = []
    """The places in earlier sessions that the text quotes."""


class RecordHook(Change[HookReply], frozen=True, kw_only=True):
    """Record one event of a vendor's program, and answer what the agent may do and what it gets to read."""

    op = Operation("hooks.record", errors=(SessionNotFound, Forbidden, InvalidParams), ring="own", audience="internal")

    event: HookEvent
    facts: HookFacts = HookFacts()
    session: SessionId | None = None
    """The session that the program was started for. A program with another native id was started by its agent."""
    agent: Name | None = None
    pid: Pid | None = None
    only_registered: bool = False
    """Whether to ignore a session that is outside every registered project."""
