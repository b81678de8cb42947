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


@pytest.mark.requirement("R247", "R273", "R349")
def test_a_built_in_skill_begins_as_one_of_the_project_s_with_what_it_left_for_the_next(storm: CommandLine) -> None:
    (storm.cwd / "AGENTS.md").write_text("Be brief.")
    storm.ok("effort", "start", "login", "brainstorm", "--agent", "blue")
    (storm.cwd / "login").mkdir()
    (storm.cwd / "login" / "1_BRAINSTORM.md").write_text("We chose a tree.")
    storm.ok("effort", "finish", "e1")
    printed = storm.ok("effort", "start", "login", "implement", "--session", "s1")
    assert printed.startswith(f"# e2: implement on {storm.cwd}/login\n\n## SRC_EFFORT\n")
    assert "- phases: 1: Prepare, 2: Build, 3: Test, 4: Finish" in printed
    assert f"- e1 brainstorm, success: {storm.cwd}/login/1_BRAINSTORM.md" in printed
    assert "> We chose a tree." in printed
    assert f"## SRC_DIRECTIVES\n- {storm.cwd}/AGENTS.md\n" in printed
    assert "## SRC_NEXT_SKILLS\n- review\n" in printed
    assert [(row["id"], row["effort_id"]) for row in storm.json("session", "list", "--open")["items"]] == [(1, 2)]


@pytest.mark.requirement("R349")
@pytest.mark.parametrize("skill", ["plan", "brainstorm", "paint"])
def test_every_kind_of_skill_makes_the_task_the_effort_and_the_session(storm: CommandLine, skill: str) -> None:
    storm.ok("skill", "add", "paint", "--phase", "1: Mix")
    who = ("--agent", "blue", "--native", "codex:2f1c")
    opened = storm.json("effort", "start", "shop/new", skill, *who, "--directory", "src", "--request", "ask.md")
    assert (opened["effort"]["skill"], opened["effort"]["task_id"]) == (skill, str(storm.cwd / "shop/new"))
    assert opened["effort"]["metadata"] == {"request_files": [str(storm.cwd / "ask.md")]}
    assert opened["effort"]["discovered_directories"] == [str(storm.cwd / "src")]
    session = opened["session"]
    assert [session[name] for name in ("effort_id", "agent_id", "driver", "native_id")] == [1, "blue", "codex", "2f1c"]
    assert storm.json("task", "show", "shop/new")["dir_path"] == str(storm.cwd / "shop/new")
    headings = re.findall(r"^## (\w+)$", opened["markdown"], re.MULTILINE)
    assert [heading for heading in headings if not heading.startswith("SRC_")] == []
    assert len(headings) == 8


@pytest.mark.requirement("R349", "R304")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("login", "sing"), 2, "there is no skill 'sing'"),
        (("/nowhere/login", "plan"), 3, "no project contains /nowhere/login"),
        (("login", "plan", "--session", "s9"), 3, "there is no session 9"),
        (("login", "plan", "--directory", "/etc"), 2, "/etc is outside"),
    ],
)
def test_an_effort_that_cannot_begin_leaves_nothing(
    storm: CommandLine, arguments: tuple[str, ...], status: int, said: str
) -> None:
    done = storm("effort", "start", *arguments)
    assert (done.returncode, said in done.stderr, "fix:" in done.stderr) == (status, True, True)
    assert (storm.json("task", "list")["items"], storm.json("session", "list")["items"]) == ([], [])


@pytest.mark.requirement("R276", "R304")
def test_a_broken_skill_file_is_named_with_its_line_and_begins_nothing(storm: CommandLine) -> None:
    (storm.cwd / ".claude" / "skills" / "brainstorm" / "SKILL.md").write_text(STORM.replace("[implement]", "{a: b}"))
    done = storm("effort", "start", "login", "brainstorm")
    assert (done.returncode, "line 5: next-skills is not a list" in done.stderr) == (2, True)
    assert storm("effort", "start", "login", "sing").returncode == 2, "there is no such skill"
    assert storm.json("task", "list")["items"] == []


@pytest.mark.requirement("R249")
def test_a_note_is_written_for_an_effort_for_a_session_and_by_an_agent(storm: CommandLine) -> None:
    storm.ok("effort", "start", "login", "brainstorm")
    log = storm.cwd / "login" / "1_BRAINSTORM_LOG.md"
    assert storm.ok("note", "one", "--effort", "e1") == f"added to {log}\n"
    storm.ok("note", "-", "--session", "s1", stdin="## Two\nmore")
    assert storm("note", "three", environ={"RAMET_SESSION": "1"}).returncode == 0
    stamp = r"\n## \[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\]"
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


@pytest.mark.requirement("R351")
def test_an_agent_is_told_standards_templates_and_the_commands_of_its_phase(storm: CommandLine) -> None:
    folder = storm.cwd / ".claude/skills/brainstorm"
    phases = 'phases: ["1: Dialogue Loop", {label: "2: Synthesis", commands: [WEIGH.md]}]\ntemplates: {debrief: D.md}'
    (folder / "SKILL.md").write_text(STORM.replace('phases: ["1: Dialogue Loop", "2: Synthesis"]', phases))
    (folder / "WEIGH.md").write_text("Weigh each answer.")
    (folder / "D.md").write_text("# What was decided")
    (storm.cwd / ".git").mkdir()
    (storm.cwd / ".directives").mkdir()
    (storm.cwd / ".directives/INVARIANTS.md").write_text("Prices are in cents.")

    def hook(event: str, **said: object) -> str:
        payload = {"session_id": "2f1c", "hook_event_name": event, "cwd": str(storm.cwd), **said}
        printed = storm.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": payload}))
        output = json.loads(printed)["output"] or {}
        return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def run(*command: str) -> str:
        assert storm(*command, environ={"CLAUDE_CODE_SESSION_ID": "2f1c"}).returncode == 0
        used = {"tool_name": "Bash", "tool_input": {"command": " ".join(["ramet", *command])}, "tool_use_id": "t"}
        return hook("PostToolUse", **used)

    assert "Prices are in cents." in hook("SessionStart", source="startup")
    started = run("effort", "start", "login", "brainstorm")
    assert ("# What was decided" in started, "Weigh each answer." in started) == (True, False)
    assert run("effort", "phase", "e2", "1") == ""
    assert "Weigh each answer." in run("effort", "phase", "e2", "2")
