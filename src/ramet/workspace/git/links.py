"""The two files that join a worktree and its repository, and the symbolic links that git must not write through.

`.git` in a worktree leads to `worktrees/<id>` in the repository, and `gitdir` there leads back. git writes the first
with the path of the view that it was given, and finds neither if a worktree was moved; so both are written here.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ramet.errors import GitFailed
from ramet.workspace.files import confined
from ramet.workspace.git.location import Location, read_small

_WRITES = frozenset({"checkout", "merge", "notes", "reset", "symbolic-ref", "update-ref", "worktree"})
_REFS = ("refs", "refs/heads", "refs/heads/ramet", "refs/notes", "refs/ramet", "refs/ramet/kept")
"""The folders of the refs that we write."""
_FOLDERS = (*_REFS, "logs", *(f"logs/{folder}" for folder in _REFS))
_LONGEST_PATH = 8192


def join(common: Path, top: Path) -> bool:
    """Lead a worktree and its repository to each other again; False if the repository has no such worktree.

    A worktree that leads to the folder of another one is led back to its own.
    """
    paths = [str(path / ".git") for path in dict.fromkeys((top.parent.resolve() / top.name, top))]
    name = _registered(common, paths) or _moved(common, top)
    if name is None:
        return False
    _write(top, ".git", f"gitdir: {common}/worktrees/{name}\n")
    _write(common, f"worktrees/{name}/gitdir", f"{paths[0]}\n", *(f"{path}\n" for path in paths[1:]))
    return True


def refuse(location: Location, command: str) -> None:
    """Refuse a command that would write through a link in the repository.

    git appends to a log and replaces an index wherever a link leads. An agent in a sandbox may write these files; with
    a link in their place it would have git write outside of the sandbox.
    """
    if command not in _WRITES:
        return
    found = next(_links(location), None)
    if found is not None:
        raise GitFailed(
            f"{found} is a symbolic link, so git {command} could write somewhere else",
            value=found,
            fix=f"see where it leads: ls -l {found}",
        )


def _registered(common: Path, paths: list[str]) -> str | None:
    """The id under which the repository has a worktree at one of these paths."""
    with suppress(FileNotFoundError), os.scandir(common / "worktrees") as entries:
        return next((entry.name for entry in entries if _read(Path(entry.path, "gitdir")) in paths), None)
    return None


def _moved(common: Path, top: Path) -> str | None:
    """The id that a worktree itself says, unless that one is somewhere else."""
    folder, _, name = _read(top / ".git").rpartition("/")
    if not folder or name in ("", ".", ".."):
        return None
    known = _read(common / "worktrees" / name / "gitdir")
    return name if known and not os.path.lexists(known) else None


def _read(path: Path) -> str:
    return os.fsdecode(read_small(path, _LONGEST_PATH) or b"").removesuffix("\n")


def _write(folder: Path, name: str, text: str, *as_good: str) -> None:
    """Write a file, unless it says so already."""
    if f"{_read(folder / name)}\n" not in (text, *as_good):
        confined.write(folder, name, os.fsencode(text))


def _links(location: Location) -> Iterator[str]:
    if location.is_linked:
        yield from _links_in(str(location.git_dir))
        yield from _links_in(f"{location.git_dir}/logs")
    folders = (f"{location.common}/{folder}" for folder in _FOLDERS)
    yield from (folder for folder in folders if os.path.islink(folder))  # noqa: PTH114
    yield from _links_in(f"{location.common}/logs/refs/heads/ramet")


def _links_in(folder: str) -> Iterator[str]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        yield from (entry.path for entry in entries if entry.is_symlink())
