"""Long reads in processes of their own: beside everything else, and gone with whoever wanted them."""

import json
import os
import select
import signal
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest
from tests.daemon.harness import PATIENCE_SECONDS, Client, line
from tests.daemon.readers.conftest import ReadingDaemon, are_gone, wait_for

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT count(*) FROM n"


def has_answer(client: Client) -> bool:
    """Whether anything has come for a client."""
    return bool(select.select([client.socket], [], [], 0)[0])


def wait_for_code(client: Client) -> str:
    return str(client.receive()["error"]["data"]["code"])


@pytest.mark.requirement("R343")
def test_a_short_query_is_answered_while_eight_long_ones_run(daemon: ReadingDaemon) -> None:
    waiting = [daemon.ask_endless() for _ in range(8)]
    for number in range(5):
        assert daemon.query(f"SELECT {number}") == [[number]]
    assert not any(has_answer(client) for client in waiting)
    assert len(daemon.readers()) <= 4


@pytest.mark.requirement("R447")
def test_hooks_and_writes_are_answered_while_long_reads_run(daemon: ReadingDaemon) -> None:
    waiting = [daemon.ask_endless() for _ in range(4)]
    wait_for(lambda: bool(daemon.readers()))
    client = daemon.connect()
    said = {"session_id": "one", "cwd": "/", "hook_event_name": "SessionStart", "source": "startup"}
    assert "result" in client.call("hooks.event", vendor="claude", pid=1, payload=json.dumps(said))
    assert "result" in client.call("db.agents.register", id="agent")
    assert not any(has_answer(each) for each in waiting)


@pytest.mark.requirement("R447")
def test_a_long_read_takes_no_processor_time_of_the_daemon(sqlite_daemon: ReadingDaemon) -> None:
    daemon = sqlite_daemon
    daemon.query()
    (reader,) = daemon.readers()
    before = _seconds(daemon.process.pid), _seconds(reader.pid)
    assert daemon.query(COUNT.format(12_000_000)) == [[12_000_000]]
    own, reading = _seconds(daemon.process.pid) - before[0], _seconds(reader.pid) - before[1]
    assert reading > 0.2
    assert own < reading / 4


def _seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


@pytest.mark.requirement("R459", "R447")
def test_a_stopping_daemon_interrupts_reads_and_leaves_no_process(daemon: ReadingDaemon) -> None:
    waiting = [daemon.ask_endless() for _ in range(6)]
    wait_for(lambda: len(daemon.readers()) >= 2)
    family = daemon.family()
    assert daemon.connect().call("daemon.stop")["result"] == {"stopping": True}
    assert {wait_for_code(client) for client in waiting} == {"daemon_stopping"}
    assert daemon.process.wait(PATIENCE_SECONDS) == 0  # which would otherwise wait 600 seconds for the replies
    wait_for(are_gone(family))
    if daemon.url is None:
        assert not Path(f"{daemon.home.database}-wal").exists()
    else:
        wait_for(lambda: not _runs_on_server(daemon))


def _runs_on_server(daemon: ReadingDaemon) -> bool:
    """Whether the server still works on one of the queries."""
    with psycopg.connect(daemon.url or "") as connection:
        statement = "SELECT 1 FROM pg_stat_activity WHERE query = %s AND state = 'active' AND pid <> pg_backend_pid()"
        return bool(connection.execute(statement, [daemon.endless]).fetchall())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_readers_end_with_the_daemon(daemon: ReadingDaemon, number: signal.Signals) -> None:
    daemon.ask_endless()
    wait_for(lambda: bool(daemon.readers()))
    family = daemon.family()
    assert {"ramet readers", "ramet reader"} <= {process.name() for process in family}
    daemon.process.send_signal(number)
    daemon.process.wait(PATIENCE_SECONDS)
    wait_for(are_gone(family))
    daemon.home.serve()  # nobody holds the lock any more
    assert daemon.query() == [[1]]


def test_a_client_that_is_gone_wants_no_reply(daemon: ReadingDaemon) -> None:
    client = daemon.ask_endless()
    reader = daemon.busy_reader()
    client.close()
    wait_for(are_gone([reader]))
    assert daemon.query() == [[1]]


def test_a_client_that_is_gone_is_noticed_while_other_requests_of_it_wait(sqlite_daemon: ReadingDaemon) -> None:
    client = sqlite_daemon.connect()
    client.send(line("db.query", 1, sql=sqlite_daemon.endless) + line("db.agents.register", 2, id="agent"))
    reader = sqlite_daemon.busy_reader()
    client.close()
    wait_for(are_gone([reader]))


def test_a_read_whose_process_is_killed_is_done_again(sqlite_daemon: ReadingDaemon) -> None:
    client = sqlite_daemon.connect()
    client.ask("db.query", sql=COUNT.format(8_000_000))
    sqlite_daemon.busy_reader().kill()
    assert client.receive()["result"]["rows"] == [[8_000_000]]


def test_a_read_whose_process_is_killed_again_and_again_is_refused(daemon: ReadingDaemon) -> None:
    client = daemon.ask_endless()
    killed: set[int] = set()
    while not has_answer(client):
        for reader in daemon.readers():
            killed.add(reader.pid)
            with suppress(psutil.NoSuchProcess):  # it was killed a moment ago
                reader.kill()
    assert wait_for_code(client) == "read_interrupted"
    assert len(killed) == 3
    assert daemon.query() == [[1]]


def test_if_the_process_that_forks_readers_is_killed_another_one_is_started(daemon: ReadingDaemon) -> None:
    assert daemon.query() == [[1]]
    before, readers = daemon.fork_server(), daemon.readers()
    before.kill()
    wait_for(are_gone(readers))
    assert daemon.query() == [[1]]
    assert daemon.fork_server().cmdline()[-1] == "readers"
    family = daemon.family()
    daemon.connect().call("daemon.stop")
    daemon.process.wait(PATIENCE_SECONDS)
    wait_for(are_gone(family))


def test_a_backup_that_is_interrupted_leaves_no_file(sqlite_daemon: ReadingDaemon, tmp_path: Path) -> None:
    daemon = sqlite_daemon
    daemon.query()
    (reader,) = daemon.readers()
    os.kill(reader.pid, signal.SIGSTOP)  # in the middle of the backup, which has begun a file
    client = daemon.connect()
    client.ask("db.backup", path=str(tmp_path / "copy.db"))
    partial = tmp_path / "copy.db.partial"
    partial.write_bytes(b"half of it")
    daemon.connect().call("daemon.stop")
    assert wait_for_code(client) == "daemon_stopping"
    assert daemon.process.wait(PATIENCE_SECONDS) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_read_that_takes_too_long_is_stopped(home_with_short_reads: ReadingDaemon) -> None:
    client = home_with_short_reads.ask_endless()
    error = client.receive()["error"]
    assert error["data"]["code"] == "read_timeout"
    assert "daemon.read_timeout_seconds" in error["data"]["fix"]
