"""A restore that is killed at any of its steps leaves the old database or the new one, whole."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.crash.daemons import Home, ask
from tests.store.damaged_files import overwrite_pages

from ramet.store.database.sqlite.backup_file import verify

STEPS = 12
"""More than there are."""


def run(home: Home, task: str, fault: str = "", **order: Any) -> dict[str, Any] | None:
    """One task of the daemon's program; None if it died of its fault."""
    start = {"settings": home.settings, "places": home.places, "order": order}
    environ = {**os.environ, "RAMET_HOME": str(home.path), "HOME": str(home.path), "RAMET_FAULT": fault}
    done = subprocess.run(
        [sys.executable, "-m", "ramet.daemon", task],
        input=msgspec.json.encode(start, enc_hook=str) + b"\n",
        capture_output=True,
        env=environ,
        check=False,
    )
    if done.returncode == -9:
        return None
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def fill(home: Home, paths: list[str]) -> None:
    daemon = home.start()
    with daemon.connect() as connection:
        for path in paths:
            connection.call("db.project.upsert", {"path": path})
        connection.call("db.backup", {"path": str(home.places.backups / "ramet-20260105T080000.000000Z.db")})
        connection.call("db.project.upsert", {"path": "/since"})
    daemon.kill()  # so that there is a WAL


def list_projects(home: Home) -> list[str]:
    daemon = home.start()
    with daemon.connect() as connection:
        found = [row[0] for row in ask(connection, "SELECT path FROM projects ORDER BY id")]
        assert connection.call("db.check")["findings"] == []
    daemon.kill()
    return found


@pytest.mark.slow
@pytest.mark.requirement("R378")
def test_a_restore_that_is_killed_at_any_step_leaves_one_whole_database(sqlite_home: Home) -> None:
    home = sqlite_home
    fill(home, ["/one", "/two"])
    seen = set()
    for step in range(1, STEPS):
        done = run(home, "restore", f"during_restore:{step}", backup="latest")
        found = list_projects(home)
        assert found in (["/one", "/two"], ["/one", "/two", "/since"]), step
        seen.add((done is None, len(found)))
        if done is not None:
            break
        if "/since" not in found:  # it was carried on; the next round needs something to lose again
            daemon = home.start()
            with daemon.connect() as connection:
                connection.call("db.project.upsert", {"path": "/since"})
            daemon.kill()
    else:
        pytest.fail("the restore has more steps than this test")
    assert seen == {(True, 3), (True, 2), (False, 2)}
    assert not list(home.path.glob("*.restoring*")) + list(home.path.glob("*.swap"))


@pytest.mark.requirement("R378")
def test_a_restore_works_if_no_daemon_can_start(sqlite_home: Home) -> None:
    home = sqlite_home
    fill(home, ["/one"])
    database = home.path / "ramet.db"
    Path(f"{database}-wal").unlink()
    overwrite_pages(database, [1, 2, 3])
    damaged = database.read_bytes()
    assert "ramet db restore latest" in home.launch().failure().fix
    done = run(home, "restore", backup="latest")
    assert done is not None
    assert (done["losses"], Path(done["kept"]).read_bytes()) == (None, damaged)
    assert list_projects(home) == ["/one"]


@pytest.mark.requirement("R378", "R464")
@pytest.mark.parametrize("lose", [lambda file: os.truncate(file, 0), os.unlink], ids=["empty", "missing"])
def test_the_log_of_a_database_that_is_lost_is_kept(sqlite_home: Home, lose: Callable[[Path], None]) -> None:
    home = sqlite_home
    fill(home, ["/one"])
    database = home.path / "ramet.db"
    lose(database)
    log = Path(f"{database}-wal").read_bytes()
    refused = home.launch().failure()
    assert (refused.code, "ramet db restore latest" in refused.fix) == ("database_mismatch", True)
    assert run(home, "preview", backup="latest") is not None
    assert Path(f"{database}-wal").read_bytes() == log
    done = run(home, "restore", backup="latest")
    assert done is not None
    assert Path(f"{done['kept'].removesuffix('-wal')}-wal").read_bytes() == log
    assert list_projects(home) == ["/one"]


@pytest.mark.requirement("R464")
def test_a_backup_that_is_killed_leaves_nothing_that_counts_as_one(sqlite_home: Home) -> None:
    home = sqlite_home
    daemon = home.start()
    with daemon.connect() as connection:
        connection.call("db.project.upsert", {"path": "/one"})
        session = connection.call("commands.effort.start", {"task_id": "/one/t", "skill": "do", "agent_id": "a"})
        for _ in range(40):
            text = os.urandom(500_000).hex()
            at = {"session_id": session["session"]["id"], "role": "user", "content": text}
            connection.call("db.messages.append", at)
    name = "ramet-20260105T080000123Z-daily.db"
    request = {"path": str(home.places.backups / name), "at_ms": 1}
    connection = daemon.connect()
    connection.send_raw("db.backup_daily", json.dumps(request).encode())
    partial = home.places.backups / f"{name}.partial"
    while not (partial.exists() and partial.stat().st_size):
        assert daemon.is_alive
        assert not (home.places.backups / name).exists()
    daemon.kill()
    connection.close()
    left = [path for path in home.places.backups.iterdir() if path.suffix == ".db"]
    assert all(verify(path).last_event for path in left)  # none, or one that was complete just then
