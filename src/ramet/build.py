"""Which code this is: the build of this process, and which of two builds is older.

Clients, the daemon and the command line say their build to each other, so this module imports only the standard
library, and little of that. A package knows its build by heart (`ramet.version`); a checkout asks git, and a plain copy
of the sources is known by the times of its files. Uncommitted edits do not make another build.
"""

import os
from functools import cache
from typing import Any, Literal, NamedTuple

from ramet.version import BUILT_FROM, __version__

PROTOCOL_VERSION = 1
"""Raised if clients of the build before can no longer understand the daemon."""

_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  pathlib would cost every command its import
_MIGRATIONS = os.path.join(_FOLDER, "store", "sql", "migrations", "sqlite")  # noqa: PTH118
_DIGITS = frozenset("0123456789abcdef")
_LENGTHS = range(7, 65)
_SHORT = 12
_GIT_SECONDS = 5

Relation = Literal["same", "older", "newer", "other"]


class Build(NamedTuple):
    """One build of Ramet."""

    version: str
    protocol: int = 0
    schema_version: int = 0
    revision: str = ""
    """The commit, or a hash of the sources; empty for a daemon from before builds had names."""
    built_at: int = 0
    """When its code was committed, as a Unix time; 0 if that is not known."""

    def __str__(self) -> str:
        return self.version if self.revision in self.version else f"{self.version}, build {self.revision}"

    @property
    def _rank(self) -> tuple[tuple[int, ...], int, int, int] | None:
        release = _read_release(self.version)
        return (release, self.protocol, self.schema_version, self.built_at) if release else None


def compare(theirs: Build, ours: Build) -> Relation:
    """What their build is to ours.

    The order is strict, and both sides compute it from the same values. So a daemon is only ever replaced by a newer
    one, and two installations that share a home cannot replace each other's daemons in turn.
    """
    if theirs.revision == ours.revision != "" and theirs.version == ours.version:
        return "same"
    if bool(theirs.revision) != bool(ours.revision):
        return "newer" if theirs.revision else "older"  # one is from before builds had names
    rank, own = theirs._rank, ours._rank
    if rank is None or own is None:
        return "other"
    if rank[:3] == own[:3] and not (theirs.built_at and ours.built_at):
        return "other"
    return "older" if rank < own else "newer" if rank > own else "other"


def is_own(build: Build) -> bool:
    """Whether it is ours, without asking git."""
    return build.revision == own_revision() and build.version == __version__


def read_build(greeting: Any) -> Build:
    """The build of a daemon, from its answer to `daemon.hello`; older daemons say less, and hostile ones anything."""
    said = greeting if isinstance(greeting, dict) else {}
    version, revision = said.get("version"), said.get("build")
    numbers = [said.get(name) for name in ("protocol", "schema_version", "built_at")]
    protocol, schema_version, built_at = (each if type(each) is int else 0 for each in numbers)
    return Build(
        version[:40] if isinstance(version, str) and version.isprintable() else "?",
        protocol,
        schema_version,
        revision if isinstance(revision, str) and _is_revision(revision) else "",
        built_at,
    )


@cache
def own_build() -> Build:
    """The build of the files of this process, as they were when it was first asked for."""
    return Build(__version__, PROTOCOL_VERSION, _count_migrations(), own_revision(), _find_time())


@cache
def own_revision() -> str:
    """Its short name: cheap enough for every command."""
    _, _, commit = BUILT_FROM.partition(" ")
    if _is_revision(commit):
        return commit[:_SHORT]
    return _read_head()[:_SHORT] or _hash_times()


# Without `re`: a pattern takes longer to compile than all else here.


def _is_revision(text: str) -> bool:
    return len(text) in _LENGTHS and _DIGITS.issuperset(text)


def _read_release(version: str) -> tuple[int, ...] | None:
    """The numbers of `0.2.0.dev7+g1a2b3c4`, without what follows them and without zeros at their end."""
    numbers: list[int] = []
    for part in version.split("."):
        if not (part.isascii() and part.isdecimal()):
            break
        numbers.append(int(part))
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers) or None


def _count_migrations() -> int:
    return sum(name.endswith(".sql") for name in os.listdir(_MIGRATIONS))  # noqa: PTH208


def _find_time() -> int:
    seconds, _, _ = BUILT_FROM.partition(" ")
    if seconds.isdecimal():
        return int(seconds)
    return _ask_git() if _read_head() else 0


def _root() -> str:
    """The checkout, if this is one: an installation may be inside of somebody else's repository."""
    above, name = os.path.split(os.path.dirname(_FOLDER))  # noqa: PTH120
    return above if name == "src" else ""


@cache
def _read_head() -> str:
    """The commit of the checkout, without the milliseconds that git takes; empty if this is none."""
    try:
        git = os.path.join(_root(), ".git")  # noqa: PTH118
        if os.path.isfile(git):  # noqa: PTH113
            git = os.path.join(_root(), _read(git).removeprefix("gitdir: "))  # noqa: PTH118
        head = _read(git, "HEAD")
        if head.startswith("ref: "):
            head = _resolve(git, head.removeprefix("ref: "))
    except OSError:
        return ""
    return head if _is_revision(head) else ""


def _resolve(git: str, name: str) -> str:
    try:
        shared = os.path.join(git, _read(git, "commondir"))  # noqa: PTH118
    except OSError:
        shared = git
    try:
        return _read(shared, *name.split("/"))
    except OSError:
        lines = _read(shared, "packed-refs").splitlines()
        return next((line.partition(" ")[0] for line in lines if line.endswith(f" {name}")), "")


def _read(*path: str) -> str:
    with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:  # noqa: PTH118, PTH123
        return file.read().strip()


def _ask_git() -> int:
    import subprocess  # noqa: PLC0415  only checkouts need it, and only when two builds are compared

    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", _root(), "log", "-1", "--format=%ct", _read_head()],  # noqa: S607  whichever git the user has
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
        return int(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0


def _hash_times() -> str:
    """A name for a copy of the sources: the same until one of its files is written again."""
    import zlib  # noqa: PLC0415

    found = 0
    for folder, folders, names in os.walk(_FOLDER):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            found = zlib.crc32(f"{name} {os.stat(os.path.join(folder, name)).st_mtime_ns}".encode(), found)  # noqa: PTH116, PTH118
    return f"{found:08x}"
