"""`ramet project`: the directory trees that agents work on."""

import click

from ramet.cli import references
from ramet.cli.commands import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, Row, say, show_items
from ramet.cli.times import ago
from ramet.errors import ProjectNotFound


@click.group(cls=Group)
def project() -> None:
    """The directory trees that agents work on."""


@project.command(examples=["ramet project add .", "ramet project add ~/src/site --name site"])
@click.argument("path", type=references.path)
@click.option("--name", help="What to call it.")
@click.pass_obj
def add(invocation: Invocation, path: str, name: str | None) -> None:
    """Register the project at PATH, or change its name."""
    reply = invocation.call("db.project.upsert", path=path, name=name)
    say(invocation, reply, f"project {reply['id']}: {reply['path']}")


@project.command("list", examples=["ramet project list"])
@click.pass_obj
def list_projects(invocation: Invocation) -> None:
    """All projects."""
    columns: Columns = {"ID": "id", "NAME": "name", "PATH": "path", "AGE": lambda row: ago(row["created_at"])}
    reply = invocation.call("db.project.list")
    show_items(invocation, reply, columns, nothing="no projects yet: `ramet project add PATH`")


def find_project(invocation: Invocation, reference: int | str) -> int:
    """The number of the project that is meant: by its number, or by a path in it."""
    if isinstance(reference, int):
        return reference
    around = projects_around(invocation, reference)
    if not around:
        raise ProjectNotFound(
            f"{reference} is in no project",
            field="project",
            value=reference,
            fix="register it with `ramet project add PATH`, or name one with --project (`ramet project list`)",
        )
    nearest: int = max(around, key=lambda row: len(row["path"]))["id"]
    return nearest


def projects_around(invocation: Invocation, path: str) -> list[Row]:
    """The projects that a path is in."""
    projects = invocation.call("db.project.list")["items"]
    return [row for row in projects if f"{path}/".startswith(f"{row['path'].rstrip('/')}/")]
