"""`pip install -U` replaces the files under a running daemon, which goes on with what it was started from."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.protocol.least_params import least_params
from tests.upgrades.builds import Installation

from ramet.client.autostart import connect
from ramet.errors import RametError
from ramet.protocol.operations import OPERATIONS

pytestmark = pytest.mark.requirement("R465")

_ENDING = ("daemon.stop", "daemon.rotate_key", "work.run", "work.kill", "db.backup", "history.gc")
"""What ends the test's daemon, starts agents, or writes where the test did not say."""
_SECONDS = 60.0


def everything(world: Path, socket: str) -> dict[str, str]:
    """Ask the daemon everything once; which operations failed without saying why."""
    failed = {}
    for name, operation in OPERATIONS.items():
        if name in _ENDING or operation.audience == "internal":
            continue
        with connect(socket, _SECONDS) as connection:
            try:
                connection.call(name, json.loads(json.dumps(least_params(operation))))
            except RametError as error:
                if "internal error" in error.message or "No such file" in error.message:
                    failed[name] = error.message
    return failed


def test_a_daemon_answers_everything_after_its_files_are_gone_and_the_next_build_replaces_it(
    copied: Callable[..., Installation], this: Installation, world: Path
) -> None:
    old = copied(1_000_000_000)
    old.ok("project", "add", ".")
    package = old.source / "ramet"
    package.rename(old.source / "gone")
    assert everything(world, str(world / "r" / "run" / "ramet.sock")) == {}
    log = (world / "r" / "logs" / "ramet.log").read_text()
    assert "ModuleNotFoundError" not in log
    assert str(package) not in log
    done = this("ps")
    assert (done.returncode, "note: replaced the daemon" in done.stderr) == (0, True)
