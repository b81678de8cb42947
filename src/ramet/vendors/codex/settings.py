"""Codex's settings files: `.codex/hooks.json` has the hooks, `config.toml` beside it says whether they run.

Codex knows a hook by its file, its position in it and its hash, and runs it only if a person has said once that they
trust it.
"""

import re
from pathlib import Path
from typing import Any

from ramet.errors import ConfigError
from ramet.installer import scoped_files, toml_block
from ramet.vendors.codex.hooks import HOOKS
from ramet.vendors.contract.hooks.settings import MARK, START, Position, Program

_ADVICE = 'codex runs new hooks only when you trust them: start it once, and choose "Trust all and continue"'


def _find_switch(file: Path, scope: Path) -> str | None:
    config = _config(file)
    is_off = _table(_read_toml(config, scope), "features").get("hooks") is False
    return f"features.hooks is false in {config}" if is_off else None


def _find_advice(own: Path, file: Path, positions: list[Position]) -> str | None:
    """The user's own configuration records which hooks are trusted, those of projects too."""
    trusted = _table(_table(_read_toml(_config(own), Path(own.anchor)), "hooks"), "state")
    keys = [f"{file}:{_snake(event)}:{place}:{index}" for event, place, index in positions]
    return None if all("trusted_hash" in _table(trusted, key) for key in keys) else _ADVICE


def _config(file: Path) -> Path:
    return file.with_name("config.toml")


def _read_toml(file: Path, scope: Path) -> dict[str, Any]:
    """The configuration; nothing if it cannot be understood, which the program will tell."""
    try:
        return toml_block.parse(scoped_files.read(file, scope) or "")
    except ConfigError:
        return {}


def _table(around: dict[str, Any], name: str) -> dict[str, Any]:
    found = around.get(name)
    return found if isinstance(found, dict) else {}


def _snake(event: str) -> str:
    """`PreToolUse` as `pre_tool_use`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


SETTINGS = Program(
    "codex",
    folder=".codex",
    folder_variable="CODEX_HOME",
    file="hooks.json",
    # Codex starts it with the user's own shell, which may be one that does not understand this.
    command=f"/bin/sh -c '{START} codex {MARK}'",
    events=HOOKS.events,
    find_switch=_find_switch,
    find_advice=_find_advice,
    shares_worktrees=True,
    reads_above=True,
)
