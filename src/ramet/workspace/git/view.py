"""Views: a repository as the daemon's git sees it, with everything in it but its configuration.

git reads a repository's configuration from the folder that its worktrees share (`GIT_COMMON_DIR`). A view is such a
folder of our own: links to the repository's objects and refs, and a configuration that `git.safe_config` composes. So
git never opens the repository's file. An agent that changes it at any moment, even between our look and git's start,
changes data and never a program. The views are in RAMET_HOME, which no agent needs to write to.
"""

import hashlib
import os
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramet.errors import GitFailed
from ramet.workspace.files import confined
from ramet.workspace.git import safe_config
from ramet.workspace.git.location import Location, has_owner, read_small
from ramet.workspace.git.process import Done, execute
from ramet.workspace.git.safe_config import Entry

_LINKS = ("HEAD", "info", "logs", "objects", "packed-refs", "refs", "shallow", "worktrees")
_LINKS_IF_THERE = ("lfs", "reftable")
_CONFIG_BYTES = 1024 * 1024
_SECONDS = 30
_MOST_KNOWN = 1000
_UNFINISHED = "unfinished-"
_UNFINISHED_SECONDS = 3600
"""After this long, nobody makes it any more: it takes milliseconds."""

_NOTHING_ELSE = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
}
"""What is in the view is all that git reads, and it fetches nothing: a fetch runs programs that a remote names."""

_Stamp = tuple[int, int, int, int] | None


class View(NamedTuple):
    """How git is to be started in one checkout."""

    variables: dict[str, str]
    options: tuple[str, ...]
    is_partial: bool
    """Whether the repository lacks objects that its own git would fetch."""


class _Shared(NamedTuple):
    """What the worktrees of one repository have in common."""

    path: Path
    owners: list[Entry]
    has_worktree_config: bool
    is_partial: bool
    files: tuple[str, ...]
    """The files that it was made from."""
    stamps: tuple[_Stamp, ...]


class _Known(NamedTuple):
    view: View
    shared: _Shared
    stamp: _Stamp
    """The stamp of the worktree's own file."""


class Views:
    """The views of all repositories that one process works in."""

    def __init__(self, folder: Path, environ: Mapping[str, str], filters: Sequence[str]) -> None:
        """`filters` are those that the user allows; `environ` is the user's, with who the user is to git."""
        self._folder = folder
        self._environ = environ
        self.filters = tuple(filters)
        self._shared: dict[Path, _Shared] = {}
        self._known: dict[Location, _Known] = {}
        self._lock = threading.Lock()
        self._ends_at = 0.0
        """When whoever has the lock gives up, by the monotonic clock."""

    def open(self, location: Location, timeout_seconds: float = _SECONDS) -> View:
        """The view of a checkout, made or renewed if a configuration has changed; all in a bounded time."""
        ends_at = time.monotonic() + min(timeout_seconds, _SECONDS)
        if not self._lock.acquire(timeout=ends_at - time.monotonic()):
            raise GitFailed(f"another git has been reading {location.top} for {timeout_seconds:g} seconds")
        try:
            self._ends_at = ends_at
            return self._open(location)
        except OSError as error:
            raise GitFailed(f"{self._folder} cannot be written to: {error.strerror or error}") from error
        finally:
            self._lock.release()

    def _open(self, location: Location) -> View:
        shared = self._shared.get(location.common)
        if shared is None or shared.stamps != _stamps(shared.files):
            if len(self._shared) >= _MOST_KNOWN:
                self._shared.clear()
            shared = self._shared[location.common] = self._share(location.common)
        known = self._known.get(location)
        if known is None or known.shared is not shared or known.stamp != _stamp(_own_file(location)):
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[location] = self._make(location, shared)
        return known.view

    def _share(self, common: Path) -> _Shared:
        own = str(common / "config")
        before = _stamp(own)  # a change while we read is then seen the next time
        local = self._read(own)
        path = self._folder / self._name(common)
        self._make_folder(path, common)
        if not (path / "config").exists():
            confined.write(path, "config", safe_config.compose((), local, (), "").encode(errors="surrogateescape"))
        owners, files = self._read_owners({"GIT_DIR": str(common), "GIT_COMMON_DIR": str(path)})
        self._make_targets(path, common)
        self._write(path, safe_config.compose(owners, local, self.filters, self._restore_environment()))
        watched = (own, *files, str(path / "config"))
        return _Shared(
            path,
            owners,
            safe_config.has_extension(local, "worktreeconfig"),
            safe_config.has_extension(local, "partialclone"),
            watched,
            (before, *_stamps(watched[1:])),
        )

    def _make(self, location: Location, shared: _Shared) -> _Known:
        self._refuse_strangers(location, shared.owners)
        stamp = _stamp(_own_file(location))
        sparse = self._read(_own_file(location)) if shared.has_worktree_config else []
        options = [f"{entry.key}={entry.value}" for entry in sparse if entry.key in safe_config.SPARSE]
        places = {"GIT_DIR": location.git_dir, "GIT_COMMON_DIR": shared.path, "GIT_WORK_TREE": location.top}
        view = View(
            {name: str(place) for name, place in places.items()} | _NOTHING_ELSE,
            tuple(part for option in options for part in ("-c", option)),
            shared.is_partial,
        )
        return _Known(view, shared, stamp)

    def _name(self, common: Path) -> str:
        """One view for each repository, user's configuration and choice of filters: processes may differ in these."""
        identity = "\0".join([str(common), *self._owners_files(), *sorted(self.filters)])
        return hashlib.sha256(os.fsencode(identity)).hexdigest()[:16]

    def _make_folder(self, path: Path, common: Path) -> None:
        """All the links or none: another process may make the same view."""
        self._folder.mkdir(mode=0o700, exist_ok=True)  # without its parents: a home that is gone stays gone
        if not path.is_dir():
            self._forget_vanished()
            made = Path(tempfile.mkdtemp(dir=self._folder, prefix=_UNFINISHED))
            for name in _LINKS:
                (made / name).symlink_to(common / name)
            try:
                made.rename(path)
            except OSError:
                shutil.rmtree(made, ignore_errors=True)

    def _make_targets(self, path: Path, common: Path) -> None:
        """Make the folders that git makes as it needs them, which it cannot through a link."""
        with suppress(OSError):
            (common / "logs").mkdir(exist_ok=True)
            if "lfs" in self.filters:
                (common / "lfs").mkdir(exist_ok=True)
        for name in _LINKS_IF_THERE:
            if (common / name).is_dir():
                with suppress(FileExistsError):
                    (path / name).symlink_to(common / name)

    def _forget_vanished(self) -> None:
        """Remove the views of repositories that are gone, and what a process that was killed left unfinished."""
        for entry in self._folder.iterdir():
            has_vanished = (entry / "objects").is_symlink() and not (entry / "objects").exists()
            if has_vanished or (entry.name.startswith(_UNFINISHED) and _age_seconds(entry) > _UNFINISHED_SECONDS):
                shutil.rmtree(entry, ignore_errors=True)

    def _read(self, path: str) -> list[Entry]:
        """The entries of a repository's file, without those of files that it includes."""
        text = read_small(Path(path), _CONFIG_BYTES)
        if text is None:
            if os.path.lexists(path):
                raise GitFailed(f"{path} is not a file of at most {_CONFIG_BYTES} bytes", value=path)
            return []
        # Through git's standard input: the file could become a pipe, or a link to one, after we looked.
        done = self._git("config", "--file", "-", "--list", "-z", stdin=text)
        if done.status != 0:
            raise GitFailed(f"git cannot read {path}: {done.said}", value=path)
        return safe_config.parse(done.out)

    def _read_owners(self, variables: Mapping[str, str]) -> tuple[list[Entry], tuple[str, ...]]:
        """The entries of the user's and the system's files, and which files these are."""
        done = self._git("config", "--list", "-z", "--show-scope", "--show-origin", variables=variables)
        if done.status != 0:
            raise GitFailed(f"git cannot read your configuration: {done.said}")
        fields = done.out.split(b"\0")
        printed = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
        found = [(origin, entry) for scope, origin, entry in printed if scope != b"local"]
        files = dict.fromkeys(os.fsdecode(origin.removeprefix(b"file:")) for origin, _ in found)
        return safe_config.parse(b"\0".join(entry for _, entry in found)), (*self._owners_files(), *files)

    def _owners_files(self) -> list[str]:
        """Where the user's configuration may appear."""
        named = self._environ.get("GIT_CONFIG_GLOBAL")
        home = self._environ.get("HOME", "")
        settings = self._environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        return [named] if named else [f"{home}/.gitconfig", f"{settings}/git/config"]

    def _git(self, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> Done:
        environ = {**self._environ, "LC_ALL": "C", **(variables or {"GIT_DIR": os.devnull})}
        left_seconds = max(0.0, self._ends_at - time.monotonic())
        return execute(["-C", "/", *arguments], environ, stdin, left_seconds, "git config")

    def _refuse_strangers(self, location: Location, owners: Sequence[Entry]) -> None:
        if not has_owner(location, self._environ, safe_config.safe_directories(owners, self._environ)):
            raise GitFailed(
                f"dubious ownership: the repository {location.top} belongs to another user",
                value=str(location.top),
                fix=f"if you trust it: git config --global --add safe.directory {shlex.quote(str(location.top))}",
            )

    def _restore_environment(self) -> str:
        """A filter that the user allows runs with the user's own configuration."""
        own = [f"{name}={shlex.quote(self._environ[name])}" for name in _NOTHING_ELSE if name in self._environ]
        export = f"export {' '.join(own)}; " if own else ""
        return f"unset {' '.join(_NOTHING_ELSE)}; {export}"

    def _write(self, path: Path, text: str) -> None:
        wanted = text.encode(errors="surrogateescape")
        if read_small(path / "config", _CONFIG_BYTES) != wanted:
            confined.write(path, "config", wanted)


def _own_file(location: Location) -> str:
    return str(location.git_dir / "config.worktree")


def _age_seconds(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def _stamps(paths: Sequence[str]) -> tuple[_Stamp, ...]:
    return tuple(_stamp(path) for path in paths)


def _stamp(path: str) -> _Stamp:
    try:
        facts = os.stat(path)  # noqa: PTH116  many times a second
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino
