"""A daemon to measure, in a process of its own, with an effort's sessions ready for messages."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ramet.client.connection import Connection
from ramet.config.settings import HookSettings, Places, Settings

STARTED = 30


def places_in(folder: Path) -> Places:
    """The places of a daemon whose whole world is one folder."""
    return Places(
        home=folder,
        database=folder / "ramet.db",
        socket=folder / "run" / "ramet.sock",
        agents_socket=folder / "run" / "agents.sock",
        pid_file=folder / "run" / "ramet.pid",
        log_file=folder / "logs" / "ramet.log",
        index=folder / "search.db",
        backups=folder / "backups",
        lock_file=folder / "ramet.db.lock",
        keepers=folder / "keepers",
        worktrees=folder / "worktrees",
    )


@contextmanager
def running(places: Places, settings: Settings | None = None) -> Iterator["subprocess.Popen[bytes]"]:
    """A daemon that answers, until the end of the block."""
    line = {
        "settings": msgspec.to_builtins(settings or Settings(hooks=HookSettings(record="all"))),
        "places": msgspec.to_builtins(places, builtin_types=(), enc_hook=str),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "ramet.daemon", "serve"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(json.dumps(line).encode() + b"\n")
    process.stdin.close()
    with process.stderr:
        complaint = process.stderr.read()
    if complaint:
        raise RuntimeError(complaint.decode())
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STARTED)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def make_sessions(socket: Path, count: int) -> list[int]:
    """That many open sessions on one effort."""
    with Connection(str(socket), STARTED) as connection:
        connection.call("db.project.upsert", {"path": "/bench"})
        connection.call("db.task.upsert", {"dir_path": "/bench/task"})
        effort = connection.call("db.effort.start", {"task_id": "/bench/task", "skill": "do"})
        request = {"task_id": "/bench/task", "effort_id": effort["id"]}
        return [connection.call("db.session.start", request)["id"] for _ in range(count)]
