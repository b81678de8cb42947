"""What the programs refuse to their agents, in the same words for all: the tool, the call, the rules."""

import json
from typing import Any

import pytest

from ramet.config.settings import ProfileSettings
from ramet.model.work.stream import Refusal, Remark
from ramet.vendors import registry
from ramet.vendors.contract.driver_protocol import Reader


def reader(name: str) -> Reader:
    return registry.find_driver(name).reader(ProfileSettings())


def refusals(reader: Reader, *lines: dict[str, Any]) -> list[Refusal]:
    events = [event for line in lines for event in reader.read(json.dumps(line))]
    return [event for event in events if isinstance(event, Refusal)]


def used(tool: str, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "t1", "name": tool, "input": given}
    return {"type": "assistant", "message": {"id": "m1", "model": "m", "content": [block]}}


def denied(tool: str, kind: str = "other") -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "permission_denied",
        "tool_name": tool,
        "tool_use_id": "t1",
        "decision_reason_type": kind,
        "message": "This command requires approval",
    }


@pytest.mark.requirement("R358")
@pytest.mark.parametrize(
    ("tool", "given", "rules"),
    [
        ("Bash", {"command": "npm test"}, ["run: npm test"]),
        ("Bash", {"command": "npm ci && npm test"}, ["run: npm ci", "run: npm test"]),
        ("Bash", {"command": "echo $(id)"}, []),
        ("Write", {"file_path": "/etc/x", "content": "y"}, ["edit: /etc/x"]),
        ("NotebookEdit", {"notebook_path": "/etc/x.ipynb"}, ["edit: /etc/x.ipynb"]),
        ("Read", {"file_path": "/etc/hostname"}, ["read: /etc/hostname"]),
        ("Grep", {"path": "/etc", "pattern": "x"}, ["read: /etc"]),
        ("WebFetch", {"url": "https://docs.python.org/3/"}, ["fetch: docs.python.org"]),
        ("mcp__notes__add", {"text": "x"}, ["tool: mcp__notes__add"]),
        ("Bash", {"command": 7}, ["tool: Bash"]),
    ],
)
def test_claude_code_says_which_call_it_refused(tool: str, given: dict[str, Any], rules: list[str]) -> None:
    (found,) = refusals(reader("claude"), used(tool, **given), denied(tool))
    assert (found.subject, found.name, found.key, found.rules) == ("tool", tool, "t1", rules)
    if not rules:
        assert found.rule == "no rule can allow it: it has a substitution or a variable"


def test_the_denials_of_a_result_are_the_same_calls_again() -> None:
    denial = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "npm test"}}
    result = {"type": "result", "is_error": False, "result": "done", "permission_denials": [denial]}
    early, late = refusals(reader("claude"), used("Bash", command="npm test"), denied("Bash"), result)
    assert early == late
    assert refusals(reader("claude"), result) == [late]


def test_a_call_that_a_hook_refused_is_no_question_of_rules() -> None:
    denial = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "npm test"}}
    result = {"type": "result", "is_error": False, "result": "done", "permission_denials": [denial]}
    assert refusals(reader("claude"), used("Bash", command="npm test"), denied("Bash", "hook"), result) == []


def _rejected(why: str) -> str:
    return f'exec_command failed: CreateProcess {{ message: "Rejected(\\"{why}\\")" }}'


_LOG = "2026-11-18T02:12:05.869713Z ERROR codex_core::tools::router: error="


@pytest.mark.requirement("R358")
@pytest.mark.parametrize(
    ("error", "tool", "rules"),
    [
        (
            _rejected("`/bin/bash -lc 'git push'` rejected: no"),
            "exec_command",
            ["run: git push"],
        ),
        ("approval policy is Never; reject command — you cannot ask", "exec_command", []),
        (
            _rejected("approval required by policy, but AskForApproval is set to Never"),
            "exec_command",
            [],
        ),
        ("patch rejected: writing outside of the project; rejected by user approval settings", "apply_patch", []),
    ],
)
def test_codex_logs_which_call_it_refused(error: str, tool: str, rules: list[str]) -> None:
    remark, found = reader("codex").read_error(f"{_LOG}{error}")
    assert remark == Remark(text=f"{_LOG}{error}")
    assert isinstance(found, Refusal)
    assert (found.name, found.key, found.rules) == (tool, "2026-11-18T02:12:05.869713Z", rules)


@pytest.mark.parametrize("line", ["a warning", f"{_LOG}apply_patch verification failed: no such line", ""])
def test_other_lines_of_the_log_are_remarks(line: str) -> None:
    assert reader("codex").read_error(line) == [Remark(text=line)]


@pytest.mark.requirement("R358")
@pytest.mark.parametrize(
    ("item", "rules"),
    [
        (
            {"type": "command_execution", "command": "touch /x/y", "status": "failed", "exit_code": 1}
            | {"aggregated_output": "touch: cannot touch '/x/y': Read-only file system\n"},
            ["edit: /x/y"],
        ),
        (
            {"type": "command_execution", "command": "echo a > /x/y", "status": "failed", "exit_code": 2}
            | {"aggregated_output": "bash: line 1: /x/y: Read-only file system\n"},
            ["edit: /x/y"],
        ),
        (
            {"type": "mcp_tool_call", "server": "notes", "tool": "add", "status": "failed"}
            | {"error": {"message": "MCP tool call requires approval, but approval policy is never"}},
            ["tool: mcp__notes__add"],
        ),
        (
            {"type": "command_execution", "command": "/bin/bash -lc 'npm test'", "status": "declined"},
            ["run: npm test"],
        ),
    ],
)
def test_what_codex_and_its_sandbox_stop_is_a_refused_call(item: dict[str, Any], rules: list[str]) -> None:
    (found,) = refusals(reader("codex"), {"type": "item.completed", "item": {"id": "item_1", **item}})
    assert (found.key, found.rules) == ("item_1", rules)


def test_a_command_that_only_fails_is_no_refused_call() -> None:
    item = {"id": "i", "type": "command_execution", "command": "false", "status": "failed", "aggregated_output": "no"}
    assert refusals(reader("codex"), {"type": "item.completed", "item": item}) == []
