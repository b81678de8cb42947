"""Inside a project, commands are about that project; `-A` is everything."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import click
import pytest
from tests.cli.command_line import CommandLine

from ramet.cli.commands.record.project_scope import find_place, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.main import ramet as ramet_group
from ramet.model.record.project import Project
from ramet.protocol.record.projects import ListProjects

pytestmark = pytest.mark.requirement("R413")

Kind = Literal["project", "named", "database"]
SCOPES: dict[str, Kind] = {
    **dict.fromkeys(
        [
            *("ps", "queue", "next", "tree", "notices", "notices dismiss", "work", "budget", "status", "usage"),
            *("session list", "export", "runs list", "runs clean", "task list", "task find", "agent list", "search"),
            *("worktree list", "worktree clean", "worktree tidy"),
            *("recall", "fix", "how", "files", "retry", "landings list"),
        ],
        "project",
    ),
    **dict.fromkeys(["skill list", "skill find", "effort list", "history log", "history moves"], "named"),
    **dict.fromkeys(
        [
            *("events", "project list", "drivers", "history branch list", "history gc", "rpc list", "query"),
            *("redact", "trust", "config"),
        ],
        "database",
    ),
}
"""The commands that list, run or clean up. `project`: the project of the current directory, and `-A` is every project.
`named`: the task, the branch or the project that the user names. `database`: what no project owns, such as a branch, or
the log of everything.
"""
VERBS = ("list", "clean", "tidy", "find", "gc", "log", "moves")
"""The last words of commands that list or clean up."""


def list_commands(group: click.Group = ramet_group, *words: str) -> Iterator[tuple[str, click.Command]]:
    """Every command, by the words that call it."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield " ".join([*words, name]), command
        if isinstance(command, click.Group):
            yield from list_commands(command, *words, name)


COMMANDS = dict(list_commands())


def test_every_command_that_lists_or_cleans_up_has_chosen_its_scope() -> None:
    listing = {name for name in COMMANDS if name.split()[-1] in VERBS and " " in name} - {"session log"}
    assert listing <= SCOPES.keys(), "choose a scope for the new command in SCOPES"
    assert SCOPES.keys() <= COMMANDS.keys(), "a command that is gone"


def test_exactly_the_commands_of_a_project_can_be_widened() -> None:
    widened = {name for name, command in COMMANDS.items() for param in command.params if "-A" in param.opts}
    assert widened == {name for name, kind in SCOPES.items() if kind == "project"}


@pytest.fixture
def two(shop: CommandLine) -> CommandLine:
    """Two projects, each with an effort in the queue; commands run in the first one, `site`."""
    (shop.cwd.parent / "bank").mkdir()
    shop.ok("add", "echo done in site", "--skill", "shell", "--driver", "shell")
    shop.ok("project", "add", "../bank")
    shop.ok("add", "echo done in bank", "--skill", "shell", "--driver", "shell", "--task", "../bank/tasks/count")
    return shop


def test_lists_work_and_clean_up_are_about_the_project_unless_told_otherwise(two: CommandLine) -> None:
    (two.cwd / "deep").mkdir()
    two.cwd /= "deep"
    assert [row["id"] for row in two.json("queue")["items"]] == [1]
    assert [row["project_id"] for row in two.json("queue", "-A")["items"]] == [1, 2]
    heading, *rows = two.ok("queue", "-A").splitlines()
    assert (heading.split()[:3], [row.split()[2] for row in rows]) == (["AGENT", "PROJECT", "STATE"], ["site", "bank"])
    assert "1 effort: 1 success" in two.ok("work", "--once")
    assert two.json("queue", "-A")["items"][0]["id"] == 2, "the other project's effort is still queued"
    nothing = two.ok("work", "--once").splitlines()
    assert nothing == ["nothing is queued: `ramet add PROMPT`", "only site was considered: -A is every project"]
    assert [row["project_id"] for row in two.json("session", "list", "--all")["items"]] == [1]

    worktree = Path(two.json("worktree", "list")["items"][0]["path"])
    two.cwd = worktree
    assert [row["id"] for row in two.json("queue", "--all")["items"]] == [1], "an agent's worktree is the project's"
    two.cwd = two.home
    assert [row["id"] for row in two.json("queue", "--all")["items"]] == [2, 1], "outside of every project"
    two.cwd = two.home / "bank"
    assert two.ok("worktree", "clean", "--yes").startswith("nothing to remove")
    assert worktree.exists()
    assert two.json("worktree", "clean", "-A", "--yes")["items"][0]["removed"]
    assert "1 effort: 1 success" in two.ok("work", "--once")


def scope_at(tmp_path: Path, cwd: Path, paths: list[Path], **options: Any) -> tuple[int | None, bool]:
    """The project of a directory, and whether lists have a column for it, as a person at a terminal gets it."""
    rows = [
        Project(id=number, path=str(path), name=None, created_at=None, hosts={})  # type: ignore[arg-type]
        for number, path in enumerate(paths, 1)
    ]
    invocation = Invocation({"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    invocation.cwd = cwd
    invocation.target = SimpleNamespace(entrance=None)  # type: ignore[assignment]

    def ask(request: object) -> Any:
        assert isinstance(request, ListProjects)
        return SimpleNamespace(items=rows)

    invocation.ask = ask  # type: ignore[method-assign]
    scope = find_scope(invocation, **options)
    return scope.project_id, scope.has_column


def test_the_nearest_project_around_the_directory_counts(tmp_path: Path) -> None:
    paths = [tmp_path / "site", tmp_path / "site/api", tmp_path / "site-two"]
    for path in [*paths, tmp_path / "site/api/deep", tmp_path / "elsewhere"]:
        path.mkdir(parents=True, exist_ok=True)
    assert scope_at(tmp_path, tmp_path / "site", paths) == (1, False)
    assert scope_at(tmp_path, tmp_path / "site/api/deep", paths) == (2, False)
    assert scope_at(tmp_path, tmp_path / "site-two", paths) == (3, False)
    assert scope_at(tmp_path, tmp_path / "elsewhere", paths) == (None, True)
    assert scope_at(tmp_path, tmp_path / "elsewhere", paths[:1]) == (None, False), "one project needs no column"
    assert scope_at(tmp_path, tmp_path / "site", paths, everywhere=True) == (None, True)
    assert scope_at(tmp_path, tmp_path / "site", paths, project=3) == (3, False)
    with pytest.raises(click.UsageError, match="not both"):
        scope_at(tmp_path, tmp_path, paths, project=3, everywhere=True)


def test_a_linked_worktree_belongs_to_the_project_of_the_same_place(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    repository, worktree = tmp_path / "shop", tmp_path / "trees/e1"
    (repository / "api").mkdir(parents=True)
    (repository / "api/x").touch()
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["worktree", "add", "-q", str(worktree)]):
        subprocess.run([*git, *words], cwd=repository, check=True, capture_output=True)
    assert scope_at(tmp_path, worktree / "api", [tmp_path, repository, repository / "api"]) == (3, False)
    assert scope_at(tmp_path, worktree, [tmp_path, repository, repository / "api"]) == (2, False)
    invocation = Invocation({"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    invocation.cwd = tmp_path
    assert find_place(invocation) == str(tmp_path)
