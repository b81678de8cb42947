"""`ramet project`: register and list the directory trees that agents work on."""

import shlex
from pathlib import Path

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.record.project_scope import find_place, find_project_around, own_host, path_here
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, say, show_items
from ramet.cli.repository import find_checkout, remote_of
from ramet.cli.times import ago
from ramet.errors import InvalidParams, ProjectNotFound
from ramet.model.record.project import Project, contains
from ramet.model.record.remote import normal_remote
from ramet.protocol.record.projects import ListProjects, RemoveProject, UpsertProject


@click.group(cls=Group)
def project() -> None:
    """Register and list projects: the directory trees that agents work on."""


@project.command(examples=["ramet project add .", "ramet project add ~/src/site --name site"])
@click.argument("path", type=references.path)
@click.option("--name", help="A name for people.")
@click.pass_obj
def add(invocation: Invocation, path: str, name: str | None) -> None:
    """Register the project at PATH, which must be a directory, or change its name."""
    if not Path(path).is_dir():
        what = "is not a directory" if Path(path).exists() else "does not exist"
        raise InvalidParams(
            f"{path} {what}", field="path", value=path, fix="check the spelling, or create it: `mkdir -p PATH`"
        )
    reply = register(invocation, path, name)
    say(invocation, reply, f"project {reply.id}: {path_here(invocation, reply)}")
    warn_of_local_remote(invocation, path)


@project.command(examples=["ramet project remove 2", "ramet project remove ~/src/old"])
@click.argument("reference", metavar="PROJECT", type=references.project)
@click.pass_obj
def remove(invocation: Invocation, reference: int | str) -> None:
    """Take PROJECT, named by its number or its path, off the list.

    Nothing on disk is deleted, and its tasks, efforts and sessions stay on record. `ramet project add` puts it back. A
    project with unfinished efforts is refused.
    """
    reply = invocation.ask(RemoveProject(project=reference))
    say(invocation, reply, f"project {reply.id} ({reply.path}) is off the list; its files and its records stay")


@project.command("list", examples=["ramet project list"])
@click.pass_obj
def list_projects(invocation: Invocation) -> None:
    """List all projects."""
    columns: Columns[Project] = {
        "ID": lambda row: row.id,
        "NAME": lambda row: row.name,
        "PATH": lambda row: path_here(invocation, row) or row.path,
        "AGE": lambda row: ago(row.created_at),
    }
    reply = invocation.ask(ListProjects())
    if any(row.hosts for row in reply.items):
        columns = {**columns, "HOSTS": lambda row: " ".join(sorted(row.hosts))}
    show_items(invocation, reply, columns, nothing="no projects yet: `ramet project add PATH`")


def find_project(invocation: Invocation, reference: int | str) -> int:
    """The number of the project that is meant: by its number, or by a path in it."""
    if isinstance(reference, int):
        return reference
    found = find_project_around(invocation, invocation.ask(ListProjects()).items, reference)
    if found is None:
        raise ProjectNotFound(
            f"{reference} is not in a project",
            field="project",
            value=reference,
            fix="`ramet project add PATH` registers one; or name one with --project (`ramet project list`)",
        )
    return found.id


def projects_around(invocation: Invocation, path: str) -> list[Project]:
    """The projects on this machine that a path is in."""
    projects = invocation.ask(ListProjects()).items
    return [row for row in projects if (there := path_here(invocation, row)) and contains(there, path)]


def register(invocation: Invocation, path: str, name: str | None = None) -> Project:
    """Register a directory as a project, or as another machine's copy of one."""
    host = own_host(invocation)
    remote = None if host is None else remote_of(invocation.environ, Path(path))
    return invocation.ask(UpsertProject(path=path, name=name, host=host, remote=remote))


def warn_of_local_remote(invocation: Invocation, path: str) -> None:
    """Say that other hosts cannot recognise the project by its remote, if they share its database."""
    remote = remote_of(invocation.environ, Path(path)) if own_host(invocation) is not None else None
    if remote is None or normal_remote(remote) is not None:
        return
    # The remote itself is not shown: what cannot be read as an address may contain a password.
    what = f"the git remote of {path} is a path on this host, so other hosts cannot recognise the project"
    fix = f"`git -C {shlex.quote(path)} remote set-url origin URL`, then `ramet project add {shlex.quote(path)}`"
    click.echo(clean(f"{what}\nfix: {fix}"), err=True)


def nearest_project(invocation: Invocation) -> str:
    """The path of the nearest project around the current directory; a repository that is nearer becomes one."""
    checkout = find_checkout(invocation.environ, invocation.cwd)
    repository = checkout and checkout.project
    here = find_place(invocation)
    paths = [Path(path_here(invocation, row) or "/") for row in projects_around(invocation, here)]
    nearest = max([*paths, *([repository] if repository else [])], key=lambda path: len(path.parts), default=None)
    if nearest is None:
        raise ProjectNotFound(
            f"{invocation.cwd} is neither in a git repository nor in a project",
            field="task",
            value=str(invocation.cwd),
            fix="`git init` here, register a directory with `ramet project add PATH`, or name a task with --task",
        )
    if nearest not in paths:
        register(invocation, str(nearest))
        if not invocation.as_json:
            click.echo(clean(f"{nearest} is a project now"))
    return str(nearest)
