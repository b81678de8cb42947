"""`.worktreeinclude`: files that git does not track and an agent needs all the same, such as `.env`.

It has the patterns of a `.gitignore`. What they match, of what is untracked in the user's own checkout, is copied into
a fresh worktree.
"""

from contextlib import suppress
from pathlib import Path

from ramet.errors import PathOutside
from ramet.workspace.files import confined
from ramet.workspace.git.repository import Repository

_FILE = ".worktreeinclude"


def copy(repository: Repository, top: Path) -> None:
    """Copy what the file names; nothing is overwritten, and no symbolic link is followed."""
    source = repository.checkout
    if not (source / _FILE).is_file():
        return
    matching = ("ls-files", "-z", "--others", "--ignored", f"--exclude-from={source / _FILE}")
    for path in repository.git.run(source, *matching).split("\0"):
        if path and not path.endswith("/"):
            with suppress(PathOutside, FileNotFoundError):
                confined.copy(source, top, path)
