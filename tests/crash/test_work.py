"""Daemons and keepers are killed while agents work: nothing that an agent said is lost, nothing runs twice, nothing is
left running, and every outcome is recorded once.
"""

import fcntl
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.crash.daemons import Daemon, Home, ask
from tests.crash.remains import check_nothing_is_left
from tests.crash.waits import PATIENCE_SECONDS, wait_for
from tests.project_settings import write_trusted

from ramet.client.connection import Connection
from ramet.config.settings import WorkSettings
from ramet.errors import RametError
from ramet.runner.processes import keepers

PROGRAM = Path(__file__).with_name("counting_agent.py")


class Job:
    """Efforts that count aloud, and where their agents leave their notes."""

    def __init__(self, home: Home, efforts: int, *, count: int, pause: float) -> None:
        self.home, self.efforts, self.count = home, efforts, count
        self.notes = home.path / "notes"
        self.project = home.path / "project"
        for folder in (self.notes, self.project):
            folder.mkdir(parents=True)
        program = [sys.executable, str(PROGRAM), str(self.notes), str(count), str(pause)]
        profiles = {"counter": {"driver": "command", "program": program}}
        configured = {"work": {"grace_seconds": 1}, "drivers": {"default": "counter", "profiles": profiles}}
        write_trusted(self.project, home.path, configured)
        # On a busy machine every kill may take keepers that are only starting; no effort gives up for that here.
        work = WorkSettings(grace_seconds=1, backoff_seconds=0, host_retries=100)
        home.settings = replace(home.settings, work=work)

    def add(self, connection: Connection) -> list[int]:
        connection.call("db.project.upsert", {"path": str(self.project)})
        tasks = [(f"agent{n}", str(self.project / f"t{n}")) for n in range(self.efforts)]
        adding = [{"prompt": prompt, "skill": "do", "task": task} for prompt, task in tasks]
        return [connection.call("work.add", params)["id"] for params in adding]

    def check(self, connection: Connection) -> None:
        """Every effort came to one good end, was run once, and all that its agent said is there once, in order."""
        efforts = ask(connection, "SELECT id, prompt, lifecycle, outcome, lease_owner, output_content FROM efforts")
        assert [(row[2], row[3], row[4]) for row in efforts] == [("finished", "success", None)] * self.efforts
        finished = ask(connection, "SELECT effort_id FROM events WHERE kind = 'effort.finished'")
        assert set(Counter(row[0] for row in finished).values()) == {1}
        for effort_id, name, *_, output in efforts:
            assert len((self.notes / f"{name}.began").read_text().split()) == 1, f"{name} was run more than once"
            said = (self.notes / f"{name}.said").read_text()
            assert said == "".join(f"{name} {n}\n" for n in range(1, self.count + 1))
            assert heard(connection, effort_id) == said
            assert output.strip() == said.strip()
        check_nothing_is_left(self.home)


def heard(connection: Connection, effort_id: int) -> str:
    """What the histories have of an effort's agent."""
    sessions = ask(connection, f"SELECT id FROM sessions WHERE effort_id = {effort_id} ORDER BY id")
    pages = [connection.call("db.messages.list", {"session_id": row[0], "limit": 1000})["items"] for row in sessions]
    return "".join(message["content"] for page in pages for message in page if message["role"] == "assistant")


def run_until_killed(daemon: Daemon, workers: int) -> threading.Thread:
    """Ask for work on a connection of its own; the daemon's death ends it."""

    def run() -> None:
        with suppress(RametError), daemon.connect() as connection:
            connection.set_timeout(None)
            connection.call("work.run", {"workers": workers, "once": True})

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def kill_while_they_work(job: Job, kills: int, seed: int) -> None:
    moments = random.Random(seed)
    home = job.home
    daemon = home.start()
    with daemon.connect() as connection:
        job.add(connection)
    for _ in range(kills):
        thread = run_until_killed(daemon, job.efforts)
        time.sleep(moments.uniform(0.05, 1.0))
        daemon.kill()
        thread.join()
        daemon = home.start()
    run_until_killed(daemon, job.efforts).join(PATIENCE_SECONDS)
    with daemon.connect() as connection:
        unfinished = "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'"
        assert wait_for(lambda: ask(connection, unfinished) == [[0]])
        job.check(connection)
        assert connection.call("db.check")["findings"] == []


@pytest.mark.requirement("R292")
def test_agents_outlive_their_daemon_and_nothing_they_say_is_lost(sqlite_home: Home) -> None:
    kill_while_they_work(Job(sqlite_home, 4, count=40, pause=0.05), kills=3, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("R292")
def test_twenty_kills_during_a_run_of_fifty_agents(sqlite_home: Home) -> None:
    kill_while_they_work(Job(sqlite_home, 50, count=100, pause=0.2), kills=20, seed=2)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("R186")
def test_agents_outlive_their_daemon_on_postgresql(postgres_home: Home) -> None:
    kill_while_they_work(Job(postgres_home, 8, count=60, pause=0.1), kills=6, seed=3)


def test_a_killed_keeper_ends_its_agent_and_the_effort_is_made_again(sqlite_home: Home) -> None:
    job = Job(sqlite_home, 1, count=100, pause=0.05)
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        (effort_id,) = job.add(connection)
        thread = run_until_killed(daemon, 1)
        began = job.notes / "agent0.began"
        assert wait_for(began.exists)
        (record,) = keepers.list_records(sqlite_home.places.keepers)
        os.kill(record.pid, signal.SIGKILL)
        assert wait_for(lambda: len(began.read_text().split()) == 2, 20)
        requeued = ask(connection, "SELECT data FROM events WHERE kind = 'effort.requeued'")
        assert len(requeued) == 1
        assert "infrastructure" in str(requeued[0][0])
        connection.call("fleet.kill", {"effort_id": effort_id})
        thread.join(PATIENCE_SECONDS)
        assert ask(connection, "SELECT outcome, host_failures, agent_failures FROM efforts") == [["cancelled", 1, 0]]
    check_nothing_is_left(sqlite_home)


def test_a_blank_prompt_is_worked_on_and_settled_like_any_other(sqlite_home: Home) -> None:
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@localhost", "commit", "-q", "--allow-empty", "-m", "x"]
    project = sqlite_home.path / "project"
    project.mkdir(parents=True)
    for command in (["git", "init", "-q"], git):
        subprocess.run(command, cwd=project, check=True)
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        connection.call("db.project.upsert", {"path": str(project)})
        connection.call("work.add", {"prompt": " ", "skill": "shell", "task": str(project / "t")})
        run_until_killed(daemon, 1).join(PATIENCE_SECONDS)
        assert ask(connection, "SELECT outcome FROM efforts") == [["success"]]


def test_an_effort_whose_worktree_takes_longer_than_its_lease_is_not_taken_over(sqlite_home: Home) -> None:
    project = sqlite_home.path / "project"
    project.mkdir(parents=True)
    somebody = ["-c", "user.name=Test", "-c", "user.email=test@localhost"]
    for command in (["init", "-q"], [*somebody, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    sqlite_home.settings = replace(sqlite_home.settings, work=WorkSettings(lease_seconds=5))
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        connection.call("db.project.upsert", {"path": str(project)})
        connection.call("work.add", {"prompt": "true", "skill": "shell", "task": str(project / "t")})
        lock = os.open(project / ".git", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)  # nobody makes a worktree here for now
        thread = run_until_killed(daemon, 1)
        leases = "SELECT lease_expires_at FROM efforts WHERE lifecycle = 'active'"
        assert wait_for(lambda: ask(connection, leases) != [])
        ((first,),) = ask(connection, leases)
        assert wait_for(lambda: datetime.fromisoformat(first) < datetime.now(UTC))
        assert connection.call("work.claim", {"worker": "other/1"})["refused"] == "missing"
        os.close(lock)
        thread.join(PATIENCE_SECONDS)
        assert ask(connection, "SELECT outcome, attempts, host_failures FROM efforts") == [["success", 1, 0]]


def test_what_died_while_no_daemon_ran_is_reaped_by_the_next(sqlite_home: Home) -> None:
    job = Job(sqlite_home, 2, count=1000, pause=0.05)
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        job.add(connection)
    thread = run_until_killed(daemon, 2)
    assert wait_for(lambda: len(list(job.notes.glob("*.said"))) == 2)
    daemon.kill()
    thread.join()
    for record in keepers.list_records(sqlite_home.places.keepers):
        os.kill(record.pid, signal.SIGKILL)
    with sqlite_home.start().connect() as connection:
        queued = "SELECT count(*) FROM efforts WHERE lifecycle = 'queued' AND host_failures = 1"
        assert wait_for(lambda: ask(connection, queued) == [[2]])
        said = {path.stem: path.read_text() for path in job.notes.glob("*.said")}
        for effort_id, name in ask(connection, "SELECT id, prompt FROM efforts"):
            assert said[name].startswith(heard(connection, effort_id))
    check_nothing_is_left(sqlite_home)


@pytest.mark.parametrize("point", ["before_launch", "after_launch", "before_settle", "after_settle"])
def test_a_daemon_that_dies_at_any_step_of_an_attempt_is_followed_by_one_that_finishes_it(
    sqlite_home: Home, point: str
) -> None:
    job = Job(sqlite_home, 2, count=3, pause=0.0)
    daemon = sqlite_home.start(f"{point}:1")
    with daemon.connect() as connection:
        job.add(connection)
    run_until_killed(daemon, 2).join(PATIENCE_SECONDS)
    assert daemon.died_by_its_fault()
    daemon = sqlite_home.start()
    run_until_killed(daemon, 2).join(PATIENCE_SECONDS)
    with daemon.connect() as connection:
        assert wait_for(lambda: ask(connection, "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'") == [[0]])
        job.check(connection)


def test_a_daemon_that_dies_while_it_adopts_is_followed_by_one_that_does(sqlite_home: Home) -> None:
    job = Job(sqlite_home, 3, count=40, pause=0.05)
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        job.add(connection)
    thread = run_until_killed(daemon, 3)
    assert wait_for(lambda: len(list(job.notes.glob("*.said"))) == 3)
    daemon.kill()
    thread.join()
    for _ in range(2):
        assert sqlite_home.launch("during_adoption:1").died_by_its_fault()
    with sqlite_home.start().connect() as connection:
        assert wait_for(lambda: ask(connection, "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'") == [[0]])
        job.check(connection)
