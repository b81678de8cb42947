"""Which of this machine's paths the sandbox of an attempt shows."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.runner.desk import Desk

from ramet.config.settings import DriverSettings, ProfileSettings, SandboxSettings
from ramet.errors import InvalidSetting, PathOutside, RametError, SandboxUnavailable
from ramet.faults import Faults
from ramet.runner.attempts import sandbox_setup
from ramet.runner.attempts.sandbox_setup import Sandbox, Wanted
from ramet.runner.context import RunnerContext
from ramet.vendors import selection


async def _nobody(_request: Any) -> Any:
    raise AssertionError


class Owner:
    """A user with a project, a home and sandboxed agents."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.environ = {**desk.shop.environ, "PATH": os.environ["PATH"]}
        self.runner = RunnerContext(
            ask=_nobody,
            machine=desk.machine,
            settings=desk.machine.settings,
            places=desk.machine.places,
            environ=self.environ,
            faults=Faults(),
            name="here",
            identify=lambda: "1" * 32,
            token=str,
        )
        self.worktree = desk.shop.prepare("e1")

    def make(self, settings: SandboxSettings | None = None, **changes: Any) -> Sandbox:
        wanted = Wanted(
            instance="1" * 32,
            driver="shell",
            profile=ProfileSettings(sandbox="workspace"),
            settings=settings or SandboxSettings(),
            environ=self.environ,
            program=["/bin/sh"],
            project_path=str(self.desk.project),
            directory=self.worktree.path,
            is_spawned=False,
            native_id=None,
        )
        made = sandbox_setup.make(self.runner, replace(wanted, **changes))
        assert made is not None
        return made

    def require(self, settings: SandboxSettings, **profile: Any) -> None:
        profiles = {"x": ProfileSettings(**{"driver": "shell", "sandbox": "workspace", **profile})}
        found = selection.resolve("x", DriverSettings(profiles=profiles), self.environ)
        sandbox_setup.require(self.runner, found, settings, self.environ)


@pytest.fixture
def owner(desk: Desk, bwrap: None) -> Owner:
    return Owner(desk)


def test_a_profile_without_a_sandbox_gets_none(owner: Owner) -> None:
    with pytest.raises(AssertionError):
        owner.make(profile=ProfileSettings())


@pytest.mark.parametrize("path", ["~", "/", "~/..", "{home}", "{home}/run"])
def test_a_path_that_would_show_the_home_or_ramets_files_is_refused(owner: Owner, path: str) -> None:
    owner.runner.places.home.joinpath("run").mkdir(parents=True, exist_ok=True)
    listed = path.format(home=owner.runner.places.home)
    with pytest.raises(InvalidSetting, match="would show") as refusal:
        owner.require(SandboxSettings(read_paths=[listed]))
    assert refusal.value.field == "sandbox.read_paths"


def test_a_link_to_the_home_is_refused_like_the_home(owner: Owner, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(owner.desk.shop.home)
    with pytest.raises(InvalidSetting, match="would show"):
        owner.require(SandboxSettings(read_paths=[str(tmp_path / "link")]))


def test_a_path_that_does_not_exist_is_an_error(owner: Owner) -> None:
    with pytest.raises(InvalidSetting, match="does not exist"):
        owner.require(SandboxSettings(read_paths=["~/.nowhere"]))


def test_a_host_that_is_none_is_an_error(owner: Owner) -> None:
    with pytest.raises(InvalidSetting, match="https://example") as refusal:
        owner.require(SandboxSettings(allow_hosts=["https://example.org"]))
    assert refusal.value.field == "sandbox.allow_hosts"


def test_a_program_that_cannot_run_inside_is_refused_with_what_to_change(owner: Owner, tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(SandboxUnavailable) as refusal:
        owner.require(SandboxSettings(), driver="codex", program=[str(program)], permission_mode="read-only")
    assert "danger-full-access" in refusal.value.fix


def test_a_repository_that_borrows_objects_needs_its_owners_word(owner: Owner, tmp_path: Path) -> None:
    lender = owner.desk.shop.make_repository("lender") / ".git" / "objects"
    info = owner.desk.project / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{lender}\n")
    with pytest.raises(SandboxUnavailable, match="reads objects from") as refusal:
        owner.make()
    assert f"add {lender} to sandbox.read_paths" in refusal.value.fix
    assert str(lender) in owner.make(SandboxSettings(read_paths=[str(lender)])).arguments


@pytest.mark.parametrize("name", ["objects", "worktrees/e1/commondir", "worktrees/e1/config.worktree"])
def test_a_link_in_the_repository_is_not_mounted(owner: Owner, tmp_path: Path, name: str) -> None:
    path = owner.desk.project / ".git" / name
    if path.exists():
        path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    with pytest.raises((RametError, OSError)):
        owner.make()


def test_a_worktree_that_leads_to_another_repository_is_not_mounted(owner: Owner) -> None:
    other = owner.desk.shop.make_repository("other")
    Path(owner.worktree.path, ".git").write_text(f"gitdir: {other}/.git\n")
    with pytest.raises(SandboxUnavailable, match="is not a worktree of"):
        owner.make()


def test_a_child_of_a_sandboxed_agent_does_not_get_the_users_checkout(owner: Owner) -> None:
    with pytest.raises(PathOutside, match="not in the worktree"):
        owner.make(directory=str(owner.desk.project), is_spawned=True)


def test_a_child_works_in_all_of_its_parents_worktree(owner: Owner) -> None:
    below = Path(owner.worktree.path, "below")
    below.mkdir()
    arguments = owner.make(directory=str(below), is_spawned=True).arguments
    binds = [arguments[at + 2] for at, word in enumerate(arguments) if word == "--bind"]
    assert owner.worktree.path in binds
    assert str(below) not in binds


def test_ramets_home_in_the_folder_that_the_agent_may_change_is_refused(owner: Owner) -> None:
    with pytest.raises(SandboxUnavailable, match="Ramet's home"):
        owner.make(directory=str(owner.desk.shop.root), project_path=str(owner.desk.shop.root))


def test_a_folder_of_a_checkout_that_a_person_chose_has_a_repository_that_is_only_read(owner: Owner) -> None:
    project = str(owner.desk.project)
    arguments = owner.make(directory=project).arguments
    at = arguments.index(f"{project}/.git")
    assert arguments[at - 1] == "--ro-bind"


def test_other_projects_below_a_folder_that_is_shown_are_hidden(owner: Owner, tmp_path: Path) -> None:
    other = tmp_path / "tools" / "other"
    other.mkdir(parents=True)
    owner.desk.world.call("db.project.upsert", path=str(other))
    arguments = owner.make(SandboxSettings(read_paths=[str(tmp_path / "tools")])).arguments
    assert arguments[arguments.index(str(other)) - 1] == "--tmpfs"


def test_of_ramets_home_only_the_folder_of_the_agents_socket_is_there(owner: Owner) -> None:
    arguments, places = owner.make().arguments, owner.desk.machine.places
    folder = str(places.agents_socket.parent)
    assert arguments[arguments.index(folder) - 1 : arguments.index(folder) + 2] == ["--ro-bind", folder, folder]
    assert str(places.socket) not in arguments
    assert str(places.home) not in arguments
