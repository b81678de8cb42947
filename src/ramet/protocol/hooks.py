"""The requests and replies of the hooks: what agent programs tell, what they are answered, and their transcripts.

`hooks.record` is the one path: a vendor's event in our words, with what the disk says about it. The seed's fifteen
operations are the same path for whoever has no vendor's event at hand.
"""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.model.hooks.directive import Directive
from ramet.model.hooks.hook import HookAnswer, HookEvent, Source
from ramet.model.hooks.transcript import Entry
from ramet.model.record.agent import Agent
from ramet.model.record.session import Session
from ramet.protocol.replies import EffortDetail
from ramet.protocol.requests import Change, Content, Id, Name, Path, Request, SessionId, Text
from ramet.protocol.work import DriverName

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


class HookCall(Request, frozen=True, kw_only=True):
    """A hook as the vendor's program calls it. Answered by a daemon, whatever the payload is."""

    vendor: Name
    payload: Any
    agent: Name | None = None
    """`$RAMET_AGENT` of the program."""
    session: SessionId | None = None
    """`$RAMET_SESSION` of the program."""
    pid: Pid | None = None
    """The program's own."""


class ListTimings(Request, frozen=True, kw_only=True):
    """How long hooks have taken since the daemon started."""


class RecordHook(Change, frozen=True, kw_only=True):
    """One event of a vendor's program, in our words."""

    event: HookEvent
    facts: HookFacts = HookFacts()
    session: SessionId | None = None
    """The session that the program was started for; what has another native id was started by its agent."""
    agent: Name | None = None
    pid: Pid | None = None


# The fifteen.


class HookSessionStart(Change, frozen=True, kw_only=True):
    """A context window opens. It is known by its session, or by its driver and native id."""

    agent_id: Name | None = None
    pid: Pid | None = None
    session_id: SessionId | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    cwd: Path | None = None
    source: Source | None = None
    transcript_path: Path | None = None
    facts: HookFacts = HookFacts()


class HookSessionEnd(Change, frozen=True, kw_only=True):
    session_id: SessionId
    reason: Text | None = None


class HookPreToolUse(Change, frozen=True, kw_only=True):
    session_id: SessionId
    tool: Name
    args: Any = None
    tool_use_id: Name | None = None
    facts: HookFacts = HookFacts()


class HookPostToolUse(Change, frozen=True, kw_only=True):
    session_id: SessionId
    tool: Name
    result: Any = None
    """Accepted, and not kept: the transcript has it."""
    args: Any = None
    tool_use_id: Name | None = None
    facts: HookFacts = HookFacts()


class HookPostToolUseFailure(Change, frozen=True, kw_only=True):
    session_id: SessionId
    tool: Name
    args: Any = None
    tool_use_id: Name | None = None


class HookUserPrompt(Change, frozen=True, kw_only=True):
    session_id: SessionId
    prompt: Content
    prompt_id: Name | None = None


class HookPreCompact(Change, frozen=True, kw_only=True):
    session_id: SessionId


class HookPermissionRequest(Change, frozen=True, kw_only=True):
    session_id: SessionId
    tool: Name | None = None
    args: Any = None


class HookNotification(Change, frozen=True, kw_only=True):
    session_id: SessionId
    text: Content | None = None


class HookStop(Change, frozen=True, kw_only=True):
    session_id: SessionId


class HookSubagentStart(Change, frozen=True, kw_only=True):
    """A vendor's own sub-agent begins: a child session, which ends nothing."""

    session_id: SessionId
    subagent_id: Name
    subagent_type: Name | None = None


class HookSubagentStop(Change, frozen=True, kw_only=True):
    session_id: SessionId
    subagent_id: Name
    summary: Content | None = None


class HookTaskCompleted(Change, frozen=True, kw_only=True):
    session_id: SessionId
    text: Content | None = None


class HookTeammateIdle(Change, frozen=True, kw_only=True):
    session_id: SessionId
    text: Content | None = None


class FleetRecruit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent of a fleet, and the skills that it takes."""

    id: Name
    label: Text | None = None
    claims: list[Name] | None = None


class HookFleetStart(Change, frozen=True, kw_only=True):
    """A fleet begins: its agents are known before their sessions are."""

    agents: Annotated[list[FleetRecruit], Meta(min_length=1, max_length=1000)]


class ListProcesses(Request, frozen=True, kw_only=True):
    """In which processes of a machine sessions are open that people started themselves."""

    host: Name | None = None


class Vanish(Change, frozen=True, kw_only=True):
    """A program has ended without telling: its process is not there any more."""

    session_id: Id
    pid: Pid
    started: float
    """Where the session is open in another process by now, nothing happens."""


# Logs and hand-offs.


class NoteLog(Change, frozen=True, kw_only=True):
    """Somebody wrote a log entry: the sessions of its effort count their tool calls anew. One of the two."""

    session_id: SessionId | None = None
    effort_id: Id | None = None
    text: Text | None = None


class HandOff(Change, frozen=True, kw_only=True):
    """End a context window and leave what the next one needs."""

    session_id: SessionId
    summary: Content
    decisions: list[Content] = []
    failed_approaches: list[Content] = []
    next_steps: list[Content] = []
    required_files: list[Path] = []
    """What the next one should read first. Default: what this one had loaded."""
    uncommitted: list[Path] = []


class ContinueSession(Change, frozen=True, kw_only=True):
    """Begin the next context window where one ended: the one named, else the agent's last, else the task's."""

    session_id: SessionId | None = None
    agent_id: Name | None = None
    task_id: Path | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    """A window that is open already turns to the effort, and leaves a light one of its own."""
    pid: Pid | None = None
    uncommitted: list[Path] = []
    light: bool = False
    """Where the effort is over, go on with a light one. What is on a light effort does so anyway."""


class ListCompactions(Request, frozen=True, kw_only=True):
    session_id: SessionId


class ShowContract(Request, frozen=True, kw_only=True):
    """What a session would be told after a compaction."""

    session_id: SessionId
    uncommitted: list[Path] = []


# Transcripts.


class AddEntries(Change, frozen=True, kw_only=True):
    """What was read of a session's transcript, in the file's order. What is known already is not written again."""

    session_id: SessionId
    """Of a sub-agent's transcript: the session whose sub-agent it is, with `agent_id`."""
    path: Path
    offset: Count
    """Where to go on reading."""
    entries: list[Entry]
    inode: Count | None = None
    agent_id: Name | None = None
    counts_subagents: bool = False
    """Whether the program counts what its sub-agents use as its own: then so does the keeper of a session, and what
    their transcripts say that they used is not counted again.
    """


class ListIngests(Request, frozen=True, kw_only=True):
    """How far which transcripts were read; those of one session, the one in a file, or all."""

    session_id: SessionId | None = None
    path: Path | None = None


# The replies.


class HookOutput(Struct, frozen=True, kw_only=True):
    """What the shim prints, exactly, and the status with which it exits. Nothing at all: the program goes on."""

    output: Any = None
    status: int = 0


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


class OpenProcess(Struct, frozen=True, kw_only=True):
    """A process in which a session is open."""

    session_id: int
    pid: int
    started: float


class OpenProcesses(Struct, frozen=True, kw_only=True):
    """The processes of the sessions that people started themselves."""

    items: list[OpenProcess]


class SessionContext(Struct, frozen=True, kw_only=True):
    """A session that begins or goes on: what it serves, and what it needs to know."""

    session: Session
    effort: EffortDetail
    skill_phases: list[str]
    """The labels of the skill's phases, in order; the effort has the current one."""
    required_files: list[str]
    dehydration_payload: dict[str, Any] | None
    """What the session before left."""
    debriefs: list[str]
    """What earlier efforts of the same task left, as paths."""
    context: str | None
    """What the agent is told: the resume contract, where it goes on with something."""


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a tool may be used."""

    allow: bool
    block: bool
    reason: str | None = None
    injection: str | None = None


class ToolNoted(Struct, frozen=True, kw_only=True):
    """What an agent is told after a tool, and what is known of its session now."""

    injections: list[str]
    session: Session


class PromptNoted(Struct, frozen=True, kw_only=True):
    """A prompt in its place: provisional until the transcript has it."""

    session_id: int
    message_id: int | None
    """The newest prompt of the session; None where nobody said anything yet."""
    content: str | None = None
    """What the caller has to write for it: nothing."""


class HookNoted(Struct, frozen=True, kw_only=True):
    """An event that was written down; of a sub-agent's, its own session."""

    session_id: int


class Fleet(Struct, frozen=True, kw_only=True):
    """The agents of a fleet with the efforts that they hold."""

    agents: list[Agent]


class LogNoted(Struct, frozen=True, kw_only=True):
    """Whose log it is: the task, and the prefix of the effort's files; and when it was written."""

    effort_id: int
    task_id: str
    artifact_prefix: str
    at: datetime
    is_repeated: bool = False
    """Whether the same request was answered before: its entry is in the log, unless that was cut off in between."""


class HandedOff(Struct, frozen=True, kw_only=True):
    """A session that ended with a hand-off, and its boundary commit."""

    session: Session
    commit: str | None
    """None where it had ended before, without a hand-off."""
    already: bool = False


class Compaction(Struct, frozen=True, kw_only=True):
    """The place of a session's history that held its exact context before a compaction."""

    number: int
    commit: str
    tokens: int
    at: datetime


class Compactions(Struct, frozen=True, kw_only=True):
    """A session's compactions, the newest first."""

    items: list[Compaction]


class Contract(Struct, frozen=True, kw_only=True):
    """The resume contract of a session."""

    session_id: int
    text: str
    tokens: int


class Ingested(Struct, frozen=True, kw_only=True):
    """How far a transcript was read, and how much of it was new."""

    session_id: int
    offset: int
    added: int
    replaced: int = 0
    """Provisional prompts that now are the transcript's."""


class Ingest(Struct, frozen=True, kw_only=True):
    """One row of `ingests`."""

    session_id: int
    path: str
    offset: int
    inode: int | None
    at: datetime
    driver: str | None
    is_open: bool
    """Whether its session has not ended."""


class Ingests(Struct, frozen=True, kw_only=True):
    """Which transcripts are read, and how far."""

    items: list[Ingest]
