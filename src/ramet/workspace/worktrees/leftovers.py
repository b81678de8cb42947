"""What is in a worktree and in no commit, and how it becomes a tree without touching the worktree or its index."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ramet.errors import GitFailed
from ramet.workspace.files import reports
from ramet.workspace.git.command import Git


class Leftovers(NamedTuple):
    """Paths below the top of a worktree that differ from its last commit; what git ignores is none of them."""

    paths: tuple[str, ...]
    unstaged: tuple[str, ...]
    """Those that the index does not have as the worktree has them."""
    nested: tuple[str, ...]
    """Repositories inside the worktree that are not submodules: git takes a note of them, not their content."""
    reports: tuple[str, ...] = ()
    """What is not to be taken, because it is in a `.ramet/`."""

    def without_reports(self) -> "Leftovers":
        """The same, with the reports apart."""
        return self._replace(
            paths=tuple(path for path in self.paths if not _is_report(path)),
            unstaged=tuple(path for path in self.unstaged if not _is_report(path)),
            reports=tuple(path for path in self.paths if _is_report(path)),
        )


class Snapshot(NamedTuple):
    """What a worktree held, as trees."""

    files: str
    staged: str | None
    """What its index held, where that was something that neither the files nor the last commit have."""


def look(git: Git, top: Path) -> Leftovers:
    """What the worktree has that its last commit has not."""
    said = git.run(
        top,
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=dirty",
    )
    entries = [(entry[1], entry[3:]) for entry in said.split("\0") if entry]
    files = [(code, path) for code, path in entries if not path.endswith("/")]
    return Leftovers(
        paths=tuple(path for _, path in files),
        unstaged=tuple(path for code, path in files if code != " "),
        nested=tuple(path for _, path in entries if path.endswith("/")),
    )


def take(git: Git, top: Path, left: Leftovers) -> Snapshot:
    """The files as a tree: the last commit's, with what is left over. Everything happens on a copy of the index."""
    with TemporaryDirectory(prefix="ramet-index-") as folder:
        index = _copy_index(git, top, Path(folder))
        staged = _write_tree_if_merged(git, top, index)
        _apply(git, top, index, left.unstaged, "add", "--all")
        _apply(git, top, index, left.reports, "reset", "--quiet")
        files = git.run(top, "write-tree", index=index).strip()
        last = git.ask(top, "rev-parse", "--quiet", "--verify", "HEAD^{tree}")
        return Snapshot(files, None if staged in (files, last) else staged)


@contextmanager
def named(git: Git, top: Path, left: Leftovers) -> Iterator[Path]:
    """A copy of the index that also has the names of new files, so that git compares them. No content is stored."""
    with TemporaryDirectory(prefix="ramet-index-") as folder:
        index = _copy_index(git, top, Path(folder))
        there = tuple(path for path in left.unstaged if os.path.lexists(top / path))
        _apply(git, top, index, left.reports, "reset", "--quiet")
        _apply(git, top, index, there, "add", "--intent-to-add")
        yield index


def unfiltered(git: Git, top: Path, paths: tuple[str, ...]) -> dict[str, list[str]]:
    """The files whose attributes name a content filter that the user did not allow, by filter."""
    there = [path for path in paths if os.path.lexists(top / path)]
    said = git.run(top, "check-attr", "-z", "--stdin", "filter", stdin="".join(f"{path}\0" for path in there))
    fields = said.split("\0")
    found: dict[str, list[str]] = {}
    for path, name in zip(fields[::3], fields[2::3], strict=False):
        if name not in ("unspecified", "unset", "set", *git.filters):
            found.setdefault(name, []).append(path)
    return found


def _copy_index(git: Git, top: Path, folder: Path) -> Path:
    own, index = top / git.run(top, "rev-parse", "--git-path", "index").removesuffix("\n"), folder / "index"
    if own.exists():
        shutil.copy2(own, index)  # with its time, by which git knows what may have changed unseen
    return index


def _is_report(path: str) -> bool:
    return reports.FOLDER in path.split("/")


def _apply(git: Git, top: Path, index: Path, paths: tuple[str, ...], *command: str) -> None:
    if paths:
        listed = "".join(f"{path}\0" for path in paths)
        options = ("--pathspec-from-file=-", "--pathspec-file-nul")
        git.run(top, "--literal-pathspecs", *command, *options, stdin=listed, index=index)


def _write_tree_if_merged(git: Git, top: Path, index: Path) -> str | None:
    """The index as a tree; in the middle of a merge it is none."""
    try:
        return git.run(top, "write-tree", index=index).strip()
    except GitFailed:
        return None
