"""Children by hand: spawned, shown as a tree, folded in, opened again."""

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.history.branch_contents import compiled


@pytest.fixture
def parent(ramet: CommandLine) -> CommandLine:
    """A branch `main` with an instruction and two turns, one of them tagged."""
    ramet.ok("history", "commit", "main", "Answer briefly.", "--type", "instruction")
    ramet.ok("history", "commit", "main", "Carts are lost.", "--tag", "why")
    ramet.ok("history", "commit", "main", "Look into it.")
    return ramet


@pytest.mark.requirement("R7")
def test_a_child_inherits_the_whole_a_snapshot_or_a_selection(parent: CommandLine) -> None:
    parent.ok("history", "spawn", "main", "whole", "--purpose", "all", "--inherit", "full_clone")
    parent.ok("history", "spawn", "main", "snapshot", "--purpose", "one")
    parent.ok("history", "spawn", "main", "part", "--purpose", "few", "--inherit", "selective", "--tag", "why")
    assert compiled(parent, "whole") == ["Answer briefly.", "Carts are lost.", "Look into it."]
    assert compiled(parent, "snapshot") == [
        "[system]: Answer briefly.\n\n[user]: Carts are lost.\n\n[user]: Look into it."
    ]
    assert compiled(parent, "part") == ["Answer briefly.", "Carts are lost."]
    refused = parent("history", "spawn", "main", "none", "--purpose", "x", "--inherit", "selective")
    assert (refused.returncode, "a child that inherits a selection needs a filter" in refused.stderr) == (4, True)


@pytest.mark.requirement("R57", "R59")
def test_a_child_is_folded_in_twice_and_each_opens_again(parent: CommandLine) -> None:
    parent.ok("history", "spawn", "main", "research", "--purpose", "look")
    parent.ok("history", "commit", "research", "first finding", "--role", "assistant")
    said = parent.ok("history", "collapse", "research", "--text", "found one")
    assert said.endswith(" tokens for 21)\n\nfound one\n")
    one = parent.json("show", "main")["hash"]
    parent.ok("history", "commit", "research", "second finding", "--role", "assistant")
    parent.ok("history", "collapse", "research", "--text", "found two")
    assert len(parent.json("history", "expand", one)["commits"]) == 2
    assert len(parent.json("history", "expand", "main")["commits"]) == 3
    assert "the history of research, 2 commits:" in parent.ok("history", "expand", one)
    assert compiled(parent)[-2:] == ["found one", "found two"]


@pytest.mark.requirement("R58")
def test_a_collapse_with_nothing_to_say_is_refused_with_the_fix(parent: CommandLine) -> None:
    parent.ok("history", "spawn", "main", "research", "--purpose", "look")
    refused = parent("history", "collapse", "research")
    assert refused.returncode == 4
    assert "fix: write the report (--text)" in refused.stderr


@pytest.mark.requirement("R41")
def test_a_report_is_shown_for_review_and_committed_nowhere(parent: CommandLine) -> None:
    parent.ok("history", "spawn", "main", "research", "--purpose", "look")
    before = parent.json("history", "branch", "list")
    reply = parent.json("history", "collapse", "research", "--text", "found", "--review")
    assert (reply["parent_commit_hash"], reply["summary_text"]) == (None, "found")
    assert parent.json("history", "branch", "list") == before


def test_the_tree_is_drawn_from_its_root(parent: CommandLine) -> None:
    parent.ok("history", "spawn", "main", "research", "--purpose", "look")
    parent.ok("history", "spawn", "research", "deeper", "--purpose", "dig", "--inherit", "full_clone")
    parent.ok("history", "spawn", "main", "tests", "--purpose", "test")
    parent.ok("history", "collapse", "research", "--text", "found")
    done = parent("history", "branch", "tree", "deeper", environ={"LC_ALL": "C.UTF-8"})
    assert done.stdout.splitlines() == [
        "main",
        "├─ research  look (head_snapshot, collapsed)",
        "│  └─ deeper  dig (full_clone)",
        "└─ tests  test (head_snapshot)",
    ]
    assert parent.json("history", "branch", "tree", "deeper")["ancestors"] == ["research", "main"]


@pytest.mark.requirement("R60")
def test_the_latest_history_without_an_end_is_found(parent: CommandLine) -> None:
    parent.ok("history", "commit", "other", "hello")
    parent.ok(
        "history",
        "commit",
        "other",
        "--content",
        '{"content_type": "session", "session_type": "end", "summary": "Done."}',
    )
    assert parent.ok("history", "branch", "latest").startswith("main at ")
    parent.ok(
        "history",
        "commit",
        "main",
        "--content",
        '{"content_type": "session", "session_type": "end", "summary": "Done."}',
    )
    assert parent.ok("history", "branch", "latest") == "every branch has an end marker\n"
