"""Requests and replies about tasks."""

from ramet.errors import ProjectNotFound
from ramet.model.record.task import Task
from ramet.protocol.fields import Path, ProjectRef, Text
from ramet.protocol.operation import Change, Operation, Request
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
    """Find tasks by keyword, workspace or project."""

    op = Operation("db.task.find", errors=(ProjectNotFound,), is_long=True)

    query: Text | None = None
    workspace: Text | None = None
    project: ProjectRef | None = None


class ListTasks(Request[Page[Task]], frozen=True, kw_only=True):
    """List all tasks, or the tasks of one project, most recently active first."""

    op = Operation("db.task.list", errors=(ProjectNotFound,), is_long=True)

    project: ProjectRef | None = None
