"""`ramet task`: add, list and find tasks."""

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, say, show_items, show_row
from ramet.cli.times import ago
from ramet.errors import TaskNotFound
from ramet.model.record.task import Task
from ramet.protocol.record.tasks import FindTasks, ListTasks, UpsertTask

_COLUMNS: Columns[Task] = {
    "TASK": lambda row: row.dir_path,
    "TITLE": lambda row: row.title,
    "EFFORTS": lambda row: row.effort_count,
    "ACTIVE": lambda row: row.active_count,
    "SKILL": lambda row: row.latest_skill,
    "LAST": lambda row: ago(row.last_activity),
}


@click.group(cls=Group)
def task() -> None:
    """Add, list and find tasks: pieces of work, each named by its directory."""


@task.command(examples=["ramet task add login", "ramet task add docs/api --title 'API page' --keywords api,docs"])
@click.argument("directory", metavar="DIR", type=references.path)
@click.option("--title", help="A short title.")
@click.option("--workspace", help="The workspace it belongs to.")
@click.option("--description", help="A longer description.")
@click.option("--keywords", help="Keywords for finding it, separated by commas.")
@click.pass_obj
def add(
    invocation: Invocation,
    directory: str,
    title: str | None,
    workspace: str | None,
    description: str | None,
    keywords: str | None,
) -> None:
    """Add a task, or change its fields. DIR is its directory, in a registered project."""
    reply = invocation.ask(
        UpsertTask(
            dir_path=directory,
            title=title,
            workspace=workspace,
            description=description,
            keywords=keywords,
        )
    )
    say(invocation, reply, f"task {reply.dir_path}")


@task.command("list", examples=["ramet task list", "ramet task list -A", "ramet task list --project 1"])
@click.option("--project", type=references.project, help="List only tasks of this project: its number or path.")
@everywhere_option()
@click.pass_obj
def list_tasks(invocation: Invocation, project: int | str | None, everywhere: bool) -> None:
    """List the tasks of this project, most recently active first."""
    scope = find_scope(invocation, everywhere=everywhere, project=project)
    reply = invocation.ask(ListTasks(project=scope.project_id))
    columns = scope.widen_table(_COLUMNS, lambda row: row.project_id)
    show_items(invocation, reply, columns, nothing=scope.say("no tasks yet: `ramet task add DIR`"))


@task.command(examples=["ramet task find login", "ramet task find api -A", "ramet task find api --project 1"])
@click.argument("query")
@click.option("--project", type=references.project, help="Find only tasks of this project: its number or path.")
@click.option("--workspace", help="Find only tasks of this workspace.")
@everywhere_option()
@click.pass_obj
def find(
    invocation: Invocation, query: str, project: int | str | None, workspace: str | None, everywhere: bool
) -> None:
    """Find tasks of this project that match QUERY."""
    scope = find_scope(invocation, everywhere=everywhere, project=project)
    reply = invocation.ask(FindTasks(query=query, project=scope.project_id, workspace=workspace))
    columns = scope.widen_table(_COLUMNS, lambda row: row.project_id)
    show_items(invocation, reply, columns, nothing=scope.say(f"no task matches {query!r}"))


@task.command(examples=["ramet task show login"])
@click.argument("directory", metavar="DIR", type=references.path)
@click.pass_obj
def show(invocation: Invocation, directory: str) -> None:
    """Show one task."""
    for row in invocation.ask(ListTasks()).items:
        if row.dir_path == directory:
            return show_row(invocation, row)
    raise TaskNotFound(f"there is no task {directory}", field="dir_path", value=directory)
