"""A hostile program in each sandbox: every way out that it tries is a test of its own.

The same program without a sandbox gets through, so an attempt that fails inside fails because of the sandbox.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.sandbox import confined, hostile
from tests.sandbox.confined import Machine, Surroundings

from ramet.model.principal import of_session
from ramet.sandbox import syscall_filter

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[2]
ALLOWED = {
    *("call_ramet", "commit_in_the_worktree", "know_its_branch", "read_a_listed_tool"),
    "write_a_private_tmp_and_home",
}
NETWORK = {"reach_the_hosts_network", "reach_an_address_of_the_host"}
"""What the host's network gives to an agent that has it."""
JUDGED_OUTSIDE = {"move_the_branch_of_another_agent", "send_a_datagram"}
ONLY_STRICT = {"send_a_datagram_to_the_world", "send_a_datagram_over_the_other_protocol", "resolve_a_name"}
"""What depends on this machine's network without a network namespace."""
HARMLESS = [
    *("read_home", "read_other_project", "read_the_users_checkout", "read_another_worktree", "read_ramets_database"),
    *("list_ramets_home", "read_credentials_of_another_program", "read_through_a_link", "list_folders_of_the_machine"),
    *(
        "read_through_the_root_of_a_process",
        "see_other_processes",
        "trace_another_process",
        "use_shared_memory_of_the_host",
    ),
    *("reach_the_control_socket", "reach_an_abstract_socket", "reach_the_hosts_network", "read_a_foreign_environment"),
    *("send_a_datagram", "link_a_file_into_the_worktree", "configure_the_repository", "write_files_of_the_repository"),
    *("write_elsewhere", "move_the_branch_of_another_agent", "borrow_objects_of_another_repository"),
    *("signal_another_process", "read_other_project_below_a_shared_folder"),
]
"""Attempts that succeed without a sandbox, for every user, and touch only what belongs to the test."""


class Attack(NamedTuple):
    """One run of the program, and what it left behind."""

    found: dict[str, Any]
    effort: dict[str, Any]
    machine: Machine
    targets: dict[str, Any]
    before: dict[str, Any]
    is_victim_alone: bool
    has_datagram: bool

    def got(self, name: str) -> Any:
        return self.found[name]["got"]


def _files(paths: list[str]) -> dict[str, Any]:
    """What files hold, and what is beside them, except for the search index, which the daemon writes when it likes."""
    return {
        path: (Path(path).read_bytes(), oct(os.lstat(path).st_mode)) if Path(path).is_file() else None for path in paths
    } | {f"beside {path}": _names_beside(path) for path in paths}


def _names_beside(path: str) -> list[str]:
    return sorted(each.name for each in Path(path).parent.iterdir() if not each.name.startswith("search.db"))


def _targets(machine: Machine, around: Surroundings) -> dict[str, Any]:
    common, other = machine.cwd / ".git", machine.make_repository(machine.home / "other")
    shared = machine.make_repository(machine.tools / "shared")
    for project in (other, shared):
        machine.ok("project", "add", str(project))
    neighbour = machine.run('TARGETS {"attempts": ["know_its_branch"]}', "workspace")
    top = machine.home / "ramet" / "worktrees"
    (own,) = [path for path in common.joinpath("worktrees").iterdir() if path.name == "e1"]
    names = ("config", "hooks/pre-commit", "info/exclude", "info/attributes", "HEAD", "packed-refs", "description")
    refs = ("refs/heads/main", "refs/tags/v1", "refs/stash", "logs/HEAD", "index", "objects/info/alternates")
    return {
        "private": str(machine.user / ".ssh" / "id_test"),
        "credentials": str(machine.user / ".claude" / ".credentials.json"),
        "other": str(other),
        "other_commit": machine.git(other, "rev-parse", "HEAD"),
        "shared_project": str(shared),
        "project": str(machine.cwd),
        "common": str(common),
        "other_worktree": neighbour["worktree"],
        "ramet": str(machine.home / "ramet"),
        "socket": str(machine.home / "ramet" / "run" / "ramet.sock"),
        "expected_folders": ["run", *(Path(path).parts[1] for path in (top, sys.prefix, sys.base_prefix, ROOT))],
        "repository_files": [
            *(str(common / name) for name in (*names, *refs)),
            *(str(own / name) for name in ("HEAD", "commondir", "gitdir", "index")),
        ],
        "outside_files": [
            *(str(machine.user / name) for name in (".bashrc", ".ssh/id_test", ".ssh/authorized_keys", ".profile")),
            *(str(machine.cwd / name) for name in ("a.txt", ".env", "new.txt")),
            str(other / "plans.txt"),
            str(machine.home / "ramet" / "agent.key"),
            str(machine.user / ".config" / "ramet" / "config.yaml"),
        ],
        "system_files": ["/ramet-test", "/usr/ramet-test", "/usr/bin/ramet-test", "/etc/ramet-test", "/opt/ramet-test"],
        "ways": None,
        "tool": str(machine.write(machine.tools / "tool.txt", "a tool\n")),
        "mark": confined.MARK,
        "victim": around.victim.pid,
        "shared_memory": around.key,
        "abstract": around.abstract,
        "tcp": around.tcp.getsockname()[1],
        "udp": around.udp.getsockname()[1],
        "host_address": confined.host_address(),
        "disk": confined.disk(),
    }


def _attack(sandbox: str, attempts: list[str]) -> Iterator[Attack]:
    machine = Machine(confined.make_folder())
    around = Surroundings(machine.home)
    try:
        machine.confine()
        targets = {**_targets(machine, around), "attempts": attempts}
        if sandbox == "off":  # what else it would do there would end the test
            files = [path for path in targets["repository_files"] if "/hooks/" in path or "/info/exclude" in path]
            mine = [path for path in targets["outside_files"] if path.startswith(str(machine.user / ".ssh"))]
            targets |= {"system_files": [], "ways": ["open"], "repository_files": files, "outside_files": mine}
        machine.git(machine.cwd, "update-ref", "refs/heads/ramet/e99", "HEAD~1")
        before = _files([*targets["repository_files"], *targets["outside_files"]])
        found, effort = machine.attack(sandbox, targets)
        yield Attack(found, effort, machine, targets, before, around.is_victim_alone, around.has_datagram())
    finally:
        around.close()
        machine.close()


@pytest.fixture(scope="module", params=["workspace", "strict"])
def attack(request: pytest.FixtureRequest, bwrap: None) -> Iterator[Attack]:
    yield from _attack(request.param, sorted(hostile.ATTEMPTS))


@pytest.fixture(scope="module")
def unconfined() -> Iterator[Attack]:
    yield from _attack("off", HARMLESS)


@pytest.mark.parametrize("name", sorted({*HARMLESS} - JUDGED_OUTSIDE - {"write_elsewhere"}))
def test_without_a_sandbox_the_attempt_succeeds(unconfined: Attack, name: str) -> None:
    assert unconfined.got(name), unconfined.found[name]


def test_without_a_sandbox_files_a_process_and_a_port_are_reached(unconfined: Attack) -> None:
    targets = unconfined.targets
    assert _files([*targets["repository_files"], *targets["outside_files"]]) != unconfined.before
    assert not unconfined.is_victim_alone
    assert unconfined.has_datagram


@pytest.mark.requirement("R344")
@pytest.mark.parametrize("name", sorted({*hostile.ATTEMPTS} - ALLOWED - JUDGED_OUTSIDE))
def test_a_hostile_program_does_not_get_through(attack: Attack, name: str) -> None:
    if attack.effort["driver"] == "workspace" and name in NETWORK | ONLY_STRICT:
        pytest.skip("workspace has the host's network")
    if name in ("trace_the_first_process", "reach_an_abstract_socket") and not syscall_filter.has_scopes():
        pytest.skip("Linux before 6.12 cannot close this")
    assert attack.got(name) is None


@pytest.mark.requirement("R344")
def test_no_file_outside_the_worktree_is_changed(attack: Attack) -> None:
    outside = attack.targets["outside_files"]
    now = _files(outside)
    assert now == {path: attack.before[path] for path in now}
    assert not any(Path(path).exists() for path in attack.targets["system_files"])


@pytest.mark.requirement("R344")
def test_configuration_hooks_refs_and_the_index_of_the_repository_are_unchanged(attack: Attack) -> None:
    kept = [path for path in attack.targets["repository_files"] if not path.endswith("/logs/HEAD")]
    now = {path: content for path, content in _files(kept).items() if not path.startswith("beside ")}
    assert now == {path: attack.before[path] for path in now}
    assert attack.machine.git(attack.machine.cwd, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.requirement("R344")
def test_the_branches_of_others_are_where_they_were(attack: Attack) -> None:
    machine = attack.machine
    second, first = machine.git(machine.cwd, "log", "--format=%H", "main").split()
    refs = machine.git(machine.cwd, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    assert f"refs/heads/main {second}" in refs
    assert f"refs/heads/ramet/e99 {first}" in refs


@pytest.mark.requirement("R344")
def test_no_other_process_was_signalled_and_no_datagram_left(attack: Attack) -> None:
    assert attack.is_victim_alone
    assert attack.has_datagram == (attack.effort["driver"] == "workspace")


def test_a_link_out_of_the_worktree_is_committed_as_a_link(attack: Attack) -> None:
    machine = attack.machine
    entry = machine.git(machine.cwd, "show", f"{attack.effort['git_branch']}:link-to-secret")
    assert entry == attack.targets["private"]


# What it may do.


@pytest.mark.requirement("R344")
def test_it_commits_in_its_worktree_on_its_branch(attack: Attack) -> None:
    machine, branch = attack.machine, attack.effort["git_branch"]
    assert attack.got("commit_in_the_worktree") == "note Ramet"
    assert attack.got("know_its_branch") == branch
    assert machine.git(machine.cwd, "show", f"{branch}:note.txt") == "blue"
    assert machine.git(machine.cwd, "log", "--format=%s", branch).splitlines()[1:] == ["note", "second", "first"]


def test_it_reads_the_tools_that_its_owner_lists_and_has_a_tmp_and_a_home_of_its_own(attack: Attack) -> None:
    assert attack.got("read_a_listed_tool") == "a tool\n"
    assert attack.got("write_a_private_tmp_and_home") == "done"
    assert not (attack.machine.user / "scratch").exists()


@pytest.mark.requirement("R344")
def test_it_calls_ramet_as_itself(attack: Attack) -> None:
    assert attack.got("call_ramet") == of_session(attack.effort["sessions"][0]["id"])


def test_workspace_has_the_hosts_network(attack: Attack) -> None:
    expected = "the host" if attack.effort["driver"] == "workspace" else None
    assert attack.got("reach_the_hosts_network") == expected
