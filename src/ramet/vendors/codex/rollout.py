"""The rollout of a thread while Codex runs: its stream says what was used only when a turn is over, and never by which
model; and it leaves out commands that ended at once. The transcript of the thread has all of it after each call.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from ramet.model.hooks.transcript import Entry
from ramet.model.work.stream import Refusal, Usage
from ramet.vendors.codex import refused_calls
from ramet.vendors.codex.transcript import TRANSCRIPT
from ramet.vendors.contract.transcript_files import Position, read_piece

_MOST_PIECES = 64
"""What is read at one look: 8 MiB. The rest of a long thread that is resumed is read at the next one."""
_DAYS = ("[0-9]*/*/*", "ramet/*/[0-9]*/*/*")
"""Where files are below `sessions`: by day; those of sandboxed agents below a folder of their directory."""


class Rollout:
    """Reads on in the file of one thread."""

    def __init__(self, sessions: Path, thread: str, since: datetime) -> None:
        """`since` is the start of the attempt: what was refused before is known."""
        self._sessions = sessions
        self._thread = thread
        self._since = since
        self._refused: list[Refusal] = []
        self._path: Path | None = None
        self._position = Position()
        self._used: Entry | None = None
        self.model: str | None = None

    def read(self) -> Usage | None:
        """What the thread has used up to now; None if that is not known."""
        self._path = self._path or self._find()
        if self._path is None or not self._read_to_end(self._path) or self._used is None:
            return None
        tokens = {name: int(value) for name, value in (self._used.usage or {}).items() if name.endswith("_tokens")}
        return Usage(key=self._thread, model=self.model, **tokens)

    def take_refused(self) -> list[Refusal] | None:
        """The commands that the sandbox stopped, each once; None if the file is not there."""
        refused, self._refused = self._refused, []
        return refused if self._path is not None else None

    def _note_refused(self, entry: Entry) -> None:
        if entry.kind == "tool_result" and entry.is_error and entry.at is not None and entry.at >= self._since:
            found = refused_calls.read_output("command_execution", entry.call_id or entry.key, entry.text)
            self._refused += [found] if found else []

    def _read_to_end(self, path: Path) -> bool:
        """Whether there is nothing left: counts in the middle of the file are those of long ago."""
        for _ in range(_MOST_PIECES):
            piece = read_piece(path, self._position, TRANSCRIPT)
            if piece is None:
                return False
            self._position = piece.position
            for entry in piece.reading.entries:
                self.model = entry.model or self.model
                self._used = entry if entry.kind == "usage" else self._used
                self._note_refused(entry)
            if piece.is_last:
                return True
        return False

    def _find(self) -> Path | None:
        if not self._thread.replace("-", "").isalnum():
            return None
        found = (file for days in _DAYS for file in self._sessions.glob(f"{days}/rollout-*-{self._thread}.jsonl"))
        return next(found, None)


Open = Callable[[str, datetime], Rollout]
"""Gives the rollout of a thread, from the start of an attempt on."""
