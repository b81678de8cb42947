"""`ramet spawn`, and what other commands say of children."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.cli import family
from tests.cli.command_line import CommandLine
from tests.cli.family import goal, says, uses
from tests.cli.terminal import at_terminal
from tests.keeper.scripted_daemon import wait_for

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def ramet(shop: CommandLine) -> CommandLine:
    return family.begin(shop)


@pytest.fixture
def start(ramet: CommandLine) -> Iterator[Start]:
    """Starts commands that go on by themselves; what they left running ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> "subprocess.Popen[str]":
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen([ramet.program, *arguments], env=ramet.environ, cwd=ramet.cwd, **pipes))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()
    for row in ramet.json("queue")["items"]:
        ramet("kill", f"e{row['id']}")


def status_of(ramet: CommandLine, session_id: int) -> str | None:
    rows = ramet.json("tree", "s1")["items"]
    return next((row["outcome"] or row["status"] for row in rows if row["id"] == session_id), None)


def test_a_child_is_waited_for_and_says_what_it_came_to(ramet: CommandLine) -> None:
    said = ramet.ok("spawn", goal("Look", says("The cart is empty."), uses(1200, 0.03)), "--parent", "s1")
    first, rest = said.split("\n", 1)
    assert first.startswith("s2 (e2) success (")
    assert first.endswith(", 1,200 tokens, $0.03)")
    assert rest == "The cart is empty.\n"


MY_AGENT = {"claude": {"driver": "command", "program": ["my-agent"]}}


@pytest.fixture
def apart(ramet: CommandLine) -> CommandLine:
    """A shell whose PATH has an agent's program that the running daemon's own PATH does not have."""
    ramet.ok("daemon", "stop")
    ramet.configure({"drivers": {"profiles": MY_AGENT}})
    ramet.ok("daemon", "start")
    folder = ramet.home / "bin"
    folder.mkdir()
    (folder / "my-agent").write_text("#!/bin/sh\ncat >/dev/null\necho found in the PATH of the shell\n")
    (folder / "my-agent").chmod(0o700)
    ramet.environ["PATH"] = f"{folder}:{ramet.environ['PATH']}"
    return ramet


@pytest.mark.requirement("R365")
def test_a_child_runs_the_program_of_the_shell_that_asks_for_it(apart: CommandLine) -> None:
    program = str(apart.home / "bin" / "my-agent")
    listed = {row["name"]: row for row in apart.json("drivers")["items"]}
    assert (listed["claude"]["program"], listed["claude"]["is_elsewhere"]) == (program, True)
    assert listed["shell"]["is_elsewhere"] is False
    said = apart.ok("spawn", "Look", "--parent", "s1")
    assert "found in the PATH of the shell" in said


@pytest.mark.requirement("R365")
def test_a_program_that_the_daemon_does_not_have_is_reported_with_both_paths(apart: CommandLine) -> None:
    difference = f"the program here is {apart.home}/bin/my-agent, the daemon's own PATH has none"
    assert f"claude: {difference}" in apart.ok("drivers")
    findings = json.loads(apart("doctor", "--json").stdout)["items"]
    (finding,) = (row for row in findings if difference in row["detail"])
    assert (finding["result"], "ramet daemon stop" in finding["fix"]) == ("warn", True)
    apart.ok("daemon", "stop")
    assert "the program here is" not in apart.ok("drivers")


@pytest.mark.requirement("R365")
def test_a_missing_program_is_refused_with_the_folders_where_it_was_looked_for(apart: CommandLine) -> None:
    apart.configure({"drivers": {"default": "claude", "profiles": MY_AGENT}})
    done = apart("spawn", "Look", "--parent", "s1", environ={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 1
    assert "there is no program 'my-agent' for claude in PATH (/usr/bin, /bin)" in done.stdout
    assert "no program" not in apart.ok("history", "log", "session/1")


def test_what_a_child_is_given_reaches_it(ramet: CommandLine) -> None:
    (ramet.cwd / "docs").mkdir()
    options = ["--skill", "review", "--dir", "docs", "--context", '{"file": "cart.py"}', "--seconds", "60"]
    echo = goal("Look", {"event": {"kind": "text", "text": "It is fine."}}, {"write": "seen", "text": "yes"})
    ramet.ok("spawn", echo, "--parent", "claude:2f1c", *options, "--tokens", "9000", "--cost", "1.5")
    effort = ramet.json("show", "e2")
    assert (effort["skill"], effort["timeout_seconds"]) == ("review", 60)
    assert effort["workspace"] == str(ramet.cwd / "docs")
    assert '"file": "cart.py"' in ramet.ok("session", "log", "s2")
    assert (ramet.cwd / "docs" / "seen").read_text() == "yes"
    own = ramet.json("budget", "s2")["own"]
    assert (own["tokens"], own["cost_usd"]) == (9000, 1.5)


@pytest.mark.parametrize(
    ("options", "steps", "outcome", "status"),
    [
        ([], [{"exit": 3}], "error", 1),
        (["--seconds", "1"], [{"sleep": 60}], "timeout", 8),
        (["--tokens", "1000"], [uses(2000, 0.01), {"sleep": 60}], "budget", 10),
    ],
)
def test_the_exit_status_is_that_of_the_outcome(
    ramet: CommandLine, options: list[str], steps: list[dict[str, Any]], outcome: str, status: int
) -> None:
    done = ramet("spawn", goal("Fail", *steps), "--parent", "s1", *options, "--json")
    result = json.loads(done.stdout)
    assert (result["childSessionId"], result["outcome"], done.returncode) == (2, outcome, status)
    assert result["notes"]


@pytest.mark.requirement("R354")
def test_a_child_starts_with_what_is_selected_of_its_parents_history(ramet: CommandLine) -> None:
    ramet.ok("history", "commit", "session/1", "Round each line.", "--tag", "decision")
    ramet.ok("history", "commit", "session/1", "Nice weather.")
    ramet.ok("spawn", goal("Count", says("done")), "--parent", "s1", "--inherit", "selective", "--tag", "decision")
    told = ramet.ok("show", "e2", "--prompt")
    assert ("Round each line." in told, "Nice weather." in told) == (True, False)
    assert "(selective, " in ramet.ok("history", "branch", "tree", "session/2")
    refused = ramet("spawn", "x", "--parent", "s1", "--last-turns", "2")
    assert (refused.returncode, "need --inherit selective" in refused.stderr) == (2, True)


@pytest.mark.requirement("R137")
def test_several_goals_are_several_children_in_their_order(ramet: CommandLine) -> None:
    goals = [goal("First", says("one")), "  ", goal("Third", {"exit": 1})]
    done = ramet("spawn", *goals, "--parent", "s1")
    assert done.returncode == 2  # of the first that did not succeed: the second, whose goal is blank
    heads = [line for line in done.stdout.splitlines() if line.startswith(("s2", "s3", "not"))]
    assert [head.split(" (")[0].split(":")[0] for head in heads] == ["s2", "not spawned", "s3"]
    assert "the goal is blank" in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint", "status"),
    [
        (["--parent", "s99"], "there is no session 99", 3),
        (["--parent", "s1", "--dir", "/"], "is outside the project", 2),
        (["--parent", "s1", "--skill", "juggle"], "juggle", 2),
        (["--parent", "s1", "--driver", "nobody"], "there is no driver 'nobody'", 2),
        ([], "give the parent session", 2),
    ],
)
def test_a_refusal_creates_nothing_and_says_what_to_do(
    ramet: CommandLine, words: list[str], complaint: str, status: int
) -> None:
    done = ramet("spawn", "Look", *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert complaint in done.stderr
    assert "fix:" in done.stderr
    assert [row["id"] for row in ramet.json("tree", "s1")["items"]] == [1]


@pytest.mark.requirement("R356")
@pytest.mark.parametrize("words", [[], ["--parent", "s1"]])
def test_the_name_of_a_task_file_points_to_a_run(ramet: CommandLine, words: list[str]) -> None:
    done = ramet("spawn", "tasks.md", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "`ramet run tasks.md`" in done.stderr
    assert [row["id"] for row in ramet.json("tree", "s1")["items"]] == [1]


@pytest.mark.requirement("R119")
def test_a_session_as_deep_as_may_be_is_refused(ramet: CommandLine) -> None:
    ramet.ok("daemon", "stop")
    done = ramet("spawn", "Look", "--parent", "s1", environ={"RAMET_SPAWN_DEPTH": "0"})
    assert done.returncode == 4
    assert done.stderr.startswith("error: Max spawn depth exceeded")


def test_a_detached_child_is_the_queues(ramet: CommandLine) -> None:
    assert ramet.ok("spawn", goal("Later", says("now")), "--parent", "s1", "--detach").startswith(
        "s2 (e2) queued: Later"
    )
    assert ramet.ok("next").startswith("e2 (do)")
    ramet.ok("work", "--once")
    assert status_of(ramet, 2) == "success"


def test_who_leaves_a_child_leaves_it_running(ramet: CommandLine, start: Start) -> None:
    go = ramet.cwd / "go"
    spawn = start("spawn", goal("Wait", {"wait_for": str(go)}, says("done")), "--parent", "s1")
    wait_for(lambda: status_of(ramet, 2) == "running")
    assert "awaits child" in ramet.ok("ps")
    spawn.send_signal(signal.SIGINT)
    assert spawn.wait(60) == 130
    assert spawn.stderr is not None
    assert "the children keep running: `ramet tree s1`" in spawn.stderr.read()
    go.touch()
    wait_for(lambda: status_of(ramet, 2) == "success")


def test_a_daemon_that_is_killed_meanwhile_makes_no_second_child(ramet: CommandLine, start: Start) -> None:
    go = ramet.cwd / "go"
    spawn = start("spawn", goal("Wait", {"wait_for": str(go)}, says("done")), "--parent", "s1")
    wait_for(lambda: status_of(ramet, 2) == "running")
    pid = ramet.json("daemon", "status")["pid"]
    subprocess.run(["kill", "-KILL", str(pid)], check=True)
    wait_for(lambda: ramet("daemon", "status").returncode == 0)
    go.touch()
    said, complaint = spawn.communicate(timeout=60)
    assert (spawn.returncode, complaint) == (0, "")
    assert said.endswith("done\n")
    assert [row["id"] for row in ramet.json("tree", "s1")["items"]] == [1, 2]


def test_a_terminal_shows_the_children_while_they_are_waited_for(ramet: CommandLine) -> None:
    goals = [goal("Slow", {"sleep": 2}, says("one")), goal("Quick", says("two"))]
    seen = at_terminal(ramet, "spawn", *goals, "--parent", "s1", environ=ramet.environ)
    assert seen.status == 0
    assert "AGENT" in seen.text
    assert "running" in seen.text
    assert "s3 (e3) success" in seen.text


def test_a_child_that_waits_for_its_parents_slot_says_so(ramet: CommandLine, start: Start) -> None:
    go = ramet.cwd / "go"
    goals = [goal("One", {"wait_for": str(go)}), goal("Two", {"wait_for": str(go)})]
    start("spawn", *goals, "--parent", "s1")
    wait_for(lambda: status_of(ramet, 2) == "running")
    waiting = ramet.ok("queue").splitlines()[-1]
    assert waiting.split()[:2] == ["e3", "queued"]
    assert "waits for s1 · Two" in waiting
    assert "e3 (do) is run by s1, which waits for it" in ramet.ok("next")


@pytest.mark.requirement("R139")
def test_killing_says_which_children_ended_with_it(ramet: CommandLine, start: Start) -> None:
    go = ramet.cwd / "go"
    inner = f"script: {json.dumps([{'wait_for': str(go)}])}"
    spawns = [ramet.program, "spawn", inner, inner]
    ramet.ok("spawn", goal("Delegate", {"run": spawns}), "--parent", "s1", "--detach")
    start("work", "--once")
    wait_for(lambda: status_of(ramet, 3) == "running" and status_of(ramet, 4) is not None)
    said = ramet.ok("kill", "e2").splitlines()
    assert said[0].startswith("e2 is cancelled: stopped ")
    assert said[1].startswith("  child e3 is cancelled: stopped ")
    assert said[2] == "  child e4 is cancelled: it was not running"
    assert {status_of(ramet, number) for number in (2, 3, 4)} == {"cancelled"}


def test_children_can_be_kept_when_their_parent_is_killed(ramet: CommandLine, start: Start) -> None:
    go = ramet.cwd / "go"
    inner = f"script: {json.dumps([{'wait_for': str(go)}])}"
    spawns = [ramet.program, "spawn", "--detach", inner]
    ramet.ok("spawn", goal("Delegate", {"run": spawns}, {"sleep": 60}), "--parent", "s1", "--detach")
    start("work", "--workers", "2", "--once")
    wait_for(lambda: status_of(ramet, 3) == "running")
    assert len(ramet.ok("kill", "e2", "--keep-children").splitlines()) == 1
    assert status_of(ramet, 3) == "running"
    go.touch()
    wait_for(lambda: status_of(ramet, 3) == "success")


@pytest.mark.requirement("R114")
def test_the_lines_of_a_run_delegate_in_their_own_slot(ramet: CommandLine) -> None:
    ramet.configure({"spawn": {"drivers": ["shell"]}})
    ramet.ok("daemon", "stop")
    nested = f'{ramet.program} spawn "echo grandchild" --driver shell'
    (ramet.cwd / "tasks.md").write_text(
        f"- [ ] 1. {ramet.program} spawn '{nested}' 'echo sibling' --driver shell\n- [ ] 2. echo after\n"
    )
    ramet.ok("run", "tasks.md", "--driver", "shell")
    rows = ramet.json("tree", "r1")["items"]
    assert [(row["id"], row["parent_session_id"], row["outcome"]) for row in rows] == [
        (2, None, "success"),
        (3, 2, "success"),
        (4, 2, "success"),
        (5, 3, "success"),
        (6, None, "success"),
    ]
    assert "grandchild" in ramet.ok("runs", "show", "r1", "--conversation")
