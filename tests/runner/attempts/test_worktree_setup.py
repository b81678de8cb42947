"""Preparing worktrees: the set-up command of the owner, once for each state of the lock files."""

import os
import uuid
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.conformance import queue_worker
from tests.runner.desk import Desk

from ramet.config import trust
from ramet.config.layers import load
from ramet.config.settings import Settings, WorktreeSettings
from ramet.errors import SetupFailed
from ramet.faults import Faults
from ramet.runner.attempts import worktree_setup
from ramet.runner.attempts.worktree_setup import Site
from ramet.runner.context import RunnerContext
from ramet.runner.settlement.worktrees import owner_of
from ramet.workspace.worktrees import ports, worktree

INSTALL = "mkdir -p node_modules && echo $RAMET_PORT_BASE >> node_modules/ports && echo x >> runs"
"""A set-up command that leaves a line each time that it runs."""
PATIENCE_SECONDS = 60


async def _nobody(_request: Any) -> Any:
    raise AssertionError


@pytest.fixture
def runner(desk: Desk) -> RunnerContext:
    desk.write("package-lock.json", "{}")
    desk.write(".gitignore", "node_modules/\nruns\n.env\n")
    desk.shop.commit(desk.project, "a lock file")
    return RunnerContext(
        ask=_nobody,
        machine=desk.machine,
        settings=Settings(),
        places=desk.machine.places,
        environ=desk.shop.environ,
        faults=Faults(),
        name="north",
        identify=lambda: uuid.uuid4().hex,
        token=str,
    )


class Bench:
    """Efforts whose worktrees are prepared."""

    def __init__(self, desk: Desk, runner: RunnerContext) -> None:
        self.desk = desk
        self.runner = runner

    def claim(self) -> Any:
        added = self.desk.submit("work.add", prompt="true", skill="shell", task=self.desk.task)
        return queue_worker.claim(self.desk.world, f"host/{added.id}", effort_id=added.id)

    def site(self, claimed: Any, command: str = INSTALL, *, is_sandboxed: bool = False, **settings: Any) -> Site:
        desk = self.desk
        made = worktree.prepare(
            desk.machine.git,
            desk.machine.places.worktrees,
            str(desk.project),
            f"e{claimed.id}",
            claimed.base_commit,
            owner=owner_of(claimed),
        )
        assert made is not None
        return Site(
            worktree=made,
            project_path=str(desk.project),
            settings=WorktreeSettings(setup=command, **{"reuse": ["node_modules"], **settings}),
            is_sandboxed=is_sandboxed,
            environ={"PATH": os.environ["PATH"]},
            grace_seconds=0.2,
        )

    def prepare(self, claimed: Any, site: Site) -> Path:
        worktree_setup.prepare(self.runner, claimed, site)
        return Path(site.worktree.path)

    def told(self) -> list[str]:
        rows = self.desk.world.sql("SELECT data FROM events WHERE kind = 'effort.preparing' ORDER BY id")
        return [how for (data,) in rows for how in ("running", "reused", "skipped") if f'"{how}"' in str(data)]


@pytest.fixture
def bench(desk: Desk, runner: RunnerContext) -> Bench:
    return Bench(desk, runner)


@pytest.mark.requirement("R458")
def test_a_worktree_is_prepared_once_and_the_next_one_reuses_the_result(bench: Bench) -> None:
    first, second = bench.claim(), bench.claim()
    one = bench.prepare(first, bench.site(first))
    assert (one / "runs").read_text() == "x\n"
    assert (one / "node_modules" / "ports").read_text() == f"{ports.read(one)}\n"
    bench.prepare(first, bench.site(first))
    assert (one / "runs").read_text() == "x\n", "it was prepared already"
    two = bench.prepare(second, bench.site(second))
    assert (two / "node_modules" / "ports").read_text() == f"{ports.read(one)}\n"
    assert not (two / "runs").exists()
    assert bench.told() == ["running", "reused"]


@pytest.mark.requirement("R458")
def test_a_changed_lock_file_prepares_the_worktree_again(bench: Bench) -> None:
    claimed = bench.claim()
    path = bench.prepare(claimed, bench.site(claimed))
    (path / "package-lock.json").write_text('{"a": 1}')
    bench.prepare(claimed, bench.site(claimed))
    assert (path / "runs").read_text() == "x\nx\n"


@pytest.mark.requirement("R458")
def test_a_worktree_that_vanished_is_prepared_again(bench: Bench) -> None:
    claimed = bench.claim()
    path = bench.prepare(claimed, bench.site(claimed, reuse=[]))
    bench.desk.shop.run(bench.desk.project, "worktree", "remove", "--force", str(path))
    assert bench.prepare(claimed, bench.site(claimed, reuse=[])) == path
    assert (path / "runs").read_text() == "x\n"


@pytest.mark.requirement("R458")
def test_without_a_command_a_worktree_only_gets_ports(bench: Bench) -> None:
    claimed = bench.claim()
    site = bench.site(claimed)
    path = bench.prepare(claimed, replace(site, settings=WorktreeSettings()))
    assert worktree_setup.find_ports(bench.runner, f"{path}/deep") == {"RAMET_PORT_BASE": str(ports.read(path))}
    assert worktree_setup.find_ports(bench.runner, str(bench.desk.project)) == {}
    assert bench.told() == []


@pytest.mark.requirement("R458")
def test_the_command_does_not_run_on_the_work_of_a_sandboxed_agent(bench: Bench) -> None:
    claimed = bench.claim()
    site = bench.site(claimed, is_sandboxed=True)
    path = bench.prepare(claimed, site)
    assert (path / "runs").read_text() == "x\n", "it starts with what the user committed"
    (path / "package-lock.json").write_text("by the agent")
    bench.prepare(claimed, site)
    elsewhere = bench.claim()
    bench.prepare(elsewhere, bench.site(replace(elsewhere, base_commit=_agents_commit(bench)), is_sandboxed=True))
    assert (path / "runs").read_text() == "x\n"
    assert bench.told() == ["running", "skipped", "skipped"]


def _agents_commit(bench: Bench) -> str:
    """A commit that is not where the effort was added."""
    shop, project = bench.desk.shop, bench.desk.project
    (project / "package-lock.json").write_text("by another agent")
    commit = shop.commit(project, "an agent's")
    shop.run(project, "reset", "-q", "--hard", "HEAD~1")
    return commit


@pytest.mark.requirement("R458")
def test_a_command_in_a_projects_file_counts_only_if_the_owner_trusts_it(desk: Desk) -> None:
    environ = {"HOME": str(desk.shop.home), "RAMET_HOME": str(desk.machine.places.home)}
    file = desk.write("ramet.yaml", "worktree: {setup: 'touch owned', reuse: [node_modules], lock_files: [a]}\n")
    found = load(environ, desk.project, {})
    assert found.settings.worktree == WorktreeSettings()
    assert {each.key for each in found.ignored} == {"worktree.setup", "worktree.reuse", "worktree.lock_files"}
    trust.trust(environ, file, file.read_bytes())
    assert load(environ, desk.project, {}).settings.worktree.setup == "touch owned"


@pytest.mark.requirement("R458")
def test_a_set_up_command_that_fails_names_itself_and_its_log(bench: Bench) -> None:
    claimed = bench.claim()
    with pytest.raises(SetupFailed, match="the set-up command `exit 3` failed with exit status 3") as failure:
        bench.prepare(claimed, bench.site(claimed, "exit 3"))
    assert "see its log: " in failure.value.fix
