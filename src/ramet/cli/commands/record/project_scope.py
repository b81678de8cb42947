"""Which project a command is about: the one around the current directory, unless the user names another one or all.

Every command that lists, runs or cleans up asks here. An agent is not asked where it is: its token decides what it
sees, and neither a directory nor `-A` widens that.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, Row, short_path
from ramet.cli.repository import find_checkout
from ramet.cli.screens.styled_lines import Column, plain
from ramet.config.host import find_host
from ramet.model.record.project import Project, contains
from ramet.protocol.record.projects import ListProjects

Function = TypeVar("Function", bound=Callable[..., Any])


class Scope(NamedTuple):
    """The project that a command is about, and how people call each project."""

    project_id: int | None
    """None for every project."""
    names: dict[int, str]
    has_column: bool
    """Whether a list says which project each row belongs to."""

    @classmethod
    def named(cls) -> "Scope":
        """Of a command that the user gave the names of what it is about: the project does not matter."""
        return cls(None, {}, has_column=False)

    def name(self, project_id: int | None) -> str | None:
        """How people call a project."""
        return None if project_id is None else self.names.get(project_id, f"project {project_id}")

    def widen(self, columns: list[Column[Row]], project_of: Callable[[Row], int | None]) -> list[Column[Row]]:
        """The columns of a list, with the project behind the first one if several are listed."""
        project = Column[Row]("PROJECT", lambda row: plain(self.name(project_of(row))))
        return [columns[0], project, *columns[1:]] if self.has_column else columns

    def widen_table(self, columns: Columns[Row], project_of: Callable[[Row], int | None]) -> Columns[Row]:
        """The same for a plain table."""
        if not self.has_column:
            return columns
        first = next(iter(columns))
        return {first: columns[first], "PROJECT": lambda row: self.name(project_of(row)), **columns}

    def say(self, nothing: str) -> str:
        """The sentence for an empty list. It names the project if there are others, which may have something."""
        if self.project_id is None or len(self.names) == 1:
            return nothing
        return f"{nothing}\nonly {self.name(self.project_id)} was considered: -A is every project"


def everywhere_option(
    purpose: str = "Show every project, with a column for it.", *, is_all_taken: bool = False
) -> Callable[[Function], Function]:
    """`-A`. Its long form is also `--all`, except for commands in which that means something else."""
    names = ["--all-projects"] if is_all_taken else ["--all", "--all-projects"]
    return click.option("-A", *names, "everywhere", is_flag=True, help=purpose)


def find_scope(invocation: Invocation, *, everywhere: bool = False, project: int | str | None = None) -> Scope:
    """The project that the user names, the one around the current directory, or every project."""
    if everywhere and project is not None:
        raise click.UsageError("give --project or -A, not both.")
    if invocation.target.entrance is not None:
        return Scope.named()
    known = invocation.ask(ListProjects()).items
    # Those off the list have sessions, too: a project was taken off, or known only from an import.
    names = _name_all(invocation, invocation.ask(ListProjects(removed=True)).items)
    if isinstance(project, int):
        return Scope(project, names, has_column=False)
    here = None if everywhere else find_project_around(invocation, known, project)
    has_column = here is None and (everywhere or len(known) > 1)
    return Scope(here.id if here else None, names, has_column)


def find_project_around(invocation: Invocation, known: list[Project], path: str | None = None) -> Project | None:
    """The nearest registered project around a path of this machine (default: the current directory)."""
    place = find_place(invocation) if path is None else path
    around = [(len(there), row) for row in known if (there := path_here(invocation, row)) and contains(there, place)]
    return max(around, key=lambda each: each[0])[1] if around else None


def find_place(invocation: Invocation) -> str:
    """The current directory. In a linked worktree, such as an agent's, the same place in the repository's own files:
    the worktree belongs to the project that it was made for.
    """
    cwd = invocation.cwd
    checkout = find_checkout(invocation.environ, cwd)
    if checkout is None or checkout.top == checkout.project or not cwd.is_relative_to(checkout.top):
        return str(cwd)
    return str(checkout.project / cwd.relative_to(checkout.top))


def path_here(invocation: Invocation, project: Project) -> str | None:
    """Where a project is on this machine; None if it is only on others."""
    host = own_host(invocation)
    return project.hosts.get(host) if host and project.hosts else project.path


def own_host(invocation: Invocation) -> str | None:
    """What this machine is called if several share a database."""
    return find_host(invocation.configuration.settings)


def _name_all(invocation: Invocation, known: list[Project]) -> dict[int, str]:
    """The projects' names. One without a name has that of its directory, or its path if several have that one."""
    names = {row.id: row.name or Path(row.path).name or row.path for row in known}
    often = Counter(names.values())
    return {row.id: names[row.id] if often[names[row.id]] == 1 else short_path(invocation, row.path) for row in known}
