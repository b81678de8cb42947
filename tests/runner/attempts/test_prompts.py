"""`work.prompt`: the chain's texts reach the agent through the prompt, from the database, wherever it runs."""

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.runner.desk import Desk

from ramet.errors import EffortNotFound
from ramet.protocol.work.attempts import WorkChain
from ramet.runner.attempts import prompts
from ramet.workspace.worktrees import worktree

HEADING = "## Plan to implement:\n"
PLAN = "# Plan\n\n1. mend `cart.py`\r\n2. test it\n"
FILE = ".ramet/e1/1_PLAN.md"


@pytest.mark.requirement("R153", "R159", "R163", "R167", "R170", "R188")
def test_a_fresh_worktree_has_its_plan_though_the_plans_file_is_gone_everywhere(desk: Desk) -> None:
    plan = desk.run("plan", output_content=PLAN)
    effort = desk.add("implement", based_on=plan.id)
    git, folder = desk.machine.git, desk.machine.places.worktrees
    made = worktree.prepare(git, folder, str(desk.project), f"e{effort.id}")
    assert made is not None
    assert list(Path(made.path, ".ramet").iterdir()) == [Path(made.path, ".ramet", ".gitignore")]
    assert f"{HEADING}{PLAN}\n(end of the text by e1" in desk.prompt(effort).prompt


@pytest.mark.requirement("R153", "R159", "R171")
def test_it_is_the_same_on_a_machine_that_has_no_project_at_all(desk: Desk) -> None:
    plan = desk.run("plan", output_content=PLAN)
    effort = desk.add("implement", based_on=plan.id)
    here = desk.prompt(effort)
    shutil.rmtree(desk.project)
    assert desk.prompt(effort) == here


@pytest.mark.requirement("R163", "R165", "R177")
def test_a_plan_that_is_only_on_disk_is_read_from_there(desk: Desk) -> None:
    plan = desk.run("plan", report_file=FILE)
    desk.write(FILE, PLAN)
    assert HEADING + PLAN in desk.prompt(desk.add("implement", based_on=plan.id)).prompt


@pytest.mark.requirement("R163")
def test_the_database_goes_before_the_file(desk: Desk) -> None:
    plan = desk.run("plan", report_file=FILE, output_content="from the database")
    desk.write(FILE, "from the file")
    assert f"{HEADING}from the database\n" in desk.prompt(desk.add("implement", based_on=plan.id)).prompt


@pytest.mark.requirement("R164")
def test_an_empty_text_in_the_database_is_none(desk: Desk) -> None:
    plan = desk.run("plan", report_file=FILE, output_content="")
    effort = desk.add("implement", based_on=plan.id)
    assert "(the plan e1 exists but its text is not available here" in desk.prompt(effort).prompt
    desk.write(FILE, PLAN)
    assert HEADING + PLAN in desk.prompt(effort).prompt


@pytest.mark.requirement("R163")
def test_a_report_that_never_left_its_worktree_is_read_there(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "worktree" / ".ramet" / "e1").mkdir(parents=True)
    (tmp_path / "worktree" / FILE).write_text(PLAN)
    plan = desk.run("plan", worktree=str(tmp_path / "worktree"), report_file=FILE)
    assert HEADING + PLAN in desk.prompt(desk.add("implement", based_on=plan.id)).prompt


@pytest.mark.requirement("R182")
@pytest.mark.parametrize(("is_newer", "expected"), [(True, "edited"), (False, "from the database")])
def test_a_file_that_was_edited_since_goes_first_where_the_project_says_so(
    desk: Desk, is_newer: bool, expected: str
) -> None:
    plan = desk.run("plan", report_file=FILE, output_content="from the database")
    file = desk.write(FILE, "edited")
    changed_at = plan.finished_at.timestamp() + (10 if is_newer else -10)
    os.utime(file, (changed_at, changed_at))
    effort = desk.add("implement", based_on=plan.id)
    assert f"{HEADING}from the database\n" in desk.prompt(effort).prompt
    desk.write("ramet.yaml", "work:\n  prefer_newer_file: true\n")
    assert f"{HEADING}{expected}\n" in desk.prompt(effort).prompt


@pytest.mark.requirement("R166", "R169", "R184")
@pytest.mark.parametrize("kind", ["missing", "binary", "outside", "linked"])
def test_a_plan_that_cannot_be_read_is_a_marker_and_no_error(desk: Desk, kind: str) -> None:
    report_file = "../secret.md" if kind == "outside" else FILE
    (desk.project.parent / "secret.md").write_text("secret")
    plan = desk.run("plan", report_file=report_file)
    if kind == "binary":
        desk.write(FILE, "").write_bytes(b"\0\xff")
    elif kind == "linked":
        desk.write(FILE, "").unlink()
        (desk.project / FILE).symlink_to(desk.project.parent / "secret.md")
    prompt = desk.prompt(desk.add("implement", based_on=plan.id)).prompt
    assert f"{HEADING}(the plan e1 exists but its text is not available here: say so and stop)" in prompt
    assert "secret" not in prompt


@pytest.mark.requirement("R168", "R169")
def test_a_plan_that_was_deleted_is_a_marker(desk: Desk) -> None:
    plan = desk.run("plan", output_content=PLAN)
    effort = desk.add("implement", based_on=plan.id)
    chain = desk.ask(WorkChain(effort_id=effort.id))
    desk.machine.ask = lambda _: replace(chain, efforts=chain.efforts[:1], missing=[plan.id])
    assert f"{HEADING}(this effort is based on e1, now deleted" in desk.prompt(effort).prompt


@pytest.mark.requirement("R168")
def test_a_chain_that_bites_its_own_tail_ends(desk: Desk) -> None:
    plan = desk.run("plan", output_content=PLAN)
    effort = desk.add("implement", based_on=plan.id)
    desk.world.sql("UPDATE efforts SET based_on = :own WHERE id = :id", own=effort.id, id=plan.id)
    assert desk.prompt(effort).prompt.count(HEADING) == 1


@pytest.mark.requirement("R160", "R187")
def test_plan_implement_review_and_improve_each_have_what_came_before(desk: Desk) -> None:
    plan = desk.run("plan", output_content="the plan")
    changes = {"files": ["cart.py"], "insertions": 2, "deletions": 1}
    work = desk.run(
        "implement",
        based_on=plan.id,
        output_content="the answer",
        git_branch="ramet/e1",
        git_base="a" * 40,
        git_head="b" * 40,
        changes=changes,
    )
    review = desk.add("review", based_on=work.id)
    told = desk.prompt(review).prompt
    assert "## Implementation to review:\nthe answer\n" in told
    assert "## Plan that was to be implemented:\nthe plan\n" in told
    assert "e2 changed 1 files, 2 lines added and 1 removed, on the branch ramet/e1" in told
    done = desk.run("review", based_on=work.id, output_content="the review")
    improve = desk.prompt(desk.add("improve", based_on=done.id)).prompt
    assert "## Review to act on:\nthe review\n" in improve
    assert f"{HEADING}the plan\n" in improve


@pytest.mark.requirement("R183")
def test_a_very_large_plan_is_cut_to_the_projects_budget_and_says_so(desk: Desk) -> None:
    plan = desk.run("plan", output_content="x" * 1_000_000)
    effort = desk.add("implement", based_on=plan.id)
    whole = desk.prompt(effort)
    assert whole.cut
    assert len(whole.prompt) // 4 <= 50_000
    desk.write("ramet.yaml", "work:\n  prompt_max_tokens: 1000\n")
    assert len(desk.prompt(effort).prompt) // 4 <= 1000


@pytest.mark.requirement("R272", "R273")
def test_a_new_effort_is_told_of_the_reports_that_its_task_has(desk: Desk) -> None:
    desk.run("plan", output_content=PLAN, report_file=FILE)
    desk.run("explore", output_content="found", report_file=".ramet/e2/2_EXPLORE.md")
    prompt = desk.prompt(desk.add("plan"))
    assert "- e2 explore: .ramet/e2/2_EXPLORE.md\n- e1 plan: .ramet/e1/1_PLAN.md" in prompt.prompt
    assert prompt.report_file == ".ramet/e3/3_PLAN.md"
    assert f"`{prompt.report_file}`" in prompt.prompt


def test_a_repeated_effort_is_told_how_it_failed(desk: Desk) -> None:
    failed = desk.run("do", "error", failure="permanent", reason="the tests would not start")
    retry = desk.world.call("work.retry", effort_id=failed.id)
    prompt = desk.prompt(retry).prompt
    assert "e1, which this effort repeats, ended with error." in prompt
    assert "the tests would not start" in prompt


def test_an_agent_that_goes_on_is_not_told_everything_again(desk: Desk) -> None:
    plan = desk.run("plan", output_content=PLAN)
    prompt = desk.prompt(desk.add("plan", "look again", based_on=plan.id))
    going_on = prompts.continuation(prompt, "the connection broke")
    assert going_on.prompt == going_on.instruction
    assert "the connection broke" in going_on.prompt
    assert "look again" in going_on.prompt
    assert ".ramet/e2/2_PLAN.md" in going_on.prompt
    assert PLAN not in going_on.prompt


@pytest.mark.requirement("R284", "R348")
def test_an_agent_that_goes_on_is_told_the_phase_of_its_effort(desk: Desk) -> None:
    effort = desk.add("plan")
    assert "is in the phase" not in prompts.continuation(desk.prompt(effort), None).prompt
    for label in ("1", "2"):
        desk.world.call("db.effort.phase", effort_id=effort.id, label=label)
    going_on = prompts.continuation(desk.prompt(effort), "the connection broke")
    assert "the connection broke. This effort is in the phase 2: Draft. Check what" in going_on.prompt


def test_an_effort_that_does_not_exist_has_no_prompt(desk: Desk) -> None:
    with pytest.raises(EffortNotFound):
        desk.call("work.prompt", effort_id=4711)
