"""What a tool was given and what it returned, read for search: the command line, the files, how it ended, what it said.

Programs name their tools and fields differently, so this goes by the names that they have in common and leaves out
what it does not recognise.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.memory.search.hit import Kind

_COMMANDS = ("command", "cmd", "script")
_PATHS = ("file_path", "path", "filePath", "notebook_path", "target_file", "filename", "absolute_path", "relative_path")
_NEW_TEXTS = ("new_string", "content", "new_str", "newString", "new_source", "patch", "input", "diff")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\+\+\+ b/(.+)$", re.MULTILINE)
_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|exit_code\"?|returned)[:= ]+(-?\d{1,3})\b", re.IGNORECASE
)
_ERROR_LINE = re.compile(
    r"error|exception|\b(?:panic(?:ked)?|fatal|failed|failure|not found|no such|denied|undefined|cannot|refused)",
    re.IGNORECASE,
)
_RAISED = re.compile(r"^(?:E\s+)?(?:\w+\.)*(?:\w*(?:Error|Exception|Warning|Interrupt)|SystemExit)\b")
_TEST_MARK = re.compile(r"^E\s+")
_VARYING = (
    (re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b"), "H"),
    (re.compile(r"(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+[\w.@+-]*"), "P"),
    (re.compile(r"\d+"), "N"),
    (re.compile(r"\s+"), " "),
)
_LONGEST_LINE = 400
_MOST_PATHS = 50
_HEAD = _TAIL = 3000
"""How much of the beginning and of the end of a long output is indexed, in characters."""


class ToolCall(Struct, frozen=True, kw_only=True):
    """What a tool was given."""

    kind: Kind
    text: str
    """What is indexed of it."""
    command: str | None = None
    cwd: str | None = None
    paths: list[str] = []


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """What a tool returned."""

    kind: Kind
    text: str
    is_error: bool
    exit_status: int | None
    error_line: str | None
    """The first line that says what went wrong."""
    signature: str | None
    """The same without what differs from one time to the next."""


def read_call(tool: str, given: str) -> ToolCall:
    """A call, by its arguments as JSON."""
    fields = _decode(given)
    command = next((line for name in _COMMANDS if (line := _line(fields.get(name)))), None)
    cwd = next((value for name in ("cwd", "workdir") if isinstance(value := fields.get(name), str)), None)
    texts = [value for name in _NEW_TEXTS if isinstance(value := fields.get(name), str)]
    paths = [value for name in _PATHS if isinstance(value := fields.get(name), str) and value]
    patched = [a or b for text in (*texts, command or "") for a, b in _PATCHED.findall(text)]
    paths = list(dict.fromkeys([*paths, *patched]))[:_MOST_PATHS]
    if command is not None and not patched:
        return ToolCall(kind="command", text=_bounded(command), command=command, cwd=cwd, paths=paths)
    if paths and (texts or patched or "old_string" in fields):
        return ToolCall(kind="edit", text=_bounded("\n".join([*paths, *texts])), paths=paths)
    if paths:
        return ToolCall(kind="path", text="\n".join(paths), paths=paths)
    return ToolCall(kind="command", text=_bounded(f"{tool} {given}"))


def read_outcome(text: str, status: str | None) -> ToolOutcome:
    """A result."""
    exit_status = find_exit_status(text)
    is_error = status == "error" or (exit_status is not None and exit_status != 0)
    line = find_error_line(text) if is_error else None
    return ToolOutcome(
        kind="error" if is_error else "output",
        text=_bounded(text),
        is_error=is_error,
        exit_status=exit_status,
        error_line=line,
        signature=None if line is None else sign(line),
    )


def find_exit_status(text: str) -> int | None:
    """The status that a result names at its beginning or its end."""
    for part in (text[:300], text[-200:]):
        if found := _EXIT.search(part):
            return int(found[1])
    return None


def find_error_line(text: str) -> str | None:
    """The line that names the error: what was raised in the end, or else the first line that speaks of one."""
    lines = [line.strip() for line in text[:200_000].splitlines() if line.strip()]
    raised = next((line for line in reversed(lines) if _RAISED.match(line)), None)
    said = (line for line in lines if _ERROR_LINE.search(line) and not line.startswith("Traceback"))
    found = raised or next((line for line in said if not _EXIT.fullmatch(line)), None) or (lines[-1] if lines else None)
    return None if found is None else _TEST_MARK.sub("", found)[:_LONGEST_LINE]


def sign(line: str) -> str:
    """An error's signature: its line without paths, numbers and addresses."""
    for varying, letter in _VARYING:
        line = varying.sub(letter, line)
    return line.strip().lower()[:_LONGEST_LINE]


def is_error_like(text: str) -> bool:
    """Whether a text looks like what a program prints when it fails."""
    return bool(_RAISED.search(text) or (_ERROR_LINE.search(text) and re.search(r"[:'\"(\[]", text)))


def _decode(given: str) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(given)
    except (msgspec.DecodeError, ValueError):
        return {"patch": given} if given.startswith("*** ") else {}
    return fields if isinstance(fields, dict) else {}


def _line(value: Any) -> str | None:
    """A command as one line: a shell's argument, or the words of an argument list."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        is_shell = len(value) > 2 and value[-2] in ("-c", "-lc", "-ic")
        return value[-1] if is_shell else " ".join(value)
    return value.strip() if isinstance(value, str) and value.strip() else None


def _bounded(text: str) -> str:
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n…\n{text[-_TAIL:]}"


def command_start(command: str) -> str | None:
    """The program and its first argument, with a blank behind: what a command has in common with other forms of it.
    None if the first argument is an option, which says nothing of what it does.
    """
    words = command.split()
    if len(words) < 2 or words[1].startswith("-") or not command.startswith(f"{words[0]} {words[1]}"):
        return None
    return f"{words[0]} {words[1]} "
