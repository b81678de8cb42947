"""Homes that the real Claude Code and Codex wrote, imported by the real command line: the sessions that hooks saw."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.agents.hooked import TRANSCRIPTS, Hooked
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import Stage, a_stage
from tests.cli.command_line import CommandLine

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300), pytest.mark.requirement("R380", "R381", "R382")]

each_agent = pytest.mark.parametrize("agent", ["claude", "codex"])


@pytest.fixture
def stage(real_agents: None, agent: str) -> Iterator[Stage]:
    with a_stage(agent, SCRIPTS) as made:
        yield made


@pytest.fixture
def hooked(stage: Stage) -> Iterator[Hooked]:
    made = Hooked(stage)
    yield made
    made.close()


@pytest.fixture
def other(hooked: Hooked) -> Iterator[CommandLine]:
    """The same user's Ramet with another database, which no hook tells of anything."""
    made = CommandLine(hooked.stage.folder, hooked.stage.directory)
    made.environ |= {**hooked.environ, "RAMET_HOME": str(hooked.stage.folder / "other")}
    yield made
    made("daemon", "stop")


def sessions(ramet: CommandLine) -> dict[str, dict[str, Any]]:
    """What is known of each session, by the name that its program gave it."""
    found = {}
    for row in ramet.json("session", "list", "-A")["items"]:
        params = json.dumps({"session_id": row["id"], "limit": 100})
        said = json.loads(ramet.ok("rpc", "call", "db.messages.list", params))["items"]
        sql = f"SELECT model, input_tokens, output_tokens, cache_read_tokens FROM usage WHERE session_id = {row['id']}"
        used = json.loads(ramet.ok("rpc", "call", "db.query", json.dumps({"sql": sql})))["rows"]
        found[row["native_id"]] = {
            "said": [(each["role"], each["content"], each["tool_name"], each["timestamp"]) for each in said],
            "used": sorted(map(str, used)),
            "is_child": row["parent_session_id"] is not None,
        }
    return found


def files(hooked: Hooked) -> dict[str, str]:
    """The files of the programs' sessions, by their contents."""
    every = [path for folder in TRANSCRIPTS for path in (hooked.user / folder).rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in every}


@each_agent
def test_an_imported_home_gives_the_sessions_that_hooks_have_seen(hooked: Hooked, other: CommandLine) -> None:
    hooked.run("Look first. [[tools]]")
    if hooked.stage.driver.name == "claude":
        hooked.run("Ask another. [[agents]]")
    hooked.settle()
    hooked.wait_for_ends()
    before = files(hooked)
    told = other.json("import", "--yes")["imported"]
    imported, watched = sessions(other), sessions(hooked)
    assert imported == watched
    assert (told["new"], told["skipped_lines"], told["failed"]) == (len(watched), 0, [])
    assert any(each["is_child"] for each in imported.values()) == (hooked.stage.driver.name == "claude")
    assert all(row["ended_at"] for row in other.json("session", "list", "-A")["items"])
    again = other.json("import", "--yes")["imported"]
    assert (again["new"], again["continued"], again["unchanged"]) == (0, 0, len(watched))
    # What hooks have recorded is there already.
    known = hooked.json("import", "--yes")["imported"]
    assert (known["new"], known["entries"]) == (0, 0)
    assert sessions(hooked) == watched
    assert files(hooked) == before


@each_agent
def test_a_session_that_is_continued_after_its_import_grows(hooked: Hooked, other: CommandLine) -> None:
    first = hooked.run("Which colour? [[answer]]")
    hooked.settle()
    assert other.json("import", "--yes")["imported"]["new"] == 1
    hooked.run("And now? [[again]]", native_id=first.native_id, resumes=True)
    hooked.settle()
    told = other.json("import", "--yes")["imported"]
    assert (told["new"], told["continued"]) == (0, 1)
    assert sessions(other) == sessions(hooked)


@pytest.mark.parametrize("agent", ["claude"])
def test_a_fork_is_imported_with_its_origin_and_without_its_usage(hooked: Hooked, other: CommandLine) -> None:
    first = hooked.run("Which colour? [[answer]]")
    copy = hooked.run("And now? [[again]]", native_id=first.native_id, resumes=True, forks=True)
    hooked.settle()
    other.ok("import", "--yes")
    rows = {row["native_id"]: row for row in other.json("session", "list", "-A")["items"]}
    assert rows[copy.native_id]["forked_from_session_id"] == rows[first.native_id]["id"]
    sql = "SELECT session_id, sum(output_tokens) FROM usage GROUP BY session_id ORDER BY session_id"
    used = json.loads(other.ok("rpc", "call", "db.query", json.dumps({"sql": sql})))["rows"]
    assert len(used) == 2
    assert used[0][1] == used[1][1]
    assert [text for role, text, *_ in sessions(other)[copy.native_id]["said"] if role == "assistant"] == [
        "It is blue.",
        "As I said, blue.",
    ]
