"""A history by hand, through the real command line and the real daemon."""

import json

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.history.branch_contents import compiled, hash_at
from tests.cli.terminal import at_terminal

_TURNS = ("Carts are lost. Why?", "They live in the browser.", "Where should they live?", "With the account.")


@pytest.fixture
def history(ramet: CommandLine) -> CommandLine:
    """A branch `main` with an instruction and four turns."""
    ramet.ok("history", "commit", "main", "Answer briefly.", "--type", "instruction")
    for number, turn in enumerate(_TURNS):
        ramet.ok("history", "commit", "main", turn, "--role", "assistant" if number % 2 else "user")
    return ramet


def test_a_text_comes_from_an_argument_standard_input_or_a_file(ramet: CommandLine) -> None:
    said = ramet.ok("history", "commit", "main", "from an argument", "--tag", "a", "--tag", "b", "--author", "ann")
    assert said.endswith(" on main, #1, 4 tokens\n")
    ramet.ok("history", "commit", "main", "-", "--priority", "pinned", stdin="from standard input")
    (ramet.cwd / "plan.md").write_text("from a file")
    ramet.ok("history", "commit", "main", "--file", "plan.md", "--type", "artifact")
    rows = ramet.json("history", "log", "main")["items"]
    assert [row["preview"] for row in rows] == ["from a file", "from standard input", "from an argument"]
    assert (rows[2]["tags"], rows[2]["author"], rows[1]["priority"]) == (["a", "b"], "ann", "pinned")
    assert ramet("history", "commit", "main", "one", "--file", "plan.md").returncode == 2
    assert ramet("history", "commit", "main").returncode == 2


@pytest.mark.requirement("R36", "R45")
def test_a_typed_content_is_given_as_json(ramet: CommandLine) -> None:
    boundary = {"content_type": "session", "session_type": "end", "summary": "Done.", "next_steps": ["ship"]}
    ramet.ok("history", "commit", "main", "--content", json.dumps(boundary))
    shown = ramet.json("show", "main")
    assert (shown["content"]["next_steps"], shown["priority"], shown["role"]) == (["ship"], "pinned", "system")
    refused = ramet("history", "commit", "main", "--content", json.dumps({**boundary, "summary": None}))
    assert (refused.returncode, "content.summary" in refused.stderr) == (2, True)


def test_a_secret_is_taken_out_and_counted(ramet: CommandLine) -> None:
    said = ramet.ok("history", "commit", "main", "the key is sk-ant-" + "a" * 40)
    assert said.endswith("1 secret removed\n")
    assert "sk-ant" not in ramet.ok("show", "main")


def test_a_branch_is_created_reset_deleted_and_every_move_taken_back(history: CommandLine) -> None:
    assert history.ok("history", "branch", "create", "side", "--from", "main").endswith("5 commits, 23 tokens\n")
    earlier = hash_at(history, 3)
    assert earlier[:8] in history.ok("history", "reset", "side", earlier[:8])
    assert "restores it" in history.ok("history", "branch", "delete", "side")
    assert [row["name"] for row in history.json("history", "branch", "list")["items"]] == ["main"]
    assert history.ok("undo", "side").startswith(f"branch side is at {earlier[:8]}, 3 commits")
    assert history.json("undo", "side")["depth"] == 5
    assert [row["why"] for row in history.json("history", "moves", "side")["items"]][-2:] == ["delete", "reset"]
    assert history("undo", "side").returncode == 4


def test_a_compression_and_its_undo_leave_what_a_model_reads_as_it_was(history: CommandLine) -> None:
    before = history.ok("history", "compile", "main", "--json")
    said = history.ok("history", "compress", "main", hash_at(history, 2), hash_at(history, 5), "--text", "Carts move.")
    assert "`ramet history undo main` restores them" in said
    assert compiled(history) == ["Answer briefly.", "Carts move."]
    behind = history.json("history", "expand", "main")
    assert [row["preview"] for row in behind["commits"]] == list(_TURNS)
    assert "replaces a range, 4 commits:" in history.ok("history", "expand", "main")
    history.ok("undo", "main")
    assert history.ok("history", "compile", "main", "--json") == before


def test_a_summary_is_extracted_where_none_is_given(history: CommandLine) -> None:
    history.ok(
        "history", "compress", "main", hash_at(history, 2), hash_at(history, 3), "--extract", "--target-tokens", "50"
    )
    assert "Carts are lost. Why?" in compiled(history)[1]
    both = history("history", "compress", "main", "abcd", "abcd", "--text", "x", "--model")
    assert (both.returncode, "give only one of" in both.stderr) == (2, True)


def test_an_edit_takes_the_place_of_a_text(history: CommandLine) -> None:
    history.ok("history", "edit", "main", hash_at(history, 3)[:8], "-", stdin="They live in memory.")
    assert compiled(history)[2] == "They live in memory."
    assert "edits" in history.ok("history", "log", "main", "-n", "1", "--oneline")
    history.ok("undo", "main")
    assert compiled(history)[2] == "They live in the browser."
    assert history("history", "edit", "main", hash_at(history, 3)).returncode == 2


def test_pins_skips_and_tags_are_seen(history: CommandLine) -> None:
    assert "is marked pinned: Carts" in history.ok("history", "pin", hash_at(history, 2)[:8])
    history.ok("history", "skip", hash_at(history, 3))
    assert history.ok("history", "tag", hash_at(history, 2), "why", "carts").endswith("tags: carts, why\n")
    assert "They live in the browser." not in compiled(history)
    assert "#2 user pinned [carts, why]" in history.ok("history", "log", "main")
    history.ok("history", "annotate", hash_at(history, 3), "normal")
    assert "They live in the browser." in compiled(history)
    history.ok("history", "tag", hash_at(history, 2), "--clear")
    assert history.json("show", hash_at(history, 2))["tags"] == []
    assert history("history", "tag", hash_at(history, 2)).returncode == 2


def test_a_commit_is_picked_onto_another_branch(history: CommandLine) -> None:
    history.ok("history", "pick", "notes", hash_at(history, 5))
    assert compiled(history, "notes") == ["With the account."]


def test_compile_has_budgets_windows_and_formats(history: CommandLine) -> None:
    done = history("history", "compile", "main", "--last", "1")
    assert done.stdout == "[System]\nAnswer briefly.\n\n[Assistant]\nWith the account.\n"
    assert "3 messages left out, prefix " in done.stderr
    anthropic = json.loads(history("history", "compile", "main", "--format", "anthropic").stdout)
    assert anthropic["system"] == "Answer briefly."
    small = history.json("history", "compile", "main", "--max-tokens", "8", "--format", "openai")
    assert [message["content"] for message in small["messages"]] == ["Answer briefly.", "With the account."]
    assert history.json("history", "compile", hash_at(history, 2)[:10])["head"] == hash_at(history, 2)


def test_a_branch_is_read_as_it_stood_before(history: CommandLine) -> None:
    first = hash_at(history, 2)
    assert history.json("history", "branch", "at", "main", first[:12])["depth"] == 2
    assert history.ok("history", "branch", "at", "main", "2020-01-01T00:00:00Z") == "main is empty\n"


def test_show_tells_what_a_reference_names(history: CommandLine) -> None:
    history.ok("project", "add", ".")
    history.ok("task", "add", "cart")
    history.begin_effort("cart", "plan")
    history.ok("session", "start", "cart", "e1")
    history.ok("session", "say", "s1", "user", "hello \x1b[31mthere")
    assert history.json("show", "e1")["skill"] == "plan"
    assert history.json("show", "s1")["effort_id"] == 1
    assert "With the account." in history.ok("show", "main")
    assert "    hello there\n" in history.ok("history", "log", "s1")
    assert history("show", "e99999").returncode == 3
    assert history("show", "nothing-of-that-name").returncode == 3


def test_what_nothing_reaches_is_collected_only_when_asked_for(history: CommandLine) -> None:
    history.ok("history", "commit", "side", "gone soon")
    history.ok("history", "branch", "delete", "side")
    refused = history("history", "gc", "--retention-days", "0")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert history.ok("history", "gc", "--yes") == "deleted 0 commits and 0 contents that nothing reached\n"
    assert history.ok("history", "gc", "--yes", "--retention-days", "0") == (
        "deleted 1 commit and 1 content that nothing reached\n"
    )
    assert history.ok("db", "check").endswith("the database is intact\n")


def test_the_editor_opens_with_the_text_as_the_branch_has_it(history: CommandLine) -> None:
    history.ok("history", "edit", "main", hash_at(history, 3), "They live in memory.")
    done = at_terminal(
        history, "history", "edit", "main", hash_at(history, 3), environ={"EDITOR": "sed -i s/memory/disk/"}
    )
    assert done.status == 0, done.text
    assert compiled(history)[2] == "They live in disk."
    untouched = at_terminal(history, "history", "edit", "main", hash_at(history, 3), environ={"EDITOR": "true"})
    assert (untouched.status, "nothing was written" in untouched.text) == (2, True)
