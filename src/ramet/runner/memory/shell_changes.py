"""What shell commands change in the worktree of an agent, found by looking at it after each call.

This runs in the keeper, on a thread of its own: the agent's output and the reports never wait for it. The worktree is
looked at when the agent starts and after each tool call, with a bound on the time. A command is held responsible for
the lines of a file only if the worktree was known when it began, no other call was at work until the look was over,
and the file changed while the command ran. In all other cases nothing is recorded for it, and its lines are the
effort's.

The file has hashes of redacted lines, never text.
"""

import os
import time
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

import msgspec
from msgspec import Struct

from ramet.model.memory.edited_lines import MOST_LINES, hash_lines, pack_hashes
from ramet.model.redaction import Redactor
from ramet.model.work.stream import StreamEvent, SubAgent, ToolCall, ToolResult
from ramet.protocol.work.keepers import KeeperRedaction
from ramet.runner.memory.redacted_lines import redact_lines
from ramet.workspace.files.changed_files import Stamp, look, read_text

_CPU_SECONDS = 0.05
_WALL_SECONDS = 2.0
_MOST_FAILURES = 3
"""After so many looks that took too long, the worktree is too large to be watched."""
_MOST_FILE_BYTES = 256 * 1024
_MOST_BYTES = 1024 * 1024
"""What is read after one call."""
_MOST_FILES = 50
_MOST_KNOWN = 200
_MOST_WRITTEN = 8 * 1024 * 1024
_SLACK_NS = 2_000_000_000
"""A command can have begun this much before its call was read."""


class ShellChange(Struct, frozen=True, kw_only=True):
    """A file that a command changed: the hashes of its lines before and after."""

    path: str
    after: bytes
    before: bytes | None
    """None if only git can know what was there."""


class Look(Struct, frozen=True, kw_only=True):
    """One look at the worktree, as the keeper writes it."""

    call_id: str | None
    """The command that made the changes; None if no single one did."""
    at_ms: int
    changes: list[ShellChange] = []


class _Began(NamedTuple):
    call_id: str
    is_shell: bool
    at_ns: int


class _Ended(NamedTuple):
    call_id: str
    at_ns: int
    begun: int
    """How many calls had begun."""


class ShellWatch:
    """Watches the worktree of one agent."""

    def __init__(self, worktree: Path, file: Path, shells: frozenset[str], redaction: KeeperRedaction) -> None:
        """`shells`: the tools that run commands."""
        self._worktree = worktree
        self._file = file
        self._shells = shells
        self._redactor = Redactor(redaction.patterns, redaction.values, is_enabled=redaction.is_enabled)
        self._notes: SimpleQueue[_Began | _Ended | None] = SimpleQueue()
        self._begun = 0
        self._thread = Thread(target=self._run, name="shell-watch", daemon=True)
        self._written = 0
        self._failures = 0
        self._is_over = False
        self._stamps: dict[str, Stamp] = {}
        self._known: dict[str, bytes] = {}
        """The hashes of the lines of files that have changed."""
        self._lost: set[str] = set()
        """Files that have changed, and whose lines are not known."""
        self._has_seen_the_start = False
        self._open: dict[str, bool] = {}
        """The calls at work, and whether each can be held responsible for what changes."""
        self._began: dict[str, int] = {}
        self._known_at_ns: int | None = None
        """Since when the worktree is known as it is; None if a call was missed."""

    def start(self) -> None:
        """Look for the first time."""
        self._thread.start()

    def hear(self, event: StreamEvent) -> None:
        """An event of the agent's stream, in its order."""
        if self._is_over:
            return
        said = event.said if isinstance(event, SubAgent) else event
        if isinstance(said, ToolCall):
            self._begun += 1
            is_shell = said is event and said.name in self._shells
            self._notes.put(_Began(said.call_id, is_shell, time.time_ns()))
        elif isinstance(said, ToolResult):
            self._notes.put(_Ended(said.call_id, time.time_ns(), self._begun))

    def finish(self, seconds: float) -> None:
        """The agent has ended: look for the last time, if that is quick."""
        self._notes.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            self._stamps = look(self._worktree, _CPU_SECONDS, _WALL_SECONDS) or {}
            if not self._stamps:
                return
            self._has_seen_the_start = self._begun == 0
            self._known_at_ns = time.time_ns()
            self._write(Look(call_id=None, at_ms=self._known_at_ns // 1_000_000))
            while self._failures < _MOST_FAILURES and (note := self._notes.get()) is not None:
                if isinstance(note, _Began):
                    self._begin(note)
                elif note.call_id in self._open:
                    self._end(note)
        finally:
            self._is_over = True

    def _begin(self, call: _Began) -> None:
        is_alone = not self._open
        if not is_alone:
            self._open = dict.fromkeys(self._open, False)
        is_known = self._known_at_ns is not None and self._known_at_ns <= call.at_ns
        self._open[call.call_id] = is_alone and is_known and call.is_shell
        self._began[call.call_id] = call.at_ns

    def _end(self, call: _Ended) -> None:
        is_responsible, began_ns = self._open.pop(call.call_id), self._began.pop(call.call_id)
        self._known_at_ns = None
        if not self._open:
            self._look(call, began_ns if is_responsible else None)

    def _look(self, call: _Ended, began_ns: int | None) -> None:
        """`began_ns`: when the call began that is held responsible; None if there is none."""
        stamps = look(self._worktree, _CPU_SECONDS, _WALL_SECONDS)
        if stamps is None:
            self._failures += 1
            return
        self._failures = 0
        changed = [path for path, stamp in stamps.items() if self._stamps.get(path) != stamp]
        changes, is_whole = self._read(changed, stamps, call.at_ns, began_ns)
        self._stamps = stamps
        is_alone = self._begun == call.begun
        if is_alone and is_whole:
            self._known_at_ns = time.time_ns()
        is_named = began_ns is not None and is_alone
        self._write(
            Look(
                call_id=call.call_id if is_named else None,
                at_ms=call.at_ns // 1_000_000,
                changes=changes if is_named else [],
            )
        )

    def _read(
        self, paths: list[str], stamps: dict[str, Stamp], ended_ns: int, began_ns: int | None
    ) -> tuple[list[ShellChange], bool]:
        """What changed while the command ran, and whether nothing changed after it."""
        changes: list[ShellChange] = []
        left, is_whole = _MOST_BYTES, True
        renamed = {self._stamps[path].inode: path for path in self._stamps.keys() - stamps.keys()}
        for place, path in enumerate(paths):
            stamp = stamps[path]
            was_called = path if path in self._stamps else renamed.get(stamp.inode)
            before = b"" if was_called is None else self._known.pop(was_called, None)
            # What is not known is as git has it, unless it has changed before.
            is_known = before is not None or (
                was_called == path and self._has_seen_the_start and path not in self._lost
            )
            is_whole = is_whole and stamp.changed_ns <= ended_ns
            left -= stamp.size
            is_read = place < _MOST_FILES and left >= 0
            text = read_text(self._worktree, path, stamp, _MOST_FILE_BYTES) if is_read else None
            if text is None:
                self._lost.add(path)
                continue
            self._lost.discard(path)
            after = pack_hashes(hash_lines(redact_lines(self._redactor, text))[:MOST_LINES])
            self._known[path] = after
            is_during = began_ns is not None and began_ns - _SLACK_NS <= stamp.changed_ns <= ended_ns
            if is_during and is_known and after != before:
                changes.append(ShellChange(path=os.fsencode(path).decode(errors="replace"), after=after, before=before))
        while len(self._known) > _MOST_KNOWN:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._lost.add(oldest)
        return changes, is_whole

    def _write(self, found: Look) -> None:
        line = msgspec.json.encode(found) + b"\n"
        self._written += len(line)
        if self._written > _MOST_WRITTEN:
            return
        try:
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        with os.fdopen(descriptor, "ab") as file:
            file.write(line)
