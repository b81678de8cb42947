"""The real CLIs, each driven as a keeper drives it, against the scripted model."""

import json
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.agents.scripted_model import CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS
from tests.agents.scripts import RESETS_AT, SCRIPTS
from tests.agents.stage import Stage, a_stage

from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Note,
    Prompt,
    Reasoning,
    SubAgent,
    Text,
    ToolCall,
    ToolResult,
)

pytestmark = [pytest.mark.agents, pytest.mark.requirement("R312")]

SESSION = "2f6c1d4e-8a3b-4c5d-9e7f-0a1b2c3d4e5f"


def _last_request(stage: Stage) -> str:
    return json.dumps(stage.model.requests()[-1]["body"])


def _is_at_second_step(stage: Stage) -> bool:
    """It has asked again, and both the command and its output are in its transcript."""
    return any(request["step"] == 1 for request in stage.model.requests()) and stage.has_kept("begun", times=2)


def _git(stage: Stage, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", stage.directory, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


# Claude Code.


def test_claude_answers_a_prompt_under_the_session_id_that_we_chose(claude: Stage) -> None:
    run = claude.run("Which colour? [[answer]]", native_id=SESSION)
    assert run.all_of(NativeId) == [NativeId(native_id=SESSION)]
    assert run.all_of(Text) == [Text(text="It is blue.")]
    assert run.all_of(Reasoning) == [Reasoning(text="They want a colour.")]
    assert (run.end.outcome, run.end.answer, run.exit.status) == ("success", "It is blue.", 0)
    assert "Which colour?" in _last_request(claude)


def test_claude_uses_tools_and_writes_a_file_in_its_worktree(claude: Stage) -> None:
    run = claude.run("[[tools]]", native_id=SESSION)
    assert [call.name for call in run.all_of(ToolCall)] == ["Bash", "Write"]
    assert [(result.name, result.is_error) for result in run.all_of(ToolResult)] == [("Bash", False), ("Write", False)]
    assert run.all_of(ToolResult)[0].output == "hi"
    assert _git(claude, "status", "--porcelain") == "?? note.txt\n"
    assert (claude.directory / "note.txt").read_text() == "blue\n"


def test_claude_takes_a_prompt_that_no_command_line_could_hold(claude: Stage) -> None:
    run = claude.run("x" * 300_000 + " [[answer]]", native_id=SESSION)
    assert run.end.answer == "It is blue."


def test_claude_resumes_its_session_and_counts_only_what_is_new(claude: Stage) -> None:
    first = claude.run("[[tools]]", native_id=SESSION)
    second = claude.run("[[again]]", native_id=SESSION, resumes=True)
    assert first.native_id == second.native_id == SESSION
    assert "It is written." in _last_request(claude)
    assert second.end.answer == "As I said, blue."
    spent = {**first.usage, **second.usage}
    assert sum(used.input_tokens for used in spent.values()) == 4 * INPUT_TOKENS
    assert sum(used.output_tokens for used in spent.values()) == 4 * OUTPUT_TOKENS
    assert sum(used.cache_read_tokens for used in spent.values()) == 4 * CACHED_TOKENS
    assert all((used.cost_usd or 0) > 0 for used in spent.values())


def test_claude_forks_a_session_into_one_with_another_id(claude: Stage) -> None:
    claude.run("[[answer]]", native_id=SESSION)
    forked = claude.run("[[again]]", native_id=SESSION, forks=True)
    assert forked.native_id != SESSION
    assert "It is blue." in _last_request(claude)
    assert [used.input_tokens for used in forked.usage.values()] == [INPUT_TOKENS]


def test_claude_is_heard_to_the_end_when_a_sub_agent_ends_later(claude: Stage) -> None:
    run = claude.run("[[agents]]", native_id=SESSION)
    assert sum('"type":"result"' in line for line in run.lines) == 2
    assert run.end.answer == "The other one found two files."
    assert [call.name for call in run.all_of(ToolCall)] == ["Agent"]
    told = [event.said for event in run.all_of(SubAgent)]
    assert told[0] == Prompt(text="Look. [[sub]]")
    assert Text(text="There are two files.") in told
    assert isinstance(told[-1], End)
    (used,) = run.usage.values()
    assert used.input_tokens == 5 * INPUT_TOKENS


def test_claude_that_was_killed_goes_on_where_it_was(claude: Stage) -> None:
    killed = claude.run("[[hold]]", native_id=SESSION, kill_when=lambda: _is_at_second_step(claude))
    assert (killed.end.failure, killed.exit.signal) == ("unknown", 9)
    assert [used.input_tokens for used in killed.usage.values()] == [INPUT_TOKENS]
    resumed = claude.run("[[again]]", native_id=SESSION, resumes=True)
    assert resumed.native_id == SESSION
    assert "begun" in _last_request(claude)
    assert [used.input_tokens for used in resumed.usage.values()] == [INPUT_TOKENS]
    assert resumed.end.outcome == "success"


@pytest.mark.parametrize(
    ("prompt", "failure"), [("[[overloaded]]", "transient"), ("[[wrong]]", "permanent"), ("[[key]]", "limit")]
)
def test_claude_tells_errors_apart(claude: Stage, prompt: str, failure: str) -> None:
    run = claude.run(prompt, native_id=SESSION)
    assert (run.end.outcome, run.end.failure, run.exit.status) == ("error", failure, 1)
    assert run.end.reason
    assert run.all_of(Text) == []


def test_claude_says_when_a_usage_limit_ends(real_agents: None) -> None:
    with a_stage("claude", SCRIPTS, key_name="CLAUDE_CODE_OAUTH_TOKEN") as stage:
        run = stage.run("[[limit]]", native_id=SESSION)
    assert [limit.resets_at for limit in run.all_of(Limit)] == [datetime.fromtimestamp(RESETS_AT, UTC)]
    assert run.end.failure == "limit"


def test_claude_does_not_know_a_session_that_it_never_had(claude: Stage) -> None:
    run = claude.run("[[again]]", native_id=SESSION, resumes=True)
    assert run.end.failure == "permanent"
    assert "No conversation found" in (run.end.reason or "")


# Codex.


def test_codex_answers_a_prompt_and_names_its_thread(codex: Stage) -> None:
    run = codex.run("Which colour? [[answer]]")
    assert len(run.native_id) == 36
    assert (run.end.outcome, run.end.answer, run.exit.status) == ("success", "It is blue.", 0)
    assert "Which colour?" in _last_request(codex)
    (used,) = run.usage.values()
    assert (used.input_tokens, used.cache_read_tokens) == (INPUT_TOKENS - CACHED_TOKENS, CACHED_TOKENS)
    assert (used.output_tokens, used.cost_usd) == (OUTPUT_TOKENS, None)


def test_codex_runs_commands(codex: Stage) -> None:
    run = codex.run("[[command]]")
    assert [call.name for call in run.all_of(ToolCall)] == ["command_execution"] * 2
    assert [(result.output, result.is_error) for result in run.all_of(ToolResult)] == [("hi\n", False), ("no\n", True)]


def test_codex_changes_files_in_its_worktree(codex: Stage) -> None:
    run = codex.run("[[patch]]")
    assert [call.name for call in run.all_of(ToolCall)] == ["file_change"]
    assert _git(codex, "status", "--porcelain") == "?? note.txt\n"
    assert (codex.directory / "note.txt").read_text() == "blue\n"
    assert run.end.answer == "The file is there."


def test_codex_resumes_its_thread_and_its_count_goes_on_under_one_key(codex: Stage) -> None:
    first = codex.run("[[answer]]")
    second = codex.run("[[again]]", native_id=first.native_id, resumes=True)
    assert second.native_id == first.native_id
    assert "It is blue." in _last_request(codex)
    (used,) = {**first.usage, **second.usage}.values()
    assert used.output_tokens == 2 * OUTPUT_TOKENS


def test_codex_that_was_killed_goes_on_where_it_was(codex: Stage) -> None:
    killed = codex.run("[[pause]]", kill_when=lambda: _is_at_second_step(codex))
    assert (killed.end.failure, killed.exit.signal) == ("unknown", 9)
    resumed = codex.run("[[again]]", native_id=killed.native_id, resumes=True)
    assert resumed.native_id == killed.native_id
    assert "begun" in _last_request(codex)
    assert resumed.end.answer == "As I said, blue."


@pytest.mark.parametrize(
    ("prompt", "failure"), [("[[overloaded]]", "transient"), ("[[wrong]]", "permanent"), ("[[key]]", "limit")]
)
def test_codex_tells_errors_apart(codex: Stage, prompt: str, failure: str) -> None:
    run = codex.run(prompt)
    assert (run.end.outcome, run.end.failure, run.exit.status) == ("error", failure, 1)


def test_codex_says_when_a_usage_limit_ends(codex: Stage) -> None:
    run = codex.run("[[plan]]")
    (limit,) = run.all_of(Limit)
    assert limit.resets_at is not None
    assert abs(limit.resets_at.timestamp() - RESETS_AT) < 60
    assert run.end.failure == "limit"


def test_a_mere_warning_of_codex_is_a_note(codex: Stage) -> None:
    run = codex.run("[[answer]]", codex_model="unheard-of")
    assert any("unheard-of" in note.text for note in run.all_of(Note))
    assert run.end.outcome == "success"


def test_codex_does_not_know_a_thread_that_it_never_had(codex: Stage) -> None:
    run = codex.run("[[again]]", native_id=SESSION, resumes=True)
    assert run.end.failure == "permanent"
    assert "no longer knows this thread" in (run.end.reason or "")


@pytest.mark.parametrize("driver", ["claude", "codex"])
def test_a_real_agent_can_reach_nothing_but_its_model(request: pytest.FixtureRequest, driver: str) -> None:
    made: Any = request.getfixturevalue(driver)
    if not made.model.wrapper:
        pytest.skip("NOT ISOLATED: no network namespace can be made here")
    seen = subprocess.run([*made.model.wrapper, "cat", "/proc/net/dev"], check=True, capture_output=True, text=True)
    assert [line.split(":")[0].strip() for line in seen.stdout.splitlines()[2:]] == ["lo"]
