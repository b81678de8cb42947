"""What an agent that Ramet runs can do with `ramet` itself, with its token and without."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine

from ramet.client.connection import Connection
from ramet.errors import RametError

_AGENT = """
import json, os, subprocess, sys
tried = {}
for name, arguments in json.loads(os.environ["TRIED"]).items():
    words = [os.path.expandvars(word) for word in arguments]
    done = subprocess.run([os.environ["RAMET"], *words], capture_output=True, text=True, input=sys.stdin.read())
    tried[name] = [done.returncode, done.stdout, done.stderr]
with open(os.environ["TOLD"], "w") as file:
    json.dump({"tried": tried, "environ": {name: os.environ[name] for name in os.environ if name[:5] == "RAMET"}}, file)
"""


@pytest.fixture
def ramet(shop: CommandLine) -> CommandLine:
    shop.ok("project", "add", ".")
    return shop


def run_inside(ramet: CommandLine, **tried: list[str]) -> dict[str, Any]:
    """What commands come to inside an agent; its environment besides."""
    program, told = ramet.home / "agent.py", ramet.home / "told.json"
    program.write_text(_AGENT)
    environment = {"TRIED": json.dumps(tried), "TOLD": str(told), "RAMET": ramet.program}
    profile = {"driver": "command", "program": [sys.executable, str(program)], "environment": environment}
    ramet.configure({"drivers": {"default": "mine", "profiles": {"mine": profile}}})
    ramet.ok("daemon", "stop")
    ramet.ok("add", "Try it.", "--driver", "mine")
    assert ramet("work", "--once").returncode == 0
    found: dict[str, Any] = json.loads(told.read_text())
    return found


@pytest.mark.requirement("R304")
def test_its_own_session_effort_history_and_tree_are_shown_to_it(ramet: CommandLine) -> None:
    found = run_inside(
        ramet,
        session=["session", "show", "s$RAMET_SESSION"],
        effort=["show", "e$RAMET_EFFORT"],
        prompt=["show", "e$RAMET_EFFORT", "--prompt"],
        log=["history", "log", "session/$RAMET_SESSION"],
        tree=["tree"],
    )
    for name, (status, output, errors) in found["tried"].items():
        assert (status, errors) == (0, ""), name
        assert output, name


@pytest.mark.requirement("R333", "R334")
def test_what_is_not_its_own_is_refused_by_name(ramet: CommandLine) -> None:
    ramet.ok("add", "Another one.", "--driver", "shell")
    ramet.ok("drop", "e1")
    found = run_inside(
        ramet,
        effort=["show", "e1"],
        prompt=["show", "e1", "--prompt"],
        shell=["spawn", "id", "--driver", "shell"],
        default=["spawn", "id", "--driver", "command"],
        fleet=["ps"],
        add=["add", "More."],
        stop=["daemon", "stop"],
        key=["daemon", "rotate-key"],
        query=["query", "select 1"],
    )
    tried = found["tried"]
    assert [status for status, _, _ in tried.values()] == [2] * len(tried)
    assert not [output for _, output, _ in tried.values() if output]
    for name in ("effort", "prompt"):
        assert "cannot access effort 1" in tried[name][2]
    for name in ("shell", "default"):
        assert "spawn.drivers" in tried[name][2]
    for name in ("fleet", "add", "stop", "key", "query"):
        assert "this command is not available to agents" in tried[name][2], name
    assert ramet("daemon", "status").returncode == 0


@pytest.mark.requirement("R334", "R336")
def test_its_token_opens_nothing_when_it_has_ended(ramet: CommandLine) -> None:
    told = run_inside(ramet)["environ"]
    assert Path(told["RAMET_SOCKET"]).name == "agents.sock"
    with Connection(told["RAMET_SOCKET"], 60) as connection:
        for method, params in (
            ("daemon.ping", {}),
            ("daemon.hello", {}),
            ("daemon.hello", {"token": told["RAMET_TOKEN"]}),
        ):
            with pytest.raises(RametError) as refusal:
                connection.call(method, params)
            assert refusal.value.code == "forbidden"
    done = ramet("session", "show", "s1", environ=told)
    assert done.returncode == 2
    assert "has ended" in done.stderr


@pytest.mark.requirement("R336")
def test_a_reset_database_has_another_key(ramet: CommandLine) -> None:
    ramet.ok("status")
    key = Path(ramet.environ["RAMET_HOME"], "agent.key")
    before = key.read_bytes()
    assert ramet("db", "reset", "--yes").returncode == 0
    ramet.ok("status")
    assert key.read_bytes() != before


@pytest.mark.requirement("R336")
def test_a_key_that_others_may_know_keeps_the_daemon_from_starting(ramet: CommandLine) -> None:
    ramet.ok("daemon", "stop")
    key = Path(ramet.environ["RAMET_HOME"], "agent.key")
    key.chmod(0o644)
    done = ramet("status")
    assert done.returncode != 0
    assert f"{key} has mode 0644" in done.stderr
    assert f"rm {key}" in done.stderr
    key.unlink()
    ramet.ok("status")
