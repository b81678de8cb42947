"""What the daemon answers about itself."""

import os

import pytest
from tests.daemon.harness import Client, RunningServer

from ramet.build import own_build
from ramet.protocol.operations import OPERATIONS
from ramet.version import __version__


def test_hello_says_who_answers(client: Client) -> None:
    reply = client.call("daemon.hello", client="test")
    ours = own_build()
    assert reply["result"] == {
        "version": __version__,
        "protocol": 1,
        "principal": "user",
        "build": ours.revision,
        "built_at": ours.built_at,
        "schema_version": ours.schema_version,
    }


def test_status_says_where_and_what_the_daemon_is(server: RunningServer, client: Client) -> None:
    client.call("daemon.ping")
    status = client.call("daemon.status")["result"]
    assert status["socket"] == str(server.path)
    assert (status["pid"], status["version"], status["store"]) == (os.getpid(), __version__, "nowhere")
    assert (status["schema_version"], status["connections"], status["requests"]) == (3, 1, 2)
    assert status["uptime_seconds"] >= 0
    assert status["resident_bytes"] > 1_000_000


_OTHERS = ("work.", "spawn.", "hooks.", "daemon.rotate_key", "daemon.part")
OWN = [name for name, row in OPERATIONS.items() if row.host == "daemon" and not name.startswith(_OTHERS)]
"""What the server answers by itself; work needs a crew (tests/crash/test_work.py,
tests/cli/queue/test_work_command.py), and so do children that are waited for (tests/runner/spawn/test_slot_loans.py);
hooks are in hooks/test_service.py, keys in wire/test_tokens.py, and parts in wire/test_parts.py.
"""


@pytest.mark.parametrize("name", OWN)
def test_every_operation_of_the_daemon_is_answered(client: Client, name: str) -> None:
    assert "result" in client.call(name)
