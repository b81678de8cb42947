"""The mount plan: the arguments of `bwrap` that give an agent exactly what a sandbox lists.

The root is empty, so a path that no line here mounts does not exist inside. Nothing depends on the user id: the agent
may be root, inside and outside, so every protection is a missing or read-only mount, a namespace or a dropped
capability. Later mounts cover earlier ones; the order of the steps is part of the protection.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct

from ramet.sandbox.relay import PROXY_SOCKET

Preset = Literal["workspace", "strict"]

_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_NETWORK = ("--unshare-net",)
_RIGHTS = (
    "--disable-userns",  # with a user namespace of its own, a program gets capabilities back
    *("--cap-drop", "ALL"),  # bwrap leaves all of them to root
    "--die-with-parent",
)
_PRIVATE_TMP = "/tmp"  # noqa: S108 - it is a new one
_NOTHING = "/dev/null"


class Mount(Struct, frozen=True):
    """A path of this machine that exists inside."""

    path: str
    """Where it is inside."""
    source: str
    """Where it is on this machine."""
    is_writable: bool = False


class Checkout(Struct, frozen=True, kw_only=True):
    """What git needs to commit in a worktree, and nothing that would change the repository itself."""

    common: str
    """The repository's `.git`."""
    own: str
    """The folder below `common` that belongs to the worktree alone: `worktrees/<id>`."""
    branches: str
    """The folder below `common` that holds the ref of the worktree's branch."""
    logs: str
    """The same for the log of that ref."""
    branches_source: str
    """The folder of this machine that stands in for `branches`. git replaces a ref by renaming a file in the ref's own
    folder, so that folder must be writable; the real one also holds the refs of other agents.
    """
    logs_source: str


class Box(Struct, frozen=True, kw_only=True):
    """Everything that a sandbox consists of."""

    bwrap: str
    preset: Preset
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links in the root, as (target, path)."""
    system: tuple[Mount, ...] = ()
    """The system's own files."""
    home: str
    """The user's home. Inside it is empty and private, but for what follows."""
    tools: tuple[Mount, ...] = ()
    """Tool chains that the owner lists."""
    hidden_folders: tuple[str, ...] = ()
    hidden_files: tuple[str, ...] = ()
    """Paths that stay absent even if a folder around them is mounted."""
    programs: tuple[Mount, ...] = ()
    """The agent's program and Ramet's own."""
    private: tuple[str, ...] = ()
    """More folders that are empty and private inside."""
    state: tuple[Mount, ...] = ()
    """The vendor's files."""
    worktree: str
    """The folder that the agent may change."""
    read_only: tuple[str, ...] = ()
    """Paths in the worktree that it may not change."""
    checkout: Checkout | None = None
    """None if the agent cannot commit where it works."""
    agents_folder: str
    """The folder of Ramet's socket for agents. The next daemon makes a new socket in it."""
    proxy_socket: str | None = None
    """The proxy's socket on this machine; only for `strict`."""
    directory: str
    """Where the agent starts."""
    entry: tuple[str, ...]
    """The command that runs first inside; the agent's own command follows it."""


def arguments(box: Box) -> list[str]:
    """The command that runs another one, which follows it, in the sandbox."""
    return [
        box.bwrap,
        *_NAMESPACES,
        *(_NETWORK if box.preset == "strict" else ()),
        *_RIGHTS,
        *_system(box),
        *_private(box),
        *_binds(box.tools),
        *_hide(box, (*box.system, *box.tools)),
        # A program may be below a hidden folder, and a hidden folder below a program's.
        *_binds(box.programs),
        *_hide(box, box.programs),
        *_binds(box.state),
        *_work(box),
        *_sockets(box),
        # Last, because bwrap creates mount points in it. The root itself keeps nothing that an agent writes.
        *("--remount-ro", "/"),
        *("--chdir", box.directory),
        "--",
        *box.entry,
    ]


def probe(bwrap: str, preset: Preset) -> list[str]:
    """The command that succeeds if this machine can make such a sandbox."""
    network = _NETWORK if preset == "strict" else ()
    root = ("--ro-bind", "/", "/", "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    return [bwrap, *_NAMESPACES, *network, *_RIGHTS, *root, "--", "/bin/true"]


def _system(box: Box) -> Iterator[str]:
    for target, path in box.links:
        yield from ("--symlink", target, path)
    yield from _binds(box.system)
    # A new /proc shows only the processes inside. It is read-only because root may write to /proc/sys without any
    # capability, and a program that is named in /proc/sys/kernel/core_pattern runs outside.
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")


def _private(box: Box) -> Iterator[str]:
    yield from ("--perms", "1777", "--tmpfs", _PRIVATE_TMP)
    homes = () if PurePosixPath(_PRIVATE_TMP).is_relative_to(box.home) else (box.home,)
    for folder in (*homes, *box.private):
        yield from ("--perms", "0700", "--tmpfs", folder)


def _hide(box: Box, mounts: tuple[Mount, ...]) -> Iterator[str]:
    """Cover what these mounts would show. What no mount contains is absent anyway."""
    for folder in box.hidden_folders:
        if _is_inside(folder, mounts):
            yield from ("--tmpfs", folder)
    for file in box.hidden_files:
        if _is_inside(file, mounts):
            yield from ("--ro-bind", _NOTHING, file)


def _work(box: Box) -> Iterator[str]:
    yield from ("--bind", box.worktree, box.worktree)
    if box.checkout is not None:
        yield from _commit(box.checkout)
    for path in box.read_only:
        yield from _read_only(path)


def _commit(checkout: Checkout) -> Iterator[str]:
    common, own = PurePosixPath(checkout.common), PurePosixPath(checkout.own)
    yield from _read_only(str(common))
    objects = str(common / "objects")
    yield from ("--bind", objects, objects)
    # `alternates` in it would make git read objects from any other repository on this machine.
    yield from _read_only(str(common / "objects" / "info"))
    yield from ("--bind", str(own), str(own))
    # The first two say which repository the worktree belongs to, the third is configuration.
    for name in ("commondir", "gitdir", "config.worktree"):
        yield from _read_only(str(own / name))
    yield from ("--bind", checkout.branches_source, checkout.branches)
    yield from ("--bind", checkout.logs_source, checkout.logs)


def _sockets(box: Box) -> Iterator[str]:
    # A socket on a read-only mount still takes connections; what it cannot be is replaced.
    yield from _read_only(box.agents_folder)
    if box.proxy_socket is not None:
        yield from ("--ro-bind", box.proxy_socket, PROXY_SOCKET)


def _binds(mounts: Iterable[Mount]) -> Iterator[str]:
    for mount in mounts:
        yield from ("--bind" if mount.is_writable else "--ro-bind", mount.source, mount.path)


def _read_only(path: str) -> tuple[str, str, str]:
    return ("--ro-bind", path, path)


def _is_inside(path: str, mounts: Iterable[Mount]) -> bool:
    return any(PurePosixPath(path).is_relative_to(mount.path) for mount in mounts)
