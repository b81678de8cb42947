"""Values of TOML, for Codex's `-c NAME=VALUE`."""

import json


def toml(value: str | list[str]) -> str:
    """As TOML writes strings and lists of them: like JSON, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
