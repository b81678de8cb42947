"""The sandbox of an attempt: which of this machine's paths and which hosts its agent gets.

`require` refuses, before anything is on record, what no attempt could do. `make` collects the paths once the attempt
has its worktree for itself. How a path is mounted is decided in `ramet.sandbox.plan`, and how a worktree is shared in
`sandbox_worktrees`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ramet.config.files import expand, user_file, user_home
from ramet.config.settings import ProfileSettings, SandboxSettings
from ramet.errors import InvalidSetting, SandboxUnavailable
from ramet.protocol.record.projects import ListProjects
from ramet.protocol.work.keepers import Proxy
from ramet.runner.attempts import sandbox_worktrees
from ramet.runner.attempts.sandbox_worktrees import SharedWorktree
from ramet.runner.context import RunnerContext
from ramet.sandbox import bubblewrap, entry, environment, host_rules, plan, program_paths, system_paths
from ramet.sandbox.plan import Box, Mount, Preset
from ramet.vendors import registry
from ramet.vendors.contract.vendor_state import State
from ramet.vendors.selection import Found
from ramet.workspace.files import confined

_PROXY_FILE = "proxy.sock"


class Wanted(Struct, frozen=True, kw_only=True):
    """The attempt that needs a sandbox."""

    instance: str
    driver: str
    profile: ProfileSettings
    settings: SandboxSettings
    environ: Mapping[str, str]
    """What the agent sees: it names its home, and other addresses of its models."""
    program: list[str]
    project_path: str
    directory: str
    """Where the agent starts."""
    is_spawned: bool
    native_id: str | None
    """The session to resume."""


class Sandbox(Struct, frozen=True, kw_only=True):
    """A sandbox that an agent can be started in."""

    preset: Preset
    arguments: list[str]
    program: list[str]
    """The agent's program as it is called inside."""
    proxy: Proxy | None
    committer: dict[str, str]

    def adapt(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The agent's environment inside."""
        hosts = self.proxy.hosts if self.proxy else []
        return environment.adapt(environ, self.preset, self.committer, hosts)


def require(runner: RunnerContext, found: Found, settings: SandboxSettings, environ: Mapping[str, str]) -> None:
    """Refuse a profile whose sandbox cannot be made here."""
    preset = _preset(found.profile)
    if preset is None:
        return
    bubblewrap.require(preset, runner.environ.get("PATH", ""))
    state = registry.find_state(found.driver.name)
    conflict = state.find_conflict(found.profile) if state else None
    if conflict is not None:
        message, _, fix = conflict.partition("; ")
        raise SandboxUnavailable(message, field="permission_mode", value=found.profile.permission_mode, fix=fix)
    _tools(runner, settings, environ)
    _hosts(settings, state, environ)


def make(runner: RunnerContext, wanted: Wanted) -> Sandbox | None:
    """The sandbox of an attempt; None if its profile has none. It runs on a thread, because git does."""
    preset = _preset(wanted.profile)
    if preset is None:
        return None
    work = sandbox_worktrees.share(runner, wanted.project_path, wanted.directory, is_spawned=wanted.is_spawned)
    box, program = _box(runner, wanted, preset, work)
    hosts = _hosts(wanted.settings, registry.find_state(wanted.driver), wanted.environ)
    return Sandbox(
        preset=preset,
        arguments=plan.arguments(box),
        program=[program, *wanted.program[1:]],
        proxy=Proxy(socket=box.proxy_socket, hosts=hosts) if box.proxy_socket else None,
        committer=work.committer,
    )


def _preset(profile: ProfileSettings) -> Preset | None:
    return None if profile.sandbox == "off" else profile.sandbox


def _box(runner: RunnerContext, wanted: Wanted, preset: Preset, work: SharedWorktree) -> tuple[Box, str]:
    """The sandbox, and the agent's program in it."""
    home = str(user_home(wanted.environ))
    state = registry.find_state(wanted.driver)
    system, tools = system_paths.find_system(), _tools(runner, wanted.settings, wanted.environ)
    own = system_paths.find_own(home)
    _require_shared(work.borrowed, (*system.mounts, *tools))
    program = program_paths.find(wanted.program[0], home, (*system.mounts, *tools, *own))
    box = Box(
        bwrap=bubblewrap.require(preset, runner.environ.get("PATH", "")),
        preset=preset,
        links=system.links,
        system=system.mounts,
        home=home,
        tools=tools,
        hidden_folders=tuple(_hidden_folders(runner)),
        hidden_files=tuple(_hidden_files(runner, wanted.environ)),
        programs=(*own, *program.mounts),
        private=_private(state, wanted.environ, home),
        state=tuple(_state(state, wanted)) if state else (),
        worktree=work.root,
        read_only=work.read_only,
        checkout=work.checkout,
        agents_folder=str(runner.places.agents_socket.parent),
        proxy_socket=str(runner.places.keepers / wanted.instance / _PROXY_FILE) if preset == "strict" else None,
        directory=wanted.directory,
        entry=entry.command(system_paths.interpreter(), preset, work.root, work.identity),
    )
    return box, program.path


def _tools(runner: RunnerContext, settings: SandboxSettings, environ: Mapping[str, str]) -> tuple[Mount, ...]:
    """The paths that the owner lists. None may lead to the whole home or to Ramet's own files."""
    mounts = []
    for listed in settings.read_paths:
        path = expand(listed, environ, Path("/"))
        real = Path(os.path.realpath(path))
        if not real.exists():
            raise _refused("read_paths", listed, "does not exist", "create it, or remove it from sandbox.read_paths")
        inside = [place for place in (user_home(environ), runner.places.home) if _is_below(place, real)]
        if inside or _is_below(real, runner.places.home):
            where = inside[0] if inside else runner.places.home
            raise _refused("read_paths", listed, f"would show {where}", "list the folders that the agent needs instead")
        mounts.append(Mount(str(path), str(real)))
    return tuple(mounts)


def _require_shared(borrowed: tuple[str, ...], mounts: tuple[Mount, ...]) -> None:
    for path in borrowed:
        if not any(Path(path).is_relative_to(mount.source) for mount in mounts):
            raise SandboxUnavailable(
                f"the repository reads objects from {path}, which the sandbox does not show",
                value=path,
                fix=f"add {path} to sandbox.read_paths, or copy the objects: git repack -a -d",
            )


def _is_below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) or Path(os.path.realpath(path)).is_relative_to(folder)


def _hosts(settings: SandboxSettings, state: State | None, environ: Mapping[str, str]) -> list[str]:
    hosts = [*(state.model_hosts(environ) if state else ()), *settings.allow_hosts]
    for host in hosts:
        try:
            host_rules.parse(host)
        except ValueError as error:
            raise _refused("allow_hosts", host, f"cannot be allowed: {error}", "correct it") from error
    return hosts


def _refused(field: str, value: str, why: str, fix: str) -> InvalidSetting:
    return InvalidSetting(f"sandbox.{field}: {value} {why}", field=f"sandbox.{field}", value=value, fix=fix)


def _hidden_folders(runner: RunnerContext) -> Iterator[str]:
    """Ramet's home and every project, this one's checkout too."""
    yield str(runner.places.home)
    for project in runner.machine.ask(ListProjects()).items:
        yield from (path for path in {project.path, *project.hosts.values()} if Path(path).is_dir())


def _hidden_files(runner: RunnerContext, environ: Mapping[str, str]) -> Iterator[str]:
    database = runner.places.database
    files = [user_file(environ), *([database.with_name(database.name + end) for end in _ENDINGS] if database else [])]
    yield from (str(file) for file in files if file.is_file())


_ENDINGS = ("", "-wal", "-shm", "-journal")


def _private(state: State | None, environ: Mapping[str, str], home: str) -> tuple[str, ...]:
    """The program's own folder, if it is not in the home: it keeps more there than what is shared."""
    place = state.place(environ) if state else None
    return (str(place),) if place is not None and not place.is_relative_to(home) else ()


def _state(state: State, wanted: Wanted) -> Iterator[Mount]:
    """The vendor's files that exist, and the folder of this directory's sessions, which is created."""
    place = state.place(wanted.environ)
    for file in state.files:
        if (place / file.name).exists():
            yield Mount(str(place / file.name), os.path.realpath(place / file.name), file.is_writable)
    sessions = state.find_sessions(place, wanted.directory, wanted.native_id)
    source = place / sessions.source
    source.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in sessions.files:
        with suppress(FileNotFoundError):
            confined.copy(place / sessions.path, source, name)
    yield Mount(str(place / sessions.path), os.path.realpath(source), is_writable=True)
