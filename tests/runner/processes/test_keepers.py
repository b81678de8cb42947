"""A keeper's folder: who it is, what it heard, and how it is asked to stop."""

import os
import signal
import stat
import subprocess
from pathlib import Path

import msgspec
import pytest
from tests.keeper.held import make_spec
from tests.keeper.scripted_daemon import wait_for

from ramet.model.record.effort import StopRequest
from ramet.model.work.stream import End, Text
from ramet.protocol.work.keepers import RECORD_FILE, SPOOL_FILE, STOP_FILE, KeeperRecord, Spooled
from ramet.runner.processes import keepers, process_identity, process_tree


def record_of(pid: int, started_at: float, instance: str = "abcdefgh") -> KeeperRecord:
    return KeeperRecord(
        instance=instance, session_id=7, effort_id=5, generation=1, driver="command", pid=pid, started_at=started_at
    )


def write_spool(folder: Path, *lines: bytes) -> None:
    own = folder / "abcdefgh"
    own.mkdir()
    (own / SPOOL_FILE).write_bytes(b"".join(lines))


def spooled(seq: int, text: str) -> bytes:
    return msgspec.json.encode(Spooled(seq=seq, event=Text(text=text))) + b"\n"


def test_a_started_keeper_is_on_its_own_and_its_folder_is_private(tmp_path: Path) -> None:
    spec = make_spec(tmp_path, tmp_path / "s", "sleep 600")
    record = keepers.start(tmp_path, spec)
    try:
        wait_for(lambda: keepers.list_records(tmp_path))
        (read,) = keepers.list_records(tmp_path)
        assert (read.pid, read.started_at) == (record.pid, record.started_at)
        assert (read.session_id, read.effort_id, read.generation) == (7, 5, 1)
        assert keepers.is_alive(read)
        assert os.getsid(record.pid) == record.pid
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / spec.instance).iterdir()}
        assert set(modes.values()) == {0o600}
        assert stat.S_IMODE((tmp_path / spec.instance).stat().st_mode) == 0o700
    finally:
        os.kill(record.pid, signal.SIGKILL)
        os.waitpid(record.pid, 0)
        process_tree.end_marked(spec.instance, 0)
    assert not keepers.is_alive(record)


def test_what_was_given_to_a_keeper_is_not_on_disk(tmp_path: Path) -> None:
    spec = make_spec(tmp_path, tmp_path / "s", "sleep 600", environment={"PATH": os.environ["PATH"], "KEY": "hush"})
    record = keepers.start(tmp_path, spec)
    try:
        wait_for(lambda: keepers.list_records(tmp_path) and keepers.list_records(tmp_path)[0].agent_pid)
        assert not any(b"hush" in path.read_bytes() for path in (tmp_path / spec.instance).iterdir())
    finally:
        os.kill(record.pid, signal.SIGKILL)
        os.waitpid(record.pid, 0)
        process_tree.end_marked(spec.instance, 0)


def test_records_that_cannot_be_read_are_no_records(tmp_path: Path) -> None:
    assert keepers.list_records(tmp_path / "nowhere") == []
    for name, content in (("aaaaaaaa", None), ("bbbbbbbb", b"{torn")):
        (tmp_path / name).mkdir()
        if content is not None:
            (tmp_path / name / RECORD_FILE).write_bytes(content)
    assert keepers.list_instances(tmp_path) == ["aaaaaaaa", "bbbbbbbb"]
    assert keepers.list_records(tmp_path) == []


def test_a_spool_is_read_up_to_its_torn_last_line(tmp_path: Path) -> None:
    write_spool(tmp_path, spooled(1, "one"), spooled(2, "two"), spooled(3, "three")[:-8])
    assert [line.seq for line in keepers.read_spool(tmp_path, "abcdefgh")] == [1, 2]


def test_a_last_line_without_its_end_may_be_torn_even_where_it_is_json(tmp_path: Path) -> None:
    write_spool(tmp_path, spooled(1, "one"), spooled(2, "two").rstrip(b"\n"))
    assert [line.seq for line in keepers.read_spool(tmp_path, "abcdefgh")] == [1]


def test_a_spool_that_is_missing_or_empty_has_nothing(tmp_path: Path) -> None:
    assert keepers.read_spool(tmp_path, "abcdefgh") == []
    write_spool(tmp_path)
    assert keepers.read_spool(tmp_path, "abcdefgh") == []


def test_every_kind_of_event_is_read_back(tmp_path: Path) -> None:
    end = End(outcome="error", failure="unknown", reason="why", exit_status=3)
    write_spool(tmp_path, msgspec.json.encode(Spooled(seq=1, event=end)) + b"\n")
    assert [line.event for line in keepers.read_spool(tmp_path, "abcdefgh")] == [end]


@pytest.mark.parametrize("is_another", [True, False])
def test_only_the_keeper_that_is_meant_gets_the_signal(tmp_path: Path, *, is_another: bool) -> None:
    """A pid that was used again belongs to somebody who knows nothing of keepers."""
    (tmp_path / "abcdefgh").mkdir()
    process = subprocess.Popen(["sleep", "600"])
    try:
        began = process_identity.started_at(process.pid)
        assert began is not None
        record = record_of(process.pid, began - 100 if is_another else began)
        assert keepers.ask_to_stop(tmp_path, record, StopRequest(reason="why")) is not is_another
        stop = msgspec.json.decode((tmp_path / "abcdefgh" / STOP_FILE).read_bytes(), type=StopRequest)
        assert stop == StopRequest(outcome="cancelled", reason="why")
        if is_another:
            assert process.poll() is None
        else:
            assert process.wait(5) == -signal.SIGTERM
    finally:
        process.kill()
        process.wait()


def test_a_keeper_whose_folder_is_gone_is_not_asked(tmp_path: Path) -> None:
    assert not keepers.ask_to_stop(tmp_path, record_of(2**22 + 1, 1.0), StopRequest())


def test_a_removed_folder_is_gone_and_removing_it_again_does_nothing(tmp_path: Path) -> None:
    write_spool(tmp_path, spooled(1, "one"))
    keepers.remove(tmp_path, "abcdefgh")
    assert keepers.list_instances(tmp_path) == []
    keepers.remove(tmp_path, "abcdefgh")
