"""Codex's refusals. Most are lines of its log on standard error; a command that its sandbox stopped only fails, and of
one that failed at once its stream may say nothing: its thread's rollout does.
"""

import re
import shlex
from typing import Any

from ramet.model.work.permission_rule import Call
from ramet.model.work.stream import Refusal
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.refusals import refusal

_LOG = re.compile(r"(\S+) +ERROR codex_core::tools::router: error=(.*)", re.DOTALL)
_COMMAND = re.compile(r"Rejected\(\\?\"`(.*?)` rejected: ", re.DOTALL)
_PATCH = re.compile(r"patch rejected: (?!by user$)")
_APPROVAL = re.compile(r"AskForApproval is set to Never|approval policy is Never")
_UNAPPROVED = re.compile(r"requires approval|approval policy")
_READ_ONLY = re.compile(r"(?:'([^'\n]+)'|([^\s:'\"]+)): Read-only file system")


def read_log(line: str) -> Refusal | None:
    """The refusal that a line of the log tells of."""
    found = _LOG.match(line)
    if found is None:
        return None
    at, error = found[1], found[2]
    if command := _COMMAND.search(error):
        return refusal("exec_command", at, Call("run", _inner(command[1])))
    if _APPROVAL.search(error):
        return Refusal(subject="tool", name="exec_command", key=at, rule="Codex does not say which command it was")
    if _PATCH.search(error):
        return Refusal(
            subject="tool", name="apply_patch", key=at, rule="allow edit: PATH for files outside the project"
        )
    return None


def read_item(name: str, item: dict[str, Any], output: str) -> Refusal | None:
    """The refusal that a failed item tells of."""
    key = json_lines.text(item, "id")
    if item.get("type") == "mcp_tool_call":
        tool = f"mcp__{json_lines.text(item, 'server')}__{json_lines.text(item, 'tool')}"
        return refusal(tool, key, Call("tool", tool)) if _UNAPPROVED.search(output) else None
    if item.get("status") == "declined":
        command = json_lines.text(item, "command")
        return refusal(name, key, Call("run", _inner(command)) if command else Call("tool", name))
    return read_output(name, key, output)


def read_output(name: str, key: str, output: str) -> Refusal | None:
    """The refusal that the output of a failed command tells of."""
    path = _READ_ONLY.search(output)
    return None if path is None else refusal(name, key, Call("edit", path[1] or path[2]))


def _inner(command: str) -> str:
    """The command that Codex's shell is given: `/bin/bash -lc 'git push'` is `git push`."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else command
