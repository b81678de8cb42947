"""`ramet.open`: the engine in this process, on a file."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest
from msgspec.structs import asdict

import ramet
from ramet.errors import (
    DatabaseDamaged,
    DatabaseForeign,
    DatabaseHeld,
    DatabaseUnreachable,
    IdempotencyConflict,
    InvalidParams,
    TaskNotFound,
    UnknownMethod,
)

TASK = "/projects/shop/tasks/cart"
ISO_UTC = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"


def _with_task(path: Path) -> ramet.Ramet:
    r = ramet.open(path)
    r.db.project.upsert("/projects/shop")
    r.db.task.upsert(TASK)
    return r


def test_the_file_is_created_and_what_is_written_is_there_the_next_time(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r:
        started = r.db.effort.start(TASK, "plan", metadata={"scope": "cart"})
    with ramet.open(tmp_path / "a.db") as r:
        assert r.db.effort.list(TASK).items == [started]


def test_closing_truncates_the_wal_and_lets_the_file_go(tmp_path: Path) -> None:
    r = _with_task(tmp_path / "a.db")
    r.close()
    r.close()
    wal = tmp_path / "a.db-wal"
    assert not wal.exists() or wal.stat().st_size == 0
    with pytest.raises(DatabaseUnreachable, match="closed"):
        r.db.task.list()
    ramet.open(tmp_path / "a.db").close()


@pytest.mark.requirement("R464")
def test_a_file_that_a_daemon_found_damaged_is_not_written_by_programs_either(tmp_path: Path) -> None:
    _with_task(tmp_path / "a.db").close()
    mark = tmp_path / "a.db.damaged"
    mark.write_text("{}")
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(DatabaseDamaged) as refused:
        ramet.open(tmp_path / "a.db")
    assert str(mark) in refused.value.message
    assert "ramet db accept" in refused.value.fix
    assert (tmp_path / "a.db").read_bytes() == before
    mark.unlink()
    ramet.open(tmp_path / "a.db").close()


@pytest.mark.requirement("R293")
def test_a_file_that_somebody_holds_is_refused_with_a_pointer_to_connect(tmp_path: Path) -> None:
    with ramet.open(tmp_path / "a.db"), pytest.raises(DatabaseHeld) as refused:
        ramet.open(tmp_path / "a.db")
    assert "ramet.connect()" in refused.value.fix


def test_a_killed_program_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import ramet, os, signal, sys\n"
        "r = ramet.open(sys.argv[1])\n"
        "r.db.project.upsert('/projects/shop')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "a.db"
    killed = subprocess.run([sys.executable, "-c", program, str(path)], timeout=60, check=False)
    assert killed.returncode == -9
    with ramet.open(path) as r:
        assert [project.path for project in r.db.project.list().items] == ["/projects/shop"]


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(b"this is no database, and long enough to be read as one" * 100)
    before = path.read_bytes()
    with pytest.raises(DatabaseForeign):
        ramet.open(path)
    assert path.read_bytes() == before


def test_a_refusal_is_the_typed_error_and_changes_nothing(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r:
        before = r.events.list().items
        with pytest.raises(TaskNotFound) as refused:
            r.db.effort.start("/projects/shop/tasks/none", "plan")
        assert refused.value.field == "task_id"
        assert r.events.list().items == before


def test_parameters_are_checked_as_the_daemon_checks_them(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r:
        with pytest.raises(InvalidParams) as refused:
            r.db.effort.start(5, "plan")  # type: ignore[arg-type]
        assert refused.value.field == "task_id"
        with pytest.raises(InvalidParams, match="cannot be written as JSON"):
            r.db.effort.start(TASK, "plan", metadata={"made": object()})


def test_mappings_tuples_and_paths_are_taken_for_what_they_are(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r:
        effort = r.db.effort.start(TASK, "do", metadata=MappingProxyType({"where": Path("/projects/shop")}))
        assert effort.metadata == {"where": "/projects/shop"}
        assert r.db.agents.register("builder", claims=("do", "plan")).claims == ["do", "plan"]


def test_the_same_key_gives_the_same_reply_and_changes_nothing(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r:
        first = r.db.effort.start(TASK, "plan", idempotency_key="once")
        assert r.db.effort.start(TASK, "plan", idempotency_key="once") == first
        assert len(r.db.effort.list(TASK).items) == 1
        with pytest.raises(IdempotencyConflict):
            r.db.effort.start(TASK, "review", idempotency_key="once")


def test_threads_share_one_object(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: r.db.effort.start(TASK, "do"), range(40)))
        assert [effort.ordinal for effort in r.db.effort.list(TASK).items] == list(range(1, 41))


def test_what_only_a_daemon_answers_says_so(tmp_path: Path) -> None:
    with ramet.open(tmp_path / "a.db") as r:
        for ask in (r.daemon.ping, r.daemon.status, r.events.subscribe):
            with pytest.raises(UnknownMethod) as refused:
                ask()
            assert "ramet.connect()" in refused.value.fix


@pytest.mark.requirement("R297")
def test_every_time_is_in_utc_and_says_so(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r:
        effort = r.db.effort.start(TASK, "do")
        session = r.db.session.start(TASK, effort.id)
        message = r.db.messages.append(session.id, "user", "hello")
        rows = [effort, session, message, r.db.session.heartbeat(1), r.db.effort.finish(1), *r.events.list().items]
    moments = [value for row in rows for value in asdict(row).values() if isinstance(value, datetime)]
    assert len(moments) > len(rows)
    assert {moment.utcoffset() for moment in moments} == {timedelta(0)}
    assert all(re.fullmatch(ISO_UTC, text) for text in msgspec.to_builtins(moments))


def test_the_database_can_be_asked_checked_and_backed_up(tmp_path: Path) -> None:
    with _with_task(tmp_path / "a.db") as r:
        assert r.db.query("SELECT dir_path FROM tasks WHERE dir_path = ?", params=[TASK]).rows == [[TASK]]
        assert r.db.check().passed
        report = r.db.backup(str(tmp_path / "copy.db"))
    with ramet.open(report.path) as copy:
        assert [task.dir_path for task in copy.db.task.list().items] == [TASK]


def test_importing_ramet_imports_no_database() -> None:
    program = "import sys, ramet; print(sorted({'apsw', 'msgspec', 'click'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
