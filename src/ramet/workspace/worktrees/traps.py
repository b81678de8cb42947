"""What an agent leaves for the git that runs outside of its sandbox: links that it would write through, and pipes that
it would wait for without an end. git itself makes none, so they are removed before git is asked anything.
"""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from ramet.workspace.worktrees import kept_work

_FOLDERS = re.compile(r"[0-9a-f]{2}|pack")
"""The folders of objects. git writes into them."""
_READ = (".gitattributes", ".gitignore", ".gitmodules", ".mailmap")
"""Files of a worktree that git opens wherever it finds them."""


def remove_of_repository(common: Path, top: Path) -> None:
    """Remove them from what the agent in the worktree at `top` could write of the repository `common`."""
    with suppress(OSError, ValueError):  # the worktree may be gone
        own = kept_work.git_directory(top)
        if own.parent == common / "worktrees":  # without a sandbox, `.git` may lead to any folder
            _remove(own, is_deep=True)
        _remove(common / "objects", is_deep=False)


def remove_of_worktree(top: Path) -> None:
    """Remove the pipes from the files that git reads. It opens no link there."""
    folders = [str(top)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.name in _READ and not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                    Path(entry.path).unlink()


def _remove(root: Path, *, is_deep: bool) -> None:
    for _, folders, files, descriptor in os.fwalk(root, follow_symlinks=False):
        for name in (*folders, *files):
            if (is_deep or _FOLDERS.fullmatch(name)) and _is_trap(name, descriptor):
                os.unlink(name, dir_fd=descriptor)
        if not is_deep:
            break


def _is_trap(name: str, folder: int) -> bool:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISDIR(mode) or stat.S_ISREG(mode))
