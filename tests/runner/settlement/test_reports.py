"""Reports go from the worktree to the project and the database, and back when a person has edited one."""

import json
from pathlib import Path

import pytest
from tests.model.redaction.planted import Maker
from tests.runner.desk import Desk

from ramet.errors import EffortNotFound, PathOutside, ReportMissing
from ramet.model.redaction import Redactor
from ramet.runner.settlement import reports

FILE = ".ramet/e1/1_PLAN.md"


def _left(folder: Path, text: str = "a plan\r\n") -> str:
    (folder / FILE).parent.mkdir(parents=True)
    (folder / FILE).write_bytes(text.encode())
    return str(folder)


@pytest.mark.requirement("R158", "R161", "R178", "R188")
def test_a_report_is_collected_from_the_worktree_and_lies_in_the_project_for_people(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    assert reports.collect(_left(tmp_path / "worktree"), str(project), FILE, Redactor()) == "a plan\r\n"
    assert (project / FILE).read_bytes() == b"a plan\r\n"
    assert (project / ".ramet" / ".gitignore").read_text() == "*\n"


@pytest.mark.requirement("R161", "R166")
@pytest.mark.parametrize("kind", ["none", "binary", "linked", "no worktree"])
def test_where_there_is_no_report_there_is_none_and_nothing_is_written(tmp_path: Path, kind: str) -> None:
    project, worktree = tmp_path / "project", tmp_path / "worktree"
    project.mkdir()
    if kind != "no worktree":
        _left(worktree)
        (worktree / FILE).unlink()
    if kind == "binary":
        (worktree / FILE).write_bytes(b"\0")
    elif kind == "linked":
        (worktree / FILE).symlink_to("/etc/passwd")
    assert reports.collect(str(worktree), str(project), FILE, Redactor()) is None
    assert list(project.iterdir()) == []


@pytest.mark.requirement("R161", "R184")
@pytest.mark.parametrize("kind", ["gone", "linked"])
def test_a_project_that_cannot_take_it_does_not_lose_it(tmp_path: Path, kind: str) -> None:
    project = tmp_path / "project"
    if kind == "linked":
        project.mkdir()
        (tmp_path / "elsewhere").mkdir()
        (project / ".ramet").symlink_to(tmp_path / "elsewhere")
    assert reports.collect(_left(tmp_path / "worktree"), str(project), FILE, Redactor()) == "a plan\r\n"
    assert kind == "gone" or list((tmp_path / "elsewhere").iterdir()) == []


def test_where_only_an_answer_exists_people_find_it_as_a_report(tmp_path: Path) -> None:
    reports.publish(str(tmp_path), FILE, "the final answer")
    assert (tmp_path / FILE).read_text() == "the final answer"


@pytest.mark.requirement("R182")
def test_what_a_person_edited_is_taken_back_into_the_database(desk: Desk) -> None:
    plan = desk.run("plan", report_file=FILE, output_content="a plan")
    desk.write(FILE, "an edited plan")
    synced = desk.call("report.sync", effort_id=plan.id)
    assert (synced.changed, synced.report_file, synced.characters) == (True, FILE, 14)
    assert desk.world.call("work.get", effort_id=plan.id).output_content == "an edited plan"
    assert "an edited plan" in desk.prompt(desk.add("implement", based_on=plan.id)).prompt
    assert not desk.call("report.sync", effort_id=plan.id).changed


@pytest.mark.requirement("R182")
def test_a_key_makes_a_sync_happen_once(desk: Desk) -> None:
    plan = desk.run("plan", report_file=FILE, output_content="a plan")
    desk.write(FILE, "edited")
    first = desk.call("report.sync", effort_id=plan.id, idempotency_key="k")
    desk.world.call("work.output", effort_id=plan.id, output_content="later")
    desk.call("report.sync", effort_id=plan.id, idempotency_key="k")
    assert first.changed
    assert desk.world.call("work.get", effort_id=plan.id).output_content == "later"


@pytest.mark.requirement("R182")
def test_a_report_that_is_not_there_cannot_be_synced(desk: Desk) -> None:
    plan = desk.run("plan", report_file=FILE, output_content="a plan")
    for effort_id in (plan.id, desk.run("do").id):
        with pytest.raises(ReportMissing):
            desk.call("report.sync", effort_id=effort_id)
    with pytest.raises(EffortNotFound):
        desk.call("report.sync", effort_id=4711)
    assert desk.world.call("work.get", effort_id=plan.id).output_content == "a plan"


@pytest.mark.requirement("R184")
@pytest.mark.parametrize("kind", ["above", "linked"])
def test_a_report_that_leads_outside_is_refused(desk: Desk, kind: str) -> None:
    (desk.project.parent / "secret.md").write_text("secret")
    plan = desk.run("plan", report_file="../secret.md" if kind == "above" else FILE, output_content="a plan")
    if kind == "linked":
        desk.write(FILE, "").unlink()
        (desk.project / FILE).symlink_to(desk.project.parent / "secret.md")
    with pytest.raises(PathOutside):
        desk.call("report.sync", effort_id=plan.id)
    assert desk.world.call("work.get", effort_id=plan.id).output_content == "a plan"


@pytest.mark.requirement("R182", "R228")
def test_validation_says_whether_the_report_is_there_and_as_the_database_has_it(desk: Desk) -> None:
    plan = desk.run("plan", report_file=FILE, output_content="a plan")

    def check() -> tuple[bool, str]:
        [found] = [each for each in desk.call("db.effort.validate", effort_id=plan.id).checks if each.name == "report"]
        return found.passed, found.detail

    assert check() == (False, f"{FILE} is not on this disk")
    desk.write(FILE, "a plan")
    assert check()[0]
    desk.write(FILE, "edited")
    assert check() == (False, f"{FILE} differs from the database; `ramet report sync e1` saves it there")


def test_a_secret_that_was_taken_out_of_the_database_is_no_difference(desk: Desk) -> None:
    text = f"use {json.dumps('sk-ant-api03-' + 'a1B2' * 12)}"
    plan = desk.run("plan", report_file=FILE, output_content=text)
    desk.write(FILE, text)
    assert plan.output_content != text
    assert not desk.call("report.sync", effort_id=plan.id).changed
    checks = {each.name: each.passed for each in desk.call("db.effort.validate", effort_id=plan.id).checks}
    assert checks["report"]


@pytest.mark.requirement("R228")
def test_an_effort_without_a_report_has_no_report_to_check(desk: Desk) -> None:
    effort = desk.run("do")
    checks = desk.call("db.effort.validate", effort_id=effort.id).checks
    record = desk.world.call("db.effort.checks", effort_id=effort.id).checks
    assert checks[: len(record)] == record
    assert [check.name for check in checks[len(record) :]] == ["tags", "checklists", "requests"]


@pytest.mark.requirement("R341")
def test_a_report_loses_its_secrets_in_the_worktree_and_in_the_project(desk: Desk, tmp_path: Path) -> None:
    token = Maker(341).expand("ghp_{a36}")
    worktree = _left(tmp_path / "worktree", f"# Plan\nuse {token}\n")
    text = reports.collect(worktree, str(desk.project), FILE, Redactor())
    for kept in (text, Path(worktree, FILE).read_text(), (desk.project / FILE).read_text()):
        assert kept is not None
        assert token not in kept
        assert kept.startswith("# Plan\nuse [REDACTED:github:")
