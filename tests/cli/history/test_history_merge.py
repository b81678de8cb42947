"""Joining histories by hand, and deciding what they say differently."""

import json

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.history.branch_contents import compiled, hash_at


@pytest.fixture
def parted(ramet: CommandLine) -> CommandLine:
    """`main` and `side`, which edited the same commit differently."""
    ramet.ok("history", "commit", "main", "Where does the cart live?")
    ramet.ok("history", "commit", "main", "In the browser.", "--role", "assistant")
    ramet.ok("history", "branch", "create", "side", "--from", "main")
    ramet.ok("history", "edit", "main", hash_at(ramet, 2), "With the account.")
    ramet.ok("history", "edit", "side", hash_at(ramet, 2), "In a cookie.\nSigned.")
    return ramet


def test_a_conflict_is_shown_readably_changes_nothing_and_exits_with_4(parted: CommandLine) -> None:
    before = parted.json("history", "branch", "list")
    done = parted("history", "merge", "main", "side")
    target = hash_at(parted, 2)[:8]
    assert done.returncode == 4
    assert done.stdout.splitlines()[:3] == ["1 conflict; nothing was changed", "", f"{target}  both edited it"]
    assert "  main:\n    With the account.\n  side:\n    In a cookie.\n    Signed.\n" in done.stdout
    assert f"--resolve {target}=TEXT" in done.stdout
    assert parted.json("history", "branch", "list") == before


def test_a_conflict_is_data_for_programs(parted: CommandLine) -> None:
    done = parted("history", "merge", "main", "side", "--json")
    (conflict,) = json.loads(done.stdout)["conflicts"]
    assert (done.returncode, done.stderr) == (4, "")
    assert (conflict["kind"], conflict["base"]) == ("edit", "In the browser.")


def test_a_conflict_is_decided_by_the_beginning_of_its_hash(parted: CommandLine) -> None:
    target = hash_at(parted, 2)[:8]
    said = parted.ok("history", "merge", "main", "side", "--resolve", f"{target}=Both = fine.")
    assert said.endswith("with 1 commit of side\n")
    assert compiled(parted)[1] == "Both = fine."
    parted.ok("undo", "main")
    assert compiled(parted)[1] == "With the account."


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        ("ours", "With the account."),
        ("theirs", "In a cookie.\nSigned."),
        ("both", "With the account.\n\nIn a cookie.\nSigned."),
    ],
)
def test_a_strategy_decides_all(parted: CommandLine, strategy: str, text: str) -> None:
    parted.ok("history", "merge", "main", "side", "--strategy", strategy)
    assert compiled(parted)[1] == text


def test_merging_twice_says_that_there_is_nothing_new(ramet: CommandLine) -> None:
    ramet.ok("history", "commit", "main", "one")
    ramet.ok("history", "branch", "create", "side", "--from", "main")
    ramet.ok("history", "commit", "side", "two")
    ramet.ok("history", "commit", "main", "three")
    assert "with 1 commit of side" in ramet.ok("history", "merge", "main", "side")
    assert ramet.ok("history", "merge", "main", "side") == "main already contains side\n"
    assert compiled(ramet) == ["one", "two", "three"]


def test_what_differs_is_shown_by_commit_and_by_text(parted: CommandLine) -> None:
    text = parted.ok("history", "diff", "main", "side")
    assert "only in main:\n  " in text
    assert "-With the account.\n+In a cookie.\n+Signed.\n" in text
    stat = parted.ok("history", "diff", "main", "side", "--stat").splitlines()
    assert stat[1:] == ["only in main: 1 commit", "only in side: 1 commit", "compiled text: +2 -1 lines"]
    assert len(parted.json("history", "diff", "main", "side")["only_b"]) == 1
    assert parted.ok("history", "diff", "main", "main") == "a model gets the same text from both\n"


def test_a_resolution_without_a_text_is_refused(parted: CommandLine) -> None:
    refused = parted("history", "merge", "main", "side", "--resolve", "abcd")
    assert (refused.returncode, "is not HASH=TEXT" in refused.stderr) == (2, True)
