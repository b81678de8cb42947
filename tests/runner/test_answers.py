"""The machine answers what the table of operations gives to it, in a program of one's own too."""

import os
import subprocess
from pathlib import Path

import pytest

import ramet
from ramet.protocol.work.leases import Claimed


@pytest.mark.requirement("R153", "R182")
def test_a_program_that_opens_a_file_reads_the_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith(("RAMET_", "XDG_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAMET_HOME", str(tmp_path / "ramet"))
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(project)], check=True, timeout=60)
    with ramet.open(tmp_path / "a.db") as r:
        r.db.project.upsert(str(project))
        plan = r.work.add("plan it", skill="plan", task=str(project / "tasks" / "cart"))
        claimed = r.work.claim("me")
        assert isinstance(claimed, Claimed)
        r.work.complete(claimed.id, claimed.generation, "success", output_content="the plan")
        (project / ".ramet" / "e1").mkdir(parents=True)
        (project / ".ramet" / "e1" / "1_PLAN.md").write_text("the edited plan")
        assert r.report.sync(plan.id, idempotency_key="k").changed
        assert not r.report.sync(plan.id, idempotency_key="k").changed
        effort = r.work.add("build it", skill="implement", based_on=plan.id)
        assert "## Plan to implement:\nthe edited plan\n" in r.work.prompt(effort.id).prompt
        assert r.worktree.list().items == []
        assert r.worktree.clean().items == []
        assert {check.name for check in r.db.effort.validate(plan.id).checks} >= {"finished", "report"}
