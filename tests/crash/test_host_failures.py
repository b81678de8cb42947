"""Hosts on which no agent can start: nothing in the queue is lost to them, and they come back by themselves."""

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.crash.daemons import Daemon, Home, ask
from tests.crash.failing_git import FailingGit
from tests.crash.lines import Line
from tests.crash.machines import Machine, Notes
from tests.crash.waits import wait_for

from ramet.client.connection import Connection
from ramet.config.settings import WorkSettings
from ramet.errors import RametError

pytestmark = pytest.mark.requirement("R462")

Make = Callable[..., Machine]


@pytest.fixture
def origin(place: Path) -> Path:
    """A repository that every machine clones."""
    path = place / "origin"
    for command in (["init", "--quiet", "-b", "main", str(path)], ["-C", str(path), *_COMMIT]):
        subprocess.run(["git", *command], check=True)
    return path


_COMMIT = (
    *("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"),
    *("commit", "--quiet", "--allow-empty", "-m", "start"),
)


@pytest.fixture
def make(place: Path, postgres_url: str, origin: Path) -> Iterator[Make]:
    machines: list[Machine] = []
    notes = Notes(place / "notes")

    def add(name: str, git: FailingGit | None = None) -> Machine:
        line = Line(postgres_url)
        line.inside = git.inside if git else ()
        machine = Machine(name, place, line, notes, beats=1)
        machines.append(machine)
        machine.clone(origin)
        work = replace(machine.home.settings.work, backoff_seconds=1, host_breaker_seconds=1)
        machine.home.settings = replace(machine.home.settings, work=work)
        machine.start()
        return machine

    yield add
    for machine in machines:
        machine.close()


def add_efforts(machine: Machine, connection: Connection, count: int) -> None:
    for number in range(count):
        task = str(machine.project / f"t{number}")
        connection.call("work.add", {"prompt": f"agent{number}", "skill": "do", "task": task})


def count(connection: Connection, what: str) -> int:
    return int(ask(connection, f"SELECT count(*) FROM efforts WHERE {what}")[0][0])


def hosts(connection: Connection) -> list[tuple[str, str]]:
    return [(row["name"], row["state"]) for row in connection.call("hosts.list")["items"]]


def told(connection: Connection) -> list[Any]:
    return [notice["text"] for notice in connection.call("fleet.notices", {"all": True})["items"]]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_full_disk_on_one_host_costs_the_queue_nothing(make: Make, place: Path) -> None:
    git = FailingGit(place / "bin")
    git.fail("full")
    north, south = make("north", git), make("south")
    assert south.daemon is not None
    with south.daemon.connect() as connection:
        add_efforts(north, connection, 30)
        north.work(2)
        assert wait_for(lambda: [name for name, state in hosts(connection) if state != "counting"] == ["north"])
        assert count(connection, "lifecycle = 'finished'") == 0
        south.work(2)
        assert wait_for(lambda: count(connection, "lifecycle = 'finished'") == 30)
        assert count(connection, "outcome = 'success' AND attempts = 1 AND git_host = 'south'") == 30
        (text,) = told(connection)
        assert text.startswith("north claims no efforts: the worktree ")
        assert "No space left on device" in text
        git.work()
        connection.call("work.stop")  # south's
        add_efforts(north, connection, 2)
        assert wait_for(lambda: count(connection, "outcome = 'success' AND git_host = 'north'") == 2)
        assert hosts(connection) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_gits_cost_no_effort_its_attempts_and_the_only_host_comes_back(make: Make, place: Path) -> None:
    git = FailingGit(place / "bin")
    git.fail("killed")
    north = make("north", git)
    assert north.daemon is not None
    with north.daemon.connect() as connection:
        add_efforts(north, connection, 3)
        north.work(3)
        failed = "SELECT count(*) FROM events WHERE kind = 'effort.requeued'"
        assert wait_for(lambda: ask(connection, failed)[0][0] >= 6)
        assert wait_for(lambda: hosts(connection) == [("north", "parked")])
        git.work()
        assert wait_for(lambda: count(connection, "outcome = 'success' AND attempts = 1") == 3)
        assert hosts(connection) == []
        assert len(told(connection)) == 1


@pytest.fixture
def small_disk(place: Path) -> Iterator[Path]:
    """A disk of 60 MB."""
    path = place / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=60m", "none", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
        if os.environ.get("CI") == "true":
            pytest.fail("only root can mount a small disk")
        pytest.skip("NOT TESTED: only root can mount a small disk")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_efforts_wait_while_the_only_hosts_disk_is_full_and_start_when_it_has_room(
    small_disk: Path, place: Path
) -> None:
    filler = small_disk / "filler"
    home = Home(small_disk / "home")
    work = WorkSettings(host="north", min_free_mb=20, backoff_seconds=0, grace_seconds=1)
    home.settings = replace(home.settings, work=work)
    project = place / "shop"
    project.mkdir()
    try:
        with home.start().connect() as connection:
            connection.call("db.project.upsert", {"path": str(project)})
            for number in range(3):
                added = {"prompt": "true", "skill": "shell", "task": str(project / f"t{number}"), "driver": "shell"}
                connection.call("work.add", added)
            filler.write_bytes(bytes(45_000_000))
            done = connection.call("work.run", {"workers": 2, "once": True})
            assert (done["why"], done["finished"]) == ("host_parked", {})
            assert count(connection, "lifecycle = 'queued' AND attempts = 0") == 3
            (text,) = told(connection)
            assert text.startswith("north claims no efforts: ")
            assert f"MB are free on the disk of {home.path}" in text
            filler.unlink()
            assert connection.call("work.run", {"workers": 2, "once": True})["finished"] == {"success": 3}
            assert hosts(connection) == []
    finally:
        home.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_home_without_any_room_ends_no_effort(small_disk: Path, place: Path, postgres_url: str) -> None:
    """Nothing can be written about the attempts on the host's own disk, neither a spool nor a log."""
    filler = small_disk / "filler"
    home = Home(small_disk / "home", postgres_url)
    work = WorkSettings(host="north", min_free_mb=0, backoff_seconds=0, host_breaker_seconds=1, grace_seconds=1)
    home.settings = replace(home.settings, work=work)
    project = place / "shop"
    project.mkdir()
    try:
        with home.start().connect() as connection:
            connection.call("db.project.upsert", {"path": str(project)})
            added = {"prompt": "true", "skill": "shell", "task": str(project / "t"), "driver": "shell"}
            connection.call("work.add", added)
            with filler.open("wb") as file, suppress(OSError):
                while True:
                    file.write(bytes(65536))
            done = connection.call("work.run", {"workers": 1, "once": True})
            (row,) = connection.call("work.list")["items"]
            assert (done["why"], done["finished"]) == ("host_parked", {}), row["reason"]
            assert (row["lifecycle"], row["attempts"], row["host_failures"]) == ("queued", 0, 0)
            filler.unlink()
            assert connection.call("hosts.resume", {"name": "north"})["effort_ids"] == [row["id"]]
            assert connection.call("work.run", {"workers": 1, "once": True})["finished"] == {"success": 1}
    finally:
        home.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_agent_from_before_a_restart_does_not_resume_its_host(place: Path, origin: Path) -> None:
    git = FailingGit(place / "bin")
    home = Home(place / "home", inside=git.inside)
    work = WorkSettings(host="north", backoff_seconds=0, host_breaker_seconds=3600, grace_seconds=1)
    home.settings = replace(home.settings, work=work)
    go_on = place / "go-on"

    def add(connection: Connection, prompt: str) -> None:
        task = str(origin / "t")
        connection.call("work.add", {"prompt": prompt, "skill": "do", "task": task, "driver": "shell"})

    def work_on(daemon: Daemon) -> None:
        with suppress(RametError), daemon.connect() as connection:
            connection.call("work.run", {"workers": 2})

    try:
        daemon = home.start()
        with daemon.connect() as connection, ThreadPoolExecutor() as threads:
            connection.call("db.project.upsert", {"path": str(origin)})
            add(connection, f"until [ -e {go_on} ]; do sleep 0.1; done")
            threads.submit(work_on, daemon)
            assert wait_for(lambda: ask(connection, "SELECT count(*) FROM sessions WHERE pid > 0")[0][0] == 1)
            git.fail("full")
            add(connection, "true")
            assert wait_for(lambda: hosts(connection) == [("north", "parked")])
            daemon.kill()
        with home.start().connect() as connection:
            go_on.touch()
            assert wait_for(lambda: count(connection, "outcome = 'success'") == 1)
            assert hosts(connection) == [("north", "parked")]
    finally:
        home.close()
