"""Claude Code's files. Sessions are in `projects/`, in one folder for each directory.

`~/.claude.json` is not among them: it lists every project of the user, with the keys of its MCP servers. Without it the
program starts as if it were new, which changes nothing for a run without a terminal.
"""

import re
from pathlib import Path

from ramet.vendors.contract.vendor_state import Sessions, State, StateFile

_LONGEST = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def folder_name(directory: str) -> str:
    """The program's name for a directory."""
    name = re.sub(r"[^a-zA-Z0-9]", "-", directory)
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}-{_digest(directory)}"


def _digest(text: str) -> str:
    """What the program tells two long names apart by: a 32-bit hash of the UTF-16 units, in base 36."""
    units = text.encode("utf-16-le")
    value = 0
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = (value * 31 + (high << 8 | low)) & 0xFFFFFFFF
    number = abs(value - 0x100000000 if value & 0x80000000 else value)
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits


def _find_sessions(_folder: Path, directory: str, _native_id: str | None) -> Sessions:
    path = f"projects/{folder_name(directory)}"
    return Sessions(path, path)


STATE = State(
    name="claude",
    folder=".claude",
    folder_variable="CLAUDE_CONFIG_DIR",
    files=(
        StateFile(".credentials.json", is_writable=True, holds_credentials=True),
        StateFile("settings.json"),
        StateFile("CLAUDE.md"),
        StateFile("agents"),
        StateFile("commands"),
        StateFile("rules"),
        StateFile("skills"),
    ),
    find_sessions=_find_sessions,
    hosts=("api.anthropic.com", "platform.claude.com"),
    address_variables=("ANTHROPIC_BASE_URL",),
)
