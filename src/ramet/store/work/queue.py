"""What is remembered of the queue: which efforts wait, for what, and what their attempts came to."""

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from ramet.model.record.effort import (
    Changes,
    Effort,
    Failure,
    Lifecycle,
    Needs,
    Outcome,
    StopRequest,
)
from ramet.model.work.retry_policy import Scope
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("work/queue")


class NewWork(Struct, frozen=True, kw_only=True):
    """An effort about to be queued."""

    task_id: str
    ordinal: int
    skill: str
    prompt: str
    mode: str | None = None
    metadata: dict[str, Any] | None = None
    based_on: int | None = None
    depends_on: list[int]
    driver: str | None = None
    model: str | None = None
    priority: int = 0
    timeout_seconds: int | None = None
    retry_of: int | None = None
    needs: Needs = "success"
    run_id: int | None = None
    run_line: str | None = None
    run_order: int | None = None
    spawned_by: int | None = None
    awaited_by: int | None = None
    workspace: str | None = None
    base_commit: str | None = None
    base_branch: str | None = None
    base_changes: str | None = None
    accepts_no_change: bool = False


class Waiting(Effort, frozen=True, kw_only=True):
    """An effort, and the first of those that it waits for."""

    blocked_by: int | None
    blocked_status: str | None
    project_id: int


class Settlement(Struct, frozen=True, kw_only=True):
    """What an attempt came to, and what it left. What is None of the latter stays as it was."""

    lifecycle: Lifecycle
    finished_at: str | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    failure: Failure | None = None
    not_before: str | None = None
    avoid_host: str | None = None
    continues_session_id: int | None = None
    agent_failures: int = 0
    host_failures: int = 0
    output_content: str | None = None
    report_file: str | None = None
    git_head: str | None = None
    git_branch: str | None = None
    changes: Changes | None = None
    usage: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


def add(db: Connection, new: NewWork, now: str) -> int:
    """A new queued effort, and what it waits for; its id."""
    values = {**asdict(new), "metadata": to_json(new.metadata), "depends_on": to_json(new.depends_on or None)}
    values["accepts_no_change"] = int(new.accepts_no_change)
    effort_id = int(db.must(_sql.enqueue, **values, now=now)[0])
    for needs_id in new.depends_on:
        db.run(_sql.add_dependency, effort_id=effort_id, needs_id=needs_id, needs=new.needs)
    return effort_id


def is_there(db: Connection, effort_id: int) -> bool:
    """Whether there is such an effort."""
    return db.one(_sql.is_there, id=effort_id) is not None


def repoint(db: Connection, old: int, new: int) -> list[int]:
    """Let the queued efforts that wait for one wait for another; which they are."""
    dependents = db.structs(_Dependent, _sql.dependents, needs_id=old)
    for dependent in dependents:
        needs = [new if each == old else each for each in dependent.depends_on or ()]
        db.run(_sql.repoint, effort_id=dependent.id, old_id=old, new_id=new)
        db.run(_sql.set_depends_on, id=dependent.id, depends_on=to_json(needs))
    return [dependent.id for dependent in dependents]


class _Dependent(Struct, frozen=True):
    id: int
    depends_on: list[int] | None


def find(db: Connection, effort_id: int) -> Waiting | None:
    """An effort, and the first that it waits for."""
    return db.struct(Waiting, _sql.by_id, id=effort_id)


def list_page(
    db: Connection,
    *,
    state: Lifecycle | None,
    task_id: str | None,
    run_id: int | None,
    project_id: int | None,
    before: int,
    limit: int,
) -> list[Waiting]:
    """The efforts of the queue, the newest first, found by the narrowest index that the criteria allow."""
    page = {"run_id": run_id, "project_id": project_id, "before": before, "limit": limit}
    if task_id is not None:
        return db.structs(Waiting, _sql.page_of_task, task_id=task_id, state=state, **page)
    match state:
        case "queued":
            return db.structs(Waiting, _sql.page_queued, **page)
        case "active":
            return db.structs(Waiting, _sql.page_active, **page)
        case _ if run_id is not None:
            return db.structs(Waiting, _sql.page_of_run, state=state, **page)
        case _:
            return db.structs(Waiting, _sql.page, state=state, **page)


def list_lost(db: Connection, *, since: str, project_id: int | None, before: int, limit: int) -> list[Waiting]:
    """The efforts that a failure of a host has ended, and that nobody has retried, the newest first."""
    return db.structs(Waiting, _sql.lost, since=since, project_id=project_id, before=before, limit=limit)


def scope_params(scope: Scope) -> dict[str, Any]:
    """What a worker may take, as the queries have it."""
    lists = {name: to_json(getattr(scope, name)) for name in ("skills", "drivers", "held")}
    return {**asdict(scope), **lists}


def list_hosts(db: Connection, project_id: int) -> list[str]:
    """The hosts that have a project."""
    return [row[0] for row in db.all(_sql.hosts, project_id=project_id)]


def find_ready(db: Connection, scope: Scope, now: str) -> Effort | None:
    """The effort that is the next to be claimed."""
    return db.struct(Effort, _sql.next_ready, **scope_params(scope), now=now)


def settle(db: Connection, effort_id: int, settlement: Settlement) -> Effort:
    """Finish an effort, or let it wait for another attempt; either way nobody has it any more."""
    values = asdict(settlement)
    for name in ("changes", "usage", "metadata"):
        values[name] = to_json(values[name])
    return db.must_struct(Effort, _sql.settle, id=effort_id, **values)


def set_output(db: Connection, effort_id: int, output_content: str, report_file: str | None) -> Effort:
    """Replace the text of an effort's output."""
    return db.must_struct(Effort, _sql.set_output, id=effort_id, output_content=output_content, report_file=report_file)


def request_stop(db: Connection, effort_id: int, stop: StopRequest) -> Effort:
    """Let whoever runs an effort know that it should end."""
    return db.must_struct(Effort, _sql.request_stop, id=effort_id, stop_request=to_json(stop))


def find_successful_retry(db: Connection, effort_id: int) -> Effort | None:
    """The newest copy of an effort that succeeded."""
    return db.struct(Effort, _sql.successful_retry, id=effort_id)


def list_reported(db: Connection, task_id: str, limit: int) -> list[Effort]:
    """The finished efforts of a task that left a report, the newest first."""
    return db.structs(Effort, _sql.reported_of_task, task_id=task_id, limit=limit)
