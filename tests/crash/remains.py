"""Processes and records that agents leave behind."""

from contextlib import suppress

import psutil
from tests.crash.daemons import Home
from tests.crash.waits import wait_for

from ramet.protocol.work.keepers import MARKER
from ramet.runner.processes import keepers


def check_nothing_is_left(home: Home) -> None:
    assert wait_for(lambda: not marked_processes(home)), f"left running: {marked_processes(home)}"
    assert wait_for(lambda: keepers.list_records(home.places.keepers) == [])


def marked_processes(home: Home) -> list[tuple[int, str]]:
    """Everything that an agent of this home started, or that holds one."""
    found = []
    for process in psutil.process_iter(["pid", "name", "status"]):
        with suppress(psutil.Error):
            environ = process.environ()
            if MARKER in environ and environ.get("RAMET_HOME") == str(home.path):
                found.append((process.pid, process.name()))
    return found
