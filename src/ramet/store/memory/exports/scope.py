"""What an export reads: the rows that belong to a session, an effort, a run, a project, or everything."""

from array import array
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ramet.errors import EffortNotFound, InvalidParams, ProjectNotFound, RunNotFound, SessionNotFound
from ramet.model.record.project import normal_path
from ramet.protocol.memory.archives import Export
from ramet.store.database.connection import Connection
from ramet.store.database.queries import Query, QueryFile
from ramet.store.history import segments
from ramet.store.record import projects, sessions

_sql = QueryFile("memory/archives")

_PAGE = 500


class Scope(Struct):
    """The rows of an export, by their names. Only names are held in memory, and no text."""

    label: str
    is_everything: bool
    projects: dict[int, None]
    tasks: dict[str, None]
    runs: dict[int, None]
    efforts: dict[int, None]
    sessions: dict[int, None]
    branches: dict[str, None]
    agents: dict[str, None]


def find_scope(db: Connection, request: Export) -> Scope:
    """What a request names."""
    given = [request.session_id, request.effort_id, request.run_id, request.project]
    if sum(each is not None for each in given) + request.all != 1:
        raise InvalidParams(
            "name one thing to export", field="session_id", fix="give a session, an effort, a run, a project or `all`"
        )
    scope = Scope("all", request.all, {}, {}, {}, {}, {}, {}, {})
    if request.session_id is not None:
        _add_named_session(db, scope, request.session_id)
    elif request.effort_id is not None:
        if db.one(_sql.place_of_effort, id=request.effort_id) is None:
            raise EffortNotFound(f"there is no effort {request.effort_id}", field="effort_id", value=request.effort_id)
        scope.label = f"e{request.effort_id}"
        _add_effort(db, scope, request.effort_id)
    elif request.run_id is not None:
        if db.one(_sql.place_of_run, id=request.run_id) is None:
            raise RunNotFound(f"there is no run {request.run_id}", field="run_id", value=request.run_id)
        scope.label = f"r{request.run_id}"
        _add_run(db, scope, request.run_id)
    elif request.project is not None:
        _add_named_project(db, scope, request.project)
    else:
        for project_id in _names(db, _sql.all_projects):
            _add_project(db, scope, project_id)
        scope.branches |= dict.fromkeys(_names(db, _sql.all_branches))
    _sort(scope)
    return scope


def _sort(scope: Scope) -> None:
    """In the order of ids, in which no row refers to a later one."""
    for name in ("projects", "runs", "efforts", "sessions"):
        setattr(scope, name, dict.fromkeys(sorted(getattr(scope, name))))


def _add_named_session(db: Connection, scope: Scope, name: int | str) -> None:
    if isinstance(name, str):
        driver, _, native_id = name.partition(":")
        found = sessions.find_native(db, driver, native_id)
    else:
        found = sessions.find(db, name)
    if found is None:
        raise SessionNotFound(f"there is no session {name}", field="session_id", value=name)
    scope.label = f"s{found.id}"
    _add_session(db, scope, found.id)


def _add_named_project(db: Connection, scope: Scope, name: int | str) -> None:
    path = None if isinstance(name, int) else normal_path(name)
    found = projects.find(db, name) if isinstance(name, int) else path and projects.find_at(db, path)
    if not found:
        raise ProjectNotFound(f"there is no project {name}", field="project", value=name)
    scope.label = found.path
    _add_project(db, scope, found.id)


def _add_project(db: Connection, scope: Scope, project_id: int) -> None:
    scope.projects[project_id] = None
    for run_id in _names(db, _sql.runs_of_project, project_id):
        _add_run(db, scope, run_id)
    for task_id in _names(db, _sql.tasks_of_project, project_id):
        scope.tasks[task_id] = None
        for effort_id in _names(db, _sql.efforts_of_task, task_id):
            _add_effort(db, scope, effort_id)


def _add_run(db: Connection, scope: Scope, run_id: int) -> None:
    if run_id in scope.runs:
        return
    scope.runs[run_id] = None
    task_id, project_id, branch = db.must(_sql.place_of_run, id=run_id)
    scope.tasks[task_id] = scope.projects[project_id] = None
    if branch is not None:
        _add_branch(db, scope, branch)
    for effort_id in _names(db, _sql.efforts_of_run, run_id):
        _add_effort(db, scope, effort_id)


def _add_effort(db: Connection, scope: Scope, effort_id: int) -> None:
    """An effort with its sessions, and the efforts that these spawned."""
    waiting = [effort_id]
    while waiting:
        next_id = waiting.pop()
        if next_id in scope.efforts:
            continue
        _place_effort(db, scope, next_id)
        for session_id in _names(db, _sql.sessions_of_effort, next_id):
            waiting += _place_session(db, scope, session_id)


def _add_session(db: Connection, scope: Scope, session_id: int) -> None:
    """A session with those below it. Of its effort only the row."""
    waiting = [session_id]
    while waiting:
        next_id = waiting.pop()
        if next_id not in scope.sessions:
            for effort_id in _place_session(db, scope, next_id):
                _add_effort(db, scope, effort_id)
            waiting += _names(db, _sql.sessions_below, next_id)


def _place_effort(db: Connection, scope: Scope, effort_id: int) -> None:
    task_id, project_id, _ = db.must(_sql.place_of_effort, id=effort_id)
    scope.efforts[effort_id] = scope.tasks[task_id] = scope.projects[project_id] = None


def _place_session(db: Connection, scope: Scope, session_id: int) -> list[int]:
    """Add a session; the efforts that it spawned."""
    if session_id in scope.sessions:
        return []
    scope.sessions[session_id] = None
    effort_id, task_id, project_id, agent_id, branch = db.must(_sql.place_of_session, id=session_id)
    if effort_id not in scope.efforts:
        _place_effort(db, scope, effort_id)
    scope.tasks[task_id] = scope.projects[project_id] = None
    if agent_id is not None:
        scope.agents[agent_id] = None
    _add_branch(db, scope, branch)
    return _names(db, _sql.efforts_spawned, session_id)


def _add_branch(db: Connection, scope: Scope, branch: str) -> None:
    waiting = [branch]
    while waiting:
        name = waiting.pop()
        if name not in scope.branches and segments.find_head(db, name) is not None:
            scope.branches[name] = None
            waiting += _names(db, _sql.children_of_branch, name)


def _names(db: Connection, query: Query, key: Any = None) -> list[Any]:
    rows = db.all(query) if key is None else db.all(query, id=key)
    return [row[0] for row in rows]


def find_commits(db: Connection, scope: Scope) -> "tuple[array[int], array[int]]":
    """The commits of an export and their contents, both sorted: a commit comes after its parents."""
    commits, blobs = array("q"), array("q")
    for commit_id, blob_id in _all_commits(db) if scope.is_everything else _reached(db, scope):
        commits.append(commit_id)
        blobs.append(blob_id)
    return array("q", sorted(commits)), array("q", sorted(set(blobs)))


def _all_commits(db: Connection) -> Iterator[tuple[int, int]]:
    after = 0
    while rows := db.all(_sql.commits_after, after=after, limit=_PAGE):
        yield from rows
        after = rows[-1][0]


def _reached(db: Connection, scope: Scope) -> Iterator[tuple[int, int]]:
    reached: dict[int, int] = {}
    waiting = list(_first_places(db, scope))
    while waiting:
        segment_id, seq = waiting.pop()
        for span in segments.find_spans(db, segment_id, seq):
            known = reached.get(span.segment_id, 0)
            if span.last > known:
                first = max(known + 1, span.first)
                reached[span.segment_id] = span.last
                waiting += db.all(_sql.links_in_span, segment_id=span.segment_id, first=first, last=span.last)
                yield from _span(db, span.segment_id, first, span.last)


def _span(db: Connection, segment_id: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    while rows := db.all(_sql.commits_in_span, segment_id=segment_id, first=first, last=last, limit=_PAGE):
        for commit_id, blob_id, seq in rows:
            yield commit_id, blob_id
            first = seq + 1


def _first_places(db: Connection, scope: Scope) -> Iterator[tuple[int, int]]:
    for name in scope.branches:
        head = segments.find_head(db, name)
        if head is not None and head.segment_id is not None:
            yield head.segment_id, head.seq
        yield from db.all(_sql.moved_places, id=name)
    for session_id in scope.sessions:
        yield from db.all(_sql.spoken_places, id=session_id)
