"""Putting work into the queue by hand."""

import os
import re
import subprocess

import pytest
from tests.cli.command_line import CommandLine

from ramet.model.record.task import directory_name


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Fix the cart!", "fix-the-cart"),
        ("\n\n  Füge Käufe hinzu\nmehr", "fuge-kaufe-hinzu"),
        ("../../etc/passwd; rm -rf ~", "etc-passwd-rm-rf"),
        ("a" * 100, "a" * 40),
        ("one two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight"),
    ],
)
def test_a_task_is_named_after_the_first_line_of_its_prompt(prompt: str, name: str) -> None:
    assert directory_name(prompt) == name


def test_a_prompt_without_latin_letters_is_named_by_its_hash() -> None:
    assert re.fullmatch(r"task-[0-9a-f]{8}", directory_name("買い物かご"))
    assert directory_name("買い物かご") != directory_name("買い物")


def test_a_repository_becomes_a_project_and_the_prompt_a_task(shop: CommandLine) -> None:
    said = shop.ok("add", "Fix the cart\nIt forgets.", "--skill", "plan").splitlines()
    assert said == [
        f"registered {shop.cwd} as a project",
        "e1 queued (plan): Fix the cart",
        f"e1 starts at {git(shop, 'symbolic-ref', '--short', 'HEAD')} {git(shop, 'rev-parse', 'HEAD')[:8]}",
        "run it with `ramet work --once`",
    ]
    [task] = shop.json("task", "list")["items"]
    assert (task["dir_path"], task["title"]) == (f"{shop.cwd}/.ramet/tasks/fix-the-cart", "Fix the cart")
    assert shop.json("show", "e1")["prompt"] == "Fix the cart\nIt forgets."


@pytest.mark.requirement("R362")
def test_the_base_is_shown_when_work_is_added_when_it_starts_and_later(shop: CommandLine) -> None:
    git(shop, "switch", "-q", "-c", "fix-cart")
    git(shop, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "not pushed")
    head = git(shop, "rev-parse", "HEAD")
    (shop.cwd / "README.md").write_text("changed\n")
    seen = shop.ok("add", "true", "--skill", "shell")
    assert f"e1 starts at fix-cart {head[:8]}\n" in seen
    assert "README.md has changes that e1 does not see; --with-changes takes them along\n" in seen
    taken = shop.json("add", "cat README.md", "--skill", "shell", "--with-changes")
    assert (taken["base_commit"], taken["base_branch"], taken["uncommitted"]) == (head, "fix-cart", [])
    git(shop, "checkout", "-q", "--detach")
    worked = shop.ok("work", "--once")
    assert f"shell e1 shell started at fix-cart {head[:8]} in /" in worked
    assert f"shell e2 shell started at fix-cart {head[:8]} + changes in /" in worked
    changes = taken["base_changes"]
    assert f"base      fix-cart {head[:8]} with uncommitted changes ({changes[:8]})\n" in shop.ok("show", "e2")
    assert shop.json("show", "e2")["output_content"].strip() == "changed"


@pytest.mark.requirement("R362")
def test_a_base_is_chosen_by_name_and_an_unknown_one_is_refused(shop: CommandLine) -> None:
    git(shop, "tag", "v1")
    added = shop.json("add", "true", "--skill", "shell", "--base", "v1")
    assert (added["base_commit"], added["base_branch"]) == (git(shop, "rev-parse", "v1"), "v1")
    refused = shop("add", "true", "--base", "nope")
    assert refused.returncode == 2
    assert "error: 'nope' is no branch, tag or commit of" in refused.stderr
    assert len(shop.json("queue")["items"]) == 1


def git(shop: CommandLine, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=shop.cwd, check=True, capture_output=True, text=True).stdout.strip()


def test_the_second_time_the_project_is_known(shop: CommandLine) -> None:
    shop.ok("add", "one")
    (shop.cwd / "deep").mkdir()
    assert CommandLine(shop.home, shop.cwd / "deep").ok("add", "two").startswith("e2 queued (implement): two\n")
    assert len(shop.json("project", "list")["items"]) == 1


def test_in_a_linked_worktree_the_project_is_the_repository(shop: CommandLine) -> None:
    shop.ok("add", "one")
    linked = shop.home / "linked"
    subprocess.run(["git", "worktree", "add", "-q", "--detach", str(linked)], cwd=shop.cwd, check=True)
    added = CommandLine(shop.home, linked).json("add", "two")
    assert added["task_id"] == f"{shop.cwd}/.ramet/tasks/two"


def test_a_nearer_project_goes_before_the_repository(shop: CommandLine) -> None:
    (shop.cwd / "part").mkdir()
    inner = CommandLine(shop.home, shop.cwd / "part")
    inner.ok("project", "add", ".")
    assert inner.json("add", "one")["task_id"] == f"{shop.cwd}/part/.ramet/tasks/one"


def test_a_nearer_repository_goes_before_a_project_around_it(shop: CommandLine) -> None:
    shop.ok("project", "add", "..")
    assert shop.json("add", "one")["task_id"] == f"{shop.cwd}/.ramet/tasks/one"


def test_outside_of_everything_it_is_said_what_to_do(ramet: CommandLine) -> None:
    done = ramet("add", "one")
    assert (done.returncode, done.stdout) == (3, "")
    assert "is not in a git repository or a project" in done.stderr
    assert "fix: run `git init` here, register a project with `ramet project add PATH`" in done.stderr


def test_a_prompt_comes_from_the_argument_a_file_or_standard_input(shop: CommandLine) -> None:
    (shop.cwd / "prompt.md").write_text("from a file\n")
    shop.ok("add", "--file", "prompt.md")
    shop.ok("add", stdin="from a pipe")
    shop.ok("add", "-", stdin="from a dash")
    shop.ok("add", "--file", "-", stdin="from a file's dash")
    prompts = [row["prompt"] for row in shop.json("queue")["items"]]
    assert prompts == ["from a file\n", "from a pipe", "from a dash", "from a file's dash"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("  ",), "the prompt is empty"),
        ((), "the prompt is empty"),
        (("one", "--file", "two"), "give PROMPT or --file, not both."),
        (("--file", "nowhere.md"), "nowhere.md cannot be read"),
        (("one", "--timeout", "0"), "--timeout"),
        (("one", "--based-on", "plan"), "'plan' is not an effort; write e12 or 12."),
    ],
)
def test_a_wrong_usage_adds_nothing(offline: CommandLine, arguments: tuple[str, ...], complaint: str) -> None:
    done = offline("add", *arguments)
    assert (done.returncode, complaint in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (("--based-on", "e9"), 3, "there is no effort 9"),
        (("--skill", "juggle"), 2, "juggle"),
        (("--driver", "telepathy"), 2, "telepathy"),
    ],
)
def test_what_does_not_exist_is_refused_and_nothing_is_queued(
    shop: CommandLine, arguments: tuple[str, ...], status: int, complaint: str
) -> None:
    done = shop("add", "one", *arguments)
    assert (done.returncode, complaint in done.stderr) == (status, True)
    assert shop.json("queue", "--all")["items"] == []
    assert shop.json("task", "list")["items"] == []


def test_a_prompt_that_is_not_utf8_is_refused(shop: CommandLine) -> None:
    done = shop("add", os.fsdecode(b"caf\xe9"))
    assert (done.returncode, "error: the request is not UTF-8" in done.stderr) == (2, True)


def test_what_it_waits_for_is_said(shop: CommandLine) -> None:
    shop.ok("add", "Draw it", "--skill", "plan")
    said = shop.ok("add", "Build it", "--based-on", "e1", "--priority", "5", "--timeout", "60", "--model", "opus")
    assert said == "e2 queued (implement): Build it\nit waits for e1, which is queued\n"
    row = shop.json("show", "e2")
    assert (row["based_on"], row["priority"], row["timeout_seconds"], row["model"]) == (1, 5, 60, "opus")
    assert row["task_id"] == shop.json("show", "e1")["task_id"]
