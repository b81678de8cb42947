"""An agent that Ramet runs follows a project's skill from the command line: its phases are in `ps` while it works."""

import subprocess

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.waits import gate, wait_for

PAINT = """\
---
name: paint
description: Paint things.
phases: ["1: Prime", {label: "2: Paint", proof: {coats: number}}]
---
ALWAYS USE BLUE PAINT.
"""
AGENT = """\
ramet effort phase e$RAMET_EFFORT 2 2>&1
ramet effort phase e$RAMET_EFFORT 1
ramet effort phase e$RAMET_EFFORT 2 --proof '{"coats": "two"}' 2>&1
ramet effort phase e$RAMET_EFFORT 2 --proof '{"coats": 2}'
ramet effort phase e1 1 2>&1
"""


@pytest.fixture
def paint(shop: CommandLine) -> CommandLine:
    folder = shop.cwd / ".claude" / "skills" / "paint"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(PAINT)
    return shop


@pytest.mark.requirement("R347")
def test_the_first_work_of_a_project_finds_its_skill(paint: CommandLine) -> None:
    paint.ok("add", "the cart", "--skill", "paint")
    shown = paint.ok("show", "e1", "--prompt")
    assert "ALWAYS USE BLUE PAINT." in shown
    assert shown.rstrip().endswith("the cart")


@pytest.mark.requirement("R347")
def test_a_broken_skill_is_named_with_its_fix_and_nothing_is_queued(paint: CommandLine) -> None:
    file = paint.cwd / ".claude/skills/paint/SKILL.md"
    file.write_text(PAINT.replace("---\nALWAYS", "ALWAYS"))
    done = paint("add", "the cart", "--skill", "paint")
    assert done.returncode != 0
    assert f"error: {file}: line 1: the front matter does not end" in done.stderr
    assert "fix: add a line `---` after it" in done.stderr
    assert paint.json("queue")["items"] == []


@pytest.mark.requirement("R348")
def test_an_agent_enters_its_phases_sees_refusals_and_is_shown_by_ps(paint: CommandLine) -> None:
    waiting, file = gate(paint)
    paint.ok("add", "another", "--skill", "do", "--driver", "shell", "--priority", "-1")
    paint.ok("add", f"{AGENT}{waiting}", "--skill", "paint", "--driver", "shell")
    paint.environ["PATH"] = f"{paint.program.rpartition('/')[0]}:{paint.environ['PATH']}"
    with subprocess.Popen([paint.program, "work", "--once"], cwd=paint.cwd, env=paint.environ) as work:
        try:
            phase = wait_for(lambda: _phase(paint) == "2: Paint" and _phase(paint))
        finally:
            file.touch()
            work.wait(60)
    assert phase == "2: Paint"
    said = paint.json("show", "e2")["output_content"]
    assert "fix: enter '1: Prime', or give a reason" in said
    assert "proof field 'coats' must be a number" in said
    assert "cannot access effort 1" in said
    entered = paint.json("rpc", "call", "db.effort.get", '{"effort_id": 2}')["phases"]
    assert [row["phase_label"] for row in entered] == ["1: Prime", "2: Paint"]


def _phase(paint: CommandLine) -> str | None:
    rows = paint.json("ps")["items"]
    return rows[0]["current_phase"] if rows else None
