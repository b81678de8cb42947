"""The requests: what each operation takes, under the parameter names that go over the wire.

A request is validated when it is decoded: wrong types, unknown names and values out of range never reach the
engine. Everything that changes something is a `Change` and takes an `idempotency_key`.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.model.event import EventKind
from ramet.model.record.effort import Outcome
from ramet.model.record.message import Role

_NO_NUL = r"^[^\x00]*$"

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=_NO_NUL)]
Text = Annotated[str, Meta(max_length=100_000, pattern=_NO_NUL)]
Path = Annotated[str, Meta(min_length=1, max_length=4096, pattern=_NO_NUL)]
Content = str
"""What an agent said: any text, bounded only by the size of a request."""
SessionName = Annotated[str, Meta(min_length=1, max_length=400, pattern=_NO_NUL)]
SessionId = Id | SessionName
ProjectRef = Id | Path


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request that only reads."""


class Change(Request, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request that changes something."""

    idempotency_key: Name | None = None


class UpsertProject(Change, frozen=True, kw_only=True):
    path: Path
    name: Text | None = None
    host: Name | None = None
    """The machine that the path is on, where several share a database."""
    remote: Name | None = None
    """The git remote by which several machines know the same project."""


class ListProjects(Request, frozen=True, kw_only=True):
    pass


class UpsertTask(Change, frozen=True, kw_only=True):
    dir_path: Path
    workspace: Text | None = None
    title: Text | None = None
    description: Text | None = None
    keywords: Text | None = None


class FindTasks(Request, frozen=True, kw_only=True):
    query: Text | None = None
    workspace: Text | None = None
    project: ProjectRef | None = None


class ListTasks(Request, frozen=True, kw_only=True):
    project: ProjectRef | None = None


class StartEffort(Change, frozen=True, kw_only=True):
    task_id: Path
    skill: Name
    mode: Name | None = None
    metadata: dict[str, Any] | None = None
    session_id: SessionId | None = None


class FinishEffort(Change, frozen=True, kw_only=True):
    effort_id: Id
    keywords: Text | None = None
    outcome: Outcome = "success"


class EnterPhase(Change, frozen=True, kw_only=True):
    effort_id: Id
    label: Name
    proof: dict[str, Any] | None = None
    reason: Text | None = None


class GetEffort(Request, frozen=True, kw_only=True):
    effort_id: Id


class ListEfforts(Request, frozen=True, kw_only=True):
    task_id: Path


class ValidateEffort(Request, frozen=True, kw_only=True):
    effort_id: Id


class StartSession(Change, frozen=True, kw_only=True):
    task_id: Path
    effort_id: Id
    pid: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    prev_session_id: SessionId | None = None
    parent_session_id: SessionId | None = None
    agent_id: Name | None = None
    driver: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] | None = None
    native_id: Name | None = None


class FinishSession(Change, frozen=True, kw_only=True):
    session_id: SessionId
    dehydration_payload: dict[str, Any] | None = None
    outcome: Outcome = "success"


class BindEffort(Change, frozen=True, kw_only=True):
    session_id: SessionId
    effort_id: Id


class Heartbeat(Change, frozen=True, kw_only=True):
    session_id: SessionId


class UpdateContextUsage(Change, frozen=True, kw_only=True):
    session_id: SessionId
    usage: Annotated[float, Meta(ge=0.0, le=1.0)]


class UpdateLoadedFiles(Change, frozen=True, kw_only=True):
    session_id: SessionId
    files: Annotated[list[Path], Meta(max_length=100_000)]


class GetSession(Request, frozen=True, kw_only=True):
    session_id: SessionId


class FindSessions(Request, frozen=True, kw_only=True):
    task_id: Path | None = None
    effort_id: Id | None = None
    agent_id: Name | None = None
    open: bool | None = None
    cursor: Id | None = None


class UpsertSkill(Change, frozen=True, kw_only=True):
    name: Name
    project_id: Id
    phases: list[Any] | None = None
    modes: dict[str, Any] | None = None
    templates: dict[str, Any] | None = None
    cmd_dependencies: list[Text] | None = None
    next_skills: list[Name] | None = None
    directives: list[Text] | None = None


class GetSkill(Request, frozen=True, kw_only=True):
    name: Name
    project_id: Id


class DeleteSkill(Change, frozen=True, kw_only=True):
    name: Name
    project_id: Id


class ListSkills(Request, frozen=True, kw_only=True):
    project_id: Id


class FindSkills(Request, frozen=True, kw_only=True):
    query: Text
    project_id: Id | None = None


class AppendMessage(Change, frozen=True, kw_only=True):
    session_id: SessionId
    role: Role
    content: Content
    tool_name: Name | None = None


class ListMessages(Request, frozen=True, kw_only=True):
    session_id: SessionId
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 100
    offset: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0


class RegisterAgent(Change, frozen=True, kw_only=True):
    id: Name
    label: Text | None = None
    claims: list[Name] | None = None


class GetAgent(Request, frozen=True, kw_only=True):
    id: Name


class ListAgents(Request, frozen=True, kw_only=True):
    pass


class AssignAgent(Change, frozen=True, kw_only=True):
    id: Name
    effort_id: Id | None


class CountRows(Request, frozen=True, kw_only=True):
    pass


class FleetStatus(Request, frozen=True, kw_only=True):
    pass


class FleetStale(Request, frozen=True, kw_only=True):
    pass


class ListEvents(Request, frozen=True, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 100
    kind: EventKind | None = None
    newest: bool = False


class SubscribeEvents(Request, frozen=True, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None


class Query(Request, frozen=True, kw_only=True):
    sql: Annotated[str, Meta(min_length=1, max_length=100_000, pattern=_NO_NUL)]
    params: list[str | int | float | bool | None] = []


class CheckDatabase(Request, frozen=True, kw_only=True):
    pass


class BackUpDatabase(Request, frozen=True, kw_only=True):
    path: Path


class Hello(Request, frozen=True, kw_only=True):
    client: Text | None = None
    token: Name | None = None
    """The token of an agent's session: the connection may from then on do only what that session may."""


class Ping(Request, frozen=True, kw_only=True):
    pass


class DaemonStatus(Request, frozen=True, kw_only=True):
    pass


class StopDaemon(Request, frozen=True, kw_only=True):
    pass
