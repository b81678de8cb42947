"""Claude Code's settings files: `.claude/settings.json`, with our hooks and our status line."""

from pathlib import Path

from ramet.installer import json_text, scoped_files
from ramet.vendors.claude.hooks import HOOKS
from ramet.vendors.contract.hooks.settings import MARK, START, Program

_COMMAND = f"{START} claude {MARK}"


def _find_switch(file: Path, scope: Path) -> str | None:
    is_off = json_text.parse(scoped_files.read(file, scope) or "{}").get("disableAllHooks") is True
    return "disableAllHooks is true" if is_off else None


SETTINGS = Program(
    "claude",
    folder=".claude",
    folder_variable="CLAUDE_CONFIG_DIR",
    file="settings.json",
    command=_COMMAND,
    events=HOOKS.events,
    find_switch=_find_switch,
    local_file="settings.local.json",
    shows_command=True,
    status_line={"type": "command", "command": _COMMAND, "padding": 0},
)
