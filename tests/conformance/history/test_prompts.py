"""The prompts by which a model shortens a range or reports on a child."""

import pytest

from ramet.errors import RametError, SessionError, SpawnError
from ramet.model.history.child_branch import (
    DEFAULT_COLLAPSE_SYSTEM,
    DEFAULT_SUMMARY_SYSTEM,
    build_collapse_prompt,
    build_summarize_prompt,
    fit,
)
from ramet.model.history.commit import estimate_tokens


@pytest.mark.requirement("R47", "R48")
@pytest.mark.parametrize(
    "fact",
    [
        *("outcomes come first", "findings", "decisions", "artifacts", "failed", "blocks further work", "still open"),
        *("exactly as they are", "error messages", "caveat", "trade-off", "if a target length is given"),
        *("leave out the agent's reasoning",),
    ],
)
def test_the_prompt_of_a_collapse_asks_for_each_fact(fact: str) -> None:
    assert fact in " ".join(DEFAULT_COLLAPSE_SYSTEM.lower().split())


@pytest.mark.requirement("R47", "R48")
def test_a_report_begins_with_what_was_completed() -> None:
    assert 'Start with "Subagent completed: "' in DEFAULT_COLLAPSE_SYSTEM
    assert "summary of the task" in DEFAULT_COLLAPSE_SYSTEM
    assert DEFAULT_SUMMARY_SYSTEM
    assert DEFAULT_SUMMARY_SYSTEM != DEFAULT_COLLAPSE_SYSTEM


@pytest.mark.requirement("R49", "R50")
def test_the_purpose_comes_first_then_the_request_then_the_work_unchanged() -> None:
    work = "[User]\n  find {x}\n\n[Assistant]\n\tfound\n"
    prompt = build_collapse_prompt(work, "find the bug")
    purpose, request, rest = (prompt.index(part) for part in ("find the bug", "Report on the work", work))
    assert purpose < request < rest
    assert prompt.endswith(work)


@pytest.mark.requirement("R49", "R51")
def test_target_and_instructions_are_added_only_where_given() -> None:
    plain = build_collapse_prompt("work", "why")
    assert build_collapse_prompt("work", "why", target_tokens=50) == f"{plain}\nTarget approximately 50 tokens."
    both = build_collapse_prompt("work", "why", target_tokens=50, instructions="in French")
    assert both == f"{plain}\nTarget approximately 50 tokens.\nAdditional instructions: in French"
    summary = build_summarize_prompt("work")
    options = build_summarize_prompt("work", target_tokens=50, instructions="in French")
    assert options.removeprefix(summary) == both.removeprefix(plain)


@pytest.mark.requirement("R52")
@pytest.mark.parametrize("error", [SpawnError, SessionError])
def test_spawns_and_sessions_fail_with_errors_of_their_own(error: type[RametError]) -> None:
    assert issubclass(error, RametError)
    raised = error(field="child", value="kid")
    assert (raised.field, raised.value) == ("child", "kid")
    assert raised.message
    assert raised.fix
    assert RametError.from_wire(raised.to_wire()).code == error.code


@pytest.mark.parametrize("target", [5, 10, 100])
def test_a_text_is_cut_to_its_budget_with_a_mark(target: int) -> None:
    cut = fit("words " * 500, target)
    assert cut.endswith("[… cut to fit]")
    assert estimate_tokens(cut) <= target
    assert fit("short", target) == "short"
    assert fit("words " * 500, None) == "words " * 500
