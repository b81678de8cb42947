"""The checks of `ramet doctor`: each examines one thing and says how it is."""

import os
import platform
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

from ramet.build import own_revision
from ramet.cli.commands.look.pauses import find_pauses
from ramet.cli.commands.look.write_ban import say_ban
from ramet.cli.commands.queue.drivers import explain_differences, list_drivers
from ramet.cli.commands.queue.parked_hosts import describe_host, list_parked_hosts, say_when_again
from ramet.cli.commands.record.held_work import describe_use, form, say_when
from ramet.cli.commands.record.project_scope import find_scope
from ramet.cli.commands.system import hook_states
from ramet.cli.commands.system.health import (
    backup_findings,
    clock_findings,
    connection_findings,
    database_findings,
    policy_findings,
)
from ramet.cli.commands.system.overridden_settings import find_unheeded
from ramet.cli.invocation import Invocation
from ramet.cli.output import count
from ramet.cli.repository import git_version
from ramet.config.environment import read_environment
from ramet.errors import ModelMissing, SandboxUnavailable
from ramet.protocol.hooks.hooks import ListTimings
from ramet.protocol.memory.chunks import SearchStatus
from ramet.protocol.record.agents import CountRows
from ramet.protocol.record.daily_budgets import ListBudgets
from ramet.protocol.system.daemon import DaemonStatus
from ramet.protocol.system.database import Query, SampleDatabase
from ramet.protocol.work.worktrees import ListWorktrees
from ramet.sandbox import bubblewrap
from ramet.version import __version__

_PYTHON = (3, 11)
_SQLITE = (3, 51, 3)
"""Older ones can corrupt a WAL database under two writers."""

_GIT = (2, 32)
"""Older ones cannot be kept from the user's own configuration, which may name programs."""

_WORKTREE_STATES = {"vanished": "has vanished", "locked": "is locked", "foreign": "is not from Ramet"}
_WORKTREE_FIXES = {
    "vanished": "its files are gone; `ramet worktree clean` removes it, and the next attempt creates it again",
    "locked": "`git worktree unlock PATH`, unless a removable disk needs the lock",
    "foreign": "Ramet did not create it and leaves it alone: move it elsewhere",
}
_MUCH_BYTES = 20_000_000_000
_LITTLE_BYTES = 1_000_000_000
_TOO_LITTLE_BYTES = 100_000_000


class Finding(NamedTuple):
    """The state of one thing, and how to fix it."""

    name: str
    result: Literal["ok", "warn", "fail"]
    detail: str
    fix: str | None = None


def examine_python(_invocation: Invocation) -> Iterator[Finding]:
    detail = f"{platform.python_version()} ({sys.executable}), Ramet {__version__}, build {own_revision()}"
    if sys.version_info < _PYTHON:
        yield Finding("python", "fail", detail, "install Ramet with Python 3.11 or later")
    else:
        yield Finding("python", "ok", detail)


def examine_packages(_invocation: Invocation) -> Iterator[Finding]:
    """The packages that Ramet itself says it needs."""
    needed = [line for line in metadata.requires("ramet") or () if "extra ==" not in line]
    names = [match[0] for line in needed if (match := re.match(r"[\w.-]+", line))]
    versions = {name: _version(name) for name in names}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        yield Finding("packages", "fail", f"missing: {', '.join(missing)}", "pip install --force-reinstall ramet")
    else:
        yield Finding("packages", "ok", ", ".join(f"{name} {version}" for name, version in versions.items()))


def examine_sqlite(_invocation: Invocation) -> Iterator[Finding]:
    """The version of apsw starts with the version of the SQLite that it contains."""
    version = _version("apsw") or "0"
    if tuple(int(part) for part in re.findall(r"\d+", version)[:3]) < _SQLITE:
        yield Finding("sqlite", "fail", f"version {version} can lose data", "pip install --upgrade apsw")
    else:
        yield Finding("sqlite", "ok", f"version {'.'.join(version.split('.')[:3])}")


def examine_postgres(invocation: Invocation) -> Iterator[Finding]:
    if invocation.configuration.settings.database.type != "postgres":
        return
    version = _version("psycopg")
    if version is None:
        yield Finding("psycopg", "fail", "not installed", "pip install 'ramet[postgres]'")
    else:
        yield Finding("psycopg", "ok", f"version {version}")


def examine_git(invocation: Invocation) -> Iterator[Finding]:
    version = git_version(invocation.environ)
    if version is None:
        yield Finding("git", "warn", "not in PATH", "install git: agents work in git worktrees")
    elif version < _GIT:
        yield Finding("git", "fail", f"version {_dotted(version)} is too old", f"install git {_dotted(_GIT)} or later")
    else:
        yield Finding("git", "ok", f"version {_dotted(version)} ({shutil.which('git')})")


def examine_configuration(invocation: Invocation) -> Iterator[Finding]:
    """The project's file: whether it counts, and which of its keys do not."""
    configuration = invocation.require_configuration()
    for passed in configuration.passed_over:
        fix = f"make it and its folder yours alone: `chmod go-w {passed.path}`"
        if passed.is_above:
            fix = f"remove it, or move it into the project: `ls -l {passed.path}`"
        yield Finding("config", "warn", f"{passed.path} is not read: it {passed.reason}", fix)
    if configuration.ignored:
        names = ", ".join(each.key for each in configuration.ignored)
        detail = f"{configuration.project_file} cannot set {names}"
        yield Finding("config", "warn", detail, "read the file; if you want it to, run `ramet trust`")
    else:
        file = configuration.project_file
        yield Finding("config", "ok", f"valid, project file {file}" if file else "valid, no project file")


def examine_home(invocation: Invocation) -> Iterator[Finding]:
    yield _examine_directory("home", invocation.places.home)


def examine_socket(invocation: Invocation) -> Iterator[Finding]:
    yield _examine_directory("socket", invocation.places.socket.parent)


def examine_disk(invocation: Invocation) -> Iterator[Finding]:
    free = shutil.disk_usage(_nearest(invocation.places.home)).free
    detail = f"{free / 1e9:,.1f} GB free"
    if free < _TOO_LITTLE_BYTES:
        yield Finding("disk", "fail", detail, "free some space: Ramet cannot write to a full disk")
    elif free < _LITTLE_BYTES:
        yield Finding("disk", "warn", detail, "free some space soon")
    else:
        yield Finding("disk", "ok", detail)


def examine_daemon(invocation: Invocation) -> Iterator[Finding]:
    """The daemon, and through it the database."""
    status = invocation.ask(DaemonStatus())
    yield Finding("daemon", "ok", f"running, pid {status.pid}, version {status.version}, build {status.build or '?'}")
    if (difference := invocation.difference) is not None:
        yield Finding("daemon", "warn", difference.message, difference.fix)
    yield Finding("database", "ok", f"{status.store}, schema version {status.schema_version}")
    if status.clock is not None:
        found_clock = clock_findings.find(status.clock)
        yield Finding("clock", found_clock.result, found_clock.text, found_clock.fix)
    if (ban := say_ban(invocation)) is not None:
        yield Finding("database", "fail", *ban)
    database = invocation.configuration.settings.database
    if database.type == "postgres":
        connections = connection_findings.find(database, invocation.ask(Query(sql=connection_findings.SQL)))
        yield Finding("database", connections.result, connections.text, connections.fix)
    for found in database_findings.find(invocation.ask(SampleDatabase())):
        yield Finding("database", found.result, found.text, found.fix)


def examine_backups(invocation: Invocation) -> Iterator[Finding]:
    """Whether the database has a backup that is new enough, and room for the next one."""
    for found in backup_findings.find(invocation):
        yield Finding("backups", found.result, found.text, found.fix)


def examine_pauses(invocation: Invocation) -> Iterator[Finding]:
    """Whether an operation has kept hooks waiting since the daemon started."""
    for found in find_pauses(invocation.ask(DaemonStatus())):
        yield Finding("pauses", "warn" if found.fix else "ok", found.text, found.fix)


def examine_drivers(invocation: Invocation) -> Iterator[Finding]:
    """The agent programs; the drivers `shell` and `command` need none."""
    drivers = list_drivers(invocation, versions=True).items
    found = [row for row in drivers if row.program is not None]
    told = ", ".join(" ".join(filter(None, [row.name, row.version])) for row in found)
    missing = [row for row in drivers if row.program is None]
    if any(row.abilities.tools for row in found):
        yield Finding("drivers", "ok", f"installed: {told}")
    else:
        fix = "; or ".join(row.fix for row in missing if row.fix) or "see `ramet drivers`"
        yield Finding("drivers", "warn", f"no agent program is installed, only: {told}", fix)
    for difference in explain_differences(drivers):
        yield Finding("drivers", "warn", difference, "`ramet daemon stop`: the next command starts it with your PATH")


def examine_policy(invocation: Invocation) -> Iterator[Finding]:
    """What agents are refused, and which rules a program cannot express."""
    for found in policy_findings.find(invocation):
        yield Finding("policy", "warn" if found.is_warning else "ok", found.text, found.fix)


def examine_tools(_invocation: Invocation) -> Iterator[Finding]:
    """What `ramet mcp` needs. Without it agents work, but cannot delegate."""
    version = _version("mcp")
    if version is None:
        yield Finding(
            "tools",
            "warn",
            "the package mcp is not installed, so agents cannot spawn others",
            "pip install --force-reinstall ramet",
        )
    elif not version.startswith("2."):
        yield Finding("tools", "fail", f"mcp {version} is not 2.x", "pip install --upgrade ramet")
    else:
        yield Finding("tools", "ok", f"mcp {version}: agents can spawn others")


def examine_sandboxes(invocation: Invocation) -> Iterator[Finding]:
    """Whether the sandboxes of the profiles can be made: an agent does not run without its own."""
    profiles = invocation.configuration.settings.drivers.profiles
    presets = sorted({profile.sandbox for profile in profiles.values()} - {"off"})
    for preset in presets:
        names = ", ".join(sorted(name for name, profile in profiles.items() if profile.sandbox == preset))
        try:
            bubblewrap.require(preset, invocation.environ.get("PATH", ""))  # type: ignore[arg-type]  # off is left out
        except SandboxUnavailable as error:
            yield Finding("sandbox", "fail", f"{names}: {error.message}", error.fix)
        else:
            yield Finding("sandbox", "ok", f"{preset} works, for {names}")


def examine_hooks(invocation: Invocation) -> Iterator[Finding]:
    """Whether agent programs call the hooks as they should, and how long they wait for them."""
    found = hook_states.look(invocation)
    present = [each.name for each in found if each.is_there]
    problems = list(hook_states.find_problems(found, hook_states.look_at_hook_program(invocation)))
    for problem in [*problems, *(find_unheeded(invocation) if present else ())]:
        yield Finding("hooks", "warn", problem.text, problem.fix)
    for each in found:
        if each.to_do:
            yield Finding("hooks", "warn", f"{each.name} may not call its hooks yet", each.to_do)
    if not present:
        yield Finding("hooks", "ok", "not installed: agents that you start yourself are not recorded (`ramet init`)")
    elif not problems:
        yield Finding("hooks", "ok", f"installed: {', '.join(present)}")
    for here in hook_states.look_here(invocation, found) if present else ():
        yield Finding("hooks", "warn" if here.is_problem else "ok", here.say(), here.fix)
    for timing in invocation.ask(ListTimings()).items:
        lead = f"{timing.vendor} {timing.event}"
        times = f"p50 {timing.p50_ms:.1f} ms, p95 {timing.p95_ms:.1f} ms, p99 {timing.p99_ms:.1f} ms"
        detail = f"{lead}: {times} in {count(timing.count, 'call')}"
        if timing.failed:
            fix = f"the reasons are in {invocation.places.log_file}"
            yield Finding("hooks", "warn", f"{detail}, {timing.failed} failed", fix)
        else:
            yield Finding("hooks", "ok", detail)


def examine_budgets(invocation: Invocation) -> Iterator[Finding]:
    """The daily and project budgets. One that is used up is why nothing starts."""
    scope = find_scope(invocation, everywhere=True)
    for use in invocation.ask(ListBudgets()).items:
        if use.is_reached:
            yield Finding("budgets", "warn", f"no new work starts: {describe_use(use, scope)}", say_when(use))
        else:
            whose = "all projects" if use.project_id is None else scope.name(use.project_id)
            detail = f"{use.key} ({whose}): {form(use, use.spent)} of {form(use, use.limit)} used"
            yield Finding("budgets", "ok", detail)


def examine_worktrees(invocation: Invocation) -> Iterator[Finding]:
    """Compare the worktrees in git, in the queue and on the disk."""
    rows = invocation.ask(ListWorktrees()).items
    size = sum(row.bytes or 0 for row in rows)
    troubled = [row for row in rows if row.state in _WORKTREE_FIXES]
    for row in troubled:
        yield Finding("worktrees", "warn", f"{row.path} {_WORKTREE_STATES[row.state]}", _WORKTREE_FIXES[row.state])
    if size > _MUCH_BYTES:
        yield Finding("worktrees", "warn", f"worktrees use {size / 1e9:,.1f} GB", "ramet worktree clean")
    if not troubled:
        yield Finding("worktrees", "ok", f"{count(len(rows), 'worktree')}, {size / 1e6:,.1f} MB")


def examine_keepers(invocation: Invocation) -> Iterator[Finding]:
    """Each running agent has a folder; a folder without an active effort is left over."""
    folder = invocation.places.keepers
    finding = _examine_directory("keepers", folder)
    if finding.result != "ok" or not folder.exists():
        yield finding
        return
    kept, active = len(list(folder.iterdir())), invocation.ask(CountRows()).active_efforts
    detail = f"{count(kept, 'agent')} in {folder}"
    if kept > active:
        yield Finding(
            "keepers", "warn", f"{detail}, {active} active", "`ramet daemon stop`: the next daemon cleans them up"
        )
    else:
        yield Finding("keepers", "ok", detail)


def examine_hosts(invocation: Invocation) -> Iterator[Finding]:
    """The hosts that claim nothing, this one or another."""
    parked = list_parked_hosts(invocation)
    for row in parked:
        yield Finding("hosts", "warn", describe_host(row), say_when_again(row))
    if not parked:
        yield Finding("hosts", "ok", "no host is parked")


def examine_search(invocation: Invocation) -> Iterator[Finding]:
    """How far the index is, and whether the model that vectors need can be used."""
    state = invocation.ask(SearchStatus())
    detail = f"{count(state.texts, 'text')} of {count(state.sessions, 'session')}, {state.lag} changes behind"
    settings = invocation.configuration.settings
    if settings.search.embeddings == "off":
        yield Finding("search", "ok", detail)
        return
    from ramet.ai.vector_sources import open_vector_source  # noqa: PLC0415 - imports much, and is seldom configured

    try:
        open_vector_source(settings, read_environment(invocation.environ, settings))
    except ModelMissing as error:
        yield Finding("search", "warn", f"{detail}; no vectors: {error.message}", error.fix)
    else:
        yield Finding("search", "ok", f"{detail}; vectors from the {settings.search.embeddings}")


EXAMINATIONS: dict[str, Callable[[Invocation], Iterator[Finding]]] = {
    "python": examine_python,
    "packages": examine_packages,
    "sqlite": examine_sqlite,
    "config": examine_configuration,
    "psycopg": examine_postgres,
    "git": examine_git,
    "home": examine_home,
    "socket": examine_socket,
    "disk": examine_disk,
    "daemon": examine_daemon,
    "backups": examine_backups,
    "pauses": examine_pauses,
    "drivers": examine_drivers,
    "policy": examine_policy,
    "tools": examine_tools,
    "sandbox": examine_sandboxes,
    "hooks": examine_hooks,
    "budgets": examine_budgets,
    "hosts": examine_hosts,
    "worktrees": examine_worktrees,
    "keepers": examine_keepers,
    "search": examine_search,
}
"""In order: each check needs those before it."""


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _examine_directory(name: str, directory: Path) -> Finding:
    """Whether a directory is private and writable; if it does not exist yet, whether it can be created."""
    nearest = _nearest(directory)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding(name, "fail", f"{nearest} is not writable", f"chown it to you, or chmod u+rwx {nearest}")
    if nearest != directory:
        return Finding(name, "ok", f"{directory} is created when it is needed")
    found = directory.stat()
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.getuid():
        return Finding(name, "fail", f"{directory} belongs to user {found.st_uid}", "use a RAMET_HOME of your own")
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Finding(name, "fail", f"other users can write to {directory}", f"chmod 700 {directory}")
    if mode & 0o077:
        return Finding(name, "warn", f"other users can read {directory}", f"chmod 700 {directory}")
    return Finding(name, "ok", f"{directory} is private")


def _nearest(path: Path) -> Path:
    """The path, or what exists of it."""
    return next(parent for parent in (path, *path.parents) if parent.exists())
