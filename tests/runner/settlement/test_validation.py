"""The checks of `db.effort.validate` that read files: bare tags, checklists and request files."""

from pathlib import Path
from typing import Any

import pytest
from tests.runner.desk import Desk

CHECKLIST = "# Before you finish\n- [ ] The tests pass\n- [ ] The changelog says so\n"


def start(desk: Desk, **params: Any) -> Any:
    return desk.call("commands.effort.start", task_id=desk.task, skill="implement", **params).effort


def check(desk: Desk, effort: Any, name: str) -> tuple[bool, str]:
    before = desk.world.dump()
    validation = desk.call("db.effort.validate", effort_id=effort.id)
    assert desk.world.dump() == before, "a check changes nothing"
    [found] = [each for each in validation.checks if each.name == name]
    assert found.passed or not validation.passed
    return found.passed, found.detail


@pytest.mark.requirement("R228", "R350")
def test_an_effort_without_files_checklists_and_requests_passes_these_checks(desk: Desk) -> None:
    effort = start(desk)
    assert check(desk, effort, "tags") == (True, "none in 0 files")
    assert check(desk, effort, "checklists") == (True, "none apply")
    assert check(desk, effort, "requests") == (True, "none")


@pytest.mark.requirement("R228", "R350")
def test_a_bare_tag_in_an_artifact_fails_with_its_file_and_line(desk: Desk) -> None:
    effort = start(desk)
    desk.write("tasks/cart/1_IMPLEMENTATION_LOG.md", "# Log\n\nThe tax is wrong #needs-review, later.\n")
    desk.write("tasks/cart/1_IMPLEMENTATION.md", "See #claimed-tax\n")
    passed, detail = check(desk, effort, "tags")
    assert not passed
    assert "1_IMPLEMENTATION_LOG.md:3 #needs-review" in detail
    assert "1_IMPLEMENTATION.md:1 #claimed-tax" in detail
    assert "**Tags**:" in detail, "it says what to do"


@pytest.mark.requirement("R228", "R350")
@pytest.mark.parametrize(
    "text",
    [
        "**Tags**: #needs-review #done-tax\n",
        "write `#needs-review` to ask for one\n",
        "```\n#needs-review\n```\n",
        "issue#needs-review and https://forge.example/x#done-it\n",
        "#heading-like and # needs-review\n",
    ],
)
def test_a_tag_on_the_line_of_tags_or_in_code_is_not_bare(desk: Desk, text: str) -> None:
    effort = start(desk)
    desk.write("tasks/cart/1_IMPLEMENTATION.md", text)
    assert check(desk, effort, "tags") == (True, "none in 1 file")


@pytest.mark.requirement("R350")
def test_only_the_files_of_the_effort_are_scanned_and_its_report(desk: Desk) -> None:
    effort = start(desk)
    for name in ("notes.md", "10_IMPLEMENTATION.md", "1_IMPLEMENTATIONS.md", "1_IMPLEMENTATION_LOG.txt"):
        desk.write(f"tasks/cart/{name}", "#needs-review")
    assert check(desk, effort, "tags") == (True, "none in 0 files")
    plan = desk.run("plan", report_file=".ramet/e2/2_PLAN.md", output_content="decide #needs-tax")
    assert ".ramet/e2/2_PLAN.md:1 #needs-tax" in check(desk, plan, "tags")[1]


@pytest.mark.requirement("R350")
def test_a_file_that_nobody_can_read_fails_its_check(desk: Desk, tmp_path: Path) -> None:
    effort = start(desk)
    (tmp_path / "secret.md").write_text("#needs-nothing of yours")
    desk.write("tasks/cart/1_IMPLEMENTATION_LOG.md", "x" * (1024 * 1024 + 1))
    (desk.project / "tasks/cart/1_IMPLEMENTATION.md").symlink_to(tmp_path / "secret.md")
    passed, detail = check(desk, effort, "tags")
    assert not passed
    assert "1_IMPLEMENTATION.md cannot be read; 1_IMPLEMENTATION_LOG.md cannot be read" in detail
    assert "nothing of yours" not in detail


@pytest.mark.requirement("R350")
def test_many_findings_are_counted_and_some_are_named(desk: Desk) -> None:
    effort = start(desk)
    desk.write("tasks/cart/1_IMPLEMENTATION.md", "#needs-review\n" * 500)
    assert "and 490 more" in check(desk, effort, "tags")[1]


@pytest.mark.requirement("R228", "R350")
def test_every_item_of_a_checklist_is_answered_by_a_note(desk: Desk) -> None:
    file = desk.write(".directives/CHECKLIST.md", CHECKLIST)
    effort = start(desk)
    passed, detail = check(desk, effort, "checklists")
    assert not passed
    assert f"{file}: 'The tests pass' is not answered" in detail
    assert "1_IMPLEMENTATION_LOG.md" in detail, "it says where to answer"
    answer = "## CHECKLIST: .directives/CHECKLIST.md\n- [x] The tests pass\n"
    desk.call("commands.log.append", effort_id=effort.id, text=answer)
    passed, detail = check(desk, effort, "checklists")
    assert (passed, "'The tests pass'" in detail, "'The changelog says so'" in detail) == (False, False, True)
    desk.call("commands.log.append", effort_id=effort.id, text=f"{answer}- [ ]  The changelog  says so\n")
    assert check(desk, effort, "checklists") == (True, "1 answered, 1 items left open")


@pytest.mark.requirement("R350")
def test_the_checklists_of_the_directories_that_were_worked_in_apply(desk: Desk) -> None:
    told = desk.write("src/.directives/CHECKLIST.md", "- [ ] Types\n")
    desk.write("docs/.directives/CHECKLIST.md", "- [ ] Spelling\n")
    effort = start(desk)
    assert check(desk, effort, "checklists") == (True, "none apply")
    there = start(desk, directories=[str(desk.project / "src/cart")])
    assert f"{told}: 'Types' is not answered" in check(desk, there, "checklists")[1]
    desk.write("tasks/cart/2_IMPLEMENTATION.md", f"## CHECKLIST: {told}\n\n* [X] Types\n\n## Rest\n- [ ] Spelling\n")
    assert check(desk, there, "checklists") == (True, "1 answered, 0 items left open")


@pytest.mark.requirement("R350")
def test_an_answer_in_code_or_for_another_checklist_is_none(desk: Desk) -> None:
    desk.write(".directives/CHECKLIST.md", "- [ ] Types\n")
    effort = start(desk)
    for text in (
        "```\n## CHECKLIST: .directives/CHECKLIST.md\n- [x] Types\n```\n",
        "## CHECKLIST: ../../etc/CHECKLIST.md\n- [x] Types\n",
        "## CHECKLIST: .directives/CHECKLIST.md\n## Other\n- [x] Types\n",
    ):
        desk.write("tasks/cart/1_IMPLEMENTATION.md", text)
        assert not check(desk, effort, "checklists")[0]


@pytest.mark.requirement("R228", "R350")
def test_a_request_is_fulfilled_if_it_needs_nothing_more_and_has_a_response(desk: Desk) -> None:
    file = desk.write("requests/REVIEW_REQUEST_tax.md", "**Tags**: #needs-review\n\nIs the tax right?\n")
    effort = start(desk, metadata={"request_files": [str(file)]})
    passed, detail = check(desk, effort, "requests")
    assert not passed
    assert f"{file}:1 #needs-review" in detail
    assert f"{file} has no section `## Response`" in detail
    file.write_text("**Tags**: #done-review\n\nIs the tax right?\n\n## Response\nFulfilled by e1.\n")
    assert check(desk, effort, "requests") == (True, "1 fulfilled")


@pytest.mark.requirement("R350")
def test_a_file_that_is_no_formal_request_needs_no_response(desk: Desk) -> None:
    desk.write("notes/tax.md", "settled: #done-review\n")
    effort = start(desk, metadata={"request_files": ["notes/tax.md"]})
    assert check(desk, effort, "requests") == (True, "1 fulfilled")


@pytest.mark.requirement("R350")
@pytest.mark.parametrize("named", [["gone.md"], ["/etc/passwd"], ["../out.md"], "gone.md", [1], {"a": 1}])
def test_request_files_that_cannot_be_checked_fail(desk: Desk, named: Any) -> None:
    effort = start(desk, metadata={"request_files": named})
    assert not check(desk, effort, "requests")[0]
