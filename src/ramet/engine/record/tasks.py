"""Tasks: the containers of work. They never finish; whether one is active follows from its efforts."""

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import ProjectNotFound
from ramet.model.instant import from_datetime
from ramet.model.record.task import Task, merge_keywords
from ramet.protocol.pages import split, take, unite
from ramet.protocol.record.tasks import FindTasks, ListTasks, UpsertTask
from ramet.protocol.replies import Page
from ramet.store.record import projects, tasks


@answers(UpsertTask)
def upsert(tx: Transaction, request: UpsertTask, field: str = "dir_path") -> Task:
    """Create a task in the innermost project that contains it, or change what is given."""
    dir_path = lookup.absolute(request.dir_path, field)
    known = tasks.find(tx.db, dir_path)
    project_id = known.project_id if known else _containing_project(tx, dir_path, field)
    task = tasks.save(
        tx.db,
        dir_path=dir_path,
        project_id=project_id,
        workspace=request.workspace,
        title=request.title,
        description=request.description,
        keywords=request.keywords,
        now=tx.now,
    )
    if task != known:
        tx.record("task.changed" if known else "task.added", project_id=project_id, task_id=dir_path)
    return task


def ensure(tx: Transaction, path: str, field: str) -> tuple[str, int]:
    """The path of a task, which is created if it is new, and its project."""
    dir_path = lookup.absolute(path, field)
    facts = tasks.find_facts(tx.db, dir_path)
    if facts is not None:
        return dir_path, facts.project_id
    return dir_path, upsert(tx, UpsertTask(dir_path=dir_path), field).project_id


def _containing_project(tx: Transaction, dir_path: str, field: str) -> int:
    project = projects.find_containing(tx.db, dir_path)
    if project is None:
        raise ProjectNotFound(
            f"no project contains {dir_path}",
            field=field,
            value=dir_path,
            fix="register its project with `ramet project add PATH`",
        )
    return project.id


@answers(FindTasks)
def find(tx: Transaction, request: FindTasks) -> Page[Task]:
    """The tasks that match a keyword, a workspace or a project."""
    project_id = lookup.project_id(tx, request.project)
    found = tasks.list_matching(tx.db, query=request.query, workspace=request.workspace, project_id=project_id)
    return _page(found, request)


@answers(ListTasks)
def list_all(tx: Transaction, request: ListTasks) -> Page[Task]:
    """All tasks, or those of one project."""
    return _page(tasks.list_matching(tx.db, project_id=lookup.project_id(tx, request.project)), request)


def _page(found: list[Task], request: FindTasks | ListTasks) -> Page[Task]:
    """The most recently active first: so the key of a task is the negative of that time."""
    cursor = split(request.cursor)
    items, last = take(
        found,
        _place,
        after=None if cursor is None else (-cursor[0], cursor[1]),
        limit=request.limit,
    )
    return Page(items=items, next=None if last is None else unite(-last[0], last[1]))


def _place(task: Task) -> tuple[int, str]:
    return -from_datetime(task.last_activity or task.created_at), task.dir_path


def add_keywords(tx: Transaction, task_id: str, keywords: str) -> None:
    """Put new keywords behind those that the task has."""
    facts = tasks.find_facts(tx.db, task_id)
    known = facts.keywords if facts else None
    merged = merge_keywords(known, keywords.split(","))
    if merged != known:
        tasks.set_keywords(tx.db, task_id, merged)
        tx.record("task.changed", task_id=task_id)
