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
        "run it with `ramet work --once`",
    ]
    [task] = shop.json("task", "list")["items"]
    assert (task["dir_path"], task["title"]) == (f"{shop.cwd}/.ramet/tasks/fix-the-cart", "Fix the cart")
    assert shop.json("show", "e1")["prompt"] == "Fix the cart\nIt forgets."


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
