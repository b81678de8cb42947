"""The files that hooks tell: a project's standards, and the files of a skill that an agent invokes."""

from pathlib import Path
from typing import Any

import pytest
from tests.runner.desk import Desk

from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts
from ramet.runner.project_files import session_files

PAINT = """\
---
name: paint
description: Paint things.
phases:
  - label: "1: Mix"
    commands: [cmd/MIX.md]
  - label: "2: Paint"
    commands: cmd/PAINT.md
templates: {debrief: assets/DEBRIEF.md}
cmd-dependencies: [cmd/ALWAYS.md]
---
Mix first.
"""
FOLDER = ".claude/skills/paint"


@pytest.fixture
def paint(desk: Desk) -> Desk:
    """A project with a skill that has a template and command files."""
    desk.write(f"{FOLDER}/SKILL.md", PAINT)
    desk.write(f"{FOLDER}/assets/DEBRIEF.md", "# What was painted")
    for name, text in {"MIX": "Stir.", "PAINT": "Two coats.", "ALWAYS": "Open a window."}.items():
        desk.write(f"{FOLDER}/cmd/{name}.md", text)
    return desk


def add(desk: Desk, cwd: str = "", **said: Any) -> HookFacts:
    event = HookEvent(vendor="claude", name="x", native_id="w", cwd=str(desk.project / cwd), **said)
    return session_files.add(desk.machine.environ, event, HookFacts())


def invoke(desk: Desk, skill: Any = "paint") -> dict[str, str]:
    facts = add(desk, moment="post_tool_use", tool="Skill", tool_input={"skill": skill})
    return {str(Path(each.path).relative_to(desk.project)): each.text for each in facts.skill_files}


@pytest.mark.requirement("R351")
def test_a_session_that_starts_gets_the_standards_in_the_seed_s_order_wherever_it_works(desk: Desk) -> None:
    for name in ("SIGILS", "INVARIANTS", "COMMANDS", "other"):
        desk.write(f".directives/{name}.md", f"{name} say so.")
    desk.write("src/.directives/COMMANDS.md", "not the project's own")
    facts = add(desk, "src", moment="session_start", source="startup")
    assert [each.text for each in facts.standards] == ["COMMANDS say so.", "INVARIANTS say so.", "SIGILS say so."]
    assert add(desk, moment="post_tool_use", tool="Read").standards == []


@pytest.mark.requirement("R351")
def test_standards_that_cannot_be_read_are_left_out(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("not yours")
    desk.write(".directives/SIGILS.md", "Read @COMMANDS.md and @SIGILS.md.")
    (desk.project / ".directives/COMMANDS.md").symlink_to(tmp_path / "secret.md")
    (desk.project / ".directives/INVARIANTS.md").symlink_to("INVARIANTS.md")
    assert [each.text for each in add(desk, moment="session_start").standards] == ["Read @COMMANDS.md and @SIGILS.md."]


@pytest.mark.requirement("R351")
def test_an_invoked_skill_brings_its_templates_and_the_commands_that_it_starts_with(paint: Desk) -> None:
    assert invoke(paint) == {
        f"{FOLDER}/assets/DEBRIEF.md": "# What was painted",
        f"{FOLDER}/cmd/ALWAYS.md": "Open a window.",
        f"{FOLDER}/cmd/MIX.md": "Stir.",
    }


@pytest.mark.requirement("R351")
@pytest.mark.parametrize("skill", ["nothing", "../../paint", "", None, 7, ["paint"]])
def test_a_skill_that_is_not_there_brings_nothing(paint: Desk, skill: Any) -> None:
    assert invoke(paint, skill) == {}


@pytest.mark.requirement("R351")
@pytest.mark.parametrize(
    "text", ["", "---\nname: paint\n", PAINT.replace("Paint things.", "x" * 1100), "ramet-format: 9", "x" * 1_100_000]
)
def test_a_skill_file_that_is_broken_keeps_no_agent_from_its_work(paint: Desk, text: str) -> None:
    paint.write(f"{FOLDER}/SKILL.md", text)
    assert invoke(paint) == {}


@pytest.mark.requirement("R351")
def test_files_that_lead_out_or_are_too_large_are_left_out(paint: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("not yours")
    mix = paint.project / FOLDER / "cmd/MIX.md"
    mix.unlink()
    mix.symlink_to(tmp_path / "secret.md")
    paint.write(f"{FOLDER}/assets/DEBRIEF.md", "x" * 70_000)
    assert invoke(paint) == {f"{FOLDER}/cmd/ALWAYS.md": "Open a window."}


@pytest.mark.requirement("R351")
def test_an_effort_that_starts_keeps_the_texts_of_its_commands(paint: Desk) -> None:
    opened = paint.call("commands.effort.start", task_id=paint.task, skill="paint")
    text = paint.world.call("work.chain", effort_id=opened.effort.id).skill_text
    assert text.command_texts == {
        "cmd/ALWAYS.md": "Open a window.",
        "cmd/MIX.md": "Stir.",
        "cmd/PAINT.md": "Two coats.",
    }


@pytest.mark.requirement("R351")
def test_the_prompt_of_an_agent_that_ramet_runs_names_the_commands_of_each_phase(paint: Desk) -> None:
    added = paint.submit("work.add", prompt="the cart", skill="paint", task=paint.task)
    assert f"- 2: Paint (read first: {paint.project}/{FOLDER}/cmd/PAINT.md)\n" in paint.prompt(added).prompt
