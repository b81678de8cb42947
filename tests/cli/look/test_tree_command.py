"""`ramet tree`: who spawned whom."""

import json
import re
from typing import Any

import pytest
from tests.cli import family
from tests.cli.command_line import CommandLine
from tests.cli.family import goal, says, uses
from tests.cli.terminal import at_terminal


@pytest.fixture
def ramet(shop: CommandLine) -> CommandLine:
    """s1 has the children s2, which spawned s3, and s4, which failed."""
    family.begin(shop)
    inner = goal("Look closer", says("found"), uses(500, 0.05))
    delegate = goal("Look", uses(1000, 0.10), {"run": [shop.program, "spawn", inner]}, says("done"))
    shop.ok("spawn", delegate, "--parent", "s1")
    shop("spawn", goal("Break it", {"exit": 3}), "--parent", "s1")
    return shop


def drawn(lines: list[str]) -> list[str]:
    """The agents as they are drawn."""
    return [found[0] for line in lines if (found := re.match(r"[^a-z]*\w+ [es]\d+", line))]


@pytest.mark.requirement("R140")
def test_each_session_stands_below_the_one_that_spawned_it(ramet: CommandLine) -> None:
    heading, *lines, _, total = ramet.ok("tree", "s1").splitlines()
    assert heading.split()[:6] == ["AGENT", "STATE", "AGE", "COST", "+BELOW", "TOOK"]
    assert heading.split()[6:] == ["TOKENS", "+BELOW", "SESSION", "SKILL", "NOW"]
    assert drawn(lines) == ["claude s1", "├─ fake e2", "│  └─ fake e3", "└─ fake e4"]
    cells = [re.split(r"  +", line.lstrip("├─└│ ")) for line in lines]
    assert [cell[1] for cell in cells] == ["starting", "success", "success", "error"]
    assert cells[0][8:10] == ["s1", "plan"]
    assert [*cells[1][3:5], *cells[1][6:]] == ["$0.10", "$0.15", "1.0k", "1.5k", "s2", "do", "Look"]
    assert [*cells[2][3:5], *cells[2][6:]] == ["$0.05", "$0.05", "500", "500", "s3", "do", "Look closer"]
    assert cells[3][-1] == "exit status 3 · Break it"
    assert total == "4 sessions: 2 success, 1 starting, 1 error; 1,500 tokens, $0.15"


@pytest.mark.requirement("R140", "R282")
def test_a_tree_is_found_by_any_name_of_any_of_it(ramet: CommandLine) -> None:
    for reference in ("s3", "e3", "session/3", "tasks/cart", "claude:2f1c"):
        assert [row["id"] for row in ramet.json("tree", reference)["items"]] == [1, 2, 3, 4]


def test_only_what_is_below_can_be_asked_for(ramet: CommandLine) -> None:
    assert [row["id"] for row in ramet.json("tree", "s2", "--below")["items"]] == [2, 3]
    assert ramet("tree", "--below").returncode == 2


def test_without_a_name_it_is_what_is_going_on_or_else_the_newest(ramet: CommandLine) -> None:
    assert len(ramet.json("tree")["items"]) == 4
    ramet.begin_effort("tasks/cart", "plan")
    ramet.ok("session", "start", "tasks/cart", "e5", "--agent", "second")
    ramet.ok("session", "finish", "s1")
    assert [row["id"] for row in ramet.json("tree")["items"]] == [5]
    ramet.ok("session", "finish", "s5")
    assert [row["id"] for row in ramet.json("tree")["items"]] == [5]


def test_what_does_not_exist_is_said(ramet: CommandLine) -> None:
    for reference in ("s99", "e99", "r99", "nothing", "./nothing"):
        done = ramet("tree", reference)
        assert (done.returncode, done.stdout) == (3, "")


def test_nothing_yet_is_no_error(ramet: CommandLine, offline: CommandLine) -> None:
    assert offline is ramet
    empty = CommandLine(ramet.home / "other", ramet.cwd)
    try:
        assert empty.ok("tree") == "no sessions yet: `ramet work` runs queued efforts\n"
    finally:
        empty("daemon", "stop")


def test_a_terminal_has_colours_and_a_pipe_has_not(ramet: CommandLine) -> None:
    seen = at_terminal(ramet, "tree", "s2", columns=60)
    assert "\x1b[31merror" in seen.text
    assert "\x1b[32msuccess" in seen.text
    assert "…" in seen.text
    assert "\x1b" not in ramet.ok("tree", "s2")


def test_without_unicode_it_is_drawn_in_ascii(ramet: CommandLine) -> None:
    done = ramet("tree", "s1", environ={"PYTHONIOENCODING": "ascii"})
    assert drawn(done.stdout.splitlines()[1:5]) == ["claude s1", "|- fake e2", "|  `- fake e3", "`- fake e4"]


def test_watching_ends_when_everything_has_ended(ramet: CommandLine) -> None:
    ramet.ok("session", "finish", "s1")
    looks = [json.loads(line) for line in ramet.ok("tree", "s1", "--watch", "--json").splitlines()]
    assert [[row["status"] for row in look["items"]] for look in looks] == [["ended"] * 4]
    assert "4 sessions" in at_terminal(ramet, "tree", "s1", "--watch").text


def test_an_agent_sees_no_more_than_what_is_below_it(ramet: CommandLine) -> None:
    looks = {"run": [ramet.program, "tree", "--json"]}
    said: list[dict[str, Any]] = json.loads(
        ramet("spawn", goal("Look", looks), "--parent", "s1").stdout.split("\n", 1)[1]
    )["items"]
    assert [row["id"] for row in said] == [5]
