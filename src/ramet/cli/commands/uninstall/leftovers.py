"""What remains on the disk when the hooks are gone and the daemon has stopped: files, folders and git refs.

Each is deleted by itself, after a question. Work that exists nowhere else is never deleted without its own answer.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramet.cli.invocation import Invocation
from ramet.cli.output import count, short_path
from ramet.config.files import user_file
from ramet.errors import GitFailed, WorktreeError
from ramet.workspace.files import reports
from ramet.workspace.git.command import Git
from ramet.workspace.worktrees.kept_work import count_unpushed

_DATABASE = ("", "-wal", "-shm", ".lock")
_PURPOSES = {
    "agent.key": "the key of agents' tokens",
    "backups": "copies of the database and of settings",
    "git": "git's view of your repositories",
    "hook": "the program that hooks start",
    "installed.json": "where hooks were installed",
    "keepers": "state of running agents",
    "logs": "logs",
    "run": "sockets",
    "trusted.json": "the files that you trust",
    "worktrees": "worktrees of agents",
}
_REFS = ("refs/heads/ramet", "refs/ramet")


class Leftover(NamedTuple):
    """Something to delete."""

    what: str
    """As people read it, with its path."""
    path: str
    delete: Callable[[], None]
    is_work: bool = False
    """Whether it holds work that exists nowhere else."""


def find_leftovers(invocation: Invocation, projects: Iterable[Path]) -> Iterator[Leftover]:
    """Everything that Ramet wrote, the projects' first: what they keep may be needed for the rest."""
    for project in projects:
        yield from _find_in_project(invocation, project)
    yield from _find_database(invocation)
    yield from _find_in_home(invocation)
    file = user_file(invocation.environ)
    if file.is_file():
        yield Leftover(f"{short_path(invocation, str(file))} (your settings)", str(file), _remove(file, file.parent))


def _find_in_project(invocation: Invocation, project: Path) -> Iterator[Leftover]:
    folder = project / reports.FOLDER
    if folder.is_dir() and not folder.is_symlink():
        name = f"{short_path(invocation, str(folder))} (reports, plans and task files, {_size(folder)})"
        yield Leftover(name, str(folder), _remove(folder))
    with tempfile.TemporaryDirectory() as views, suppress(GitFailed, WorktreeError, OSError):
        git = Git(invocation.environ, Path(views))
        listed = git.run(project, "for-each-ref", "--format=%(refname) %(objectname)", *_REFS).splitlines()
        refs = dict(line.split(" ") for line in listed)
        kept = {ref for ref, commit in refs.items() if count_unpushed(git, project, commit)}
        for is_work, names in ((False, refs.keys() - kept), (True, kept)):
            if names:
                yield _refs(invocation, project, sorted(names), is_work=is_work)


def _refs(invocation: Invocation, project: Path, names: list[str], *, is_work: bool) -> Leftover:
    def delete() -> None:
        with tempfile.TemporaryDirectory() as views:
            git = Git(invocation.environ, Path(views))
            for name in names:
                git.run(project, "update-ref", "--no-deref", "-d", name)

    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    whose = "with work that is on no other branch" if is_work else "whose work is on other branches"
    place = short_path(invocation, str(project))
    return Leftover(f"{count(len(names), 'git ref')} in {place} {whose}: {shown}", str(project), delete, is_work)


def _find_database(invocation: Invocation) -> Iterator[Leftover]:
    database = invocation.places.database
    if database is None:
        return
    files = [file for end in _DATABASE if (file := database.with_name(f"{database.name}{end}")).exists()]
    if not files:
        return

    def delete() -> None:
        for file in files:
            file.unlink(missing_ok=True)

    size = sum(file.stat().st_size for file in files)
    yield Leftover(f"{short_path(invocation, str(database))} (the database, {_bytes(size)})", str(database), delete)


def _find_in_home(invocation: Invocation) -> Iterator[Leftover]:
    """Entry by entry. Worktrees that could not be cleaned up hold work."""
    home, database = invocation.places.home, invocation.places.database
    if not home.is_dir():
        return
    for entry in sorted(home.iterdir()):
        if database is not None and entry.name.startswith(database.name) and entry.parent == database.parent:
            continue
        is_work = entry.name == "worktrees" and any(entry.glob("*/*"))
        purpose = _PURPOSES.get(entry.name, "written by Ramet, or by you")
        purpose = "worktrees of agents, WHICH MAY HOLD WORK THAT IS NOWHERE ELSE" if is_work else purpose
        what = f"{short_path(invocation, str(entry))} ({purpose}, {_size(entry)})"
        yield Leftover(what, str(entry), _remove(entry, home), is_work)


def _remove(path: Path, parent: Path | None = None) -> Callable[[], None]:
    """Deletes a file or a folder, never what a link points to; and the folder around it, if that is then empty."""

    def delete() -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if parent is not None:
            with suppress(OSError):  # it is not empty
                parent.rmdir()

    return delete


def _size(path: Path) -> str:
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]
    return _bytes(sum(file.lstat().st_size for file in files if not file.is_dir()))


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size:,} bytes"
