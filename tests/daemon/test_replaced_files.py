"""A database whose files are deleted or replaced while the daemon runs: nothing is acknowledged into nothing."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.harness import Client
from tests.daemon.process import Home, wait_until

from ramet.daemon.damage.database_files import FileWatch


class Talk:
    """A session that a client appends messages to."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.acknowledged = 0
        client.call("db.project.upsert", path="/shop")
        client.call("db.task.upsert", dir_path="/shop/task")
        effort = client.call("db.effort.start", task_id="/shop/task", skill="do")["result"]["id"]
        started = client.call("db.session.start", task_id="/shop/task", effort_id=effort)
        self.session = started["result"]["id"]

    def append(self) -> dict[str, Any]:
        reply: dict[str, Any] = self.client.call(
            "db.messages.append", session_id=self.session, role="user", content=f"number {self.acknowledged}"
        )
        self.acknowledged += "result" in reply
        return reply

    def ban(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.call("daemon.status")["result"]["write_ban"]
        return found


def delete_wal(home: Home) -> None:
    home.database.with_name("ramet.db-wal").unlink()
    home.database.with_name("ramet.db-shm").unlink()


def replace_database(home: Home) -> None:
    other = home.path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE diary (day TEXT)")
    other.replace(home.database)


def rename_folder(home: Home) -> None:
    home.database.parent.rename(home.path / "elsewhere")


def delete_folder(home: Home) -> None:
    shutil.rmtree(home.database.parent)


@pytest.mark.requirement("R470")
@pytest.mark.parametrize("lose", [delete_wal, replace_database, rename_folder, delete_folder])
def test_nothing_is_acknowledged_once_the_files_are_lost_and_all_else_is_rescued(
    home: Home, lose: Callable[[Home], None]
) -> None:
    home.database = home.path / "data" / "ramet.db"
    home.database.parent.mkdir(mode=0o700)
    home.serve()
    talk = Talk(home.connect())
    for _ in range(30):
        talk.append()
    assert talk.acknowledged == 30
    lose(home)
    error = talk.append()["error"]
    assert (error["data"]["code"], talk.acknowledged) == ("database_damaged", 30)
    wait_until(lambda: talk.ban()["rescue"] is not None)
    ban = talk.ban()
    assert ban["state"] == "replaced"
    with closing(sqlite3.connect(f"file:{ban['rescue']}?mode=ro", uri=True)) as rescued:
        assert rescued.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert rescued.execute("SELECT count(*) FROM messages").fetchone()[0] in (30, 31)
    assert ban["rescue"] in talk.append()["error"]["message"]
    assert ban["rescue"] in home.log_file.read_text()
    assert talk.client.call("db.session.get", session_id=talk.session)["result"]["id"] == talk.session
    hook = {"hook_event_name": "PreToolUse", "session_id": "n1", "transcript_path": "/t.jsonl", "cwd": "/shop"}
    answered = talk.client.call("hooks.event", vendor="claude", payload=hook | {"tool_name": "Bash", "tool_input": {}})
    assert answered["result"]["status"] == 0
    gap = json.loads((home.path / "gaps.jsonl").read_text().splitlines()[-1])
    assert (gap["session_id"], gap["why"]) == ("n1", "damaged")


@pytest.mark.requirement("R470")
def test_another_database_in_its_place_is_not_touched(home: Home) -> None:
    home.serve()
    talk = Talk(home.connect())
    other = home.path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE diary (day TEXT)")
        database.commit()
        replace_all(other, home.database)
        talk.append()
        wait_until(lambda: talk.ban()["rescue"] is not None)
        talk.client.call("daemon.stop")
        home.processes[-1].communicate(timeout=60)
        database.execute("INSERT INTO diary VALUES ('monday')")
        database.commit()
    with closing(sqlite3.connect(home.database)) as found:
        assert found.execute("SELECT day FROM diary").fetchall() == [("monday",)]


def replace_all(source: Path, target: Path) -> None:
    for end in ("", "-wal", "-shm"):
        source.with_name(source.name + end).replace(target.with_name(target.name + end))


@pytest.mark.requirement("R470")
def test_an_idle_daemon_notices_that_a_folder_above_was_moved(home: Home) -> None:
    home.database = home.path / "above" / "data" / "ramet.db"
    home.database.parent.mkdir(mode=0o700, parents=True)
    home.serve()
    talk = Talk(home.connect())
    talk.append()
    (home.path / "above").rename(home.path / "elsewhere")
    wait_until(lambda: talk.ban() is not None and talk.ban()["rescue"] is not None)
    assert Path(talk.ban()["rescue"]).parent == home.path / "elsewhere" / "data"


@pytest.mark.requirement("R470")
def test_work_beside_the_database_is_no_false_alarm(home: Home) -> None:
    home.serve()
    talk = Talk(home.connect())
    for number in range(20):
        (home.path / f"ramet.db-other{number}").write_text("a neighbour")
        os.rename(home.path / f"ramet.db-other{number}", home.path / "ramet.db-wal2")  # noqa: PTH104
        with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as reader:
            reader.execute("SELECT count(*) FROM messages").fetchone()
        talk.append()
    assert talk.acknowledged == 20
    assert talk.ban() is None
    (home.path / "ramet.db-wal2").unlink()
    talk.client.call("daemon.stop")
    home.processes[-1].communicate(timeout=60)
    home.serve()
    assert Talk(home.connect()).ban() is None


@pytest.mark.requirement("R470")
@pytest.mark.parametrize("uses_events", [True, False])
def test_a_watch_sees_a_loss_with_and_without_events(
    tmp_path: Path, uses_events: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ramet.daemon.damage.database_files._SECONDS_WITHOUT_EVENTS", 0.0)
    files = [tmp_path / "a", tmp_path / "a-wal"]
    for file in files:
        file.write_text("something")
    watch = FileWatch(files, uses_events=uses_events)
    assert watch.find_loss() is None
    for number in range(9_000 if uses_events else 5):  # more events than the kernel queues
        (tmp_path / f"neighbour{number}").touch()
        (tmp_path / f"neighbour{number}").unlink()
    assert watch.find_loss() is None
    files[1].unlink()
    assert "a-wal was deleted" in str(watch.find_loss())
    watch.close()
