"""Skills by their files, notes and hand-offs, through the real command line and the real daemon."""

import json
import re

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

STORM = """\
---
name: brainstorm
description: Think before building.
phases: ["1: Dialogue Loop", "2: Synthesis"]
next-skills: [implement]
---
"""


@pytest.fixture
def storm(ramet: CommandLine) -> CommandLine:
    """A project with a skill file."""
    ramet.ok("project", "add", ".")
    file = ramet.cwd / ".claude" / "skills" / "brainstorm" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(STORM)
    return ramet


@pytest.mark.requirement("R247", "R275")
def test_an_effort_begins_by_its_skill_file_and_prints_a_briefing(storm: CommandLine) -> None:
    printed = storm.ok("effort", "start", "login", "brainstorm")
    headings = re.findall(r"^## (\w+)$", printed, re.MULTILINE)
    assert headings[0] == "SRC_EFFORT"
    assert {"SRC_PRIOR_EFFORTS", "SRC_PRIOR_SESSIONS", "SRC_RELEVANT_DOCS", "SRC_DIRECTIVES"} <= set(headings)
    assert storm.json("session", "list", "--open")["items"][0]["effort_id"] == 1
    assert storm.json("task", "show", "login")["dir_path"] == str(storm.cwd / "login")


@pytest.mark.requirement("R276", "R304")
def test_a_broken_skill_file_is_named_with_its_line_and_begins_nothing(storm: CommandLine) -> None:
    (storm.cwd / ".claude" / "skills" / "brainstorm" / "SKILL.md").write_text(STORM.replace("[implement]", "{a: b}"))
    done = storm("effort", "start", "login", "brainstorm")
    assert (done.returncode, "line 5: next-skills is not a list" in done.stderr) == (2, True)
    assert storm("effort", "start", "login", "sing").returncode == 3, "there is no task, as ever"
    assert storm.json("task", "list")["items"] == []


@pytest.mark.requirement("R249")
def test_a_note_is_written_for_an_effort_for_a_session_and_by_an_agent(storm: CommandLine) -> None:
    storm.ok("effort", "start", "login", "brainstorm")
    log = storm.cwd / "login" / "1_BRAINSTORM_LOG.md"
    assert storm.ok("note", "one", "--effort", "e1") == f"added to {log}\n"
    storm.ok("note", "-", "--session", "s1", stdin="## Two\nmore")
    assert storm("note", "three", environ={"RAMET_SESSION": "1"}).returncode == 0
    stamp = r"\n## \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]"
    assert re.fullmatch(rf"{stamp}\n\none\n{stamp} Two\nmore\n{stamp}\n\nthree\n", log.read_text())
    nobody = storm("note", "four")
    assert (nobody.returncode, "--effort e12" in nobody.stderr) == (2, True)


@pytest.mark.requirement("R247", "R249")
def test_an_agent_that_a_person_started_is_known_by_its_own_id(storm: CommandLine) -> None:
    claude = {"CLAUDE_CODE_SESSION_ID": "2f1c", "RAMET_AGENT": "blue"}
    opened = json.loads(storm("effort", "start", "login", "brainstorm", "--json", environ=claude).stdout)
    session = opened["session"]
    assert (session["driver"], session["native_id"], session["agent_id"]) == ("claude", "2f1c", "blue")
    assert storm("note", "found it", environ=claude).returncode == 0
    assert "found it" in (storm.cwd / "login" / "1_BRAINSTORM_LOG.md").read_text()


@pytest.mark.requirement("R248")
def test_a_handoff_ends_one_window_and_the_next_one_has_what_it_left(storm: CommandLine) -> None:
    storm.ok("effort", "start", "login", "brainstorm")
    storm.ok("effort", "phase", "e1", "1")
    said = storm.ok("handoff", "half done", "--session", "s1", "--next", "ask about taxes", "--file", "a.md")
    assert said == "session s1 has ended; `ramet session continue s1` starts the next one\n"
    printed = storm.ok("session", "continue", "s1")
    assert "- session: s2, after s1" in printed
    assert "- phase: 1: Dialogue Loop" in printed
    assert "ask about taxes" in printed
    assert str(storm.cwd / "a.md") in printed
    at_once = storm.json("handoff", "all done", "--session", "s2", "--continue")
    assert (at_once["session"]["id"], at_once["session"]["prev_session_id"]) == (3, 2)
    assert storm("session", "continue").returncode == 2
    assert storm("handoff", "whose?").returncode == 2


def test_a_person_is_told_how_to_start_the_agent_of_the_next_window(storm: CommandLine) -> None:
    storm.ok("effort", "start", "login", "brainstorm")
    said = at_terminal(storm, "handoff", "half done", "--session", "s1", "--continue")
    assert said.text.endswith("s2 has no agent yet. Start it with: RAMET_SESSION=2 claude\n")
    said = at_terminal(storm, "session", "continue", "s2", environ={"CLAUDE_CODE_SESSION_ID": "2f1c"})
    assert "has no agent yet" not in said.text


@pytest.mark.requirement("R248")
def test_an_agent_goes_on_in_the_window_that_it_has(storm: CommandLine) -> None:
    storm.ok("effort", "start", "login", "brainstorm")
    storm.ok("handoff", "half done", "--session", "s1")
    payload = json.dumps({"session_id": "2f1c", "hook_event_name": "SessionStart", "cwd": str(storm.cwd)})
    storm.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": payload}))
    done = storm("session", "continue", "s1", "--json", environ={"CLAUDE_CODE_SESSION_ID": "2f1c"})
    session = json.loads(done.stdout)["session"]
    assert (session["id"], session["prev_session_id"], session["effort_id"]) == (2, 1, 1)
