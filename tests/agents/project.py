"""A repository in which the real agent CLIs work, asking the scripted model."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.agents.stage import PACKAGES, Stage
from tests.cli.command_line import CommandLine


class Project(CommandLine):
    """A repository whose agents ask the scripted model."""

    def __init__(self, stage: Stage, **profile_settings: Any) -> None:
        super().__init__(stage.folder, stage.folder / "repository")
        self.stage = stage
        self.environ["GIT_CONFIG_GLOBAL"] = "/dev/null"
        profile = {
            "wrapper": stage.model.wrapper,
            "environment": stage.environment("gpt-5.5"),
            **profile_settings,
        }
        configuration = {
            "drivers": {"default": stage.driver.name, "profiles": dict.fromkeys(PACKAGES, profile)},
            "work": {"backoff_seconds": 0},
        }
        config = Path(self.environ["HOME"]) / ".config" / "ramet" / "config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps(configuration), encoding="utf-8")

    def effort(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.json("show", "e1")
        return shown

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.cwd), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
