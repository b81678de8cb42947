"""A git that fails like one on a sick machine: a program that stands in front of the real one on PATH."""

import os
import shutil
from pathlib import Path

_SCRIPT = """#!/bin/sh
case " $* " in
*" worktree add "*)
    case "$(cat {state} 2>/dev/null)" in
    full) echo "fatal: cannot create directory: No space left on device" >&2; exit 128 ;;
    killed) kill -KILL $$ ;;
    esac ;;
esac
exec {git} "$@"
"""


class FailingGit:
    """The program, and how it fails."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._state = folder / "state"
        program = folder / "git"
        program.write_text(_SCRIPT.format(state=self._state, git=shutil.which("git")))
        program.chmod(0o755)
        self.inside = ("env", f"PATH={folder}:{os.environ['PATH']}")
        """The command that starts a process which has this git."""

    def fail(self, how: str) -> None:
        """Let it fail to create worktrees: `full`, as where the disk is, or `killed`, as for lack of memory."""
        self._state.write_text(how)

    def work(self) -> None:
        """Let it be a git like any other."""
        self._state.unlink()
