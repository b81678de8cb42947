"""Preparing a worktree so that its agent can run the project: its ports, and what the set-up command makes.

The command is the owner's, or of a file that the owner trusts. It runs with the owner's rights, outside of any sandbox;
so in a worktree that holds the work of a sandboxed agent it does not run. It runs once the attempt is on record: before
that, another agent may work in the worktree.
"""

import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ramet.config.places import make_private
from ramet.config.settings import WorktreeSettings
from ramet.errors import SetupFailed, SetupKilled
from ramet.model.redaction import Redactor
from ramet.protocol.work.attempts import NotePreparation
from ramet.protocol.work.keepers import MARKER
from ramet.protocol.work.leases import Claimed
from ramet.protocol.work.queue import GetWork
from ramet.runner.context import RunnerContext
from ramet.runner.processes import process_tree
from ramet.runner.project_files import starting_points
from ramet.workspace.worktrees import labels, ports, prepared_folders, worktree
from ramet.workspace.worktrees.prepared_folders import Recipe, Wanted
from ramet.workspace.worktrees.worktree import Worktree

_FOLDER = "setup"
_LOOK_SECONDS = 0.5
_ASK_SECONDS = 2.0
_LOG_BYTES = 1024 * 1024
"""Of a longer log, the end is kept."""
_CHUNK_BYTES = 64 * 1024
_SHOWN_LINES, _SHOWN_LENGTH = 5, 600


class Site(Struct, frozen=True, kw_only=True):
    """A worktree, and the attempt that it is prepared for."""

    worktree: Worktree
    project_path: str
    settings: WorktreeSettings
    is_sandboxed: bool
    environ: Mapping[str, str]
    """What the agent would see, without its token."""
    grace_seconds: float


def prepare(runner: RunnerContext, claimed: Claimed, site: Site) -> bool:
    """Prepare the worktree unless it is prepared for its lock files already; whether that took time."""
    folder = runner.places.worktrees
    top = worktree.find_top(folder, site.worktree.path)
    if top is None or labels.read(top.parent, top.name) is None:
        return False
    ports.reserve(folder, top)
    has_run = _Setup(runner, claimed, site, top).run() if site.settings.setup else False
    label = labels.read(top.parent, top.name)
    if label is not None and not label.is_used:
        labels.write(top.parent, top.name, replace(label, is_used=True))
    return has_run


def find_ports(runner: RunnerContext, directory: str) -> dict[str, str]:
    """The variable that names the ports of the worktree around a directory, if it has any."""
    top = worktree.find_top(runner.places.worktrees, directory)
    base = ports.read(top) if top else None
    return {} if base is None else {ports.VARIABLE: str(base)}


class _Setup:
    """The preparation of one worktree."""

    def __init__(self, runner: RunnerContext, claimed: Claimed, site: Site, top: Path) -> None:
        settings = site.settings
        self._runner = runner
        self._claimed = claimed
        self._site = site
        self._top = top
        self._directory = Path(site.worktree.path)
        self._kept = runner.places.home / "prepared" / top.parent.name
        self._log = runner.places.home / _FOLDER / top.parent.name / f"{top.name}.log"
        self._recipe = Recipe(
            command=settings.setup or "",
            lock_files=tuple(settings.lock_files),
            folders=tuple(settings.reuse),
            uses_links=settings.reuse_by == "link",
        )

    def run(self) -> bool:
        wanted = prepared_folders.identify(self._directory, self._recipe)
        label = labels.read(self._top.parent, self._top.name)
        if label is None or label.prepared_for == wanted.key:
            return False
        seconds = self._site.settings.setup_seconds
        alone = prepared_folders.one_at_a_time(self._kept, wanted, seconds) if wanted.is_reusable else nullcontext()
        with alone:
            if not self._reuse(wanted) and not self._execute(wanted, is_used=label.is_used):
                return False
        labels.write(self._top.parent, self._top.name, replace(label, prepared_for=wanted.key))
        return True

    def _reuse(self, wanted: Wanted) -> bool:
        """Take what another worktree with the same lock files was prepared with, if this one has nothing yet."""
        is_new = not any(os.path.lexists(self._directory / name) for name in self._recipe.folders)
        if not (wanted.is_reusable and is_new and prepared_folders.restore(self._kept, self._directory, wanted)):
            return False
        self._tell("reused")
        return True

    def _execute(self, wanted: Wanted, *, is_used: bool) -> bool:
        """Run the command, if no sandboxed agent could have written what it reads."""
        is_users = not is_used and self._site.worktree.base == starting_points.of(self._claimed)
        if self._site.is_sandboxed and not is_users:
            self._tell("skipped")
            return False
        self._tell("running")
        make_private(self._log.parent)
        environ = {**self._site.environ, **find_ports(self._runner, self._site.worktree.path)}
        command = Command(
            text=self._recipe.command,
            directory=self._directory,
            environ=environ,
            log=self._log,
            timeout_seconds=self._site.settings.setup_seconds,
            grace_seconds=self._site.grace_seconds,
            redactor=self._runner.machine.redactor_in(self._site.project_path),
        )
        command.run(self._is_stopped)
        if wanted.is_reusable:
            prepared_folders.keep(self._kept, self._directory, wanted)
        return True

    def _tell(self, how: str) -> None:
        note = NotePreparation(
            effort_id=self._claimed.id,
            generation=self._claimed.generation,
            how=how,  # type: ignore[arg-type]
            command=self._recipe.command,
            log=str(self._log),
        )
        self._runner.machine.ask(note)

    def _is_stopped(self) -> bool:
        return self._runner.machine.ask(GetWork(effort_id=self._claimed.id)).stop_request is not None


class Command(Struct, frozen=True, kw_only=True):
    """A set-up command that is about to run."""

    text: str
    directory: Path
    environ: Mapping[str, str]
    log: Path
    timeout_seconds: float
    grace_seconds: float
    redactor: Redactor

    def run(self, is_stopped: Callable[[], bool]) -> None:
        """Run it to its end, within its time, and end every process that it started. `SetupFailed` if it fails, and
        `SetupKilled` if this machine is the reason.
        """
        process_tree.end_marked(self._instance, self.grace_seconds)  # those that a daemon which was killed has left
        process = subprocess.Popen(
            ["/bin/sh", "-c", self.text],
            cwd=self.directory,
            env={**self.environ, MARKER: self._instance},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        said = bytearray()
        try:
            trouble = self._wait(process, said, is_stopped)
        finally:
            process_tree.end_marked(self._instance, self.grace_seconds)
            process.kill()
            process.wait()
            self._read(process, said)
            self._write_log(said)
            if process.stdout is not None:
                process.stdout.close()
        if trouble is None and process.returncode == 0:
            return
        is_hosts = trouble is None and _is_hosts(process.returncode, said)
        trouble = trouble or f"failed with {_how(process.returncode)}"
        raise (SetupKilled if is_hosts else SetupFailed)(
            f"the set-up command `{self.text}` {trouble}{self._ending(said)}",
            value=self.text,
            fix=f"see its log: {self.log}",
        )

    @property
    def _instance(self) -> str:
        """The mark of its processes. It is the same after a restart, so that those of a killed daemon are found."""
        return f"setup{sha256(os.fsencode(self.directory)).hexdigest()[:27]}"

    def _wait(self, process: "subprocess.Popen[bytes]", said: bytearray, is_stopped: Callable[[], bool]) -> str | None:
        """Read what it prints until it ends; why it has to be ended, if it does not."""
        assert process.stdout is not None  # noqa: S101
        os.set_blocking(process.stdout.fileno(), False)
        deadline = time.monotonic() + self.timeout_seconds
        next_ask = time.monotonic() + _ASK_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            is_open = True
            while process.poll() is None:
                if is_open and selector.select(_LOOK_SECONDS):
                    is_open = self._read(process, said)
                    self._write_log(said)
                elif not is_open:
                    time.sleep(_LOOK_SECONDS / 10)
                if time.monotonic() > deadline:
                    return f"took longer than {self.timeout_seconds:g} seconds"
                if time.monotonic() > next_ask:
                    next_ask = time.monotonic() + _ASK_SECONDS
                    if is_stopped():
                        return "was stopped"
        return None

    def _read(self, process: "subprocess.Popen[bytes]", said: bytearray) -> bool:
        """Take what it has printed; whether it may print more."""
        assert process.stdout is not None  # noqa: S101
        while True:
            try:
                chunk = os.read(process.stdout.fileno(), _CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            said += chunk
            del said[:-_LOG_BYTES]

    def _write_log(self, said: bytearray) -> None:
        text = self.redactor.redact(said.decode(errors="replace")).text
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)

    def _ending(self, said: bytearray) -> str:
        lines = said[-_SHOWN_LENGTH:].decode(errors="replace").strip().splitlines()[-_SHOWN_LINES:]
        return f": {' / '.join(line.strip() for line in lines)}" if lines else ""


def _is_hosts(status: int, said: bytearray) -> bool:
    """Whether the command failed because of its machine. A shell reports a killed program as 128 and the signal."""
    return status in (-signal.SIGKILL, 128 + signal.SIGKILL) or os.strerror(errno.ENOSPC).encode() in said


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"
