"""What a request names: the row that it means, or a typed error that says what was looked for.

A row that the asker cannot reach is refused here (`scopes`).
"""

from ramet.engine import scopes
from ramet.engine.transaction import Transaction
from ramet.errors import (
    AgentNotFound,
    EffortFinished,
    EffortNotFound,
    InvalidParams,
    ProjectNotFound,
    SessionEnded,
    SessionNotFound,
    TaskNotFound,
)
from ramet.model.record.agent import Agent
from ramet.model.record.effort import Effort
from ramet.model.record.project import Project, normal_path
from ramet.model.record.session import Session, SessionRef
from ramet.protocol.fields import ProjectRef
from ramet.store.record import (
    agents,
    efforts,
    projects,
    sessions,
    tasks,
)
from ramet.store.record.tasks import TaskFacts


def absolute(path: str, field: str) -> str:
    """The path in its one normal form; one that is not absolute is refused."""
    normal = normal_path(path)
    if normal is None:
        raise InvalidParams(
            f"{field} is not an absolute path", field=field, value=path, fix="give a path that starts with /"
        )
    return normal


def project(tx: Transaction, project_id: int) -> Project:
    """A project by its id."""
    found = projects.find(tx.db, project_id)
    if found is None:
        raise ProjectNotFound(f"there is no project {project_id}", field="project_id", value=project_id)
    scopes.require_project(tx, found.id)
    return found


def project_id(tx: Transaction, ref: ProjectRef | None) -> int | None:
    """The id of the project that an id or a path names; None names no project."""
    if ref is None:
        return None
    if isinstance(ref, int):
        return project(tx, ref).id
    found = projects.find_at(tx.db, absolute(ref, "project"))
    if found is None:
        raise ProjectNotFound(f"there is no project at {ref}", field="project", value=ref)
    scopes.require_project(tx, found.id, "project")
    return found.id


def task(tx: Transaction, task_id: str) -> tuple[str, TaskFacts]:
    """A task's path in its normal form, and its facts."""
    dir_path = absolute(task_id, "task_id")
    facts = tasks.find_facts(tx.db, dir_path)
    if facts is None:
        raise TaskNotFound(f"there is no task {dir_path}", field="task_id", value=task_id)
    scopes.require_project(tx, facts.project_id, "task_id")
    return dir_path, facts


def effort(tx: Transaction, effort_id: int, field: str = "effort_id") -> Effort:
    """An effort by its id."""
    found = efforts.find(tx.db, effort_id)
    if found is None:
        raise no_effort(effort_id, field)
    scopes.require_effort(tx, found, field)
    return found


def no_effort(effort_id: int, field: str = "effort_id") -> EffortNotFound:
    """The error for an effort that does not exist."""
    return EffortNotFound(f"there is no effort {effort_id}", field=field, value=effort_id)


def unfinished_effort(tx: Transaction, effort_id: int) -> Effort:
    """An effort that is not finished."""
    found = effort(tx, effort_id)
    require_unfinished(found)
    return found


def require_unfinished(found: Effort) -> None:
    """Refuse a finished effort."""
    if found.lifecycle == "finished":
        raise EffortFinished(f"effort {found.id} finished with {found.outcome}", field="effort_id", value=found.id)


def session(tx: Transaction, ref: SessionRef, field: str = "session_id") -> Session:
    """The session that an id, or `driver:native_id`, names."""
    if isinstance(ref, int):
        found = sessions.find(tx.db, ref)
    else:
        driver, _, native_id = ref.partition(":")
        found = sessions.find_native(tx.db, driver, native_id)
    if found is None:
        raise no_session(ref, field)
    scopes.require_session(tx, found, field)
    return found


def no_session(ref: SessionRef, field: str = "session_id") -> SessionNotFound:
    """The error for a session that does not exist."""
    return SessionNotFound(f"there is no session {ref!r}", field=field, value=ref)


def open_session(tx: Transaction, ref: SessionRef, field: str = "session_id") -> Session:
    """A session that has not ended."""
    found = session(tx, ref, field)
    if found.ended_at is not None:
        raise SessionEnded(f"session {found.id} has ended", field=field, value=ref)
    return found


def agent(tx: Transaction, agent_id: str) -> Agent:
    """An agent by its id."""
    found = agents.find(tx.db, agent_id)
    if found is None:
        raise AgentNotFound(f"there is no agent {agent_id!r}", field="id", value=agent_id)
    return found
