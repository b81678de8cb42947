"""The agent programs that npm has, as a person runs them: Gemini CLI and opencode, against the scripted model."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.agents.stage import Model

PATIENCE_SECONDS = 120
_MODULES = Path(sys.prefix) / "npm" / "node_modules"
PROGRAMS = {
    "gemini": _MODULES / ".bin" / "gemini",
    "opencode": _MODULES / "opencode-linux-x64" / "bin" / "opencode",
}
"""Where `make test-agents` installs them."""


def missing() -> list[str]:
    """The programs that are not installed, or cannot run here."""
    return [name for name, program in PROGRAMS.items() if not os.access(program, os.X_OK)]


class NpmAgent:
    """One of the programs in a home of its own, which can reach nothing but the model."""

    def __init__(self, name: str, folder: Path, model: Model, tree: Path) -> None:
        self._program = str(PROGRAMS[name])
        self._model = model
        self._tree = tree
        home = folder / "home"
        scratch = folder / "scratch"
        for path in (home, scratch):
            path.mkdir(exist_ok=True)
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(scratch),
            **(_set_up_gemini(home, model) if name == "gemini" else _set_up_opencode(home, model)),
        }

    def run(self, *arguments: str) -> str:
        """What it prints; it has to succeed."""
        command = [*self._model.wrapper, self._program, *arguments]
        done = subprocess.run(
            command,
            env=self._environment,
            cwd=self._tree,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _set_up_gemini(home: Path, model: Model) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        "model": {"name": "gemini-2.5-pro"},
    }
    _write(home / ".gemini" / "settings.json", settings)
    return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": model.address}


def _set_up_opencode(home: Path, model: Model) -> dict[str, str]:
    limits = {"tool_call": True, "cost": {"input": 3, "output": 15}, "limit": {"context": 128_000, "output": 8192}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model.address}/v1", "apiKey": "dummy"},
        "models": {"scripted": limits},
    }
    settings = {
        "provider": {"scripted": provider},
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "autoupdate": False,
        "share": "disabled",
    }
    _write(home / ".config" / "opencode" / "opencode.json", settings)
    return {f"OPENCODE_DISABLE_{name}": "1" for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}
