"""`ramet` as a person calls it, in a project whose agent is a program of ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROFILE = "bench"
_RAMET = str(Path(sys.executable).parent / "ramet")
_TIMEOUT_SECONDS = 1800


def make_project(folder: Path, program: list[str]) -> Path:
    """A project in a folder, with a profile of the driver `command` for the program."""
    project = folder / "project"
    project.mkdir()
    profiles = {PROFILE: {"driver": "command", "program": program}}
    (project / "ramet.yaml").write_text(json.dumps({"drivers": {"profiles": profiles}}))
    return project


def ramet(home: Path, project: Path, *arguments: str) -> None:
    """A command that has to succeed."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "RAMET_HOME": str(home)}
    done = subprocess.run(
        [_RAMET, *arguments],
        cwd=project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
