"""Sites: the project that a path of this machine lies in."""

import os
from pathlib import Path
from typing import NamedTuple

from ramet.errors import InvalidParams, ProjectNotFound
from ramet.model.record.project import Project, contains, normal_path
from ramet.protocol.record.projects import ListProjects
from ramet.runner.machine import Machine


class Site(NamedTuple):
    """A project, and its path on this machine."""

    project: Project
    root: Path


def find(machine: Machine, path: str, field: str = "path") -> Site:
    """The innermost project around a path, as it is written or with its links resolved."""
    normal = normal_path(path)
    if normal is None:
        raise InvalidParams(
            f"{field} is not an absolute path", field=field, value=path, fix="give a path that starts with /"
        )
    projects = machine.ask(ListProjects()).items
    sites = [(project.hosts.get(machine.host or "", project.path), project) for project in projects]
    for candidate in dict.fromkeys((normal, os.path.realpath(normal))):
        around = [site for site in sites if contains(site[0], candidate)]
        if around:
            root, project = max(around, key=lambda site: len(site[0]))
            return Site(project, Path(root))
    fix = "register its project with `ramet project add PATH`"
    raise ProjectNotFound(f"no project contains {path}", field=field, value=path, fix=fix)
