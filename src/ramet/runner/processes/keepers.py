"""Keepers as the daemon sees them: a process to start, and a folder that says who it is and what it heard.

A keeper is nobody's child for long: the daemon that started it may be gone when it ends, so whoever looks after one
knows it by what its folder says.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from ramet.config.places import make_private
from ramet.errors import LaunchFailed
from ramet.model.record.effort import StopRequest
from ramet.protocol.work.keepers import (
    LOG_FILE,
    MARKER,
    RECORD_FILE,
    SPOOL_FILE,
    STOP_FILE,
    KeeperRecord,
    KeeperSpec,
    Spooled,
)
from ramet.runner.processes import process_identity


def start(folder: Path, spec: KeeperSpec) -> KeeperRecord:
    """Start a keeper that lives on without us: a session of its own, and none of our descriptors.

    It carries its own marker, so that one that was started and never came to write its record is found all the same.
    It may wait until the keeper reads, so call it on a thread.
    """
    own = folder / spec.instance
    make_private(folder)
    own.mkdir(mode=0o700)
    log = _open_log(own)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "ramet.keeper", spec.instance],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd="/",
            env={**os.environ, MARKER: spec.instance},
            start_new_session=True,
        )
    except OSError as error:
        raise LaunchFailed(f"the keeper could not be started: {error}") from error
    finally:
        os.close(log)
    started_at = process_identity.started_at(process.pid)
    _instruct(process, spec)
    return KeeperRecord(
        instance=spec.instance,
        session_id=spec.session_id,
        effort_id=spec.effort_id,
        generation=spec.generation,
        driver=spec.driver,
        pid=process.pid,
        started_at=started_at or 0.0,
    )


def read_record(folder: Path, instance: str) -> KeeperRecord | None:
    """What a keeper said about itself, where it came to that."""
    try:
        return msgspec.json.decode((folder / instance / RECORD_FILE).read_bytes(), type=KeeperRecord)
    except (OSError, msgspec.DecodeError):
        return None


def list_records(folder: Path) -> list[KeeperRecord]:
    """The keepers that have a folder and have said who they are, alive or not."""
    records = (read_record(folder, instance) for instance in list_instances(folder))
    return [record for record in records if record is not None]


def list_instances(folder: Path) -> list[str]:
    """The keepers that have a folder."""
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []


def is_alive(record: KeeperRecord) -> bool:
    """Whether the keeper still runs. Its start seems to be another if the clock was set, but not its name."""
    if process_identity.is_alive(record.pid, record.started_at):
        return True
    return process_identity.has_argument(record.pid, record.instance)


def find_start(record: KeeperRecord) -> float:
    """When the keeper was started, by the machine's clock as it is set now."""
    now = process_identity.started_at(record.pid) if is_alive(record) else None
    return record.started_at if now is None else now


def ask_to_stop(folder: Path, record: KeeperRecord, stop: StopRequest) -> bool:
    """Let a keeper end its agent, with the outcome and the reason given; whether there was one to ask."""
    own = folder / record.instance
    with suppress(FileNotFoundError):
        replace_file(own / STOP_FILE, msgspec.json.encode(stop))
    if not is_alive(record):
        return False
    with suppress(ProcessLookupError):  # it ends at this very moment
        os.kill(record.pid, signal.SIGTERM)
    return True


def read_spool(folder: Path, instance: str) -> list[Spooled]:
    """What a keeper heard, as far as it is whole: the last line may be torn."""
    spooled: list[Spooled] = []
    decoder = msgspec.json.Decoder(Spooled)
    with suppress(FileNotFoundError, msgspec.DecodeError), (folder / instance / SPOOL_FILE).open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            spooled.append(decoder.decode(line))
    return spooled


def add_to_spool(folder: Path, instance: str, line: Spooled) -> None:
    """Say for a keeper what it could not say any more, so that whoever settles its attempt finds it."""
    own = folder / instance
    make_private(own)
    whole = b"".join(msgspec.json.encode(before) + b"\n" for before in read_spool(folder, instance))
    replace_file(own / SPOOL_FILE, whole + msgspec.json.encode(line) + b"\n")


def remove(folder: Path, instance: str) -> None:
    """Forget a keeper whose attempt is settled."""
    own = folder / instance
    with suppress(FileNotFoundError):
        for path in list(own.iterdir()):
            path.unlink()
        own.rmdir()


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever reads half of it."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    fresh.replace(path)


def _open_log(own: Path) -> int:
    """Where the keeper's standard error goes: what it could not tell anybody else."""
    return os.open(own / LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _instruct(process: "subprocess.Popen[bytes]", spec: KeeperSpec) -> None:
    assert process.stdin is not None  # noqa: S101
    with suppress(BrokenPipeError), process.stdin as pipe:  # one that has ended already is found to be gone
        pipe.write(msgspec.json.encode(spec) + b"\n")
    process.returncode = 0  # it is waited for by its pid, as those are that a former daemon started
