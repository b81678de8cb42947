"""The real programs follow a project's skill that was found when their work was queued: its text is in what their model
is asked, and they enter its phases with the tool `phase`.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.agents.project import Project
from tests.agents.stage import a_stage

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

PAINT = """\
---
name: paint
description: Paint things.
phases:
  - "1: Prime"
  - label: "2: Paint"
    proof: {coats: number}
templates: {bill: bill.md}
directives: [Wear a mask.]
---
ALWAYS USE BLUE PAINT.
"""
CALLS: list[dict[str, Any]] = [
    {"label": "1: Prime"},
    {"label": "2: Paint"},
    {"label": "2: Paint", "proof": {"coats": 2}},
]


def _call(driver: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    if driver == "codex":
        return [{"tool": "phase", "namespace": "mcp__ramet", "input": given}]
    return [{"tool": "mcp__ramet__phase", "input": given}]


@pytest.fixture(params=["claude", "codex"])
def project(real_agents: None, request: pytest.FixtureRequest) -> Iterator[Project]:
    driver = request.param
    scripts = {"paint": [*(_call(driver, given) for given in CALLS), [{"text": "It is blue."}]]}
    with a_stage(driver, scripts) as stage:
        made = Project(stage)
        folder = made.cwd / ".claude" / "skills" / "paint"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(PAINT)
        (folder / "bill.md").write_text("# Bill for NAME")
        try:
            yield made
        finally:
            made("kill", "e1")
            made("daemon", "stop")


@pytest.mark.requirement("R347", "R348")
def test_a_queued_effort_follows_the_project_s_skill_through_its_phases(project: Project) -> None:
    project.ok("add", "Paint the cart. [[paint]]", "--skill", "paint")
    project.ok("work", "--once")
    first, _, third, *_ = (
        json.dumps(row["body"]) for row in project.stage.model.requests() if row["script"] == "paint"
    )
    assert "ALWAYS USE BLUE PAINT." in first
    assert "- Wear a mask." in first
    assert "# Bill for NAME" in first
    assert "- 2: Paint (proof: coats: number)" in first
    assert "requires the proof" in third
    effort = project.json("rpc", "call", "db.effort.get", json.dumps({"effort_id": 1}))
    assert (effort["outcome"], effort["current_phase"]) == ("success", "2: Paint")
    assert [(row["phase_label"], row["proof"]) for row in effort["phases"]] == [
        ("1: Prime", None),
        ("2: Paint", {"coats": 2}),
    ]
