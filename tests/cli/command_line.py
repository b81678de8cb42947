"""The real command line, run as a person would run it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import ready_interpreter


class CommandLine:
    """Runs `ramet` as a person would, in `cwd`."""

    program = str(Path(sys.executable).with_name("ramet"))

    def __init__(self, home: Path, cwd: Path) -> None:
        self.home = home
        self.cwd = cwd
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home / "user"),
            "RAMET_HOME": str(home / "ramet"),
            **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE")},
        }

    def __call__(
        self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return ready_interpreter.run(
            [self.program, *arguments],
            stdin=stdin,
            cwd=self.cwd,
            env={**self.environ, **(environ or {})},
            timeout_seconds=60,
        )

    def ok(self, *arguments: str, stdin: str = "") -> str:
        """What it prints, where it succeeds and says nothing else."""
        done = self(*arguments, stdin=stdin)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def configure(self, configured: Mapping[str, Any] | str) -> None:
        """Write the user's own configuration file."""
        file = Path(self.environ["HOME"], ".config/ramet/config.yaml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(configured if isinstance(configured, str) else json.dumps(configured), encoding="utf-8")

    def json(self, *arguments: str) -> Any:
        """The one JSON document that it prints."""
        return json.loads(self.ok(*arguments, "--json"))

    def begin_effort(self, task: str, skill: str) -> None:
        """An effort that no session works on yet, as a program would start it."""
        params = {"task_id": str(self.cwd / task), "skill": skill}
        self.ok("rpc", "call", "db.effort.start", json.dumps(params))
