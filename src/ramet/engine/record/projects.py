"""Projects: where agents work.

If several machines share a database, a project has a path on each machine that has it. They know that it is the same by
its git remote, else by its path. A path belongs to one project on every host, because tasks are known by their paths.
"""

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, ProjectBusy, ProjectNotFound
from ramet.model.record.project import Project, contains
from ramet.model.record.remote import normal_remote
from ramet.protocol.pages import take
from ramet.protocol.record.projects import Here, ListProjects, RemoveProject, UpsertProject
from ramet.protocol.replies import Page
from ramet.store.record import projects


@answers(UpsertProject)
def upsert(tx: Transaction, request: UpsertProject) -> Project:
    """Register a project by its absolute path, or change its name; with a host, set its path there."""
    path = lookup.absolute(request.path, "path")
    host = request.host
    remote = normal_remote(request.remote) if host and request.remote else None
    known = _find(tx, path, host, remote)
    project = known or projects.register(tx.db, path, request.name, tx.now)
    is_new = known is None or projects.restore(tx.db, project.id)
    if request.name not in (None, project.name):
        projects.set_name(tx.db, project.id, request.name or "")
    if host is not None and host not in project.hosts:
        projects.put_path(tx.db, project.id, host, path)
    if remote is not None and project.remote is None and projects.find_remote(tx.db, remote) is None:
        projects.set_remote(tx.db, project.id, remote)
    now = lookup.project(tx, project.id)
    if is_new or now != known:
        tx.record("project.added" if is_new else "project.changed", project_id=now.id)
    return now


def _find(tx: Transaction, path: str, host: str | None, remote: str | None) -> Project | None:
    """The project that is meant. A second clone on the same host is a project of its own."""
    here = projects.find_at(tx.db, path)
    if host is None or (here is not None and here.hosts.get(host) == path):
        return here
    same = None if remote is None else projects.find_remote(tx.db, remote)
    known = same if same is not None and host not in same.hosts else here
    if here is not None and (known is None or known.id != here.id or not _may_be(here, host, remote)):
        raise InvalidParams(
            f"{path} is already project {here.id} on another host: {here.remote or here.path}",
            field="path",
            value=path,
            fix="register another path, such as a symbolic link: a path names the same project on every host",
        )
    return known


def _may_be(project: Project, host: str, remote: str | None) -> bool:
    return host not in project.hosts and (remote is None or project.remote in (None, remote))


@answers(RemoveProject)
def remove(tx: Transaction, request: RemoveProject) -> Project:
    """Take a project off the list, unless something of it runs or waits. A second time changes nothing."""
    project_id = lookup.project_id(tx, request.project)
    assert project_id is not None  # noqa: S101 - the request names one
    project = lookup.project(tx, project_id)
    busy = projects.find_open_effort(tx.db, project.id)
    if busy is not None:
        raise ProjectBusy(
            f"project {project.id} has work that is not finished: effort {busy}",
            field="project",
            value=request.project,
            fix=f"see `ramet show e{busy}`; finish or drop what `ramet queue` lists in {project.path}",
        )
    if projects.remove(tx.db, project.id, tx.now):
        tx.record("project.removed", project_id=project.id)
    return project


@answers(ListProjects)
def list_all(tx: Transaction, request: ListProjects) -> Page[Project]:
    """All projects."""
    found = projects.list_all(tx.db, removed=bool(request.removed))
    items, last = take(found, lambda project: project.id, after=request.cursor, limit=request.limit)
    return Page(items=items, next=last)


def around(tx: Transaction, here: Here) -> tuple[str, bool]:
    """The path of the nearest project around a directory, and whether it was registered just now: a repository that is
    nearer than every project becomes one.
    """
    directory = lookup.absolute(here.directory, "here.directory")
    repository = None if here.repository is None else lookup.absolute(here.repository, "here.repository")
    start = directory if repository is None or contains(repository, directory) else repository
    paths = [path for project in projects.list_all(tx.db) if (path := _path_at(project, here.host)) is not None]
    known = [path for path in paths if contains(path, start)]
    nearest = max([*known, *([repository] if repository else [])], key=lambda path: path.count("/"), default=None)
    if nearest is None:
        raise ProjectNotFound(
            f"{directory} is not in a git repository or a project",
            field="here",
            value=directory,
            fix="run `git init` here, register a project with `ramet project add PATH`, or name a task with --task",
        )
    if nearest not in known:
        upsert(tx, UpsertProject(path=nearest, host=here.host, remote=here.remote))
    return nearest, nearest not in known


def _path_at(project: Project, host: str | None) -> str | None:
    """The path of a project on a host; None if it is only on others."""
    return project.hosts.get(host) if host and project.hosts else project.path


def path_on(tx: Transaction, project_id: int, host: str | None) -> str:
    """The path of a project on a host; if none is recorded, the path that it was registered with."""
    project = lookup.project(tx, project_id)
    return project.path if host is None else project.hosts.get(host, project.path)
