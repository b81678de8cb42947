"""The database's lock: one holder at a time, let go of however the holder dies."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.world import open_in

from ramet.errors import DatabaseHeld
from ramet.store.database.lock import DatabaseLock

HOLD = """
import sys
from pathlib import Path
from ramet.store.database.lock import DatabaseLock
lock = DatabaseLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.requirement("R293")
def test_a_database_is_opened_by_one_at_a_time_and_the_holder_is_named(tmp_path: Path) -> None:
    store = open_in(tmp_path, None)
    with pytest.raises(DatabaseHeld, match=str(os.getpid())):
        open_in(tmp_path, None)
    store.close()
    open_in(tmp_path, None).close()


@pytest.mark.requirement("R293")
def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(DatabaseHeld, match=str(holder.pid)):
        DatabaseLock(path)
    holder.send_signal(signal.SIGKILL)
    holder.wait(20)
    holder.stdin.close()
    holder.stdout.close()
    DatabaseLock(path).release()


def test_the_lock_file_is_private(tmp_path: Path) -> None:
    lock = DatabaseLock(tmp_path / "x.lock")
    assert stat.S_IMODE((tmp_path / "x.lock").stat().st_mode) == 0o600
    lock.release()


def test_the_database_and_its_wal_are_private(tmp_path: Path) -> None:
    store = open_in(tmp_path / "new", None)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    assert modes.keys() >= {"ramet.db", "ramet.db-wal", "ramet.db-shm"}
    assert set(modes.values()) == {0o600}
    store.close()
    assert not (tmp_path / "new" / "ramet.db-wal").exists()


def test_a_database_that_was_refused_is_let_go_of(tmp_path: Path) -> None:
    (tmp_path / "ramet.db").write_bytes(b"not a database, but a letter to a friend. " * 100)
    for _ in range(2):
        with pytest.raises(Exception, match="not a database"):
            open_in(tmp_path, None)
