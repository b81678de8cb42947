"""A day's work by hand, through the real command line and the real daemon."""

import json
import re

import pytest
from tests.cli.command_line import CommandLine

_FLEET_HEADINGS = ["AGENT", "STATE", "AGE", "COST", "SKILL", "LABEL", "EFFORT", "WHERE", "NOW"]


@pytest.fixture
def work(ramet: CommandLine) -> CommandLine:
    """A project with a task and an effort, e1."""
    ramet.ok("project", "add", ".", "--name", "site")
    ramet.ok("task", "add", "login", "--title", "Log in", "--keywords", "auth")
    ramet.begin_effort("login", "implement")
    return ramet


def test_projects_are_added_and_listed(ramet: CommandLine) -> None:
    assert ramet.ok("project", "list") == "no projects yet: `ramet project add PATH`\n"
    added = ramet.json("project", "add", ".", "--name", "site")
    assert (added["path"], added["name"]) == (str(ramet.cwd), "site")
    assert ramet.json("project", "list") == {"items": [added], "next": None}


def test_a_task_is_named_by_its_directory_from_here(work: CommandLine) -> None:
    directory = str(work.cwd / "login")
    assert work.json("task", "show", "./login")["title"] == "Log in"
    assert [row["dir_path"] for row in work.json("task", "list", "--project", ".")["items"]] == [directory]
    assert [row["dir_path"] for row in work.json("task", "find", "auth")["items"]] == [directory]
    assert work.ok("task", "find", "zebra") == "no task matches 'zebra'\n"
    assert work("task", "show", "logout").returncode == 3


def test_an_effort_goes_through_its_phases(work: CommandLine) -> None:
    assert work.ok("effort", "phase", "e1", "1") == "effort e1 is now in 1: Prepare\n"
    assert work.ok("effort", "phase", "1", "1: Prepare") == "effort e1 was already in 1: Prepare\n"
    skipped = work("effort", "phase", "e1", "4")
    assert (skipped.returncode, "skips ahead" in skipped.stderr) == (4, True)
    work.ok("effort", "phase", "e1", "4", "--reason", "there is nothing to build")
    assert work.json("effort", "show", "e1")["current_phase"] == "4: Finish"
    assert work.ok("effort", "finish", "e1", "--outcome", "error") == "effort e1 is finished: error\n"
    assert work.json("effort", "list", "login")["items"][0]["outcome"] == "error"


def test_an_incomplete_effort_does_not_validate(work: CommandLine) -> None:
    done = work("effort", "validate", "e1", "--json")
    assert (done.returncode, json.loads(done.stdout)["passed"]) == (1, False)


@pytest.mark.parametrize("native", ["abc", "claude:", ":abc", "CLAUDE CODE:abc"])
@pytest.mark.parametrize("command", [("start", "login", "e1"), ("continue", "--task", "login")])
def test_a_native_id_without_its_program_is_refused(work: CommandLine, command: tuple[str, ...], native: str) -> None:
    done = work("session", *command, "--native", native)
    assert (done.returncode, "write DRIVER:ID" in done.stderr) == (2, True)


def test_a_session_is_named_by_number_or_by_its_native_id(work: CommandLine) -> None:
    work.ok("agent", "register", "blue")
    started = work.json("session", "start", "login", "e1", "--agent", "blue", "--native", "claude:abc:1")
    assert (started["driver"], started["native_id"]) == ("claude", "abc:1")
    assert work.ok("session", "heartbeat", "claude:abc:1") == "session s1: heartbeat 1\n"
    assert work.json("session", "show", "s1") == work.json("session", "show", "claude:abc:1")
    assert work.ok("session", "finish", "s1", "--handoff", '{"next": "tests"}') == "session s1 has ended: success\n"
    assert work.json("session", "list", "--open")["items"] == []
    assert work.json("session", "list", "--ended")["items"][0]["dehydration_payload"] == {"next": "tests"}


def test_a_session_goes_on_with_another_effort(work: CommandLine) -> None:
    work.ok("session", "start", "login", "e1")
    work.begin_effort("login", "review")
    assert work.ok("session", "bind", "s1", "e2") == "session s1 now works on effort e2\n"


def test_a_transcript_is_shown_without_what_a_terminal_would_obey(work: CommandLine) -> None:
    work.ok("session", "start", "login", "e1")
    evil = "\x1b[31mred\x1b[0m \x1b]0;title\x07and \x9b2Jmore\r\n\ttab"
    work.ok("session", "say", "s1", "assistant", "-", stdin=evil)
    work.ok("session", "say", "s1", "tool", "done", "--tool-name", "bash")
    text = work.ok("session", "log", "s1")
    assert "red and more\n\ttab\n" in text
    assert "--- tool bash" in text
    assert not set("\x1b\x07\r\x9b") & set(text)


def test_a_transcript_in_json_is_exact(work: CommandLine) -> None:
    work.ok("session", "start", "login", "e1")
    work.ok("session", "say", "s1", "assistant", "-", stdin="\x1b[31mé\x9b")
    raw = work.ok("session", "log", "s1", "--json")
    assert json.loads(raw)["items"][0]["content"] == "\x1b[31mé\x9b"
    assert not set("\x1b\x9b") & set(raw)


def test_the_fleet_is_shown(work: CommandLine) -> None:
    assert work.ok("ps") == "no agent is running: `ramet add PROMPT` queues work, `ramet work` runs it\n"
    work.ok("agent", "register", "blue", "--label", "Blue", "--claim", "review", "--claim", "plan")
    work.ok("agent", "assign", "blue", "e1")
    heading, row = work.ok("ps").splitlines()
    assert heading.split() == _FLEET_HEADINGS
    assert re.fullmatch(r"blue e1 +starting +\d+s +- +implement +Blue +e1 +login +-", row)
    assert work.json("agent", "show", "blue")["claims"] == ["review", "plan"]
    work.ok("agent", "release", "blue")
    assert work.json("agent", "list")["items"][0]["effort_id"] is None


def test_skills_belong_to_the_project_around(work: CommandLine) -> None:
    work.ok("skill", "add", "brainstorm", "--phase", "1: Talk", "--phase", "2: Write")
    (work.cwd / "deep.json").write_text('{"phases": [{"label": "1: Look", "proof": ["seen"]}]}')
    work.ok("skill", "add", "dig", "--project", "1", "--file", "deep.json")
    assert work.json("skill", "show", "brainstorm")["phases"] == ["1: Talk", "2: Write"]
    assert {"brainstorm", "dig", "implement"} <= {row["name"] for row in work.json("skill", "list")["items"]}
    assert [row["name"] for row in work.json("skill", "find", "seen")["items"]] == ["dig"]
    assert work.ok("skill", "delete", "dig") == "deleted skill dig\n"
    outside = work("skill", "list", "--project", "/")
    assert (outside.returncode, "is not in a project" in outside.stderr) == (3, True)


@pytest.mark.requirement("R347")
def test_skill_files_that_are_not_registered_yet_are_listed_with_what_is_wrong(work: CommandLine) -> None:
    for name, text in {"paint": "---\nname: paint\ndescription: Paint.\n---\n", "sand": "half writ"}.items():
        file = work.cwd / f".agents/skills/{name}/SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    listed = work.json("skill", "list")
    assert [(row["name"], row["error"] is None) for row in listed["files"]] == [("paint", True), ("sand", False)]
    assert "paint" not in {row["name"] for row in listed["items"]}
    assert f"{work.cwd}/.agents/skills/paint/SKILL.md" in work.ok("skill", "list", "--project", "1")
    work.ok("effort", "start", "login", "paint")
    listed = work.json("skill", "list")
    assert [row["name"] for row in listed["files"]] == ["sand"]
    assert "paint" in {row["name"] for row in listed["items"]}


@pytest.mark.parametrize("definition", ['{"phasez": []}', '{"phases": 3}', '{"modes": {"a": NaN}}'])
def test_a_skill_that_is_not_understood_is_refused(work: CommandLine, definition: str) -> None:
    assert work("skill", "add", "dig", "--file", "-", stdin=definition).returncode == 2
    assert "dig" not in [row["name"] for row in work.json("skill", "list")["items"]]


def test_events_are_listed_from_any_id_and_by_kind(work: CommandLine) -> None:
    kinds = [event["kind"] for event in work.json("events")["items"]]
    assert kinds == ["project.added", "task.added", "effort.started"]
    assert [event["id"] for event in work.json("events", "--after", "1", "--limit", "1")["items"]] == [2]
    assert "e1" in work.ok("events", "--kind", "effort.started")


def test_status_is_one_screen(work: CommandLine) -> None:
    counts = work.json("status")["counts"]
    assert (counts["projects"], counts["tasks"], counts["active_efforts"], counts["stale_sessions"]) == (1, 1, 1, 0)
    assert "schema version" in work.ok("status")


@pytest.mark.requirement("R265")
def test_a_query_reads_and_only_reads(work: CommandLine) -> None:
    reply = work.json("query", "SELECT id, skill, mode FROM efforts WHERE id = ?", "1")
    assert (reply["columns"], reply["rows"]) == (["id", "skill", "mode"], [[1, "implement", None]])
    assert "NULL" in work.ok("query", "-", stdin="SELECT mode FROM efforts")
    assert work.json("query", "SELECT ?, ?", "NaN", "1.5")["rows"] == [["NaN", 1.5]]
    refused = work("query", "DELETE FROM efforts")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert len(work.json("query", "SELECT * FROM efforts")["rows"]) == 1


def test_rpc_lists_every_operation_and_calls_any(ramet: CommandLine) -> None:
    names = [operation["name"] for operation in ramet.json("rpc", "list")]
    assert {"db.effort.start", "events.subscribe"} <= set(names)
    assert json.loads(ramet.ok("rpc", "call", "daemon.ping")) == {"pong": True}
    assert json.loads(ramet.ok("rpc", "call", "db.task.list", "-", stdin="{}"))["items"] == []
    for params in ("[1]", "{", '{"project": []}'):
        assert ramet("rpc", "call", "db.task.list", params).returncode == 2


@pytest.mark.parametrize("name", ["nope", "file.txt"])
def test_a_project_has_to_be_a_directory(ramet: CommandLine, name: str) -> None:
    (ramet.cwd / "file.txt").touch()
    refused = ramet("project", "add", name)
    assert (refused.returncode, str(ramet.cwd / name) in refused.stderr) == (2, True)
    assert ramet.json("project", "list")["items"] == []
