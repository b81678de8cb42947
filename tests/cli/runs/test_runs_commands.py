"""Looking at runs, hiding them and cleaning them up."""

import re

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal


@pytest.fixture
def ran(shop: CommandLine) -> CommandLine:
    """A shop in which a run failed, and another was interrupted."""
    (shop.cwd / "tasks.md").write_text(
        "- [ ] 1. echo items > cart.txt; echo one\n- [ ] 2. exit 3\n- [ ] 3. echo three\n"
    )
    shop("run", "tasks.md", "--driver", "shell")
    shop("run", "tasks.md", "--driver", "shell", "--stop-on-failure")
    return shop


def names(ramet: CommandLine, *arguments: str) -> list[int]:
    return [row["id"] for row in ramet.json("runs", "list", *arguments)["items"]]


@pytest.mark.requirement("R105")
def test_the_list_has_the_newest_first_and_what_can_be_resumed(ran: CommandLine) -> None:
    heading, *rows = ran.ok("runs", "list").splitlines()
    assert heading.split() == ["RUN", "STATE", "PROGRESS", "FAILED", "AGE", "MODE", "NAME"]
    assert re.fullmatch(r"r2 +interrupted +2/3 +1 +\d+s +sequential +tasks.md", rows[0])
    assert re.fullmatch(r"r1 +finished +3/3 · \d+s +1 +\d+s +sequential +tasks.md", rows[1])
    assert names(ran, "--limit", "1") == [2]


def test_a_run_is_shown_as_it_was_told_when_it_ended(ran: CommandLine) -> None:
    shown = ran.ok("runs", "show", "r2")
    assert shown.startswith("r2 tasks.md: interrupted, 2/3\n1 pending, 1 completed, 1 failed\n")
    assert [line.split()[:4] for line in shown.splitlines()[4:7]] == [
        ["1", "shell", "e4", "completed"],
        ["2", "shell", "e5", "failed"],
        ["3", "shell", "e6", "pending"],
    ]
    assert "branches to merge\n  ramet/r2: 1 file of task 1\n" in shown
    assert "continue: `ramet run --resume r2`" in shown
    assert ran.ok("show", "r2") == ran.ok("runs", "show", "2") == shown


def test_a_conversation_is_shown_in_its_turns(ran: CommandLine) -> None:
    told = ran.ok("runs", "show", "r1", "--conversation")
    assert told.startswith(
        "[User]\necho items > cart.txt; echo one\n\n[Assistant]\none\n\n[User]\nexit 3\n\n[System]\n✗ failed"
    )


def test_an_archived_run_is_hidden_until_it_is_not(ran: CommandLine) -> None:
    assert ran.ok("runs", "archive", "r1") == "r1 is archived\n"
    assert (names(ran), names(ran, "--all")) == ([2], [2, 1])
    assert "finished (archived)" in ran.ok("runs", "list", "--all")
    assert ran.ok("runs", "archive", "r1", "--undo") == "r1 is listed again\n"
    assert names(ran) == [2, 1]


@pytest.mark.requirement("R105")
def test_old_runs_are_cleaned_up_and_their_efforts_stay(ran: CommandLine) -> None:
    assert ran.ok("runs", "clean", "--yes") == "nothing to delete\n"
    assert ran("runs", "clean", "--days", "0").returncode == 2
    assert ran.ok("runs", "clean", "--days", "0", "--dry-run") == "would be deleted: r1\n"
    assert names(ran) == [2, 1]
    assert ran.ok("runs", "clean", "--days", "0", "--yes") == "deleted: r1\n"
    assert names(ran) == [2]
    assert ran.json("show", "e1")["outcome"] == "success"
    assert "run not found: 1\n" in ran("runs", "show", "r1").stderr


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_a_run_fits(ran: CommandLine, columns: int) -> None:
    for arguments in (("runs", "list"), ("runs", "show", "r1")):
        seen = at_terminal(ran, *arguments, columns=columns)
        assert seen.status == 0
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.text)
        assert max(len(line) for part in plain.splitlines() for line in part.split("\r")) <= columns


def test_without_runs_it_is_said_how_to_begin(ramet: CommandLine) -> None:
    assert ramet.ok("runs", "list") == "no runs yet: `ramet run FILE` starts one\n"
