"""Commands that print long lists: all of it, over as many pages as the daemon gives, and quietly if nobody reads on."""

import subprocess

import pytest
from tests.cli.command_line import CommandLine

from ramet.client.autostart import connect

NUMBER = 10


@pytest.fixture
def long(ramet: CommandLine) -> CommandLine:
    """A branch, a transcript, events and a list of branches that are each longer than three pages."""
    ramet.configure({"limits": {"page_max": 3}})
    ramet.ok("project", "add", str(ramet.cwd))
    task = str(ramet.cwd / "cart")
    with connect(str(ramet.home / "ramet" / "run" / "ramet.sock")) as daemon:
        daemon.call("db.task.upsert", {"dir_path": task})
        effort = daemon.call("db.effort.start", {"task_id": task, "skill": "implement"})
        started = daemon.call("db.session.start", {"task_id": task, "effort_id": effort["id"]})
        for number in range(NUMBER):
            said = {"session_id": started["id"], "role": "user", "content": f"message {number}\n{'x' * 50_000}"}
            daemon.call("db.messages.append", said)
            daemon.call("history.commit", {"branch": "main", "text": f"turn {number}"})
            daemon.call("history.branch", {"name": f"side{number}"})
    return ramet


@pytest.mark.requirement("R343")
def test_lists_are_printed_over_as_many_pages_as_they_have(long: CommandLine) -> None:
    lines = long.ok("history", "log", "main", "-n", "8", "--oneline").splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["9", "8", "7", "6", "5", "4", "3", "2"]
    assert len(long.json("history", "log", "main", "-n", "8")["items"]) == 8
    events = long.json("events", "--after", "0", "--limit", "8")
    assert ([row["id"] for row in events["items"]], events["next"]) == ([1, 2, 3, 4, 5, 6, 7, 8], 8)
    said = [line for line in long.ok("session", "log", "s1", "--all").splitlines() if line.startswith("message")]
    assert said == [f"message {number}" for number in range(NUMBER)]
    assert len(long.json("session", "log", "s1", "--all")["items"]) == NUMBER
    branches = long.json("history", "branch", "list")
    assert (len(branches["items"]), branches["next"]) == (NUMBER + 2, None)


@pytest.mark.requirement("R343")
def test_the_log_says_that_more_commits_exist(long: CommandLine) -> None:
    with connect(str(long.home / "ramet" / "run" / "ramet.sock")) as daemon:
        daemon.call_many([("history.commit", {"branch": "main", "text": "more"})] * (NUMBER + 1))
    done = long("history", "log", "main", "--oneline")
    assert len(done.stdout.splitlines()) == 20
    assert done.stderr == "more commits exist: -n 100 shows them\n"
    assert long("history", "log", "main", "-n", "20").stderr == ""


@pytest.mark.requirement("R343")
def test_a_reader_that_has_read_enough_ends_the_command_quietly(long: CommandLine) -> None:
    for command in "session log s1 --all", "history log main -n 10", "events --after 0 --limit 300":
        done = subprocess.run(
            ["sh", "-c", f"{long.program} {command} | head -1"],
            cwd=long.cwd,
            env=long.environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert (len(done.stdout.splitlines()), done.stderr) == (1, "")
