"""What an earlier system has stored, on its way into Ramet: each of its rows as it is, and the rows that it becomes.

A reader of `ramet.predecessors` makes these values, and the engine writes them. A row names other rows of its source by
`table:key`; it may name only rows that were read before it. A row that becomes nothing is kept as it is.
"""

from typing import Any, Literal

from msgspec import Struct

from ramet.model.history.commit import CommitOperation
from ramet.model.history.content import Priority
from ramet.model.record.effort import Outcome
from ramet.model.record.message import Role

System = Literal["tract", "aurora", "workrail", "gza", "engine"]

RowRef = str
"""`table:key` of a row of the same source."""


class NewProject(Struct, frozen=True, kw_only=True, tag_field="kind", tag="project"):
    """A project, known by its path."""

    path: str
    name: str | None = None
    created_ms: int | None = None


class NewSkill(Struct, frozen=True, kw_only=True, tag_field="kind", tag="skill"):
    """A skill of a project. One that the project has already stays as it is."""

    project: RowRef
    name: str
    phases: list[Any] | None = None
    modes: dict[str, Any] | None = None
    templates: dict[str, Any] | None = None
    cmd_dependencies: list[Any] | None = None
    next_skills: list[Any] | None = None
    directives: list[Any] | None = None
    updated_ms: int | None = None


class NewTask(Struct, frozen=True, kw_only=True, tag_field="kind", tag="task"):
    """A task of a project, known by its path."""

    project: RowRef
    path: str
    workspace: str | None = None
    title: str | None = None
    description: str | None = None
    keywords: str | None = None
    created_ms: int | None = None


class EffortLine(Struct, frozen=True, kw_only=True):
    """The line of a run that an effort is."""

    run: RowRef
    key: str
    order: int


class EffortGit(Struct, frozen=True, kw_only=True):
    """What a source says of an effort's git branch."""

    branch: str | None = None
    base: str | None = None
    head: str | None = None


class NewEffort(Struct, frozen=True, kw_only=True, tag_field="kind", tag="effort"):
    """An effort. It is always finished, so that nothing that is imported starts to run."""

    task: RowRef
    skill: str
    outcome: Outcome
    created_ms: int | None = None
    finished_ms: int | None = None
    reason: str | None = None
    mode: str | None = None
    ordinal: int | None = None
    """The number that it has in its task, if that is free; else it gets the next one."""
    phase: str | None = None
    directives: list[str] | None = None
    directories: list[str] | None = None
    metadata: dict[str, Any] | None = None
    prompt: str | None = None
    based_on: RowRef | None = None
    depends_on: list[RowRef] = []
    report_file: str | None = None
    output_content: str | None = None
    attempts: int = 0
    git: EffortGit = EffortGit()
    line: EffortLine | None = None


class NewSession(Struct, frozen=True, kw_only=True, tag_field="kind", tag="session"):
    """A session. It is always ended."""

    effort: RowRef
    native_id: str
    outcome: Outcome
    created_ms: int | None = None
    ended_ms: int | None = None
    prev: RowRef | None = None
    parent_id: str | None = None
    """The system's own id of the session that spawned it, which another file may have."""
    notes: str | None = None
    title: str | None = None
    heartbeat_counter: int = 0
    last_heartbeat_ms: int | None = None
    context_usage: float | None = None
    loaded_files: list[str] | None = None
    handoff: dict[str, Any] | None = None
    cost_usd: float | None = None


class NewMessage(Struct, frozen=True, kw_only=True, tag_field="kind", tag="message"):
    """A turn of a session."""

    session: RowRef
    role: Role
    text: str
    tool_name: str | None = None
    at_ms: int | None = None


class NewPhase(Struct, frozen=True, kw_only=True, tag_field="kind", tag="phase"):
    """A phase that an effort entered."""

    effort: RowRef
    label: str
    proof: dict[str, Any] | None = None
    reason: str | None = None
    created_ms: int | None = None


class NewAgent(Struct, frozen=True, kw_only=True, tag_field="kind", tag="agent"):
    """An agent. It holds nothing, because every imported effort is finished."""

    id: str
    label: str | None = None
    claims: list[str] | None = None


class NewEmbedding(Struct, frozen=True, kw_only=True, tag_field="kind", tag="embedding"):
    """A vector of a piece of text."""

    source_type: str
    source_path: str
    text: str | None
    vector: bytes
    model: str
    updated_ms: int | None = None


class NewRun(Struct, frozen=True, kw_only=True, tag_field="kind", tag="run"):
    """A run. It is always finished."""

    task: RowRef
    name: str
    created_ms: int | None = None
    finished_ms: int | None = None
    reason: str | None = None


class NewTurn(Struct, frozen=True, kw_only=True, tag_field="kind", tag="turn"):
    """A turn of a run's conversation."""

    run: RowRef
    role: Literal["user", "assistant", "system"]
    text: str
    at_ms: int | None = None
    metadata: dict[str, Any] | None = None


class ImportedCommit(Struct, frozen=True, kw_only=True, tag_field="kind", tag="commit"):
    """A commit of a history."""

    content: dict[str, Any]
    content_type: str
    parent: RowRef | None = None
    second_parent: RowRef | None = None
    operation: CommitOperation = "append"
    target: RowRef | None = None
    tokens: int | None = None
    """What its system counted."""
    at_ms: int | None = None
    metadata: dict[str, Any] = {}


class ImportedPriority(Struct, frozen=True, kw_only=True, tag_field="kind", tag="priority"):
    """How much a commit matters."""

    commit: RowRef
    priority: Priority


class ImportedBranch(Struct, frozen=True, kw_only=True, tag_field="kind", tag="branch"):
    """A branch and the commit that it points at."""

    name: str
    commit: RowRef | None


class ImportedSpawn(Struct, frozen=True, kw_only=True, tag_field="kind", tag="spawn"):
    """Which history was spawned from which."""

    parent_branch: str
    child_branch: str
    parent_commit: RowRef | None
    purpose: str
    inheritance_mode: Literal["none", "full_clone", "head_snapshot", "selective"]
    display_name: str | None = None
    created_ms: int | None = None


NewRow = (
    NewProject
    | NewSkill
    | NewTask
    | NewEffort
    | NewSession
    | NewMessage
    | NewPhase
    | NewAgent
    | NewEmbedding
    | NewRun
    | NewTurn
    | ImportedCommit
    | ImportedPriority
    | ImportedBranch
    | ImportedSpawn
)


class SourceRow(Struct, frozen=True, kw_only=True):
    """One row of a source, and the rows that it becomes."""

    table: str
    key: str
    values: dict[str, Any] | None = None
    """Every column as the source has it; None for a row that Ramet needs and the source does not have."""
    becomes: list[NewRow] = []
