"""What a payload holds, taken as what it should be: whatever a program sends, and whichever version it is.

A field of another type than it should have is as if it were not there. What is no JSON, because it was cut short,
still says what it is about: the fields that vendors write first are looked for in its beginning.
"""

import json
import re
from posixpath import normpath
from typing import Any

import msgspec

_HEAD_CHARACTERS = 4096
_FIELD = re.compile(
    r'(?<!\\)"(session_id|transcript_path|cwd|hook_event_name|prompt_id|turn_id|agent_id|agent_type|source|trigger'
    r'|tool_name)"\s*:\s*"((?:[^"\\]|\\.)*)"'
)
_NAME_CHARACTERS = 200
_PATH_CHARACTERS = 4096
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def parse(payload: Any) -> dict[str, Any]:
    """The payload as an object; as much of it as can be read."""
    if not isinstance(payload, str):
        return payload if isinstance(payload, dict) else {}
    try:
        parsed = _parse_text(payload)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _salvage(payload)
    return parsed if isinstance(parsed, dict) else {}


def _parse_text(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        # JavaScript writes half of a surrogate pair where a text was cut in the middle of a character.
        return msgspec.json.decode(json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace"))


def _salvage(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for match in _FIELD.finditer(text[:_HEAD_CHARACTERS]):
        try:
            found.setdefault(match[1], json.loads(f'"{match[2]}"'))
        except ValueError:
            continue
    return found


def text(payload: dict[str, Any], field: str) -> str | None:
    """A text of any length."""
    value = payload.get(field)
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value) if isinstance(value, str) else None


def name(payload: dict[str, Any], field: str) -> str | None:
    """A short text in one line, such as an id or the name of a tool."""
    value = payload.get(field)
    return value if isinstance(value, str) and _is_line(value, _NAME_CHARACTERS) else None


def path(payload: dict[str, Any], field: str) -> str | None:
    """An absolute path."""
    value = payload.get(field)
    if not isinstance(value, str) or not value.startswith("/") or not _is_line(value, _PATH_CHARACTERS):
        return None
    return "/" + normpath(value).lstrip("/")


def file(payload: dict[str, Any], field: str) -> str | None:
    """The absolute path of a file, which has a name."""
    found = path(payload, field)
    return None if found == "/" else found


def number(payload: Any, field: str) -> float | None:
    """A number that is not negative, of what may be an object."""
    value = payload.get(field) if isinstance(payload, dict) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _is_line(value: str, longest: int) -> bool:
    return 0 < len(value) <= longest and not _CONTROL.search(value)
