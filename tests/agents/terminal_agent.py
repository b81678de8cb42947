"""A real agent program at a terminal, as a person has it: what it shows is read, and keys are pressed."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import threading
import time
from itertools import cycle
from types import TracebackType
from typing import Self

from tests.agents.hooked import Hooked
from tests.agents.stage import PATIENCE_SECONDS, wait_for

from ramet.config.settings import DriverSettings
from ramet.vendors import selection

_ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[(][0-9;?>=]*[ -/]*[@-~]|\x1b[=>78]")
_ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c", b"\x1b[?u": b"\x1b[?0u"}
"""What a terminal answers to the questions that programs ask it: where the cursor is, and what it can do."""
_ARGUMENTS = {
    "claude": ["--permission-mode", "default"],
    "codex": ["--dangerously-bypass-hook-trust", "--ask-for-approval", "on-request", "--sandbox", "read-only"],
}
_ROWS, _COLUMNS = 50, 120


def _resize(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))


class TerminalAgent:
    """One program at a terminal of its own, with a first prompt."""

    def __init__(self, user: Hooked, prompt: str) -> None:
        stage = user.stage
        name = stage.driver.name
        environment = {**stage.environment("gpt-5.5"), "TERM": "xterm-256color", "RAMET_HOME": str(user.data)}
        self._settle_in(user)
        program = selection.resolve(name, DriverSettings(), {"PATH": os.environ["PATH"]}).program
        self._ours, theirs = pty.openpty()
        _resize(theirs, _COLUMNS)
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *stage.model.wrapper, *program, *_ARGUMENTS[name], prompt],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=stage.directory,
            env=environment,
        )
        os.close(theirs)
        self._shown = b""
        self._is_over = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _settle_in(self, user: Hooked) -> None:
        """What a person has answered long ago: the theme, the key, and that this folder is trusted."""
        directory = str(user.stage.directory)
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
            "projects": {directory: {"hasTrustDialogAccepted": True}},
        }
        (user.user / ".claude.json").write_text(json.dumps(known), encoding="utf-8")
        config = user.user / ".codex/config.toml"
        trusted = f'[projects."{directory}"]\ntrust_level = "trusted"\n'
        seen = '[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n'
        config.write_text(f"{config.read_text()}\n{trusted}{seen}")

    def _read(self) -> None:
        while not self._is_over.is_set():
            if not select.select([self._ours], [], [], 0.1)[0]:
                continue
            try:
                more = os.read(self._ours, 65536)
            except OSError:
                return
            self._shown += more
            for question, answer in _ANSWERS.items():
                if question in more:
                    os.write(self._ours, answer)

    @property
    def screen(self) -> str:
        """Everything that it has shown, without its positions and without blanks, which it skips."""
        return re.sub(r"\s+", "", _ESCAPES.sub("", self._shown.decode(errors="replace")))

    def wait_for(self, text: str, *, redraws: bool = False) -> None:
        """`redraws`: it draws everything again, each second. It skips characters that stood in the same place before,
        so a line that comes in place of another one may never be drawn as a whole.
        """
        wanted = text.replace(" ", "")
        widths = cycle((_COLUMNS - 1, _COLUMNS))
        redrawn_at = 0.0

        def is_shown() -> bool:
            nonlocal redrawn_at
            if redraws and time.monotonic() > redrawn_at + 1:
                redrawn_at = time.monotonic()
                _resize(self._ours, next(widths))
            return wanted in self.screen

        try:
            wait_for(is_shown, f"{text!r} on the screen")
        except AssertionError as error:
            error.add_note(f"it shows: {self.screen[-1500:]}")
            raise

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def enter(self, line: str) -> None:
        """Type a line, and press Enter only if it is there: what comes at once is taken for pasted text."""
        self.press(line)
        self.wait_for(line)
        self.press("\r")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait(PATIENCE_SECONDS)
        self._is_over.set()
        self._reader.join(PATIENCE_SECONDS)
        os.close(self._ours)
