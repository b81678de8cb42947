"""`ramet history log`: a list, a picture, and colours for people only."""

import re

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.history.branch_contents import hash_at
from tests.cli.terminal import at_terminal

from ramet.client.autostart import connect

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

_PICTURE = """\
●  (main) user: all good
◆  important user: collapses research: Subagent completed: found
├─╮
│ ●  (research) assistant: found
│ ●  pinned system: [user]: one [user]: two [user]: three
├─╯
○  spawns research (head_snapshot): look
◆  merges side
├─╮
│ ●  (side) user: two
● │  user: three
● │  user: two
├─╯
●  user: one
"""


@pytest.fixture
def forked(ramet: CommandLine) -> CommandLine:
    """A fork, a merge, a child that was spawned and folded in again."""
    ramet.ok("history", "commit", "main", "one")
    ramet.ok("history", "branch", "create", "side", "--from", "main")
    ramet.ok("history", "commit", "side", "two")
    ramet.ok("history", "commit", "main", "three", "--author", "ann")
    ramet.ok("history", "merge", "main", "side")
    ramet.ok("history", "spawn", "main", "research", "--purpose", "look")
    ramet.ok("history", "commit", "research", "found", "--role", "assistant")
    ramet.ok("history", "collapse", "research", "--text", "Subagent completed: found")
    ramet.ok("history", "commit", "main", "all good")
    return ramet


def _without_hashes(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{8}\b", "", text)


def test_the_graph_shows_forks_merges_spawns_and_collapses(forked: CommandLine) -> None:
    done = forked("history", "log", "--graph", "--oneline", environ={"LC_ALL": "C.UTF-8"})
    assert _without_hashes(done.stdout) == _PICTURE


def test_where_there_is_no_unicode_the_graph_is_ascii(forked: CommandLine) -> None:
    done = forked("history", "log", "--graph", "--oneline", environ={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "|-\\\n" in done.stdout
    assert "|-/\n" in done.stdout


def test_only_the_branches_that_were_named_are_drawn(forked: CommandLine) -> None:
    text = forked.ok("history", "log", "side", "research", "--graph", "--oneline")
    assert ["(side)" in text, "(research)" in text, "(main)" in text] == [True, True, False]


def test_the_list_says_who_when_and_what(forked: CommandLine) -> None:
    title, text = forked.ok("history", "log", hash_at(forked, 3)[:8], "-n", "1").splitlines()
    assert re.fullmatch(r"[0-9a-f]{8} #3 user by ann, (now|\d+s ago)", title)
    assert text == "    three"


def test_a_page_goes_on_below_its_cursor(forked: CommandLine) -> None:
    page = forked.json("history", "log", "main", "-n", "2")
    assert ([row["depth"] for row in page["items"]], page["next"]) == ([7, 6], 6)
    everything = forked.json("history", "log", "-n", "100")["items"]
    assert len({row["hash"] for row in everything}) == len(everything) == 10


def test_what_is_not_shown_is_said_unless_a_number_was_given(forked: CommandLine) -> None:
    with connect(str(forked.home / "ramet" / "run" / "ramet.sock")) as daemon:
        daemon.call_many([("history.commit", {"branch": "main", "text": f"turn {turn}"}) for turn in range(1100)])
    done = forked("history", "log", "main", "--oneline")
    assert (len(done.stdout.splitlines()), done.stderr) == (20, "more commits exist: -n 100 shows them\n")
    assert len(forked.ok("history", "log", "main", "-n", "1050", "--oneline").splitlines()) == 1050


def test_a_person_sees_colours_and_no_line_is_wider_than_the_terminal(forked: CommandLine) -> None:
    forked.ok("history", "commit", "main", "word " * 19 + "end")
    seen = at_terminal(forked, "history", "log", "--graph", columns=60)
    assert seen.status == 0
    assert "\x1b[33m" in seen.text
    lines = _COLOUR.sub("", seen.text).splitlines()
    assert max(map(len, lines)) <= 60
    assert any(line.endswith("…") for line in lines)
    plain = at_terminal(forked, "history", "log", "--graph", environ={"NO_COLOR": "1"})
    assert "\x1b[33m" not in plain.text


def test_children_that_inherit_the_same_snapshot_are_drawn_with_one_root(ramet: CommandLine) -> None:
    ramet.ok("history", "commit", "main", "one")
    for child in ("a", "b"):
        ramet.ok("history", "spawn", "main", child, "--purpose", "look")
    for child in ("a", "b"):
        ramet.ok("history", "commit", child, f"found by {child}")
        ramet.ok("history", "collapse", child, "--text", f"{child} has found it")
    lines = ramet.ok("history", "log", "--graph", "--oneline").splitlines()
    assert sum("pinned system" in line for line in lines) == 1
    commits = [line for line in lines if set("●○◆") & set(line)]
    assert len(commits) == len(ramet.json("history", "log")["items"]) == 8


def test_an_agents_control_sequences_reach_no_terminal(ramet: CommandLine) -> None:
    ramet.ok(
        "history",
        "commit",
        "main",
        "-",
        stdin="\x1b]0;owned\x07\x1b[2Jbad\u202e",
    )
    ramet.ok("history", "commit", "main", "next", "--author", "\x1b[5mblink")
    for arguments in (("log", "main"), ("log", "--graph"), ("show", "main"), ("compile", "main")):
        text = _COLOUR.sub("", at_terminal(ramet, "history", *arguments).text)
        assert not set("\x1b\x07\u202e") & set(text)
    assert "bad" in ramet.ok("history", "log", "main")


def test_without_any_commit_it_says_how_to_make_one(ramet: CommandLine) -> None:
    assert ramet.ok("history", "log") == "no commits yet: `ramet history commit BRANCH TEXT`\n"
    missing = ramet("history", "log", "main")
    assert (missing.returncode, "there is no branch 'main'" in missing.stderr) == (3, True)
