"""A keeper and the real daemon: what the agent says is in its session, once, though the daemon was killed meanwhile."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.conftest import Cli
from tests.keeper.held import Held, make_spec
from tests.keeper.scripted_daemon import wait_for

from ramet.client.connection import Connection


def begin(connection: Connection, project: Path, instance: str) -> dict[str, Any]:
    """Put an effort into the queue, take it and begin an attempt: its session."""
    connection.call("db.project.upsert", {"path": str(project)})
    effort = connection.call("work.add", {"prompt": "count", "task": str(project / "task")})
    claimed = connection.call("work.claim", {"worker": "tester", "effort_id": effort["id"]})
    connection.call("db.agents.register", {"id": "tester"})
    request = {
        "effort_id": effort["id"],
        "generation": claimed["generation"],
        "driver": "command",
        "agent_id": "tester",
        "instance": instance,
        "prompt": "count",
    }
    session: dict[str, Any] = connection.call("work.begin", request)["session"]
    return session


@pytest.mark.requirement("R292")
def test_a_session_has_what_its_agent_said_across_a_restart_of_the_daemon(
    daemon_socket: Callable[[], str], ramet_cli: Cli, tmp_path: Path
) -> None:
    path = daemon_socket()
    folder = tmp_path / "keepers"
    folder.mkdir()
    spec = make_spec(folder, Path(path), "for n in $(seq 1 60); do echo $n; sleep 0.05; done; exit 3")
    with Connection(path, 30) as connection:
        session_id = begin(connection, tmp_path, spec.instance)["id"]
    held = Held(folder, replace(spec, session_id=session_id))
    try:
        wait_for(lambda: len(held.spooled()) > 2)
        assert ramet_cli("daemon", "stop").returncode == 0
        wait_for(lambda: "30\n" in "".join(getattr(event, "text", "") for event in held.spooled()))
        assert daemon_socket() == path
        assert held.wait() == 0, held.log
        with Connection(path, 30) as connection:
            messages = connection.call("db.messages.list", {"session_id": session_id, "limit": 1000})["items"]
            (session,) = connection.call("db.session.find", {"agent_id": "tester"})["items"]
    finally:
        held.close()
    said = "".join(message["content"] for message in messages if message["role"] == "assistant")
    assert said == "".join(f"{n}\n" for n in range(1, 61))
    assert (session["outcome"], session["exit_status"], session["pid"]) == ("error", 3, held.spooled()[0].pid)  # type: ignore[union-attr]
