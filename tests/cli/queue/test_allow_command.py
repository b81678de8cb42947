"""Refused calls as people see them, and `ramet allow`: with a program that says what Claude Code says."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.command_line import CommandLine

PROGRAM = """\
import json, sys
arguments, prompt = sys.argv[1:], sys.stdin.read()
native = arguments[max(arguments.index(word) for word in ("--session-id", "--resume") if word in arguments) + 1]
allowed = arguments[arguments.index("--allowedTools") + 1] if "--allowedTools" in arguments else ""
print(json.dumps({"type": "system", "subtype": "init", "session_id": native}))
denials = []
for number, command in enumerate(("npm test", "npm run lint $(id)")):
    if f"Bash({command})" not in allowed:
        block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        print(json.dumps({"type": "assistant", "message": {"id": f"m{number}", "model": "m", "content": [block]}}))
        told = {"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "tool_use_id": f"t{number}"}
        print(json.dumps(told))
        denials.append({"tool_name": "Bash", "tool_use_id": f"t{number}", "tool_input": {"command": command}})
result = {"type": "result", "subtype": "success", "is_error": False, "result": f"{prompt[:200]} in {native}"}
print(json.dumps({**result, "permission_denials": denials}))
"""


@pytest.fixture
def refused(shop: CommandLine) -> CommandLine:
    """A finished effort to whose agent two calls were refused."""
    program = shop.home / "agent.py"
    program.write_text(PROGRAM, encoding="utf-8")
    profile = {"program": [sys.executable, str(program)]}
    shop.configure(f"# mine\ndrivers: {json.dumps({'default': 'claude', 'profiles': {'claude': profile}})}\n")
    shop.ok("add", "test it")
    shop.ok("work", "--once")
    return shop


def user_file(shop: CommandLine) -> Path:
    return Path(shop.environ["HOME"], ".config/ramet/config.yaml")


def refusal(shop: CommandLine, *arguments: str, **environ: str) -> Any:
    done = shop(*arguments, environ=environ)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.requirement("R358")
def test_refused_calls_are_counted_in_show_the_report_and_their_json_and_told_once(refused: CommandLine) -> None:
    shown = refused.ok("show", "e1")
    assert "refused calls: 2" in shown
    assert "Bash npm test: `ramet allow e1 'run: npm test'`" in shown
    assert "Bash npm run lint $(id): no rule can allow it: it has a substitution or a variable" in shown
    assert refused.json("show", "e1")["refused"] == 2
    report = refused("report", "show", "e1")
    assert report.stderr == "2 calls refused: `ramet allow e1` lists them\n"
    assert refused.json("report", "show", "e1")["refused"] == 2
    (notice,) = refused.json("notices")["items"]
    assert "2 calls were refused; to allow: `ramet allow e1 'run: npm test'`" in notice["text"]


@pytest.mark.requirement("R452")
def test_allow_lists_what_was_refused_with_the_rules(refused: CommandLine) -> None:
    listed = refused.ok("allow", "e1")
    assert listed.splitlines()[0] == "2 calls of e1 refused:"
    assert "`ramet allow e1 'run: npm test'`" in listed
    assert [call["rules"] for call in refused.json("allow", "e1")["refused_calls"]] == [["run: npm test"], []]


@pytest.mark.requirement("R452")
def test_allow_adds_the_rule_for_this_project_to_the_owners_file_and_resumes_in_the_same_context_window(
    refused: CommandLine,
) -> None:
    (before,) = refused.json("show", "e1")["sessions"]
    said = refused.ok("allow", "e1", "run: npm test")
    assert "run: npm test" in said
    assert "1 refused call would still be refused" in said
    assert "e1 is queued and continues where it was" in said
    text = user_file(refused).read_text(encoding="utf-8")
    assert text.startswith("# mine\ndrivers:")
    rules = yaml.safe_load(text)["permissions"]["projects"]
    assert rules == {str(refused.cwd): {"allow": ["run: npm test"]}}
    assert not (refused.cwd / "ramet.yaml").exists()
    refused.ok("work", "--once")
    effort = refused.json("show", "e1")
    assert effort["attempts"] == 2
    assert effort["output_content"].endswith(f"in {before['native_id']}")
    assert "these are allowed now: run: npm test" in effort["output_content"]
    assert {call["call"] for call in effort["refused_calls"][2:]} <= {"npm run lint $(id)"}


@pytest.mark.requirement("R452")
def test_no_agent_can_allow_anything(refused: CommandLine) -> None:
    before = user_file(refused).read_text(encoding="utf-8")
    for environ in ({"RAMET_TOKEN": "x"}, {"RAMET_SESSION": "1"}):
        assert "error:" in refusal(refused, "allow", "e1", "run: npm test", **environ)
    assert user_file(refused).read_text(encoding="utf-8") == before
    assert refused.json("show", "e1")["lifecycle"] == "finished"


def test_a_faulty_rule_changes_nothing_and_is_answered_with_the_grammar(refused: CommandLine) -> None:
    before = user_file(refused).read_text(encoding="utf-8")
    done = refused("allow", "e1", "run: npm test", "npm test")
    assert done.returncode == 2
    assert "error: 'npm test' is not a rule" in done.stderr
    assert "did you mean 'run: npm test'? a rule is run: COMMAND, edit: PATH" in done.stderr
    assert user_file(refused).read_text(encoding="utf-8") == before
    assert "there is no effort 7" in refusal(refused, "allow", "e7", "run: npm test")


def test_a_rule_can_be_added_without_resuming(refused: CommandLine) -> None:
    added = refused.json("allow", "e1", "run: npm test", "--no-resume")
    assert (added["rules"], added["resumed"]) == (["run: npm test"], False)
    assert refused.json("show", "e1")["lifecycle"] == "finished"


@pytest.mark.requirement("R452")
def test_doctor_says_what_the_policy_refuses_and_which_rules_a_program_cannot_be_told(refused: CommandLine) -> None:
    with user_file(refused).open("a", encoding="utf-8") as file:
        file.write("checks: {test: make test}\npermissions: {deny: ['run: rm *x y', 'run: git push *']}\n")
    found = [each for each in refused.json("doctor")["items"] if each["name"] == "policy"]
    (told,) = [each["detail"] for each in found if each["detail"].startswith("claude refuses")]
    assert "commands that change something, other than git add *" in told
    assert "make test" in told
    assert "run: git push * (denied)" in told
    (lost,) = [each for each in found if each["result"] == "warn" and each["detail"].startswith("claude")]
    assert lost["detail"].startswith("claude does not refuse run: rm *x y although you deny it")


@pytest.mark.requirement("R358")
def test_ps_says_how_many_calls_of_a_running_agent_were_refused(shop: CommandLine) -> None:
    def call(name: str, **params: Any) -> Any:
        return json.loads(shop.ok("rpc", "call", name, json.dumps(params)))

    shop.ok("add", "test it")
    claimed = call("work.claim", worker="host/1", effort_id=1)
    begun = {"driver": "claude", "agent_id": "host/1", "instance": "keeper01", "prompt": "test it"}
    attempt = call("work.begin", effort_id=1, generation=claimed["generation"], **begun)
    refusal = {"kind": "refusal", "subject": "tool", "name": "Bash", "key": "t1", "call": "x", "rule": "", "rules": []}
    events = [refusal, {**refusal, "key": "t2"}]
    call("work.report", session_id=attempt["session"]["id"], instance="keeper01", seq=1, events=events)
    assert "2 refused; " in shop.ok("ps")
    assert shop.json("ps")["items"][0]["refused"] == 2
