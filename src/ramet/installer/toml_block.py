"""A block at the end of another program's TOML file, between two marks: what is around it keeps every byte.

It includes the line end in front of it, so that it can follow a last line that has none, and be removed exactly.
"""

import re
import tomllib
from typing import Any

from ramet.errors import ConfigError

_BEGIN = "# >>> ramet mcp install; `ramet mcp remove` takes this block away"
_WITH_FILE = f"{_BEGIN}, and the file with it"
_END = "# <<< ramet mcp install"
_BLOCK = re.compile(
    rf"(?P<file>{re.escape(_WITH_FILE)}\n|\n{re.escape(_BEGIN)}\n)(?P<body>.*?){re.escape(_END)}\n", re.DOTALL
)


def find(text: str) -> str | None:
    """What is in our block."""
    found = _BLOCK.search(text)
    return found["body"] if found else None


def read(text: str) -> dict[str, Any]:
    """What the file says without our block."""
    try:
        return tomllib.loads(_BLOCK.sub("", text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is not TOML: {error}", fix="fix the file first") from error


def install(text: str | None, body: str) -> str:
    """The file with our block, which must not be in it yet."""
    if text is None:
        return f"{_WITH_FILE}\n{body}{_END}\n"
    installed = f"{text}\n{_BEGIN}\n{body}{_END}\n"
    try:
        tomllib.loads(installed)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"Ramet's table cannot be added: {error}", fix="write mcp_servers as [mcp_servers.NAME] tables"
        ) from error
    return installed


def remove(text: str) -> str | None:
    """The file as it was without our block; None if it would not exist at all."""
    found = _BLOCK.search(text)
    rest = _BLOCK.sub("", text)
    return None if found and not found["file"].startswith("\n") and not rest else rest
