"""Requests and replies about tasks."""

from ramet.errors import ProjectNotFound
from ramet.model.record.task import Task
from ramet.protocol.fields import Path, ProjectRef, Text
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit, NumberedName
from ramet.protocol.replies import Page


class UpsertTask(Change[Task], frozen=True, kw_only=True):
    """Create a task, or change the given fields. Its project is the one whose path contains it."""

    op = Operation("db.task.upsert", errors=(ProjectNotFound,))

    dir_path: Path
    workspace: Text | None = None
    title: Text | None = None
    description: Text | None = None
    keywords: Text | None = None


class FindTasks(Request[Page[Task]], frozen=True, kw_only=True):
    """Find tasks by keyword, workspace or project, most recently active first.

    If a task becomes active while pages are read, it moves to the first page, and the remaining pages lack it.
    """

    op = Operation("db.task.find", errors=(ProjectNotFound,), is_long=True, pages=Pages())

    query: Text | None = None
    workspace: Text | None = None
    project: ProjectRef | None = None
    limit: Limit | None = None
    cursor: NumberedName | None = None


class ListTasks(Request[Page[Task]], frozen=True, kw_only=True):
    """List all tasks, or the tasks of one project, most recently active first.

    If a task becomes active while pages are read, it moves to the first page, and the remaining pages lack it.
    """

    op = Operation("db.task.list", errors=(ProjectNotFound,), is_long=True, pages=Pages())

    project: ProjectRef | None = None
    limit: Limit | None = None
    cursor: NumberedName | None = None
