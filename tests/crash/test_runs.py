"""Runs whose command, daemon, keepers and agents are killed all at once: what was done stays done, and the rest is done
once.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.crash.daemons import Home
from tests.crash.remains import check_nothing_is_left, marked_processes
from tests.crash.waits import wait_for
from tests.project_settings import write_trusted

from ramet.client.connection import Connection
from ramet.config.settings import WorkSettings
from ramet.errors import DaemonUnreachable, RametError, RunAttended, RunFinished
from ramet.runner.processes import keepers

RAMET = str(Path(sys.executable).with_name("ramet"))
PROGRAM = Path(__file__).with_name("noting_agent.sh")
_LINE_SECONDS = 6.0
"""How long one line may take on a machine with too much to do."""


def line(number: int, does: str = "", *depends_on: int) -> dict[str, Any]:
    """A line of a task file, as `noting_agent.sh` understands it."""
    return {"key": str(number), "text": f"line{number} {does}".strip(), "depends_on": [str(key) for key in depends_on]}


class Project:
    """A project, a daemon, and agents that note what they do."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.notes = home.path / "notes"
        self.path = home.path / "project"
        for folder in (self.notes, self.path):
            folder.mkdir(parents=True)
        profile = {"driver": "command", "program": ["/bin/sh", str(PROGRAM), str(self.notes)], "output": "jsonl"}
        configured = {"drivers": {"default": "noting", "profiles": {"noting": profile}}}
        write_trusted(self.path, home.path, configured)
        home.settings = replace(home.settings, work=WorkSettings(grace_seconds=0, backoff_seconds=0, lease_seconds=10))
        self.daemon = home.start()
        self._connection: Connection | None = None
        self.call("db.project.upsert", path=str(self.path))

    def put_under_git(self) -> None:
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        for command in (("init", "-q", "-b", "main"), ("add", "-A"), (*identity, "commit", "-q", "-m", "start")):
            subprocess.run(["git", "-C", str(self.path), *command], check=True, timeout=60)

    def call(self, method: str, **params: Any) -> Any:
        if self._connection is None:
            self._connection = self.daemon.connect()
        return self._connection.call(method, params)

    def start(self, lines: Sequence[dict[str, Any]], mode: str = "sequential", **params: Any) -> int:
        task = str(self.path / "tasks")
        run_id: int = self.call("run.start", task=task, mode=mode, lines=list(lines), name="tasks.md", **params)["id"]
        return run_id

    def work(self, run_id: int | None, **params: Any) -> Any:
        """Attend a run, or what belongs to none, until the daemon says that it is done."""
        with self.daemon.connect() as connection:
            connection.set_timeout(600)
            return connection.call("work.run", {"run": run_id, **params})

    def begin(self, run_id: int | None, **params: Any) -> threading.Thread:
        """The same, while the test goes on; the daemon's death ends it."""

        def work() -> None:
            with suppress(RametError):
                self.work(run_id, **params)

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def command(self, *arguments: str) -> "subprocess.Popen[str]":
        """`ramet`, as a person runs it in the project."""
        environ = {**os.environ, "RAMET_HOME": str(self.home.path), "HOME": str(self.home.path)}
        return subprocess.Popen([RAMET, *arguments], cwd=self.path, env=environ, stdout=subprocess.PIPE, text=True)

    def kill_everything(self, *commands: "subprocess.Popen[str]") -> None:
        """The commands, the daemon, the keepers and the agents, without a word."""
        self.close()
        for command in commands:
            command.kill()
        if self.daemon.is_alive:
            self.daemon.kill()
        for pid, _ in marked_processes(self.home):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def restart(self) -> None:
        self.daemon = self.home.start()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def let_go(self) -> None:
        """Let the agents go on that wait."""
        (self.notes / "go").touch()

    def starts(self, number: int) -> int:
        """How often a line was begun."""
        note = self.notes / f"line{number}.began"
        return len(note.read_text().split()) if note.exists() else 0

    def prompt(self, number: int) -> str:
        return (self.notes / f"line{number}.prompt").read_text()

    def has_finished(self, count: int) -> bool:
        return bool(self.call("db.query", sql=_FINISHED)["rows"] == [[count]])

    def count(self, *tables: str) -> list[int]:
        """How many rows each has."""
        return [self.call("db.query", sql=f"SELECT count(*) FROM {table}")["rows"][0][0] for table in tables]

    def outcomes(self, run_id: int) -> dict[str, str | None]:
        return {row["key"]: row["outcome"] for row in self.call("run.get", run_id=run_id)["lines"]}


_FINISHED = "SELECT count(*) FROM efforts WHERE lifecycle = 'finished'"


@pytest.fixture
def project(sqlite_home: Home) -> Iterator[Project]:
    project = Project(sqlite_home)
    yield project
    project.close()
    if keepers.list_instances(sqlite_home.places.keepers):
        project.kill_everything()


def conversation(project: Project, run_id: int) -> list[tuple[str, str]]:
    return [(turn["role"], turn["content"]) for turn in project.call("run.get", run_id=run_id)["conversation"]]


def said_by(lines: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The whole conversation of lines that succeed."""
    return [turn for each in lines for turn in (("user", each["text"]), ("assistant", f"done: line{each['key']}"))]


def check_it_went_on(project: Project, run_id: int, lines: Sequence[dict[str, Any]], interrupted: int) -> None:
    """Every line was begun once, but for the one that was interrupted; and each was told all that came before it."""
    assert [project.starts(number) for number in range(1, len(lines) + 1)] == [
        2 if number == interrupted else 1 for number in range(1, len(lines) + 1)
    ]
    assert conversation(project, run_id) == said_by(lines)
    assert (
        project.prompt(len(lines))
        == "\n\n".join(f"[{role.title()}]\n{text}" for role, text in said_by(lines[:-1]))
        + f"\n\n[Current Task]\n{lines[-1]['text']}"
    )
    assert project.call("run.get", run_id=run_id)["state"] == "finished"
    check_nothing_is_left(project.home)


@pytest.mark.requirement("R80", "R93", "R97", "R98", "R284", "R292")
def test_a_run_whose_everything_is_killed_goes_on_where_it_was(project: Project) -> None:
    lines = [line(1), line(2), line(3), line(4, "wait"), line(5), line(6)]
    run_id = project.start(lines)
    thread = project.begin(run_id)
    assert wait_for(lambda: project.starts(4) == 1)
    assert project.has_finished(3)
    project.kill_everything()
    thread.join()
    project.restart()
    after = project.call("run.get", run_id=run_id)
    assert (after["state"], after["counts"]["completed"]) == ("interrupted", 3)
    assert conversation(project, run_id) == [*said_by(lines[:3]), ("user", lines[3]["text"])]
    project.let_go()
    assert project.work(run_id) == {"finished": {"success": 3}, "why": "idle"}
    check_it_went_on(project, run_id, lines, interrupted=4)


@pytest.mark.timeout(600)
@pytest.mark.requirement("R89", "R92", "R93", "R94", "R97", "R98", "R103")
def test_ninety_lines_killed_after_seventy_resume_at_seventy(project: Project) -> None:
    lines = [line(number, "wait" if number == 71 else "") for number in range(1, 91)]
    (project.path / "tasks.md").write_text("".join(f"- [ ] {each['key']}. {each['text']}\n" for each in lines))
    command = project.command("run", "tasks.md")
    assert wait_for(lambda: project.starts(71) == 1, seconds=71 * _LINE_SECONDS)
    assert project.has_finished(70)
    project.kill_everything(command)
    command.communicate()
    assert wait_for(lambda: not marked_processes(project.home))
    project.let_go()
    resumed = project.command("run", "--resume", "r1")
    try:
        said, _ = resumed.communicate(timeout=20 * _LINE_SECONDS)
        assert (resumed.returncode, "Resuming r1 with 141 turns of context\n" in said) == (0, True)
        assert said.count(" do started ") == 20
        check_it_went_on(project, 1, lines, interrupted=71)
    finally:
        project.close()
        project.command("daemon", "stop").communicate()


@pytest.mark.requirement("R99")
@pytest.mark.parametrize(("point", "kept"), [("before_commit", 0), ("after_commit_before_reply", 1)])
def test_a_run_is_recorded_whole_or_not_at_all(project: Project, point: str, kept: int) -> None:
    project.kill_everything()
    project.daemon = project.home.start(f"{point}:1")
    asked: dict[str, Any] = {"lines": [line(1), line(2), line(3)], "idempotency_key": "once"}
    with pytest.raises(DaemonUnreachable):
        project.start(**asked)
    project.close()
    assert project.daemon.died_by_its_fault()
    project.restart()
    assert project.count("runs", "efforts", "dependencies", "branches") == [kept, 3 * kept, 2 * kept, kept]
    assert project.start(**asked) == 1
    assert project.count("runs", "efforts", "dependencies", "branches") == [1, 3, 2, 1]


@pytest.mark.requirement("R97", "R99")
@pytest.mark.parametrize("number", range(1, 9))
def test_a_daemon_that_dies_at_any_commit_of_a_run_leaves_a_whole_one(project: Project, number: int) -> None:
    lines = [line(1), line(2)]
    run_id = project.start(lines)
    project.kill_everything()
    project.daemon = project.home.start(f"before_commit:{number}")
    project.begin(run_id).join()
    project.close()
    assert project.daemon.died_by_its_fault()
    project.restart()
    found = project.call("run.get", run_id=run_id)  # once: what was adopted may come to its end at any moment
    turns = [(turn["role"], turn["content"]) for turn in found["conversation"]]
    assert turns == said_by(lines)[: len(turns)]
    assert found["counts"]["completed"] == len(turns) // 2
    project.work(run_id)
    assert conversation(project, run_id) == said_by(lines)
    check_nothing_is_left(project.home)


@pytest.mark.requirement("R98", "R292")
def test_a_parallel_run_whose_everything_is_killed_does_the_rest_once(project: Project) -> None:
    waiting = {5, 6, 7}
    lines = [line(number, "wait" if number in waiting else "") for number in range(1, 9)]
    lines += [line(9, "", 1, 2), line(10, "", 5, 9)]
    run_id = project.start(lines, "parallel")
    thread = project.begin(run_id, workers=4)
    assert wait_for(lambda: all(project.starts(number) for number in waiting) and project.has_finished(6))
    project.kill_everything()
    thread.join()
    project.restart()
    assert project.call("run.get", run_id=run_id)["counts"]["completed"] == 6
    project.let_go()
    assert project.work(run_id, workers=4)["finished"] == {"success": 4}
    assert [project.starts(number) for number in range(1, 11)] == [1, 1, 1, 1, 2, 2, 2, 1, 1, 1]
    assert project.prompt(10) == (
        "Context from completed dependencies:\n[Task 5] output:\ndone: line5\n\n[Task 9] output:\ndone: line9\n\n"
        "[Current Task]\nline10"
    )
    check_nothing_is_left(project.home)


@pytest.mark.requirement("R96", "R98")
def test_a_run_that_saves_no_conversation_still_knows_what_is_done(project: Project) -> None:
    run_id = project.start([line(1), line(2), line(3, "wait"), line(4)], save_conversation=False)
    thread = project.begin(run_id)
    assert wait_for(lambda: project.starts(3) == 1)
    assert project.prompt(3).startswith("[User]\nline1\n\n[Assistant]\ndone: line1\n\n")
    project.kill_everything()
    thread.join()
    project.restart()
    project.let_go()
    assert project.work(run_id)["finished"] == {"success": 2}
    assert [project.starts(number) for number in range(1, 5)] == [1, 1, 2, 1]
    assert project.prompt(3) == "line3 wait"
    assert project.prompt(4) == "[User]\nline3 wait\n\n[Assistant]\ndone: line3\n\n[Current Task]\nline4"
    assert conversation(project, run_id) == []


def test_an_agent_that_outlived_its_daemon_is_waited_for_and_not_begun_again(project: Project) -> None:
    lines = [line(1, "wait"), line(2)]
    run_id = project.start(lines)
    thread = project.begin(run_id)
    assert wait_for(lambda: project.starts(1) == 1)
    project.close()
    project.daemon.kill()
    thread.join()
    project.restart()
    resumed = project.begin(run_id)
    assert wait_for(lambda: project.call("run.get", run_id=run_id)["state"] == "running")
    project.let_go()
    resumed.join(60)
    assert [project.starts(1), project.starts(2)] == [1, 1]
    assert conversation(project, run_id) == said_by(lines)


@pytest.mark.parametrize(
    ("keeps_going", "dropped", "reason"),
    [(False, {}, "3 failed"), (True, {"dropped": 1}, "line 3 ended with error and left no branch to start from")],
    ids=["skips", "keeps going"],
)
def test_a_merge_conflict_stops_only_what_depends_on_it(
    project: Project, keeps_going: bool, dropped: dict[str, int], reason: str
) -> None:
    """What depends on it is skipped before any worker takes it; in a run that keeps going, a worker drops it."""
    project.put_under_git()
    lines = [line(1, "write a.txt"), line(2, "write a.txt"), line(3, "", 1, 2), line(4, "", 3), line(5, "", 1), line(6)]
    run_id = project.start(lines, "parallel", keep_going=keeps_going)
    assert project.work(run_id, workers=3)["finished"] == {"success": 4, "error": 1, **dropped}
    detail = project.call("run.get", run_id=run_id)
    assert detail["state"] == "finished"
    states = {row["key"]: row["state"] for row in detail["lines"]}
    assert states == {
        "1": "completed",
        "2": "completed",
        "3": "failed",
        "4": "skipped",
        "5": "completed",
        "6": "completed",
    }
    reasons = {row["key"]: row["reason"] for row in detail["lines"]}
    assert "line 1 (ramet/e1) cannot be merged with line 2 (ramet/e2): conflicts in a.txt" in reasons["3"]
    assert reason in reasons["4"]
    assert [project.starts(3), project.starts(4)] == [0, 0]
    assert [notice["effort_id"] for notice in project.call("fleet.notices")["items"]] == [3]
    found = project.call("run.branches", run_id=run_id)
    assert [(each["lines"], each["files"]) for each in found["conflicts"]] == [(["1", "2"], ["a.txt"])]


def test_a_settled_conflict_lets_the_rest_go_on(project: Project) -> None:
    project.put_under_git()
    run_id = project.start(
        [line(1, "write a.txt"), line(2, "write a.txt"), line(3, "", 1, 2), line(4, "", 3)], "parallel"
    )
    project.work(run_id, workers=2)
    rows = {row["key"]: row for row in project.call("run.get", run_id=run_id)["lines"]}
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    merge = ["git", "-C", rows["2"]["worktree"], *identity, "merge", "-q", "-X", "ours", "--no-edit", "ramet/e1"]
    subprocess.run(merge, check=True, timeout=60)
    assert project.work(run_id, retry_failed=True)["finished"] == {"success": 2}
    assert project.outcomes(run_id) == dict.fromkeys("1234", "success")


def test_a_run_that_stops_on_a_failure_keeps_the_rest_for_later(project: Project) -> None:
    run_id = project.start([line(1), line(2, "fail"), line(3)], stop_on_failure=True)
    assert project.work(run_id) == {"finished": {"success": 1, "error": 1}, "why": "idle"}
    assert project.outcomes(run_id) == {"1": "success", "2": "error", "3": None}
    assert project.call("run.get", run_id=run_id)["state"] == "interrupted"
    assert project.work(run_id)["finished"] == {"success": 1}
    assert "✗ failed: " in project.prompt(3)
    assert "line2 is broken" in project.prompt(3)
    assert [project.starts(number) for number in (1, 2, 3)] == [1, 1, 1]
    with pytest.raises(RunFinished):
        project.work(run_id)


@pytest.mark.parametrize(
    ("limits", "outcome"), [({"tokens": 90}, "budget"), ({"cost_usd": 0.4}, "budget"), ({"seconds": 1}, "timeout")]
)
def test_a_bound_that_is_reached_ends_the_rest_with_one_notice(
    project: Project, limits: dict[str, Any], outcome: str
) -> None:
    lines = [line(number, "spend" if outcome == "budget" else "sleep 1.1") for number in range(1, 5)]
    run_id = project.start(lines, limits=limits)
    assert project.work(run_id)["finished"] == {"success": 1}
    assert project.outcomes(run_id) == {"1": "success", **dict.fromkeys("234", outcome)}
    (notice,) = project.call("fleet.notices")["items"]
    assert notice["kind"] == "run_bound"
    assert "3 of its lines" in notice["text"]
    assert project.call("run.get", run_id=run_id)["state"] == "finished"
    larger = {name: value * 100 for name, value in limits.items()}
    assert project.work(run_id, limits=larger)["finished"] == {"success": 3}
    assert [project.starts(number) for number in range(1, 5)] == [1, 1, 1, 1]


def test_a_run_works_on_no_more_lines_at_once_than_it_may(project: Project) -> None:
    run_id = project.start([line(number, "wait") for number in range(1, 6)], "parallel", limits={"workers": 2})
    thread = project.begin(run_id, workers=5)
    assert wait_for(lambda: len(list(project.notes.glob("*.prompt"))) == 2)
    assert project.call("run.get", run_id=run_id)["counts"]["in_progress"] == 2
    project.let_go()
    thread.join(60)
    assert project.outcomes(run_id) == dict.fromkeys("12345", "success")


def test_each_line_is_worked_on_by_who_claimed_it(project: Project) -> None:
    run_id = project.start([line(number) for number in range(1, 25)], "parallel")
    assert project.work(run_id, workers=6)["finished"] == {"success": 24}
    claimed = "SELECT effort_id, data ->> 'worker' FROM events WHERE kind = 'effort.claimed' ORDER BY effort_id"
    worked = "SELECT effort_id, agent_id FROM sessions ORDER BY effort_id"
    assert project.call("db.query", sql=claimed)["rows"] == project.call("db.query", sql=worked)["rows"]


def test_a_run_is_attended_by_one_at_a_time(project: Project) -> None:
    run_id = project.start([line(1, "wait"), line(2)])
    thread = project.begin(run_id)
    assert wait_for(lambda: project.starts(1) == 1)
    with pytest.raises(RunAttended):
        project.work(run_id)
    project.let_go()
    thread.join(60)
    assert project.outcomes(run_id) == {"1": "success", "2": "success"}


@pytest.mark.requirement("R100")
def test_a_run_whose_command_goes_is_interrupted_and_its_agent_comes_to_its_end(project: Project) -> None:
    lines = [line(1, "wait"), line(2)]
    run_id = project.start(lines)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "work.run", "params": {"run": run_id}}
    with socket.socket(socket.AF_UNIX) as command:
        command.connect(str(project.daemon.socket))
        command.sendall(json.dumps(asked).encode() + b"\n")
        assert wait_for(lambda: project.starts(1) == 1)
    assert wait_for(lambda: project.call("run.get", run_id=run_id)["state"] == "interrupted")
    project.let_go()
    assert wait_for(lambda: project.has_finished(1))
    assert conversation(project, run_id) == said_by(lines[:1])
    assert project.work(run_id)["finished"] == {"success": 1}
    assert [project.starts(1), project.starts(2)] == [1, 1]


@pytest.mark.requirement("R100")
def test_a_run_that_is_stopped_lets_what_runs_come_to_its_end_and_nothing_more(project: Project) -> None:
    stopped, other = project.start([line(1, "wait"), line(2)]), project.start([line(3, "wait"), line(4)])
    threads = [project.begin(run_id) for run_id in (stopped, other)]
    assert wait_for(lambda: project.starts(1) == project.starts(3) == 1)
    project.call("work.stop", run=stopped)
    project.let_go()
    for thread in threads:
        thread.join(60)
    assert project.outcomes(stopped) == {"1": "success", "2": None}
    assert project.call("run.get", run_id=stopped)["state"] == "interrupted"
    assert project.outcomes(other) == {"3": "success", "4": "success"}


@pytest.mark.requirement("R100")
def test_a_stop_is_for_the_work_that_it_names(project: Project) -> None:
    run_id = project.start([line(1, "wait"), line(2)])
    for number in (11, 12, 13):
        project.call("work.add", prompt=f"line{number} wait", skill="do", task=str(project.path / f"t{number}"))
    threads = [project.begin(run_id), *(project.begin(None, shift=name) for name in ("early", "late"))]
    assert wait_for(lambda: project.starts(1) == project.starts(11) == project.starts(12) == 1)
    project.call("work.stop", shift="early")
    project.let_go()
    threads[0].join(60)
    assert project.outcomes(run_id) == {"1": "success", "2": "success"}
    threads[1].join(60)
    assert wait_for(lambda: project.starts(13) == 1), "the late shift goes on"
    assert threads[2].is_alive()
    project.call("work.stop")
    threads[2].join(60)
    assert not threads[2].is_alive()


def test_a_daemon_that_is_stopped_leaves_its_run(project: Project) -> None:
    run_id = project.start([line(1, "wait"), line(2)])
    thread = project.begin(run_id)
    assert wait_for(lambda: project.starts(1) == 1)
    project.call("daemon.stop")
    project.close()
    project.daemon.wait()
    thread.join(60)
    project.restart()
    kinds = "SELECT kind FROM events WHERE kind LIKE 'run.%' ORDER BY id"
    happened = [row[0] for row in project.call("db.query", sql=kinds)["rows"]]
    assert happened == ["run.started", "run.attended", "run.turn", "run.left"]
    project.let_go()
    assert project.work(run_id)["why"] == "idle"
    assert [project.starts(1), project.starts(2)] == [1, 1]
